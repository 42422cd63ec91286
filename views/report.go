package views

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// ReportPage is the log of delivery reports.
type ReportPage struct {
	Formatter
	Kind string // a key of ReportTabs
	Rows []ReportRow
	// Unmatched are the newest that have no message; they stand above all.
	Unmatched     []ReportRow
	MoreUnmatched bool
	Refused       []sms.ReceiverMinute // minutes with wrong tokens, for the tab of that name
	First         string               // address of the newest page, "" on it
	Next          string
	CanLink       bool
	CanAsk        bool
	CanExport     bool
	CanSetUp      bool // may open the settings with the address
	Health        ReportHealth
	Live          Refresh
}

// ReportHealth is how the receiving of reports stands.
type ReportHealth struct {
	Last  int64              // 0: never
	Today sms.ReceiverMinute // of the account, since midnight
	// Minutes are those of the last hour in which anything came, oldest first.
	Minutes    []sms.ReceiverMinute
	Refused    int64 // wrong tokens today, of all accounts
	Suspicious int64
	Posted     int64 // came by POST in the last 7 days and were turned away
	Forgotten  int64
	Silent     int64 // messages sent since about the last report that have none; 0 where that is no alarm
	Gaps       []GapRow
	Newer      int64 // reports of this kind that came after the page
}

// GapRow is one time in which callbacks were not answered.
type GapRow struct {
	Gap     sms.Outage
	Silent  int64            // messages from then without a report
	Inquiry *sms.StatusCheck // nil while nobody asked
}

// ReportRow is one report with the message it is or may be about.
type ReportRow struct {
	Report     sms.StoredReport
	Message    *sms.Message  // the one it belongs to
	Likely     *sms.Message  // the one it may belong to
	Campaign   *sms.Campaign // of either
	Rivals     int           // further ones that it may belong to
	MayLink    bool
	StillYoung bool
}

// ReportTabs are the ways to look at the log: the word in the address and the
// word on screen.
func ReportTabs() [][2]string {
	return [][2]string{{"", "All"}, {"unmatched", "Not matched"}, {"duplicates", "Duplicates"}, {"refused", "Refused"}}
}

func (p ReportPage) tabs() []Tab {
	var tabs []Tab
	for _, t := range ReportTabs() {
		tabs = append(tabs, Tab{Text: t[1], Href: With(ReportsPath, "kind", t[0]), Current: t[0] == p.Kind})
	}
	return tabs
}

func (p ReportPage) never() bool { return p.Health.Last == 0 && p.Kind != "refused" }

func (p ReportPage) tiles() []TileProps {
	h := p.Health
	last := TileProps{ID: "last", Label: "Last report", Value: "Never", Glyph: GlyphReports}
	if h.Last > 0 {
		last.Value, last.More = agoShort(p.Now.Sub(time.UnixMilli(h.Last))), "ago"
	}
	answered := TileProps{ID: "answered", Label: "Answered in", Value: "–", More: "for 99%", Glyph: GlyphFlash}
	if took := h.Today.Took.Within(0.99); took > 0 {
		answered.Value = strconv.FormatInt(took.Milliseconds(), 10) + " ms"
		if took > time.Second {
			answered.Tone = ToneWarn
		}
	}
	tiles := []TileProps{last, {ID: "today", Label: "Today", Value: Number(int(h.Today.Answered)),
		More: plural(h.Today.Answered, "report", "reports"), Glyph: GlyphTick}, answered,
		{ID: "refused", Label: "Rejected today", Value: Number(int(h.Refused)), More: "wrong token",
			Tone: toneAbove(h.Refused), Glyph: GlyphBlocked, Href: With(ReportsPath, "kind", "refused"),
			Current: p.Kind == "refused"}}
	if h.Today.Lost > 0 {
		tiles = append(tiles, TileProps{ID: "lost", Label: "Lost today", Value: Number(int(h.Today.Lost)),
			More: "we could not accept them", Tone: ToneBad, Glyph: GlyphFailed})
	}
	return tiles
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func toneAbove(n int64) Tone {
	if n > 0 {
		return ToneWarn
	}
	return ToneMute
}

// agoShort says how long something is past, in one unit: "14 s".
func agoShort(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 48*time.Hour:
		return Plural(int(d/time.Hour), "hour", "hours")
	}
	return Plural(int(d/(24*time.Hour)), "day", "days")
}

// alarm is the sentence that something is wrong with the receiving, or "".
func (p ReportPage) alarm() string {
	h := p.Health
	if h.Silent == 0 {
		return ""
	}
	since := lasting(p.Now.Sub(time.UnixMilli(h.Last)))
	verb := " messages are"
	if h.Silent == 1 {
		verb = " message is"
	}
	return "No report for " + since + ", although " + most(h.Silent) + verb + " awaiting one."
}

