package views

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"smsdesk/internal/sms"
)

// ConfirmPage is a draft shown for the last time before it is sent.
type ConfirmPage struct {
	Formatter
	Campaign sms.Campaign
	Account  sms.Account
	Out      sms.Outgoing
	List     *sms.List // nil unless it was made of one
	Repeated int       // numbers left out because they stood there before, of a typed campaign
	Preview  Preview
	Plan     Plan
	Later    SchedulePage // when to send
	Approval Approval
	Balance  *sms.Balance // nil while it is not known
	Already  AlreadyCard
	Rehearse RehearsalOffer
	Typed    string // the number of recipients as typed
	Name     string // as typed
	// Contacts counts the group's contacts as the provider said last, below 0
	// where that is not known.
	Contacts int64
	Mine     bool // the person's own draft, which "Back" may change
	// MaySetPrice says that the person may open the account's settings.
	MaySetPrice bool
	NoAddress   OptOutNoAddressProps
	Price       Price
	WarnBelow   int64 // hundredths; 0: no warning
	Repeat      Repeat
	Live        Refresh // of what it takes
	Errors      sms.Invalid
}

// confirmOrder is the order of the fields on the page.
var confirmOrder = []string{"group", "test_number", "when", "day", "time", "which", "hand_over", "again", "may_repeat",
	"blind", "typed", "approval", "name"}

// number is how many messages leave, as the button says it.
func (p ConfirmPage) messages() string {
	if p.Campaign.GroupID != "" {
		return "to the group " + Shorten(p.Campaign.GroupName, 40)
	}
	return Plural(int(p.Out.Messages), "message", "messages")
}

// nothing says that nobody is left to send to.
func (p ConfirmPage) nothing() bool { return p.Campaign.GroupID == "" && p.Out.Messages <= 0 }

// nobodyLeft says why nobody is.
func (p ConfirmPage) nobodyLeft() string {
	if p.Already.hasLeft() {
		return "All recipients are left out. There is no one left to send to."
	}
	if len(p.Out.Sent) > 0 {
		return "Everyone has already got this message or has been blocked since. There is no one left to send to."
	}
	return "All of these numbers have been blocked since. There is no one left to send to."
}

// button says what pressing it does, for the chosen time.
func (p ConfirmPage) button() string {
	switch {
	case p.Approval.Needed:
		return "Ask for approval"
	case p.Later.When != WhenNow && p.Later.Chosen == nil:
		return "Schedule"
	case p.Later.When != WhenNow:
		return p.Later.button()
	case !p.Plan.Forecast.Starts.After(p.Plan.From):
		return "Send " + p.messages() + " now"
	}
	return "Send " + p.messages() + ", starting " + When(p.Plan.Forecast.Starts, p.Now)
}

// sure is what the button promises; the server does nothing else than that.
func (p ConfirmPage) sure() string {
	switch {
	case p.Approval.Needed:
		return Ask
	case p.Later.When == WhenNow:
		return WhenNow
	case p.Later.Chosen == nil:
		return ""
	}
	return strconv.FormatInt(p.Later.Chosen.At, 10)
}

func (p ConfirmPage) back() Link {
	id := strconv.FormatInt(p.Campaign.ID, 10)
	switch {
	case p.List != nil && !p.Mine: // a list opens for whoever uploaded it
		return Link{Text: "Back to campaign", Href: CampaignPath(p.Campaign.ID)}
	case p.List != nil && p.List.Tally.Bad()+p.List.Tally.LeftOut() > 0:
		return Link{Text: "Back to check", Href: ListPath(p.List.UID, "/check")}
	case p.List != nil:
		return Link{Text: "Back to edit the message", Href: ListPath(p.List.UID, "/message")}
	case p.Mine:
		return Link{Text: "Back to edit the message", Href: "/new?draft=" + id}
	}
	return Link{Text: "Back to edit the message", Href: "/new?again=" + id}
}

