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
	// Same was sent in the last 24 hours; nil when there is none.
	Same  *sms.Campaign
	Again bool   // the person wants to send it again all the same
	Typed string // the number of recipients as typed
	Name  string // as typed
	// Contacts counts the group's contacts as the provider said last, below 0
	// where that is not known.
	Contacts int64
	Mine     bool // the person's own draft, which "Back" may change
	// MaySetPrice says that the person may open the account's settings.
	MaySetPrice bool
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
			return "Group " + p.Campaign.GroupName
		}
		return "about " + Number(int(p.Contacts)) + ", group " + p.Campaign.GroupName
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

func (p ConfirmPage) cost() (*big.Rat, bool) {
	if p.Account.PricePerPart <= 0 || p.Campaign.GroupID != "" {
		return nil, false
	}
	cost := new(big.Rat).SetInt64(p.Out.Parts)
	return cost.Mul(cost, big.NewRat(p.Account.PricePerPart, 100)), true
}

// short says that the balance is known and less than the estimated cost.
func (p ConfirmPage) short() (string, bool) {
	cost, known := p.cost()
	if !known || p.Balance == nil {
		return "", false
	}
	have, readable := p.Balance.Amount()
	if !readable || have.Cmp(cost) >= 0 {
		return "", false
	}
	return "The estimated cost is " + amount(p.Account.Currency, cost) + " but the balance is " + p.Balance.Credits +
		". Send fewer messages or top up.", true
}

// sums are the lines of the cost card. What is not known is said or left out,
// never guessed.
func (p ConfirmPage) sums() []KeyValue {
	terms := []KeyValue{{Name: "Recipients", Text: p.recipients(), Number: true}}
	each := p.Out.Messages > 0 && p.Out.Parts%p.Out.Messages == 0 && p.Campaign.Text != ""
	switch {
	case p.Campaign.GroupID != "":
		terms = append(terms, KeyValue{Name: "Parts per message", Text: Number(int(p.Campaign.Parts)), Number: true})
	case each:
		terms = append(terms, KeyValue{Name: "Parts per message", Text: Number(int(p.Out.Parts / p.Out.Messages)),
			Number: true})
		fallthrough
	default:
		terms = append(terms, KeyValue{Name: "Parts in total", Text: p.most() + Number(int(p.Out.Parts)), Number: true})
	}
	cost, known := p.cost()
	switch {
	case known:
		terms = append(terms,
			KeyValue{Name: "Price per part", Text: Money(p.Account.Currency, p.Account.PricePerPart), Number: true},
			KeyValue{Name: "Estimated cost", View: strong(p.most() + amount(p.Account.Currency, cost)), Number: true})
	case p.Campaign.GroupID != "":
		terms = append(terms, KeyValue{Name: "Cost", Text: p.groupCost(), Number: true})
	default:
		terms = append(terms, KeyValue{Name: "Cost", View: unknownCost(p), Number: true})
	}
	if p.Balance == nil {
		return terms
	}
	terms = append(terms, KeyValue{Name: "Balance now", Text: p.Balance.Credits, Number: true})
	if have, readable := p.Balance.Amount(); readable && known {
		sign := strings.Trim(p.Balance.Credits[:strings.IndexFunc(p.Balance.Credits, unicode.IsDigit)], "-− ")
		terms = append(terms, KeyValue{Name: "Estimated balance after", Text: amount(sign, new(big.Rat).Sub(have, cost)),
			Number: true})
	}
	return terms
}

// groupCost is what the provider's count of contacts would cost.
func (p ConfirmPage) groupCost() string {
	if p.Contacts < 0 || p.Account.PricePerPart <= 0 {
		return "Not known: only the provider has the group's numbers"
	}
	cost := new(big.Rat).SetInt64(p.Contacts * p.Campaign.Parts)
	return "about " + amount(p.Account.Currency, cost.Mul(cost, big.NewRat(p.Account.PricePerPart, 100)))
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

// left are the lines about rows that are not sent, by kind.
func (p ConfirmPage) left() []KeyValue {
	var terms []KeyValue
	add := func(words string, n int64) {
		if n > 0 {
			terms = append(terms, KeyValue{Name: words, Text: Number(int(n)), Number: true})
		}
	}
	if p.List == nil {
		add("Blocked numbers", p.Out.LeftOut)
		add("Duplicate numbers", int64(p.Repeated))
	} else {
		for _, k := range sms.RowKinds() {
			if k.Bad() || k.LeftOut() {
				add(capitalise(wordsOf(k).many), p.List.Tally.Kinds[k])
			}
		}
		add("Hidden rows", p.List.Tally.Hidden)
	}
	add("Numbers blocked since the check", p.Out.Blocked)
	return terms
}

func (p ConfirmPage) leftTitle() string {
	if len(p.left()) > 0 {
		return "Left out"
	}
	return "Good to know"
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

// typedField asks for the number of recipients.
func (p ConfirmPage) typedField() InputProps {
	n := strconv.FormatInt(p.Out.Messages, 10)
	return InputProps{Field: Field{Name: "typed", Label: "Type " + n + " to confirm",
		Hint:  "Required for campaigns with more than " + Number(int(p.Account.ConfirmCountAbove)) + " recipients.",
		Value: p.Typed, Error: p.Errors["typed"]}, InputMode: "numeric", Width: WidthShort, Autocomplete: "off"}
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

func (p ConfirmPage) nameField() InputProps {
	return InputProps{Field: Field{Name: "name", Label: "Name of the campaign", Hint: "Only your team sees this.",
		Value: p.Name, Error: p.Errors["name"]}, Autocomplete: "off"}
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

func (p Preview) marked() bool {
	return slices.ContainsFunc(p.runs(), func(r TextSpan) bool { return r.Filled })
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
