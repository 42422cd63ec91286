package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-chi/chi/v5"

	"smsdesk/internal/desk"
	"smsdesk/internal/gateway"
	"smsdesk/internal/sms"
)

// clinic is an account with two usable sender IDs.
func (s *site) clinic(change ...func(*sms.Account)) sms.Account {
	s.t.Helper()
	a := s.account(sms.Account{Name: "Clinic", DefaultSender: "CLINIC", CallLimit: 10})
	s.know(a.ID, "CLINIC", "SCHOOL")
	for _, f := range change {
		s.update(a.ID, f)
	}
	a, err := s.db.Account(context.Background(), a.ID)
	s.must(err)
	return a
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) update(account int64, change func(*sms.Account)) {
	s.t.Helper()
	_, err := s.db.UpdateAccount(context.Background(), account, s.clock.now().UnixMilli(),
		func(a *sms.Account, _ *sms.Credentials) error {
			change(a)
			return nil
		})
	s.must(err)
}

func (s *site) know(account int64, senders ...string) {
	s.t.Helper()
	list := []sms.SenderID{{ID: 90, Text: "PENDING", IsActive: true, ApproveStatus: "Pending"},
		{ID: 91, Text: "OLDNAME", ApproveStatus: "Approved"}}
	for i, text := range senders {
		list = append(list, sms.SenderID{ID: int64(i + 1), Text: text, IsActive: true, ApproveStatus: "Approved"})
	}
	s.provider.senders = list
	s.must(s.db.PutSenderIDs(context.Background(), account, list, s.clock.now().UnixMilli()))
}

// typed makes numbers 0803 000 1000 and the ones after it.
func typed(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("0803%07d", 1000+i)
	}
	return strings.Join(lines, "\n")
}

func (s *site) draft(by sms.User, o desk.Order) sms.Campaign {
	s.t.Helper()
	o.Token = desk.NewToken()
	if o.SenderID == "" {
		o.SenderID = "CLINIC"
	}
	if o.Text == "" {
		o.Text = "The clinic is closed on Friday."
	}
	c, err := s.desk.CreateCampaign(context.Background(), by, o)
	s.must(err)
	return c
}

func (s *site) started(by sms.User, o desk.Order) sms.Campaign {
	s.t.Helper()
	c := s.draft(by, o)
	c, err := s.desk.StartCampaign(context.Background(), by, c.ID, desk.StartOrder{Version: c.Version, Again: true})
	s.must(err)
	return c
}

// accept answers a call: every number gets an id made of its last four digits.
func accept(call sms.Call) sms.Outcome {
	o := sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000", Excerpt: `{"ErrorCode":0}`}
	for _, r := range call.Recipients {
		o.Rows = append(o.Rows, sms.ResultRow{Number: r.Number, ProviderID: "id-" + r.Number[len(r.Number)-4:]})
	}
	return o
}

// send makes calls until nothing is left or most of them are made.
func (s *site) send(account sms.Account, most int, answer func(sms.Call) sms.Outcome) {
	s.t.Helper()
	ctx := context.Background()
	epoch, err := s.db.TakeLease(ctx, account.ID)
	s.must(err)
	for range most {
		now := s.clock.now().UnixMilli()
		claim, err := s.db.Claim(ctx, sms.ClaimOrder{AccountID: account.ID, Epoch: epoch, Urgent: true, Bulk: true,
			CallLimit: account.CallLimit,
			Fill: func(_ sms.Call, messages []sms.Recipient, limit int) (sms.CallKind, []sms.Recipient) {
				return gateway.Fill(messages, limit, sms.DefaultURLBudget)
			}}, now)
		s.must(err)
		a := claim.Attempt
		if a == nil {
			return
		}
		s.must(s.db.License(ctx, a, now))
		o := answer(a.Call)
		_, err = s.db.Settle(ctx, a, sms.Settle(a.Call.Recipients, o, account.Country), o, account.Country,
			func(c sms.Canary, f []sms.Finished) sms.Verdict { return sms.Judge(o, c, f) }, now)
		s.must(err)
	}
}