func (p ConfirmPage) recipients() string {
	if p.Campaign.GroupID != "" {
		if p.Contacts < 0 {
			return "not known"
		}
		return "about " + Number(int(p.Contacts))
	}
	return p.most() + Number(int(p.Out.Messages))
}

// most stands before figures that may turn out lower.
func (p ConfirmPage) most() string {
	if p.Out.Unsure {
		return "at most "
	}
	return ""
}

// cost is what its parts cost by the price that is reckoned with.
func (p ConfirmPage) cost() (*big.Rat, bool) {
	parts, known := p.parts()
	if !p.Price.Known() || !known {
		return nil, false
	}
	return p.Price.of(parts), true
}

// parts counts those to be paid; those of a group go by the provider's count.
func (p ConfirmPage) parts() (n int64, known bool) {
	if p.Campaign.GroupID == "" {
		return p.Out.Parts, true
	}
	return p.Contacts * p.Campaign.Parts, p.Contacts >= 0
}

// facts are the four figures that matter before a send. What is not known is
// said, never guessed.
func (p ConfirmPage) facts() []Fact {
	return []Fact{p.recipientsFact(), p.partsFact(), p.costFact(), p.balanceFact()}
}

func (p ConfirmPage) recipientsFact() Fact {
	f := Fact{ID: "fact-recipients", Label: "Recipients", Figure: p.recipients()}
	left, all := 0, int(p.Out.Messages)
	var words []string
	kinds := []Counted{{"full", int(p.Out.Messages)}}
	for i, t := range p.left() {
		left += t.n
		words = append(words, Number(t.n)+" "+t.words)
		kinds = append(kinds, Counted{[]string{"mute", "warn", "bad"}[i%3], t.n})
	}
	if p.Campaign.GroupID != "" {
		f.Words = "Everyone in the group " + Shorten(p.Campaign.GroupName, 40)
		return f
	}
	if left > 0 {
		f.Small, f.Link = "of ", Link{Text: Number(all + left)}
		if p.Out.LeftOut > 0 {
			f.Link.Href = CampaignPath(p.Campaign.ID) + "?state=leftout"
		} else {
			f.Small += f.Link.Text
		}
		f.Words = Number(left) + " left out: " + strings.Join(words, ", ")
	}
	f.Picture = shareBar(f.Figure+" get it. "+f.Words, "10", shares(kinds...))
	return f
}

func (p ConfirmPage) partsFact() Fact {
	n, known := p.parts()
	f := Fact{ID: "fact-parts", Label: "Parts", Figure: "not known"}
	if !known {
		f.Words = Plural(int(p.Campaign.Parts), "part", "parts") + " for each contact of the group"
		return f
	}
	f.Figure = p.most() + Number(int(n))
	one := p.Out.Messages
	if p.Campaign.GroupID != "" {
		one = p.Contacts
		f.Figure = "about " + Number(int(n))
	}
	if one > 0 && n%one == 0 && (p.Campaign.Text != "" || n == one) {
		f.Small = Number(int(n/one)) + " each"
	}
	s := sms.CountSegments(p.Preview.Message.Text, p.Preview.Message.Unicode)
	_, fills := partsGauge(s, p.Account.MaxParts)
	f.Picture = shareBar(partsWhy(p.Preview.Message.Text, p.Preview.Message.Unicode), "10", fills)
	if f.Words = p.whyParts(); f.Words != "" {
		f.Warn = true
	} else if s.Parts > 0 {
		f.Words = Plural(s.Units, "character", "characters") + " in the message shown"
	}
	return f
}

func (p ConfirmPage) costFact() Fact {
	f := Fact{ID: "fact-cost", Label: "Estimated cost", Figure: "not known yet"}
	cost, known := p.cost()
	switch {
	case known:
		n, _ := p.parts()
		f.Figure, f.Small = p.most()+"about "+reckoned(p.Account.Currency, cost), p.Price.each(p.Account.Currency)
		f.Words = capitalise(p.Price.source())
		if spread := p.Price.spread(p.Account.Currency, n); spread != "" {
			f.Words = spread + ", " + p.Price.source()
			f.Picture = spreadPicture(f.Words)
		}
	case p.Price.Known():
		f.Words = "Only the provider knows how many numbers the group has."
	case p.MaySetPrice:
		f.Words = "Learned after " + Number(minLearned) + " campaigns"
		f.Small, f.Link = " ", Link{Text: "type a price", Href: SectionPath(p.Account.ID, SectionMoney)}
	default:
		f.Words = "Learned after " + Number(minLearned) + " campaigns"
	}
	return f
}

