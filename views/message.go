package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// MessagePage is one message with everything that happened to it.
type MessagePage struct {
	Formatter
	Message  sms.Message
	Campaign sms.Campaign
	Attempts []sms.Attempt      // oldest first
	Reports  []sms.StoredReport // in the order of arrival
	Blocked  *sms.Blocked       // the number's entry on the list of blocked ones, nil for none
	Asked    []sms.StatusQuery  // questions to the provider about it, oldest first
	Before   int64              // the message that this one was sent instead of, 0: none
	After    int64              // the one that was sent instead of this, 0: none
	Template string             // the text before its marks were filled in, "" where it is not known
	Live     Refresh
}

// text is the message with the filled-in words told apart, where they are known.
func (p MessagePage) text() []TextSpan {
	if p.Campaign.RemovedAt > 0 {
		return []TextSpan{{Text: "Text removed"}}
	}
	var runs []TextSpan
	for _, s := range sms.Spans(p.Template, p.Message.Text) {
		runs = append(runs, TextSpan(s))
	}
	return runs
}

// network is the network by the number's prefix, as a guess.
func (p MessagePage) network() string {
	name := phone.Network(p.Message.Number)
	if name == "" {
		return "Unknown prefix"
	}
	return name + " (" + phone.NetworkNote + ")"
}

// Path is the message's address.
func (p MessagePage) Path() string { return MessagePath(p.Message.ID) }

// MayBlock says that the number can be blocked and this person may.
func (p MessagePage) MayBlock() bool {
	return !p.Masked && p.Blocked == nil && sms.Blockable(p.Message.Number)
}

// MayRepeat says that the message can be sent again by itself and this person
// may do so.
func (p MessagePage) MayRepeat() bool {
	return !p.Masked && p.Message.MayResend() && p.Blocked == nil && p.Campaign.GroupID == ""
}

// MayAsk says that the provider can be asked about the message, this person
// may, and no question waits.
func (p MessagePage) MayAsk() bool {
	return !p.Masked && p.Message.MayAsk() && !p.waits()
}

func (p MessagePage) waits() bool {
	return slices.ContainsFunc(p.Asked, func(a sms.StatusQuery) bool { return a.AskedAt == 0 })
}

// Title names the message by whom it goes to.
func (p MessagePage) Title() string {
	switch {
	case p.Message.Number == "" && p.Campaign.GroupID == "":
		return "Row " + Number(int(p.Message.Row)) + " of " + Shorten(p.Campaign.Name, 60)
	case p.Message.Number == "":
		return "Message to the group " + Shorten(p.Campaign.GroupName, 60)
	}
	return "Message to " + p.Phone(p.Message.Number)
}

func (p MessagePage) under() string { return Plural(p.Message.Parts, "part", "parts") }

func (p MessagePage) facts() []KeyValue {
	m := p.Message
	to := KeyValue{Name: "Phone number", Text: p.Phone(m.Number)}
	switch {
	case m.Number == "" && p.Campaign.GroupID == "":
		to.Text = "No usable number"
	case m.Number == "":
		to = KeyValue{Name: "Group", Text: p.Campaign.GroupName}
	}
	terms := []KeyValue{to}
	if m.Number != "" {
		terms = append(terms, KeyValue{Name: "Network", Text: p.network()})
	}
	terms = append(terms,
		KeyValue{Name: "Sender ID", Text: p.Campaign.SenderID},
		KeyValue{Name: "Parts", Text: Number(m.Parts)},
		KeyValue{Name: "Campaign", View: words(Link{Text: p.Campaign.Name, Href: CampaignPath(p.Campaign.ID)})},
		KeyValue{Name: "Row", Text: Number(int(m.Row))})
	if kept := p.keptWords(p.Campaign); kept != "" {
		terms = append(terms, KeyValue{Name: "Retention", Text: kept})
	}
	if p.Before > 0 {
		terms = append(terms, KeyValue{Name: "Replaces",
			View: words(Link{Text: "An earlier message that may or may not have been sent", Href: MessagePath(p.Before)})})
	}
	if p.After > 0 {
		terms = append(terms, KeyValue{Name: "Replaced by",
			View: words(Link{Text: "A new message", Href: MessagePath(p.After)})})
	}
	if p.Campaign.Flash {
		terms = append(terms, KeyValue{Name: "Type", Text: "Flash message"})
	}
	return terms
}

