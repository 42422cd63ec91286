package views

import (
	"slices"
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// DoubtPage is everything of a campaign that waits for a person's decision.
type DoubtPage struct {
	Formatter
	Campaign sms.Campaign
	Waiting  int64 // messages of the whole campaign that wait now
	// WaitedBefore is how many waited when the page was read.
	WaitedBefore int64
	// Hinted are messages to whose number a report came that fits no id, and
	// HintedBefore how many there were when the page was read.
	Hinted, HintedBefore int64
	Groups               []sms.DoubtGroup
	CanDecide            bool
	Me                   int64 // the person who looks
	Proposals            []sms.Decision
	ReadAt               int64                 // when the page was made
	Chosen               map[string]sms.Choice // by field name, for a form that comes back
	First                string                // address of the first page of calls, "" on it
	Next                 string
	Overtaken            []sms.Message // decided by somebody else before this form came
	Bad                  sms.Invalid
	Live                 Refresh
}

// CallField and MessageField are the names of a call's and a message's choice;
// SeenField tells how many messages the person saw waiting.
func CallField(attempt int64) string { return domID("call", attempt) }

// MessageField names the choice for one message.
func MessageField(message int64) string { return domID("message", message) }

// SeenField names the number of messages that a call was shown with.
func SeenField(attempt int64) string { return domID("seen", attempt) }

func (p DoubtPage) path() string { return DoubtPath(p.Campaign.ID) }

func (p DoubtPage) title() string {
	switch {
	case p.Waiting == 0:
		return "Nothing to decide"
	case p.Waiting == 1:
		return "1 message needs your decision"
	}
	return Number(int(p.Waiting)) + " messages need your decision"
}

// errors lists what is wrong with the form that came back.
func (p DoubtPage) errors() []FieldError {
	var list []FieldError
	for _, m := range p.Overtaken {
		list = append(list, FieldError{ID: "decide", Text: overtaken(p.Formatter, m)})
	}
	if len(p.Overtaken) == 0 && p.Bad["overtaken"] != "" {
		list = append(list, FieldError{ID: "decide", Text: p.Bad["overtaken"]})
	}
	if s := p.Bad["choices"]; s != "" {
		list = append(list, FieldError{ID: "decide", Text: s})
	}
	return list
}

func overtaken(o Formatter, m sms.Message) string {
	who := "Someone else decided"
	if m.Evidence == sms.ByReport {
		who = "A report settled"
	}
	return who + " row " + Number(int(m.Row)) + " " + o.When(m.ChangedAt) +
		". Your decisions were not saved. Check the rest, then save again."
}

// chosen is a field's choice: the one that came back, else the given one.
func (p DoubtPage) chosen(field string, other sms.Choice) string {
	if c, ok := p.Chosen[field]; ok {
		return string(c)
	}
	return string(other)
}

func held(g sms.DoubtGroup) bool { return len(g.Messages) > 0 && g.Messages[0].State == sms.Held }

func (p DoubtPage) groupTitle(g sms.DoubtGroup) string {
	n := Plural(len(g.Messages), "message", "messages")
	if g.Attempt.LicensedAt == 0 {
		return "Request " + id(g.Attempt.ID) + ": " + n
	}
	return n + ", tried " + p.When(g.Attempt.LicensedAt)
}

// happened says what went wrong with a call, in words.
func happened(g sms.DoubtGroup) string {
	reason := withStop(g.Attempt.Reason)
	if len(g.Messages) > 0 && reason == "" {
		reason = withStop(g.Messages[0].Reason)
	}
	if held(g) {
		return strings.TrimSpace(reason +
			" The provider refused it for a reason we do not recognise. It was probably not sent.")
	}
	if strings.Contains(reason, "cannot tell") {
		return reason
	}
	return strings.TrimSpace(reason + " The request was on its way, so the messages may or may not have been sent.")
}

func (p DoubtPage) facts(g sms.DoubtGroup) []KeyValue {
	terms := []KeyValue{{Name: "What went wrong", Text: p.MaskNumbers(happened(g))}, {Name: "Message", Text: p.texts(g)}}
	if raw := attemptRaw(g.Attempt); raw != "" {
		terms = append(terms, KeyValue{Name: "Provider answer", Text: p.MaskNumbers(raw)})
	}
	if g.Before.Credits != "" {
		terms = append(terms, KeyValue{Name: "Balance before", Text: g.Before.Credits + " (" + p.ShortTime(g.Before.ReadAt) +
			")"})
	}
	if g.After.Credits != "" {
		terms = append(terms, KeyValue{Name: "Balance after", Text: g.After.Credits + " (" + p.ShortTime(g.After.ReadAt) +
			")" +
			p.balanceHint(g)})
	}
	return terms
}

func (p DoubtPage) balanceHint(g sms.DoubtGroup) string {
	before, ok := g.Before.Amount()
	after, ok2 := g.After.Amount()
	switch {
	case !ok || !ok2:
		return ""
	case before.Cmp(after) == 0:
		return "(did not fall, so probably nothing was sent)"
	case before.Cmp(after) > 0:
		return "(fell, but other messages may be the reason)"
	}
	return ""
}

func (p DoubtPage) texts(g sms.DoubtGroup) string {
	if len(g.Messages) == 0 {
		return "–"
	}
	first := Shorten(g.Messages[0].Text, 120)
	for _, m := range g.Messages {
		if m.Text != g.Messages[0].Text {
			return first + " … and others"
		}
	}
	return first
}

// callChoices are the options for a whole call, most careful first.
func (p DoubtPage) callChoices(g sms.DoubtGroup) []Option {
	if held(g) {
		list := []Option{
			{Value: string(sms.ChooseLater), Label: "Decide later"},
			{Value: string(sms.ChooseQueue), Label: "Put back in the queue", Hint: "They will be sent with the campaign."},
			{Value: string(sms.ChooseClose), Label: "Close", Hint: "We will not send them."},
		}
		return slices.DeleteFunc(list, func(o Option) bool {
			_, may := sms.Choice(o.Value).Becomes(sms.Held, p.Campaign.State)
			return !may
		})
	}
	return []Option{
		{Value: string(sms.ChooseLater), Label: "Decide later", Hint: "A report may still arrive and settle it."},
		{Value: string(sms.ChooseSent), Label: "Mark as sent", Hint: "Choose this if the provider's support confirmed they were sent."},
		{Value: string(sms.ChooseAgain), Label: "Send again", Hint: "Recipients may get the message twice and you may pay twice."},
		{Value: string(sms.ChooseClose), Label: "Close", Hint: "They may or may not have been sent. They will not be sent again."},
	}
}

// messageChoices are the options for one message of a call.
func (p DoubtPage) messageChoices(g sms.DoubtGroup) []Option {
	list := []Option{{Value: "", Label: "Same as above"}}
	for _, o := range p.callChoices(g) {
		o.Hint = ""
		list = append(list, o)
	}
	return list
}

func (p DoubtPage) question(g sms.DoubtGroup) string {
	if len(g.Messages) == 1 {
		return "What should happen to this message?"
	}
	return "What should happen to these " + Number(len(g.Messages)) + " messages?"
}

// evidence is what speaks for or against a message, in words.
func (p DoubtPage) evidence(g sms.DoubtGroup, m sms.Message) (Tone, string) {
	if c, ok := g.Again[m.ID]; ok {
		return ToneInfo, "Will be sent again from the draft “" + Shorten(c.Name, 60) + "”."
	}
	hints := g.Hints[m.ID]
	if len(hints) == 0 {
		return ToneMute, p.silence(m)
	}
	h := hints[0]
	for _, other := range hints {
		if other.Fit > h.Fit {
			h = other
		}
	}
	at := "Report received " + p.When(h.Report.ReceivedAt)
	switch {
	case h.Fit == sms.FitWhole && h.OtherMatches == 0 && h.Report.ProviderID != "":
		return ToneOK, at + " with the same number and text. This will be settled automatically within 3 minutes."
	case h.Fit == sms.FitWhole && h.OtherMatches > 0:
		return ToneWarn, at + " with the same number and text, but " + "it also matches " +
			Plural(h.OtherMatches, "other message", "other messages") + "."
	case h.Fit == sms.FitWhole:
		return ToneWarn, at + " with the same number and text, but without a message ID."
	}
	return ToneWarn, at + " with the same number and the start of the text. It was probably sent."
}

func (p DoubtPage) silence(m sms.Message) string {
	if m.State == sms.Held {
		return ""
	}
	if m.SentAt == 0 {
		return "No report."
	}
	return "No report for " + lastingLeast(p.Now.Sub(time.UnixMilli(m.SentAt))) +
		". This does not prove that it was not sent."
}

func lastingLeast(d time.Duration) string {
	if d < time.Minute {
		return "less than a minute"
	}
	return lasting(d)
}

func (p DoubtPage) proposal(d sms.Decision) string {
	return d.By.Name + " wants to mark as sent or send again " + Plural(d.N, "message", "messages") + " (asked " +
		p.When(d.At) + "). Decisions about more than " +
		Number(sms.SecondFrom) + " messages per day need someone else's agreement."
}

// DoubtAgainPage warns before messages in doubt are sent again.
type DoubtAgainPage struct {
	Formatter
	Campaign sms.Campaign
	N        int
	Numbers  []string // the first ones
	Others   string   // what else is saved with it, "" for nothing
	Fields   [][2]string
}

func (p DoubtAgainPage) to() string {
	var shown []string
	for _, n := range p.Numbers {
		shown = append(shown, p.Phone(n))
	}
	if rest := p.N - len(p.Numbers); rest > 0 {
		shown = append(shown, Plural(rest, "other", "others"))
	}
	return and(shown)
}

func (p DoubtPage) oneByOne(g sms.DoubtGroup) string {
	words := "Show the " + Number(len(g.Messages)) + " messages"
	if p.CanDecide {
		words = "Decide each of the " + Number(len(g.Messages)) + " messages"
	}
	strong := 0
	for _, m := range g.Messages {
		if len(g.Hints[m.ID]) > 0 {
			strong++
		}
	}
	if strong > 0 {
		words += " (" + Plural(strong, "possible match", "possible matches") + ")"
	}
	return words
}

// to names whom a message goes to.
func (p DoubtPage) to(m sms.Message) string {
	if m.Number == "" {
		return "Group " + Shorten(p.Campaign.GroupName, 40)
	}
	return p.Phone(m.Number)
}

func (p DoubtPage) dropWords(d sms.Decision) string {
	if d.By.ID == p.Me {
		return "Withdraw"
	}
	return "Reject"
}

// settledMeanwhile says how many messages need no decision any more.
func (p DoubtPage) settledMeanwhile() string {
	n := p.WaitedBefore - p.Waiting
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return "1 message has been settled since you opened this page."
	}
	return Number(int(n)) + " messages were settled since you opened this page."
}

// newHints says that reports came which may be about these messages.
func (p DoubtPage) newHints() string {
	if p.Hinted <= p.HintedBefore {
		return ""
	}
	return Plural(int(p.Hinted-p.HintedBefore), "new report", "new reports") + " may match these messages."
}

func evidenceGlyph(t Tone) Glyph {
	if t == ToneOK {
		return GlyphTick
	}
	return GlyphDecide
}

func evidenceWords(t Tone) string {
	if t == ToneOK {
		return "It was sent"
	}
	return "Possible match"
}