func (p ConfirmPage) balanceFact() Fact {
	f := Fact{ID: "fact-balance", Label: "Balance", Figure: "not read yet"}
	if p.Balance == nil {
		return f
	}
	f.Figure = p.Balance.Credits
	after, sign, known := p.after()
	if !known {
		return f
	}
	have, _ := p.Balance.Amount()
	f.Figure += " → " + reckoned(sign, after)
	cost, _ := p.cost()
	switch warn := big.NewRat(p.WarnBelow, 100); {
	case after.Sign() < 0:
		f.Bad = true
		f.Words = reckoned(sign, new(big.Rat).Neg(after)) + " short. Send fewer messages or top up"
	case p.WarnBelow > 0 && after.Cmp(warn) < 0:
		f.Warn, f.Words = true, "Below the alert level, "+reckoned(sign, warn)
	case p.WarnBelow > 0:
		f.Words = "Above the alert level, " + reckoned(sign, warn)
	}
	if have.Sign() > 0 && after.Sign() >= 0 {
		taken, _ := new(big.Rat).Quo(new(big.Rat).Mul(cost, big.NewRat(100, 1)), have).Float64()
		f.Picture = shareBar(f.Figure, "10", []Share{{Class: "ok", Long: 100 - taken},
			{Class: "soft", From: 100 - taken, Long: taken}})
	}
	return f
}

// after is the balance as it is left, and its currency as the provider writes it.
func (p ConfirmPage) after() (left *big.Rat, sign string, known bool) {
	cost, known := p.cost()
	if !known || p.Balance == nil {
		return nil, "", false
	}
	have, readable := p.Balance.Amount()
	if !readable {
		return nil, "", false
	}
	sign = strings.Trim(p.Balance.Credits[:strings.IndexFunc(p.Balance.Credits, unicode.IsDigit)], "-− ")
	return new(big.Rat).Sub(have, cost), sign, true
}

// top is the head of the page: its heading is the campaign's name.
func (p ConfirmPage) top() FlowTop {
	t := FlowTop{Step: StepSend, Sub: "Sender ID " + p.Campaign.SenderID}
	if p.List != nil {
		t.Sub = Shorten(p.List.FileName, 60) + " · sender ID " + p.Campaign.SenderID
	}
	if p.Campaign.Flash {
		t.Sub += " · flash message"
	}
	t.Back[StepWrite] = p.back().Href
	if p.List != nil && p.Mine {
		t.Back[StepWrite] = ListPath(p.List.UID, "/message")
		t.Back[StepCheck] = ListPath(p.List.UID, "/check")
	}
	return t
}

func (p ConfirmPage) deck() Deck {
	d := Deck{Form: "send", Back: p.back(), Error: p.Errors["typed"], Without: p.nothing() || p.Approval.nobody(),
		Button: ButtonProps{ID: "send-now", Text: p.button(), Name: "sure", Value: p.sure(), Glyph: GlyphCampaign}}
	switch {
	case p.Approval.Needed:
		d.Button.Glyph = GlyphApproval
	case p.Later.When != WhenNow:
		d.Button.Glyph = GlyphScheduled
	}
	d.Facts = []DeckFact{{Figure: p.recipients(), Word: "recipients"}}
	if n, known := p.parts(); known {
		d.Facts = append(d.Facts, DeckFact{Figure: p.most() + Number(int(n)), Word: "parts", Desk: true})
	}
	if cost, known := p.cost(); known {
		d.Facts = append(d.Facts, DeckFact{Figure: p.most() + "about " + reckoned(p.Account.Currency, cost),
			Word: "estimated cost"})
	} else {
		d.Facts = append(d.Facts, DeckFact{Figure: "not known", Word: "cost", Desk: true})
	}
	if after, sign, known := p.after(); known {
		fact := DeckFact{Figure: reckoned(sign, after), Word: "left after", Desk: true}
		if after.Sign() < 0 {
			fact.Tone = ToneBad
		}
		d.Facts = append(d.Facts, fact)
	}
	return d
}