// most writes a count that stops at sms.MaxStatusCheckCount.
func most(n int64) string {
	if n > sms.MaxStatusCheckCount {
		return "more than " + Number(sms.MaxStatusCheckCount)
	}
	return Number(int(n))
}

func (p ReportPage) suspicious() string {
	n := Number(int(p.Health.Suspicious)) + " reports"
	if p.Health.Suspicious == 1 {
		n = "1 report"
	}
	return n +
		" settled a message in doubt, but the provider has no record of the message ID. Someone who knows the report URL may have forged it."
}

func (p ReportPage) newer() string {
	if p.Health.Newer >= 1000 {
		return "More than 1,000 newer reports."
	}
	return Plural(int(p.Health.Newer), "newer report", "newer reports") + "."
}

func (p ReportPage) here() string { return With(ReportsPath, "kind", p.Kind) }

func (p ReportPage) empty() EmptyProps {
	switch {
	case p.Kind == "refused":
		return EmptyProps{Glyph: GlyphTick, Title: "No requests with a wrong token",
			Text: "We count requests with a wrong token here and keep nothing else about them."}
	case p.Health.Last == 0:
		e := EmptyProps{Glyph: GlyphReports, Title: "No reports yet",
			Text: "Check that the provider has turned on reports and has your report URL."}
		if p.CanSetUp {
			e.Action = Link{Text: "Copy the URL", Href: CallbacksPath}
		}
		return e
	case p.Kind == "unmatched":
		return EmptyProps{Glyph: GlyphTick, Title: "Every report matches a message",
			Text: "Unmatched reports appear here for 14 days."}
	case p.Kind == "duplicates":
		return EmptyProps{Glyph: GlyphTick, Title: "No duplicate reports"}
	}
	return EmptyProps{Glyph: GlyphSearch, Title: "No reports here.", Action: Link{Text: "Show the newest", Href: p.here()}}
}

func (p ReportPage) caption() string {
	return map[string]string{"": "Delivery reports, newest first", "unmatched": "Unmatched reports, newest first",
		"duplicates": "Duplicate reports, newest first", "refused": "Requests with a wrong token, by minute, newest first"}[p.Kind]
}

// status is the tone, glyph and words of what a report says.
func (p ReportPage) status(r sms.StoredReport) (Tone, Glyph, string) {
	status, known := sms.ParseStatus(r.Status)
	if !known {
		return ToneWarn, GlyphWarning, "Unrecognised: " + Shorten(p.MaskNumbers(r.Status), 24)
	}
	s, _ := sms.StandingByKey(sms.StandingKey(sms.Accepted, status, false))
	return toneOf(s.Tone), glyphOf(s.Icon), s.Words
}

func (p ReportPage) raw(r sms.StoredReport) string {
	raw := Shorten(r.Status, 40)
	if r.ErrorCode != "" {
		raw += ", code " + Shorten(r.ErrorCode, 20)
	}
	return p.MaskNumbers(raw)
}

// number is the reported number as far as this person may see it.
func (p ReportPage) number(r sms.StoredReport) string {
	key := phone.Key(r.Mobile, p.Country)
	if key == "" {
		return "no number"
	}
	return p.Phone(key)
}

func (p ReportPage) messageID(r sms.StoredReport) string {
	if r.ProviderID == "" {
		return "none"
	}
	return Shorten(r.ProviderID, 60)
}

// longID is more letters than a table has room for; such an ID is folded.
const longID = 16

// foldedID is the beginning and the end of a long message ID, by which people
// tell IDs apart; "" for one that is shown whole.
func (p ReportPage) foldedID(r sms.StoredReport) string {
	letters := []rune(r.ProviderID)
	if len(letters) <= longID {
		return ""
	}
	return string(letters[:8]) + "…" + string(letters[len(letters)-4:])
}

// toDo is what somebody can do about an unmatched report, beside a button
// that links it.
func (p ReportPage) toDo(row ReportRow) string {
	switch {
	case p.links(row):
		return "Link it if this is the message."
	case row.Likely != nil && row.MayLink:
		return "Ask a manager to link it to the message."
	case row.Likely != nil:
		return "There is nothing to do: the message has its own status."
	case row.Report.ProviderID == "":
		return "Ask the provider to send message IDs with its reports."
	case row.StillYoung:
		return "Wait 2 minutes. It is matched automatically when the answer comes."
	}
	return "If no other program sends from this account, ask the provider what this message ID is."
}

// links says that this person may tie the report to the likely message.
func (p ReportPage) links(row ReportRow) bool { return row.Likely != nil && row.MayLink && p.CanLink }

// above says that the report stands among the unmatched ones over the log,
// where its button is.
func (p ReportPage) above(row ReportRow) bool {
	return slices.ContainsFunc(p.Unmatched, func(r ReportRow) bool { return r.Report.Key == row.Report.Key })
}

