package web

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// form is what the page would send, with some fields typed anew.
func (a answer) form(pairs ...string) []string {
	a.t.Helper()
	fields := map[string]string{}
	page := a.page().Find("form#compose")
	for _, name := range []string{"token", "account", "replaces"} {
		fields[name], _ = page.Find("input[name=" + name + "]").Attr("value")
	}
	fields["numbers"] = page.Find("textarea[name=numbers]").Text()
	fields["text"] = page.Find("textarea[name=text]").Text()
	fields["name"], _ = page.Find("input[name=name]").Attr("value")
	fields["sender_id"], _ = page.Find("option[selected]").Attr("value")
	for i := 0; i+1 < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	var all []string
	for name, value := range fields {
		all = append(all, name, value)
	}
	return all
}

func (s *site) campaigns(account int64) []sms.CampaignRow {
	s.t.Helper()
	rows, _, err := s.db.Campaigns(context.Background(), sms.CampaignFilter{AccountID: account, Limit: 100})
	s.must(err)
	return rows
}

func TestComposeOffersWhatCanBeUsed(t *testing.T) {
	s := newSite(t)
	b := s.as(s.boss)
	got := b.get("/new").is(200).has("No provider account connected").count("form#compose", 0)
	if got.attr(".empty a", "href") != "/settings/account/new" {
		t.Error("an administrator is not led to the connection")
	}
	a := s.account(sms.Account{Name: "Clinic"})
	got = b.get("/new").is(200).has("No approved sender ID", "Ask the provider to approve a sender ID.").count("select", 0)
	s.leads(got)
	s.as(s.hire("s@example.com", sms.Sender)).get("/new").is(200).count("#sender_id a", 0)

	s.know(a.ID, "CLINIC")
	got = b.get("/new").is(200)
	s.leads(got)
	if got.text("select#sender_id") != "CLINIC" || got.attr("option[selected]", "value") != "CLINIC" {
		t.Errorf("the only sender ID is not chosen: %q", got.text("select#sender_id"))
	}
	s.know(a.ID, "CLINIC", "SCHOOL")
	got = b.get("/new")
	if got.text("select#sender_id") != "CLINICSCHOOL" || got.attr("option[selected]", "value") != "CLINIC" {
		t.Errorf("the choice is %q", got.text("select#sender_id"))
	}
	s.update(a.ID, func(a *sms.Account) { a.DefaultSender = "SCHOOL" })
	if got = b.get("/new"); got.attr("option[selected]", "value") != "SCHOOL" {
		t.Error("the default sender ID is not chosen")
	}
	got.lacks("Test numbers:", "PENDING", "OLDNAME")
}

func TestComposeHintsAtTestNumbers(t *testing.T) {
	s := newSite(t)
	s.account(sms.Account{Name: "Sandbox", Test: true, BaseURL: "http://127.0.0.1:1/v2"})
	s.as(s.boss).get("/new").is(200).has("Test numbers:").count(`a[href="/help#test-numbers"]`, 1)
}

func TestComposeKeepsWhatWasTyped(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	long := strings.Repeat("Wellbeing", 34)[:300]
	numbers := "0803 000 0101\n0803 5S5 0101, 080312345\n08030000101"
	text := "Line one “" + long + "”\n\n  line two <b>"
	page := b.get("/new")
	got := b.post("/new", page.form("numbers", strings.ReplaceAll(numbers, "\n", "\r\n"), "text",
		strings.ReplaceAll(text, "\n", "\r\n"), "sender_id", "PENDING", "name", "June <i>", "flash", "yes")...).is(422)
	s.leads(got)
	if title := got.text("title"); !strings.HasPrefix(title, "Error: ") {
		t.Errorf("the title is %q", title)
	}
	kept := got.page().Find("form#compose")
	if n, x := kept.Find("[name=numbers]").Text(), kept.Find("[name=text]").Text(); strings.ReplaceAll(n, "\r",
		"") != numbers || x != text {
		t.Errorf("kept %q and %q", n, x)
	}
	if got.attr("[name=name]", "value") != "June <i>" || got.page().Find("[name=flash][checked]").Length() != 1 ||
		got.attr("#compose [name=token]", "value") != page.attr("#compose [name=token]", "value") {
		t.Error("the name, the kind or the token is lost")
	}
	numbersSentence := `2 numbers cannot be used. First problem: Contains letters: character 7 of "0803 5S5 0101" is S`
	for field, sentence := range map[string]string{"numbers": numbersSentence,
		"sender_id": "Sender ID PENDING is not approved and active. Choose another"} {
		if summary := got.text(`#errors a[href="#` + field + `"]`); summary != sentence {
			t.Errorf("the summary says %q about %s", summary, field)
		}
		if at := got.text("#" + field + "-error"); at != "Error: "+sentence {
			t.Errorf("the field %s says %q", field, at)
		}
		if described := got.attr("#"+field, "aria-describedby"); !strings.Contains(described, field+"-error") {
			t.Errorf("the field %s is described by %q", field, described)
		}
	}
	got.count("#errors[autofocus]", 1).count(".cell-err", 2).has("Too short: has 9 digits, needs 11")
	if n := len(s.campaigns(1)); n != 0 {
		t.Errorf("%d campaigns were made", n)
	}
	fixed := b.post("/new", got.form("numbers", "08030000101", "sender_id", "SCHOOL", "text", "Hello")...).is(303)
	if rows := s.campaigns(1); len(rows) != 1 || rows[0].Campaign.Name != "June <i>" {
		t.Errorf("%v %v", fixed.header.Get("Location"), rows)
	}
}