// whyParts says why messages need more parts than their length alone.
func (p ConfirmPage) whyParts() string {
	if p.List == nil {
		return strings.TrimSpace(OddLetters(p.Campaign.Text))
	}
	n := p.List.Tally.Kinds[sms.RowLonger]
	if n == 0 || p.List.Tally.Letters == "" {
		return ""
	}
	return Plural(int(n), "message needs", "messages need") + " extra parts because of " +
		oddNames([]rune(p.List.Tally.Letters)) + "."
}

// keptBack is how many of one kind are not sent.
type keptBack struct {
	words string
	n     int
}

// left are those that are not sent, by kind.
func (p ConfirmPage) left() []keptBack {
	var list []keptBack
	add := func(words string, n int64) {
		if n > 0 {
			list = append(list, keptBack{words, int(n)})
		}
	}
	if p.List == nil {
		add("blocked", p.Out.LeftOut-p.Already.left())
		add("already sent", p.Already.left())
		add("repeated", int64(p.Repeated))
	} else {
		for _, k := range sms.RowKinds() {
			if k.Bad() || k.LeftOut() {
				add(strings.ToLower(wordsOf(k).tab), p.List.Tally.Kinds[k])
			}
		}
		add("hidden", p.List.Tally.Hidden)
	}
	add("blocked since the check", p.Out.Blocked)
	return list
}

// listNotes are what is worth knowing about rows that are sent.
func (p ConfirmPage) listNotes() []string {
	var notes []string
	if p.Repeated > 0 {
		notes = append(notes, "Duplicate numbers get the message once.")
	}
	if p.Out.Unsure {
		notes = append(notes,
			"Some numbers have been blocked since this list was checked. They will be left out when the campaign reaches them.")
	}
	if p.List == nil {
		return notes
	}
	t := p.List.Tally
	if n := t.Kinds[sms.RowRepaired]; n > 0 {
		notes = append(notes, "We fixed "+Plural(int(n), "number", "numbers")+": "+fixes(t.Fixes)+".")
	}
	if n := int(t.Headers); n > 0 {
		notes = append(notes, Plural(n, "row is", "rows are")+" left out because the column names are repeated there.")
	}
	if n := t.Kinds[sms.RowOtherText]; n > 0 {
		notes = append(notes, Plural(int(n), "number will get", "numbers will get")+
			" more than one message because the texts differ.")
	}
	return notes
}

// fixes says what was repaired, the most frequent first.
func fixes(list map[string]int64) string {
	var words []string
	for w := range list {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int {
		if list[a] != list[b] {
			return int(list[b] - list[a])
		}
		return strings.Compare(a, b)
	})
	for i, w := range words {
		words[i] = strings.ToLower(w[:1]) + w[1:] + " (" + Number(int(list[w])) + ")"
	}
	return and(words)
}

func (p ConfirmPage) typedLabel() string {
	return "Type " + strconv.FormatInt(p.Out.Messages, 10) + " to confirm"
}

func (p ConfirmPage) typedHint() string {
	return "Required for campaigns with more than " + Number(int(p.Account.ConfirmCountAbove)) + " recipients."
}

// asksTyped says whether the number of recipients has to be typed: the yes of
// a second person takes its place.
func (p ConfirmPage) asksTyped() bool { return p.Out.Asks(p.Account) && !p.Approval.Needed }

// jump is what the link beside the heading leads to: the last thing to do.
func (p ConfirmPage) jump() string {
	if p.asksTyped() {
		return "#typed"
	}
	return "#send-now"
}