// spoken is what a screen reader hears when the message moves on.
func (p MessagePage) spoken() string { return p.Message.Standing().Words + "." }

// stale says how long a report has been awaited.
func (p MessagePage) stale() string {
	m := p.Message
	if m.State != sms.Accepted || m.Delivery.Status.Final() || m.SentAt == 0 {
		return ""
	}
	since := p.Now.Sub(time.UnixMilli(m.SentAt))
	if since < time.Minute {
		return "No report yet."
	}
	if len(p.Reports) > 0 {
		return "No final report after " + lasting(since) + "."
	}
	return "No report after " + lasting(since) + "."
}

// lasting writes a duration in its largest unit: "2 hours".
func lasting(d time.Duration) string {
	switch {
	case d < time.Hour:
		return Plural(int(d/time.Minute), "minute", "minutes")
	case d < 48*time.Hour:
		return Plural(int(d/time.Hour), "hour", "hours")
	}
	return Plural(int(d/(24*time.Hour)), "day", "days")
}

// event is a moment with the time by which it is put in order.
type event struct {
	at     int64
	moment TimelineEvent
}

// moments is the timeline. A report can come before the answer to the call
// that it is about, so the order is that of the clock.
func (p MessagePage) moments() []TimelineEvent {
	events := []event{p.event(p.Message.CreatedAt,
		TimelineEvent{ID: "written", Tone: ToneMute, Glyph: GlyphMessage, Title: "Created", Text: "By " +
			p.Campaign.CreatedName +
			"."})}
	if c := p.Campaign; c.StartedAt > 0 {
		events = append(events, p.event(c.StartedAt,
			TimelineEvent{ID: "started", Tone: ToneMute, Glyph: GlyphPlay, Title: "Campaign started", Text: "By " +
				c.StartedName +
				"."}))
	}
	for _, a := range p.Attempts {
		events = append(events, p.attempt(a)...)
	}
	for _, r := range p.Reports {
		events = append(events, p.report(r))
	}
	for _, a := range p.Asked {
		events = append(events, p.asked(a))
	}
	if e, ok := p.closing(); ok {
		events = append(events, e)
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(min(max(a.at-b.at, -1), 1)) })
	moments := make([]TimelineEvent, len(events))
	for i, e := range events {
		moments[i] = e.moment
	}
	return moments
}

func (p MessagePage) event(at int64, m TimelineEvent) event {
	m.Time, m.Stamp = p.When(at), p.Stamp(at)
	return event{at, m}
}

// attempt is what one call was: that it began, and what came of it.
func (p MessagePage) attempt(a sms.Attempt) []event {
	name := "Request " + id(a.ID)
	began, ended := a.LicensedAt, a.EndedAt
	if began == 0 {
		began = a.PreparedAt
	}
	with := ""
	if a.Recipients > 1 {
		with = " This request contained " + Plural(a.Recipients, "message", "messages") + "."
	}
	switch a.State {
	case sms.AttemptPrepared:
		return []event{p.event(began, TimelineEvent{ID: domID("request", a.ID), Tone: ToneMute, Glyph: GlyphWaiting,
			Title: "Preparing " + strings.ToLower(name[:1]) + name[1:], Text: "Nothing has been sent yet." + with})}
	case sms.AttemptSending:
		return []event{p.event(began, TimelineEvent{ID: domID("request", a.ID), Tone: ToneMute, Glyph: GlyphSending,
			Title: name +
				" sent", Text: "Waiting for the provider's answer." + with})}
	}
	m := p.outcome(a)
	m.ID = domID("request", a.ID)
	m.Title = name + " " + m.Title
	if a.State != sms.AttemptInDoubt {
		m.Text = strings.TrimSpace(m.Text + with)
	}
	m.Text = p.MaskNumbers(m.Text)
	m.Raw = p.MaskNumbers(attemptRaw(a))
	if !p.Masked {
		m.Source = a.Excerpt
	}
	if ended == 0 {
		ended = began
	}
	return []event{p.event(ended, m)}
}