func (p ReportPage) moreUnmatched() Link {
	if !p.MoreUnmatched {
		return Link{}
	}
	return Link{Text: "Show all unmatched reports", Href: With(ReportsPath, "kind", string(sms.ReportsUnmatched))}
}

// effect says what a report did.
func (p ReportPage) effect(row ReportRow) string {
	r := row.Report
	switch {
	case r.Effect == sms.NotMatched:
		return p.reason(row)
	case r.Effect == sms.WrongNumber:
		return "The number does not match the message. Ignored."
	case r.Effect == sms.Unrecognised:
		return "Not a status in the provider's documentation. Ignored."
	}
	var said []string
	if r.Effect == sms.Repeated {
		said = append(said, "No change.")
	}
	if row.Message != nil && sms.OtherText(*row.Message, r.DeliveryReport) {
		said = append(said, "Its text differs from the message.")
	}
	return strings.Join(said, " ")
}

// reason says why a report has no message, as far as can be told.
func (p ReportPage) reason(row ReportRow) string {
	r := row.Report
	if row.Likely != nil {
		fit := "Same number and text as"
		if sms.FitReport(*row.Likely, r.DeliveryReport, p.Country) == sms.FitPart {
			fit = "Same number and start of text as"
		}
		out := fit + " row " + Number(int(row.Likely.Row))
		if row.Campaign != nil {
			out += " of " + Shorten(row.Campaign.Name, 40)
		}
		out += ", " + uncapitalise(row.Likely.Standing().Words)
		if row.Rivals > 0 {
			out += ", and as " + Plural(row.Rivals, "other message", "other messages")
		}
		return out + "."
	}
	switch {
	case r.ProviderID == "":
		return "No message ID."
	case row.StillYoung:
		return "It has just arrived. The provider's answer to our request may still be on its way."
	}
	return "No matching message. Another program may be using this account."
}

func uncapitalise(words string) string {
	if words == "" {
		return ""
	}
	return string(words[0]|0x20) + words[1:]
}

func (p ReportPage) times(r sms.StoredReport) string {
	if r.Times < 2 {
		return ""
	}
	return "× " + Number(int(r.Times)) + ", last " + p.ShortTime(r.LastAt)
}

// gapTitle says when callbacks were not answered.
func (p ReportPage) gapTitle(g GapRow) string {
	from, until := p.When(g.Gap.From), p.at(g.Gap.Until)
	to := Clock(until)
	if !midnight(until).Equal(midnight(p.at(g.Gap.From))) {
		to = When(until, p.Now)
	}
	if d := time.Duration(g.Gap.Until-g.Gap.From) * time.Millisecond; d < 2*time.Minute {
		return "Not receiving reports for " + Plural(int(d/time.Second), "second", "seconds") + " " + from
	}
	return "Not receiving reports from " + from + " to " + to
}

func (p ReportPage) gapText(g GapRow) string {
	switch {
	case g.Silent == 0 && g.Inquiry != nil:
		return "Every message from that time has a report or a status."
	case g.Silent == 1:
		return "1 message from then has no report."
	}
	return most(g.Silent) + " messages from then have no report."
}

func (p ReportPage) askWords(g GapRow) string {
	if g.Silent == 1 {
		return "Ask the provider about 1 message"
	}
	return "Ask the provider about " + most(g.Silent) + " messages"
}

func (p ReportPage) asked(i sms.StatusCheck) string {
	learnt := Number(int(i.Resolved)) + " have a status now"
	if i.Resolved == 1 {
		learnt = "1 has a status now"
	}
	switch i.State {
	case sms.InquiryRunning:
		return "Asking: " + Number(int(i.Asked)) + " of " + most(i.Total) + ". " + learnt + "."
	case sms.InquiryStopped:
		return "Stopped after " + Number(int(i.Asked)) + " of " + most(i.Total) + ", " + p.When(i.EndedAt) + ". " + learnt +
			"."
	}
	return "Asked about " + Plural(int(i.Asked), "message", "messages") + ", " + p.When(i.EndedAt) + ". " + learnt + "."
}

// gaps are those that matter: messages have no report, or somebody asked.
func (p ReportPage) gaps() (matter, rest []GapRow) {
	for _, g := range p.Health.Gaps {
		if g.Silent > 0 || g.Inquiry != nil {
			matter = append(matter, g)
		} else {
			rest = append(rest, g)
		}
	}
	return matter, rest
}

func (p ReportPage) spoken() string {
	if s := p.alarm(); s != "" {
		return s
	}
	return ""
}

func (p ReportPage) rowWords(row ReportRow) string {
	words := "Row " + Number(int(row.Message.Row))
	if row.Campaign != nil {
		words += " of " + Shorten(row.Campaign.Name, 40)
	}
	return words
}

func gapTone(g GapRow) Tone {
	if g.Silent == 0 {
		return ToneOK
	}
	return ToneWarn
}
