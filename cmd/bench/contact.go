package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage"
)

const (
	contactsSeeded = 1_000_000
	contactBar     = 100 * time.Millisecond
	previewBar     = time.Second
	contactBatch   = 1000
)

// seedContacts makes an account with n contacts: 10 towns, one of 1,000 rare
// ones for every 2,000th person, and 3 values of what they paid.
func seedContacts(ctx context.Context, data string, n int) (took time.Duration, err error) {
	db, err := storage.Open(ctx, storage.Config{Data: data})
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	now := time.Now().UnixMilli()
	a, err := db.CreateAccount(ctx, sms.Account{Name: "Clinic", BaseURL: "http://127.0.0.1:1/api/v2", Country: "NG",
		Timezone: "Africa/Lagos", PerMinute: 1000, CallLimit: 100, URLBudget: 2000, MaxParts: 4},
		sms.Credentials{APIKey: "k", ClientID: "c"}, now)
	if err != nil {
		return 0, err
	}
	towns := []string{"Lagos", "Ibadan", "Kano", "Abuja", "Port Harcourt", "Enugu", "Jos", "Benin", "Ilorin", "Kaduna"}
	columns := []sms.ContactColumn{{Key: "town", Name: "Town"}, {Key: "paid", Name: "Paid"}, {Key: "owes", Name: "Owes"}}
	began := time.Now()
	for first := 0; first < n; first += contactBatch {
		list := make([]sms.Contact, 0, contactBatch)
		for i := first; i < min(first+contactBatch, n); i++ {
			town := towns[i*7%len(towns)]
			if i%2000 == 17 {
				town = fmt.Sprintf("Village %d", i/2000)
			}
			list = append(list, sms.Contact{AccountID: a.ID, Number: fmt.Sprintf("23480%08d", (i*7_919)%100_000_000),
				Name: fmt.Sprintf("Ada %d Obi", i), Source: "bench",
				Fields: map[string]string{"town": town, "paid": []string{"no", "yes", ""}[i%3], "owes": fmt.Sprint(i % 100_000)},
				Tags:   []string{[]string{"Parents", "Staff"}[i%2]}})
		}
		if _, _, err := db.MergeContacts(ctx, a.ID, list, columns, 0, now); err != nil {
			return 0, err
		}
	}
	took = time.Since(began)
	for more := true; more; {
		if more, err = db.PackContacts(ctx); err != nil {
			return 0, err
		}
	}
	if _, err := db.CreateAudience(ctx, sms.Audience{AccountID: a.ID, Name: "Ibadan, not paid", Kind: sms.Filtered,
		Filter: sms.Filter{Conditions: []sms.Condition{
			{Key: "paid", Op: sms.Is, Value: "no"}, {Key: "town", Op: sms.Is, Value: "Ibadan"}}}}, nil, now); err != nil {
		return 0, err
	}
	return took, nil
}

// contactPages are the pages of a million contacts, each with its bar.
func contactPages() []asked {
	at := func(address string) func(int) (string, url.Values) {
		return func(int) (string, url.Values) { return address, nil }
	}
	search := func(format string) func(i int) (string, url.Values) {
		return func(i int) (string, url.Values) {
			return "/contacts/search", url.Values{"who": {fmt.Sprintf(format, (i*7_777)%contactsSeeded)}}
		}
	}
	return []asked{
		{"contacts", at("/contacts")},
		{"contacts, page in the middle", func(i int) (string, url.Values) { return fmt.Sprintf("/contacts?before=%d", 500_000+i*997), nil }},
		{"contacts by the first digits", search("0800%06d")},
		{"contacts by a part of the name", search("ada %d o")},
		{"contacts by a filter that many fit", at("/contacts?column=paid&op=is&value=no&column=town&op=is&value=ibadan")},
		{"contacts by a filter that few fit", func(i int) (string, url.Values) {
			return "/contacts?" + url.Values{"column": {"town"}, "op": {"is"}, "value": {fmt.Sprintf("village %d", i)}}.Encode(),
				nil
		}},
		{"contacts by a filter on amounts", at("/contacts?column=owes&op=more&value=99000&column=paid&op=is&value=no")},
		{"contact", func(i int) (string, url.Values) { return fmt.Sprintf("/contacts/%d", 1+i*997), nil }},
	}
}

// benchContacts measures the pages of a million contacts, and what a filter
// costs before it is saved.
func benchContacts(ctx context.Context, e env) ([]line, error) {
	data := e.path("contacts")
	took, err := seedContacts(ctx, data, contactsSeeded)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(data) }()
	o, err := openOffice(ctx, data)
	if err != nil {
		return nil, err
	}
	defer func() { _ = o.db.Close() }()
	lines := []line{{name: "a million contacts stored", figure: fmt.Sprintf("%.0f s", took.Seconds()), against: "of 300 s",
		ratio: took.Seconds() / 300, bar: 1, most: true}}
	measure := func(p asked, bar time.Duration) error {
		var all []time.Duration
		for i := range pageWarm + pageTimes {
			page, form := p.page(i)
			t, err := o.ask(page, form)
			if err != nil {
				return err
			}
			if i >= pageWarm {
				all = append(all, t)
			}
		}
		t := p95(all)
		lines = append(lines, line{name: p.name, figure: fmt.Sprintf("%.1f ms for 95 of 100 with a million contacts", ms(t)),
			against: fmt.Sprintf("of %.0f ms", ms(bar)), ratio: ms(t) / ms(bar), bar: 1, most: true})
		return nil
	}
	for _, p := range contactPages() {
		if err := measure(p, contactBar); err != nil {
			return nil, err
		}
	}
	preview := asked{"audience with its count", func(int) (string, url.Values) { return "/contacts/audiences/1", nil }}
	return lines, measure(preview, previewBar)
}