func TestComposeSaysWhatIsWrong(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	for name, c := range map[string]struct {
		typed []string
		want  []string
	}{
		"nothing":        {nil, []string{"Enter at least one phone number", "Enter the message"}},
		"one bad number": {[]string{"numbers", "080312345", "text", "Hi"}, []string{"Too short: has 9 digits, needs 11"}},
		"abroad":         {[]string{"numbers", "+447400123456", "text", "Hi"}, []string{"Number is in the United Kingdom, and sending abroad is turned off"}},
		"too many":       {[]string{"numbers", typed(1001), "text", "Hi"}, []string{"You can enter up to 1,000 numbers. You entered 1001. Upload a list instead"}},
		"too long": {[]string{"numbers", "08030000101", "text", strings.Repeat("a", 930)},
			[]string{"Message must be 918 characters or fewer. Yours is 12 over"}},
		"long name":    {[]string{"numbers", "08030000101", "text", "Hi", "name", strings.Repeat("n", 101)}, []string{"Name must be 100 characters or fewer"}},
		"no sender ID": {[]string{"numbers", "08030000101", "text", "Hi", "sender_id", ""}, []string{"Choose a sender ID"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := b.post("/new", b.get("/new").form(c.typed...)...).is(422)
			var said []string
			got.page().Find("#errors li").Each(func(_ int, li *goquery.Selection) {
				said = append(said, strings.TrimSpace(li.Text()))
			})
			if !slices.Equal(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
	many := "08030000101"
	for i := range 30 {
		many += fmt.Sprintf("\n0803x%06d", i)
	}
	b.post("/new", b.get("/new").form("numbers", many, "text", "Hi")...).is(422).count(".cell-err",
		20).has("and 10 others")
}

func TestComposeIsOneCampaignForOneForm(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	page := b.get("/new")
	form := page.form("numbers", "08030000101\n08030000102\n0803 000 0101", "text", "Hello")
	first := b.post("/new", form...).is(303).header.Get("Location")
	b.post("/new", form...).to(first)
	if n := len(s.campaigns(a.ID)); n != 1 {
		t.Fatalf("%d campaigns", n)
	}
	// The browser's way back brings the old form: another text is another message.
	other := b.post("/new", page.form("numbers", "08030000101", "text", "Hello again")...).is(303).header.Get("Location")
	if other == first || len(s.campaigns(a.ID)) != 2 {
		t.Error("the changed text went the way of the first one")
	}
	b.get(other).has("Hello again")
	confirm := b.get(first).is(200)
	b.post(confirm.attr("form#send", "action"), "version", confirm.attr("[name=version]", "value")).is(303)
	b.post("/new", form...).to(strings.TrimSuffix(first, "/confirm?repeated=1"))
	b.post("/new", page.form("numbers", "08030000101", "text", "x", "token", "")...).is(409)
	s.as(s.hire("s@example.com", sms.Sender)).post("/new", form...).is(409)
}

func TestComposeKnowsThatTheAccountChanged(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	other := s.account(sms.Account{Name: "School"})
	s.know(other.ID, "CLINIC", "SCHOOL")
	b := s.as(s.boss)
	page := b.get("/new")
	s.must(s.desk.ChooseAccount(t.Context(), b.cookies[s.cookie], other.ID))
	got := b.post("/new", page.form("numbers", "08030000101", "text", "Hello")...).is(422)
	got.has("You have switched to another account, School.")
	if len(s.campaigns(a.ID))+len(s.campaigns(other.ID)) != 0 {
		t.Error("a campaign was made")
	}
	b.post("/new", got.form()...).is(303)
	if len(s.campaigns(other.ID)) != 1 {
		t.Error("the second press does not make it")
	}
}

func TestComposeBackNeverLosesAnything(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	text := "Dear all,\nthe clinic is “closed”."
	to := b.post("/new", b.get("/new").form("numbers", "08030000101,08030000102", "text", text, "sender_id", "SCHOOL",
		"flash", "yes")...).is(303).header.Get("Location")
	confirm := b.get(to).is(200)
	back := b.get(confirm.attr("#deck-back", "href")).is(200)
	if form := back.page().Find("form#compose"); form.Find("[name=text]").Text() != text ||
		form.Find("[name=numbers]").Text() != "0803 000 0101\n0803 000 0102" ||
		back.attr("option[selected]", "value") != "SCHOOL" || form.Find("[name=flash][checked]").Length() != 1 {
		t.Errorf("lost on the way back: %s", back.text("form#compose"))
	}
	if back.text("#numbers-count") != "2 numbers" || back.attr("[name=name]", "value") != "" {
		t.Errorf("counted %q, named %q", back.text("#numbers-count"), back.attr("[name=name]", "value"))
	}
	b.get("/new").has("You have an unsent message, “Dear all, the clinic is “closed”.”, from today at 10:48am.").count(
		`a[href="`+confirm.attr("#deck-back", "href")+`"]`, 1)

	changed := b.post("/new", back.form("text", "Shorter")...).is(303).header.Get("Location")
	if rows := s.campaigns(a.ID); len(rows) != 1 || rows[0].Campaign.Text != "Shorter" {
		t.Errorf("the draft was not replaced: %d campaigns", len(rows))
	}
	b.get(to).is(404)
	b.get(confirm.attr("#deck-back", "href")).is(200).has("The message you wanted to change no longer exists.")

	// Somebody else's draft is a pattern, not theirs to change.
	other := s.as(s.hire("s@example.com", sms.Sender))
	theirs := other.get(changed).is(200).attr("#deck-back", "href")
	copied := other.get(theirs).is(200)
	if copied.attr("[name=replaces]", "value") != "" || copied.page().Find("[name=text]").Text() != "Shorter" {
		t.Error("somebody else's draft would be replaced")
	}
	other.get("/new").count("#unsent", 0)
	other.post("/new", copied.form("replaces", fmt.Sprint(s.campaigns(a.ID)[0].Campaign.ID))...).is(403)
	s.clock.pass(25 * time.Hour)
	s.as(s.boss).get("/new").count("#unsent", 0)
}

func TestComposeCountsWhileTyping(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	counted := func(path, field, value string) answer {
		return b.post(path, field, value, "sender_id", "CLINIC").is(200)
	}
	for text, want := range map[string]string{
		"":                       "One part holds 160 characters.",
		"Hello":                  "1 part · 155 characters left.",
		strings.Repeat("a", 159): "1 part · 1 character left.",
		strings.Repeat("a", 161): "2 parts · 145 characters left in this part.",
		"a\r\nb":                 "1 part · 157 characters left.",
		strings.Repeat("a", 100) +
			"ọ": "2 parts · 33 characters left in this part. This message needs 2 parts because of “ọ”. Without it, 1 part would be enough.",
		"ọ" + strings.Repeat("ẹ", 69): "1 part · 0 characters left. Each part holds only 70 characters because of “ọ” and “ẹ”.",
		"“Ada’s”": "1 part · 63 characters left. Each part holds only 70 characters because of the " +
			"curly quotation mark “, the curly apostrophe ’ and the curly quotation mark ”.",
		strings.Repeat("a",
			919): "Too long: 7 parts. The limit is 6 · Message must be 918 characters or fewer. Yours is 1 over.",
		"ábcdf̣\u200bg\u200dh₦ççạệ\ufeffi ọ\t": "1 part",
	} {
		got := counted("/new/parts", "text", text)
		if words := got.text("#parts"); !strings.HasPrefix(words, want) || len(text) < 10 && words != want {
			t.Errorf("%.20q: %q, want %q", text, words, want)
		}
		if page := b.post("/new", b.get("/new").form("text", text)...); page.html("#parts") != got.html("#parts") ||
			page.html("#preview") != got.html("#preview") {
			t.Errorf("%.20q: the fragment is not the one of the page", text)
		}
	}
	if one, two := counted("/new/parts", "text", "a"),
		counted("/new/parts", "text", "ab"); one.html("#parts [role=status]") != two.html("#parts [role=status]") {
		t.Error("every letter is read out")
	}
	if got := counted("/new/parts", "text", "<script>alert(1)</script>"); strings.Contains(got.body, "<script") {
		t.Error("the preview is not text")
	}
	for text, want := range map[string]string{
		"":                         "",
		"08030000101":              "1 number",
		"08030000101, 08030000101": "1 number · 1 duplicate",
		"08030000101\r\n08030000102\r\n+2348030000101\r\nx\r\ny": "2 numbers · 1 duplicate · 2 cannot be used: x and 1 more",
		strings.Repeat("0803000010", 7000):                       "More than 1,000 numbers",
	} {
		if words := counted("/new/numbers", "numbers", text).text("#numbers-count"); words != want {
			t.Errorf("%.20q: %q, want %q", text, words, want)
		}
	}
	counted("/new/parts", "text", strings.Repeat("€", 100_000)).has("Too long")
	for _, nobody := range []*browser{s.browser(), s.as(s.hire("v@example.com", sms.Viewer))} {
		for _, path := range []string{"/new/parts", "/new/numbers"} {
			if got := nobody.post(path, "text", "Hello", "numbers", "08030000101").is(204); got.body != "" ||
				got.header.Get("HX-Redirect") != "" {
				t.Errorf("%s answers a stranger", path)
			}
		}
	}
}

func TestConfirmShowsWhatItTakes(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	balance := func(credits string) {
		s.must(s.db.PutBalances(t.Context(), a.ID, []sms.Balance{{PluginType: "SMS", Credits: credits}},
			s.clock.now().UnixMilli()))
	}
	balance("₦57,524.50")
	to := b.post("/new", b.get("/new").form("numbers",
		"08030000101 08030000102 08030000103 08030000104 08030000105 0803 000 0101", "text", strings.Repeat("a", 161))...).is(422)
	to = b.post("/new",
		to.form("numbers", "08030000101 08030000102 08030000103 08030000104 08030000105, 0803 000 0101")...).is(303)
	path := to.header.Get("Location")
	got := b.get(path).is(200)
	s.leads(got)
	got.has("From CLINIC", "Message 1 of 5 to 0803 000 0101", "2 parts, 161 characters", "Recipients 5 of 6 1 left out: 1 repeated",
		"Parts 10 2 each", "Balance ₦57,524.50", "Duplicate numbers get the message once.",
		"Estimated cost not known yet type a price Learned after 3 campaigns")
	got.lacks("left after")
	if got.text("#send-now") != "Send 5 messages now" {
		t.Errorf("the button says %q", got.text("#send-now"))
	}
	s.update(a.ID, func(a *sms.Account) { a.PricePerPart = 400 })
	b.get(path).has("about ₦40.00 ₦4.00 a part As set in Settings", "Balance ₦57,524.50 → ₦57,485",
		"about ₦40.00 estimated cost₦57,485 left after").count(".fact.bad", 0)
	balance("KSh57,524.5000")
	b.get(path).has("Balance KSh57,524.5000 → KSh57,485")
	balance("₦30.10")
	b.get(path).has("₦9.90 short. Send fewer messages or top up").count("#fact-balance.bad", 1).count("#send-now", 1)
	balance("5 credits")
	b.get(path).has("Balance 5 credits").lacks("left after")
	balance("1,5 EUR")
	b.get(path).lacks("left after")

	s.as(s.hire("v@example.com", sms.Viewer)).get(path).is(403)
	s.as(s.hire("s@example.com", sms.Sender)).get(path).is(200).count(`main a[href^="/settings"]`, 0)
	b.get("/campaigns/1/start").to("/campaigns/1/confirm")
	one := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030000101", Flash: true})
	if got := b.get(views.CampaignPath(one.ID) + "/confirm").has("flash message"); got.text(
		"#send-now") != "Send 1 message now" {
		t.Errorf("the button says %q", got.text("#send-now"))
	}
}

func TestConfirmStartsOnce(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	boss, colleague := s.as(s.boss), s.as(s.hire("s@example.com", sms.Sender))
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3)})
	path := views.CampaignPath(c.ID)
	page := boss.get(path + "/confirm")
	action, version := page.attr("form#send", "action"), page.attr("[name=version]", "value")
	boss.post(action, "version", "77").is(409).has("This campaign has changed")
	for range 3 {
		boss.post(action, "version", version).to(path)
	}
	s.clock.pass(4 * time.Minute)
	got := colleague.post(action, "version", version).is(409)
	got.has("Started by Ada Obi today at 10:48am. Nothing was sent twice.").count(`main a[href="`+path+`"]`, 1)
	s.leads(got)
	boss.get(path + "/confirm").to(path)
	tally, err := s.db.Tally(t.Context(), c.ID)
	s.must(err)
	if tally["queued"] != 3 || tally.Total() != 3 {
		t.Errorf("queued %v", tally)
	}
	s.as(s.hire("v@example.com", sms.Viewer)).post(action, "version", version).is(403)
	s.browser().post(action, "version", version).is(303)
	boss.post("/campaigns/999/start", "version", "1").is(404)
}

func TestConfirmAsksAboutTheSameCampaign(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	s.started(s.boss, desk.Order{AccountID: a.ID, Name: "June reminders", Numbers: typed(3)})
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3)})
	path := views.CampaignPath(c.ID)
	page := b.get(path + "/confirm").has("All 3 recipients are already waiting to get nearly this text").
		has("June reminders by Ada Obi, today at 10:48am.")
	s.leads(page)
	version := page.attr("[name=version]", "value")
	got := b.post(path+"/start", "version", version).is(422)
	s.leads(got)
	sentence := "All 3 recipients are already waiting to get nearly this text. Tick the box to send it to them again"
	if got.text(`#errors a[href="#again"]`) != sentence || got.text("#again-error") != "Error: "+sentence ||
		!strings.HasPrefix(got.text("title"), "Error: ") {
		t.Errorf("said %q", got.text("#errors"))
	}
	s.know(a.ID, "SCHOOL")
	b.post(path+"/start", "version", version, "again",
		"yes").is(422).has("Sender ID CLINIC is not approved and active. Choose another").count("[name=again][checked]", 1)
	s.know(a.ID, "CLINIC")
	b.post(path+"/start", "version", version, "again", "yes").to(path)
	s.clock.pass(31 * 24 * time.Hour)
	later := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3)})
	s.as(s.boss).get(views.CampaignPath(later.ID)+"/confirm").count("[name=again]", 0)
}