// outcome says in words what came of a call for this message.
func (p MessagePage) outcome(a sms.Attempt) TimelineEvent {
	m := p.Message
	switch a.State {
	case sms.AttemptReleased:
		return TimelineEvent{Tone: ToneMute, Glyph: GlyphStopped, Title: "was cancelled before sending",
			Text: "Nothing was sent. The message went back into the queue."}
	case sms.AttemptNotSent:
		return TimelineEvent{Tone: ToneWarn, Glyph: GlyphRefresh, Title: "was not sent", Text: notSent(a)}
	case sms.AttemptHeld:
		return TimelineEvent{Tone: ToneWarn, Glyph: GlyphDecide, Title: "was refused for an unrecognised reason",
			Text: strings.TrimSpace(withStop(a.Reason) + " It was probably not sent.")}
	case sms.AttemptInDoubt:
		return TimelineEvent{Tone: ToneWarn, Glyph: GlyphDecide, Title: "got no answer", Text: withStop(a.Reason)}
	}
	switch {
	case m.AttemptID != a.ID:
		return TimelineEvent{Tone: ToneMute, Glyph: GlyphCampaign, Title: "was answered"}
	case m.State == sms.Accepted:
		out := TimelineEvent{Tone: ToneInfo, Glyph: GlyphCampaign, Title: "was accepted",
			Text: "The provider accepted the message."}
		if m.ProviderID != "" {
			out.CopyName, out.CopyValue = "Message ID", m.ProviderID
		}
		return out
	case m.State == sms.Refused:
		return TimelineEvent{Tone: ToneBad, Glyph: GlyphFailed, Title: "was refused for this number", Text: p.said(m)}
	case m.State == sms.InDoubt:
		return TimelineEvent{Tone: ToneWarn, Glyph: GlyphDecide, Title: "was answered, but not for this number",
			Text: withStop(m.Reason)}
	}
	return TimelineEvent{Tone: ToneMute, Glyph: GlyphCampaign, Title: "was answered", Text: p.said(m)}
}

func (p MessagePage) said(m sms.Message) string {
	if m.Reason == "" {
		return "The provider gave no reason."
	}
	return withStop("The provider said: " + m.Reason)
}

func notSent(a sms.Attempt) string {
	switch a.Class {
	case sms.ClassRate:
		return "The provider said we were sending too fast. Nothing was sent. The message is back in the queue."
	case sms.ClassListed:
		return strings.TrimSpace(withStop(a.Reason) + " Nothing was sent.")
	}
	return strings.TrimSpace(withStop(a.Reason) + " Nothing was sent. The message is back in the queue.")
}

func attemptRaw(a sms.Attempt) string {
	var parts []string
	if a.HTTPStatus != 0 {
		parts = append(parts, fmt.Sprintf("HTTP status %d", a.HTTPStatus))
	}
	if a.Code != "" {
		parts = append(parts, "code "+a.Code)
	}
	return strings.Join(parts, ", ")
}

// report is one delivery report: what it says, whether it was believed, and
// its own words.
func (p MessagePage) report(r sms.StoredReport) event {
	m := p.reportWords(r)
	if r.Times > 1 {
		m.Title += " × " + Number(int(r.Times))
		m.Text = strings.TrimSpace(m.Text + " This report arrived " + Plural(int(r.Times), "time", "times") +
			", most recently " + p.When(r.LastAt) + ".")
	}
	m.ID = domID("report", r.ID)
	m.Raw = p.MaskNumbers(reportRaw(r, p.Masked))
	if !p.Masked {
		m.Source = r.Raw
	}
	return p.event(r.ReceivedAt, m)
}

func (p MessagePage) reportWords(r sms.StoredReport) TimelineEvent {
	status, known := sms.ParseStatus(r.Status)
	switch {
	case r.Effect == sms.WrongNumber:
		return TimelineEvent{Tone: ToneWarn, Glyph: GlyphWarning, Title: "Report for a different number",
			Text: "It has this message ID but a different number, " + p.foreign(r.Mobile) + ". We ignored it."}
	case !known:
		return TimelineEvent{Tone: ToneWarn, Glyph: GlyphWarning, Title: "Report with an unknown status",
			Text: "The provider's documentation does not list the status " + quote(p.MaskNumbers(r.Status)) + ". We ignored it."}
	}
	s, _ := sms.StandingByKey(sms.StandingKey(sms.Accepted, status, false))
	m := TimelineEvent{Tone: toneOf(s.Tone), Glyph: glyphOf(s.Icon), Title: "Report: " +
		strings.ToLower(s.Words[:1]) + s.Words[1:], Text: s.Help}
	if r.Effect == sms.Repeated {
		m.Tone, m.Text = ToneMute, "No change."
	}
	if sms.OtherText(p.Message, r.DeliveryReport) {
		m.Text = strings.TrimSpace(m.Text + " Its text differs from the message: " + quote(p.MaskNumbers(r.ShortMessage)) +
			". It may be an error description.")
	}
	return m
}