func (s *site) reports(account sms.Account, reports ...sms.DeliveryReport) {
	s.t.Helper()
	for i := range reports {
		reports[i].AccountID, reports[i].ReceivedAt = account.ID, s.clock.now().UnixMilli()
		if reports[i].ID == 0 {
			reports[i].ID = int64(i + 1)
		}
	}
	_, err := s.db.ApplyReports(context.Background(), reports, map[int64]string{account.ID: account.Country},
		sms.Cursors{Inbox: int64(len(reports))}, s.clock.now().UnixMilli())
	s.must(err)
}

func report(last4, status, code string) sms.DeliveryReport {
	return sms.DeliveryReport{ProviderID: "id-" + last4, Mobile: "234803000" + last4, Status: status, ErrorCode: code,
		SubmitDate: "2606030948", DoneDate: "2606030949",
		Raw: "mobile=234803000" + last4 + "&status=" + status}
}

func (b *browser) fragment(path string) answer {
	b.site.t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("HX-Request", "true")
	return b.send(r)
}

// html is the one element at the selector as it stands in the answer.
func (a answer) html(selector string) string {
	a.t.Helper()
	found := a.page().Find(selector)
	if found.Length() != 1 {
		a.t.Fatalf("%d elements at %q in %.800s", found.Length(), selector, a.body)
	}
	html, err := goquery.OuterHtml(found)
	if err != nil {
		a.t.Fatal(err)
	}
	return html
}

func (a answer) attr(selector, name string) string {
	a.t.Helper()
	value, ok := a.page().Find(selector).Attr(name)
	if !ok {
		a.t.Fatalf("no %s at %q in %.800s", name, selector, a.body)
	}
	return value
}

func (a answer) count(selector string, want int) answer {
	a.t.Helper()
	if got := a.page().Find(selector).Length(); got != want {
		a.t.Errorf("%d elements at %q, want %d", got, selector, want)
	}
	return a
}

// row is a table's row as it was written.
func (a answer) row(id string) string {
	a.t.Helper()
	_, row, found := strings.Cut(a.body, `<tr id="`+id+`"`)
	row, _, closed := strings.Cut(row, "</tr>")
	if !found || !closed {
		a.t.Fatalf("no row %s in %.800s", id, a.body)
	}
	return row
}

// rows are the tables' rows that an answer to a refetch carries.
func (a answer) rows() (ids []string) {
	a.t.Helper()
	a.page().Find("hx-partial").Not(":has(select)").Each(func(_ int, p *goquery.Selection) {
		target, _ := p.Attr("hx-target")
		if target != "#campaign-state" && target != "#campaign-act" {
			ids = append(ids, strings.TrimPrefix(target, "#"))
		}
	})
	return ids
}

// leads checks that every link, form and refetch of a page has a handler.
func (s *site) leads(a answer) {
	s.t.Helper()
	open := func(method, address string) {
		u, err := url.Parse(address)
		if err != nil || u.Host != "" {
			s.t.Errorf("%s %q leads away", method, address)
			return
		}
		if u.Path != "" && !s.routes().Match(chi.NewRouteContext(), method, u.Path) {
			s.t.Errorf("%s %q leads nowhere", method, address)
		}
	}
	each := func(selector, attribute, method string) {
		a.page().Find(selector).Each(func(_ int, e *goquery.Selection) {
			address, _ := e.Attr(attribute)
			open(method, address)
		})
	}
	each("a[href]", "href", http.MethodGet)
	each("form[method=post]", "action", http.MethodPost)
	each("form[method=get]", "action", http.MethodGet)
	each("[hx-get]", "hx-get", http.MethodGet)
	each("[hx-post]", "hx-post", http.MethodPost)
	ids := map[string]bool{}
	a.page().Find("[id]").Each(func(_ int, e *goquery.Selection) {
		id, _ := e.Attr("id")
		if ids[id] {
			s.t.Errorf("the id %q is there twice", id)
		}
		ids[id] = true
	})
	a.count("h1", 1)
}