// Preview is one row of a campaign as its recipient sees it.
type Preview struct {
	Formatter
	Campaign       sms.Campaign
	Message        sms.Message
	Template       string // the text with its marks that Message was filled from, "" when not known
	Listed         bool   // rows are those of a spreadsheet
	Count          int64  // of rows
	Previous, Next int64  // rows beside this one, 0 for none
	Longest, Odd   int64  // rows worth a look, 0 for none
	Test           TestForm
	Path           string // the page that it stands on, "" for the last one before sending; on others nothing is tried
}

// TestForm sends the row to the person's own phone.
type TestForm struct {
	Token  string // one-use
	Number string // as typed, or where the last one went
	Sent   *sms.Campaign
	SentTo string
	Error  string
}

// at is the address of the page with another row in it.
func (p Preview) at(row int64) string { return With(p.path(), "row", id(row)) }

func (p Preview) path() string {
	if p.Path != "" {
		return p.Path
	}
	return ConfirmPath(p.Campaign.ID)
}

// row names the row.
func (p Preview) row() string {
	switch {
	case p.Listed:
		return "Row " + Number(int(p.Message.Row))
	case p.Count < 2:
		return ""
	}
	return "Message " + Number(int(p.Message.Row)) + " of " + Number(int(p.Count))
}

// goTo names the field that asks for a row.
func (p Preview) goTo() string {
	if p.Listed {
		return "Row"
	}
	return "Number"
}

func (p Preview) to() string {
	switch {
	case p.Campaign.GroupID != "":
		return "To everyone in the group " + p.Campaign.GroupName
	case p.Message.Number == "":
		return "No number"
	case p.row() == "":
		return "To " + p.Phone(p.Message.Number)
	}
	return "to " + p.Phone(p.Message.Number)
}

// leftOut says why the row is not sent.
func (p Preview) leftOut() string {
	if p.Message.State != sms.Skipped {
		return ""
	}
	if p.Message.Reason == "" {
		return "This row is left out."
	}
	return "This row is left out: " + withStop(p.Message.Reason)
}

func (p Preview) runs() []TextSpan {
	var runs []TextSpan
	for _, s := range sms.Spans(p.Template, p.Message.Text) {
		runs = append(runs, TextSpan{Text: s.Text, Filled: s.Filled})
	}
	return runs
}

// last is the highest number that can be asked for.
func (p Preview) last() int64 { return max(p.Count, p.Message.Row) }

func (p Preview) handset() Handset {
	h := Handset{From: p.Campaign.SenderID, Told: strings.TrimSpace(p.row() + " " + p.to()), Runs: p.runs()}
	if p.Campaign.Flash {
		h.Told += " · flash message"
	}
	return h
}

func (p Preview) under() string {
	if p.Message.Text == "" {
		return "No text"
	}
	return partsWhy(p.Message.Text, p.Message.Unicode)
}

// partsWhy counts a text, and names the letters where they are why it needs
// that many parts.
func partsWhy(text string, uni bool) string {
	s := sms.CountSegments(text, uni)
	words := Plural(s.Parts, "part", "parts")
	if len(s.Odd) > 0 && sms.CountSegments(withoutOdd(text), false).Parts < s.Parts {
		return words + " because of " + oddNames(s.Odd)
	}
	return words + ", " + Plural(s.Units, "character", "characters")
}

// Plan says how a campaign is sent, and when it has left.
type Plan struct {
	Now       time.Time
	Text      int64 // calls with one text for many numbers
	Pairs     int64 // calls with a text for each number
	PerMinute int
	Hours     sms.Hours
	Others    int // other campaigns of the account that are being sent
	Group     bool
	HandOver  bool
	From      time.Time // when it is to start
	Forecast  sms.Forecast
}

// sentence is the plan in words.
func (p Plan) sentence() string {
	if p.HandOver {
		return p.requests() + " The provider holds it until then. smsdesk cannot see when the provider sends it."
	}
	return strings.TrimSpace(p.requests() + " " + p.takes() + " " + p.ends())
}