// asked is a question to the provider, or its answer. What it looks like is
// not specified (§4.8), so all of it can be read.
func (p MessagePage) asked(a sms.StatusQuery) event {
	m := TimelineEvent{ID: domID("asked", a.ID), Tone: ToneMute, Glyph: GlyphDecide}
	if a.AskedAt == 0 {
		m.Title, m.Text = "Status requested from the provider", "We will ask when sending leaves room."
		return p.event(a.CreatedAt, m)
	}
	m.Title = "Provider answer"
	switch s, known := sms.ParseStatus(a.Answer.Status); {
	case a.Code != "":
		m.Tone, m.Glyph, m.Text = ToneWarn, GlyphWarning,
			withStop("The answer is not about this message: "+p.MaskNumbers(Shorten(a.Words, 200)))
		m.Raw = "code " + Shorten(p.MaskNumbers(a.Code), 40)
	case known:
		stands, _ := sms.StandingByKey(sms.StandingKey(sms.Accepted, s, false))
		m.Title, m.Tone, m.Glyph = m.Title+": "+strings.ToLower(stands.Words[:1])+stands.Words[1:], toneOf(stands.Tone),
			glyphOf(stands.Icon)
		m.Raw = reportWords(sms.Delivery{Status: s, ErrorCode: Shorten(p.MaskNumbers(a.Answer.ErrorCode), 40)})
	case a.Answer.Status != "":
		m.Text = "The status " + quote(p.MaskNumbers(a.Answer.Status)) + " is not one that the provider describes."
	default:
		m.Text = "No status in the answer."
	}
	m.Text = strings.TrimSpace(m.Text + " " + askedEffect(a.Effect))
	if !p.Masked {
		m.Source = a.Answer.Raw
	}
	return p.event(a.AskedAt, m)
}

func askedEffect(e sms.Effect) string {
	switch e {
	case sms.Changed:
		return "We treat this like a delivery report."
	case sms.Confirmed:
		return "The provider confirmed the message ID."
	case sms.Suspicious:
		return "The provider has no record of the message ID in the report that settled this message. The report may be forged."
	}
	return "No change."
}

// foreign is a number that somebody else sent, as far as this person may see
// it.
func (p MessagePage) foreign(number string) string {
	key := phone.Key(number, p.Country)
	if key == "" {
		return "no number"
	}
	if p.Masked {
		return phone.Mask(key, p.Country)
	}
	return quote(number)
}

func quote(s string) string { return "“" + Shorten(s, 60) + "”" }

// reportRaw keeps the dates as they came: their format and zone are not
// specified. A date without its separators looks like a number, so that it
// cannot be masked and is left out instead.
func reportRaw(r sms.StoredReport, masked bool) string {
	parts := []string{Shorten(r.Status, 40)}
	if r.ErrorCode != "" {
		parts = append(parts, "code "+Shorten(r.ErrorCode, 40))
	}
	if masked {
		return strings.Join(parts, ", ")
	}
	if r.SubmitDate != "" {
		parts = append(parts, "submitDate "+Shorten(r.SubmitDate, 40))
	}
	if r.DoneDate != "" {
		parts = append(parts, "doneDate "+Shorten(r.DoneDate, 40))
	}
	return strings.Join(parts, ", ")
}

// closing is how a message ended without a call.
func (p MessagePage) closing() (event, bool) {
	m := p.Message
	switch m.State {
	case sms.Cancelled, sms.Skipped, sms.ClosedUnknown, sms.ClosedResent:
	default:
		return event{}, false
	}
	s := m.Standing()
	text := s.Help
	if m.Reason != "" {
		text = p.MaskNumbers(withStop(m.Reason))
	}
	return p.event(m.ChangedAt, TimelineEvent{ID: "closed", Tone: toneOf(s.Tone), Glyph: glyphOf(s.Icon), Title: s.Words,
		Text: text}), true
}