// TestAMessageOutlivesItsSession: P1. Who wrote for more than two hours signs
// in and finds the message as it was, once, and only after a real session.
func TestAMessageOutlivesItsSession(t *testing.T) {
	s := newSite(t)
	s.clinic()
	u := s.hire("writer@example.com", sms.Sender)
	b := s.as(u)
	b.get("/new").is(200)
	s.clock.pass(3 * time.Hour)
	answer := b.post("/new", "numbers", "0803 555 0101", "text", "A long letter", "sender_id", "CLINIC", "token",
		desk.NewToken(), "account", "1").is(303)
	signin, err := url.Parse(answer.header.Get("Location"))
	s.must(err)
	if signin.Path != "/signin" || signin.Query().Get("why") != "timeout" {
		t.Fatalf("led to %s", signin)
	}
	kept := signin.Query().Get("next")
	again := s.as(u)
	page := again.get(kept).is(200)
	if page.text("textarea[name=numbers]") != "0803 555 0101" || page.text("textarea[name=text]") != "A long letter" {
		t.Errorf("what was typed is gone: %q %q", page.text("textarea[name=numbers]"), page.text("textarea[name=text]"))
	}
	if again.get(kept).is(200).text("textarea[name=text]") != "" {
		t.Error("it is shown a second time")
	}
	stranger := s.browser().post("/new", "numbers", "0803 555 0101", "text", "From nobody").is(303)
	if next := stranger.header.Get("Location"); strings.Contains(next, "kept") {
		t.Errorf("a stranger's form was kept: %s", next)
	}
}