// requests says in how many calls it leaves.
func (p Plan) requests() string {
	switch {
	case p.Group:
		return "1 request. The provider sends the text to everyone in the group."
	case p.Text+p.Pairs == 1:
		return "1 request."
	case p.Pairs == 0:
		return Number(int(p.Text)) + " requests, each sending one text to many numbers."
	case p.Text == 0:
		return Number(int(p.Pairs)) + " requests, each carrying a different text per number."
	}
	return Number(int(p.Text+p.Pairs)) + " requests: " + Number(int(p.Text)) + " sending one text to many numbers, " +
		Number(int(p.Pairs)) + " each carrying a different text per number."
}

// takes says how long the sending is.
func (p Plan) takes() string {
	rate := "at " + Plural(p.PerMinute, "request", "requests") + " per minute"
	words := "Takes " + roughly(p.Forecast.Takes) + " " + rate + "."
	switch {
	case p.Others == 1:
		words += " Another campaign on this account is also sending. They take turns."
	case p.Others > 1:
		words += " " + Number(p.Others) + " other campaigns of this account are being sent and take turns with it."
	}
	return words
}

// ends says when the last has left, and what the sending hours do to it.
func (p Plan) ends() string {
	f, words := p.Forecast, ""
	if f.Starts.After(p.From) {
		words = "Starts " + When(f.Starts, p.Now) + ", because the sending hours are " + p.Hours.Words() + ". "
	}
	ends := "ends " + about(f.Ends, p.Now, f.Takes)
	switch {
	case f.Ends.IsZero():
		return words + "This would take more than a year."
	case f.Pauses > 0:
		return words + "Sending pauses from " + p.Hours.Pause() + "; " + ends + "."
	case f.Takes < time.Minute:
		return strings.TrimSpace(words)
	}
	return words + capitalise(ends) + "."
}

// about says a time that is not certain: in steps of a minute, or of five
// where it is further away.
func about(t, now time.Time, takes time.Duration) string {
	step := time.Minute
	if takes >= 10*time.Minute {
		step = 5 * time.Minute
	}
	if over := time.Duration(t.Minute())*time.Minute%step + time.Duration(t.Second())*time.Second + time.Duration(
		t.Nanosecond()); over > 0 {
		t = t.Add(step - over)
	}
	words := When(t, now)
	cut := strings.LastIndex(words, " at ")
	return words[:cut] + " about " + words[cut+len(" at "):]
}

// roughly says a duration: "about 4 minutes".
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < 90*time.Minute:
		return "about " + Plural(int((d+30*time.Second)/time.Minute), "minute", "minutes")
	case d < 48*time.Hour:
		return "about " + Plural(int((d+30*time.Minute)/time.Hour), "hour", "hours")
	}
	return "about " + Plural(int((d+12*time.Hour)/(24*time.Hour)), "day", "days")
}

// StopPage says what stopping a campaign does before it is done.
type StopPage struct {
	Campaign sms.Campaign
	Tally    sms.Tally
}

func (p StopPage) sentence() string {
	kept := p.Tally["queued"] + p.Tally["draft"]
	gone := p.Tally.Total() - kept - p.Tally.Tile(sms.TileNotSent)
	out := ""
	switch {
	case gone == 1:
		out = "1 message is already with the provider and cannot be recalled. "
	case gone > 1:
		out = Number(int(gone)) + " messages are already with the provider and cannot be recalled. "
	}
	return out + Number(int(kept)) + " will not be sent unless you continue."
}

func (p StopPage) kept() int { return int(p.Tally["queued"] + p.Tally["draft"]) }

func (p StopPage) never() string {
	if p.kept() == 1 {
		return "1 message will never be sent."
	}
	return Number(p.kept()) + " messages will never be sent."
}

func (p StopPage) neverButton() string { return "Cancel " + Plural(p.kept(), "message", "messages") }

// title is the heading of the question whether to give it up.
func (p StopPage) title() string {
	if p.Campaign.Waits() {
		return "Cancel the campaign?"
	}
	return "Cancel unsent messages?"
}
