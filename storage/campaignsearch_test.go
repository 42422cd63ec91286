package storage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// TestFindGoesThroughEveryMessageOnce: page by page, a search gives exactly
// the messages that it is about, in the order of rows, and so does a download.
func TestFindGoesThroughEveryMessageOnce(t *testing.T) {
	f := newFixture(t)
	networks := &phone.Networks{}
	var messages []sms.Message
	for i := range 60 {
		start := []string{"23480300", "23480500", "23490900"}[i%3]
		messages = append(messages, sms.Message{Number: fmt.Sprintf("%s%05d", start, i%20),
			Text: fmt.Sprintf("Dear %s, number %d", []string{"Ada", "Bọ́lá"}[i%2], i), Parts: 1})
	}
	c := f.draftOf(sms.Campaign{}, messages)
	other := f.draftOf(sms.Campaign{}, messages)
	f.set(c.ID, sms.CampaignRunning)
	for a := f.claimAfter(0, 5); a != nil; a = f.claimAfter(0, 5) {
		f.license(a)
		f.settle(a, answer(a))
		if a.ID%2 == 0 {
			for _, r := range a.Call.Recipients {
				f.apply(sms.DeliveryReport{AccountID: f.account.ID, ProviderID: providerID(r.MessageID), Mobile: r.Number,
					Status: "DELIVRD"})
			}
		}
	}
	all := f.messages(c.ID)
	if all[0].CampaignID == other.ID {
		t.Fatal("the other campaign")
	}
	rapid.Check(t, func(rt *rapid.T) {
		filter := sms.MessageFilter{CampaignID: c.ID, Limit: rapid.IntRange(1, 20).Draw(rt, "limit"),
			Network: rapid.SampledFrom([]string{"", "MTN", "Glo", "9mobile", "Airtel", sms.NoNetwork}).Draw(rt, "network"),
			Text:    rapid.SampledFrom([]string{"", "ada", "BỌ́LÁ", "number 1", "%", "_"}).Draw(rt, "text")}
		switch rapid.IntRange(0, 3).Draw(rt, "by") {
		case 0:
			filter.Number = all[rapid.IntRange(0, len(all)-1).Draw(rt, "of")].Number
		case 1:
			filter.Ends = rapid.SampledFrom([]string{"0001", "00012", "9999"}).Draw(rt, "ends")
		}
		if rapid.Bool().Draw(rt, "narrow") {
			filter.Keys = []string{"delivered"}
		}
		var want, got []int64
		for _, m := range all {
			if filter.Admits(m.Number, m.Text, networks) && (filter.Number == "" || m.Number == filter.Number) &&
				strings.HasSuffix(m.Number, filter.Ends) &&
				(len(filter.Keys) == 0 || slices.Contains(filter.Keys, m.Standing().Key)) {
				want = append(want, m.ID)
			}
		}
		var whole []int64
		for m, err := range f.db.EachMessage(f.ctx, filter) {
			if err != nil {
				rt.Fatal(err)
			}
			whole = append(whole, m.ID)
		}
		if !slices.Equal(want, whole) {
			rt.Fatalf("download of %+v: %v, want %v", filter, whole, want)
		}
		for pages := 0; ; pages++ {
			list, next, err := f.db.FindMessages(f.ctx, filter)
			if err != nil || len(list) > filter.Limit || pages > 60 {
				rt.Fatalf("page %d of %d: %v", pages, len(list), err)
			}
			for _, m := range list {
				got = append(got, m.ID)
			}
			if filter.After = next; next == 0 {
				break
			}
		}
		if !slices.Equal(want, got) {
			rt.Fatalf("%+v: %v, want %v", filter, got, want)
		}
	})
}
