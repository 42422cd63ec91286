package views

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
)

// campaignState is the one thing worth knowing about a campaign: where its
// sending stands, or what is still to come after it. Green is only for a
// campaign of which every message was delivered.
func campaignState(o Formatter, c sms.Campaign, t sms.Tally) (Tone, Glyph, string) {
	switch c.State {
	case sms.CampaignDraft:
		return ToneMute, GlyphTemplate, "Not sent yet"
	case sms.CampaignAwaiting:
		return ToneWarn, GlyphDecide, "Needs approval"
	case sms.CampaignScheduled:
		return ToneInfo, GlyphScheduled, capitalise(o.startsAt(c))
	case sms.CampaignPaused:
		return ToneWarn, GlyphPaused, "Paused"
	case sms.CampaignRunning:
		return ToneInfo, GlyphCampaign, "Sending"
	}
	switch {
	case t.Tile(sms.TileDecision) > 0:
		return ToneWarn, GlyphDecide, "Needs your decision"
	case c.State == sms.CampaignStopped:
		return ToneMute, GlyphStopped, "Stopped"
	case c.State == sms.CampaignCancelled:
		return ToneMute, GlyphStopped, "Cancelled"
	case t.Tile(sms.TileNetwork) > 0:
		return ToneInfo, GlyphWaiting, "Awaiting reports"
	case t.Tile(sms.TileDelivered) == t.Total():
		return ToneOK, GlyphTick, "Finished"
	}
	return ToneMute, GlyphTick, "Finished"
}

func campaignWhen(o Formatter, c sms.Campaign) string {
	if c.StartedAt > 0 {
		return o.When(c.StartedAt)
	}
	return o.When(c.CreatedAt)
}

func campaignWho(c sms.Campaign) string {
	if c.StartedName != "" {
		return c.StartedName
	}
	return c.CreatedName
}

func campaignTo(c sms.Campaign) string {
	if c.GroupID != "" {
		return "Group " + Shorten(c.GroupName, 40)
	}
	return Number(int(c.Recipients))
}

// segments are the shares of the bar, in the order of the tiles.
func segments(t sms.Tally) []Segment {
	var list []Segment
	for _, tile := range sms.Tiles() {
		list = append(list, Segment{Tone: toneOf(tile.Tone()), Words: tile.Words(), Count: int(t.Tile(tile))})
	}
	return list
}

func barLabel(t sms.Tally) string {
	return Plural(int(t.Total()), "message", "messages") + " by status"
}

// CampaignPage is one campaign with what became of its messages.
type CampaignPage struct {
	// Records says what has become of records that it was made with.
	Records []RecordNote
	Formatter
	Rehearsed Rehearsed
	DayFull   bool // the account has sent as much today as it may
	Campaign  sms.Campaign
	Tally     sms.Tally
	Account   sms.Account
	CanSend   bool
	CanFix    bool // may let a paused account go on
	// Repeat is what has to be said before it is continued, "" for nothing.
	Repeat string

	Tile    sms.Tile // the chosen tile, "" for all
	State   string   // the chosen standing's key, "" for all
	Search  MessageSearch
	Rows    []sms.Message
	First   int   // the place of the first row in the filtered list, from 1
	Next    bool  // there are further rows
	Seen    int64 // messages that the filter had when the page was opened
	Paused  bool  // the page is at rest
	Changed []sms.Message
	// Offered are the statuses that the page's filter has already. A live answer
	// brings the choices anew where there are more.
	Offered                  []string
	MoreStates, MoreNetworks bool
	AgainOf                  *sms.Campaign  // the campaign whose messages this one sends again, nil: none
	Again                    []sms.Campaign // those that send messages of this one again
	// Pattern is the text with its placeholders, the campaign's own or that of its
	// list; "" where each message has a text of its own.
	Pattern string
	Pace    Pace
	Picture CampaignPicture
	Live    Refresh
}

// MessageSearch is what is looked for among a campaign's messages, beside what
// became of them.
type MessageSearch struct {
	Network  string // as sms.MessageFilter has it
	Text     string
	Typed    string // a number as typed
	Find     string // the word that stands for the number in addresses
	Ended    bool   // the word is not known any more
	Networks []string
	Started  bool  // this is not the first page
	Next     int64 // message behind which the next page begins, 0: none
	Bad      sms.Invalid
}

// Narrows says that something is looked for.
func (s MessageSearch) Narrows() bool {
	return s.Network != "" || s.Text != "" || s.Typed != "" || s.Find != ""
}

// Values puts the search into an address.
func (s MessageSearch) Values(query url.Values) {
	for name, value := range map[string]string{"network": s.Network, "text": s.Text, "find": s.Find} {
		if value != "" {
			query.Set(name, value)
		}
	}
}

// Path is the page's address with a filter. The search and the pause stay as
// they are.
func (p CampaignPage) Path(tile sms.Tile, state string) string {
	query := url.Values{}
	if tile != "" {
		query.Set("tile", string(tile))
	}
	if state != "" {
		query.Set("state", state)
	}
	p.Search.Values(query)
	return p.address(CampaignPath(p.Campaign.ID), query)
}

func (p CampaignPage) address(path string, query url.Values) string {
	if p.Paused {
		query.Set("pause", "1")
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// ofNetwork is the address of the messages of one network.
func (p CampaignPage) ofNetwork(name string) string {
	return p.address(CampaignPath(p.Campaign.ID), url.Values{"network": {name}})
}

// all is the address without any filter.
func (p CampaignPage) all() string { return p.address(CampaignPath(p.Campaign.ID), url.Values{}) }

// views are the two sides of the page.
func (p CampaignPage) views(breakdown bool) []Tab {
	return []Tab{{Text: "Messages", Href: p.here(), Current: !breakdown},
		{Text: "Breakdown", Href: p.address(breakdownPath(p.Campaign.ID), url.Values{}), Current: breakdown}}
}

// StateKeys are the statuses that the filter offers. One that it has does not go
// again while the page is open: somebody may be about to choose it.
func (p CampaignPage) StateKeys() []string {
	var keys []string
	for _, s := range sms.DisplayStatuses() {
		if p.Tally[s.Key] > 0 || s.Key == p.State || slices.Contains(p.Offered, s.Key) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

func (p CampaignPage) stateSelect() SelectProps {
	list := []Option{{Value: "", Label: "All statuses"}}
	for _, key := range p.StateKeys() {
		s, _ := sms.StandingByKey(key)
		list = append(list, Option{Value: key, Label: s.Words})
	}
	return SelectProps{Field: Field{Name: "state", Label: "Status", Value: p.State}, Options: list, Width: WidthMiddle}
}

func (p CampaignPage) networkSelect() SelectProps {
	return SelectProps{Field: Field{Name: "network", Label: "Network", Value: p.Search.Network},
		Options: p.networkOptions(), Width: WidthMiddle}
}

// mayLeave says that messages of further networks may leave while the page is
// open.
func (p CampaignPage) mayLeave() bool {
	return p.Campaign.State == sms.CampaignRunning || p.Campaign.State == sms.CampaignScheduled
}

func (p CampaignPage) networkOptions() []Option {
	list := []Option{{Value: "", Label: "All networks"}}
	known := p.Search.Networks
	if n := p.Search.Network; n != "" && !slices.Contains(known, n) {
		known = append(slices.Clone(known), n)
	}
	for _, n := range known {
		list = append(list, Option{Value: n, Label: networkWords(n)})
	}
	return list
}

func (p CampaignPage) here() string { return p.Path(p.Tile, p.State) }

// runOf says which run of its series a campaign is.
func runOf(c sms.Campaign) string { return "Run " + Number(c.SeriesRun) + " of" }

func (p CampaignPage) sub() string {
	c := p.Campaign
	var parts []string
	if c.StartedAt > 0 {
		parts = append(parts, "Started by "+c.StartedName+" "+p.When(c.StartedAt))
	} else {
		parts = append(parts, "Written by "+c.CreatedName+" "+p.When(c.CreatedAt))
	}
	if words := p.approvedWords(c); words != "" {
		parts = append(parts, words)
	}
	if c.GroupID != "" {
		parts = append(parts, "to group "+c.GroupName)
	}
	parts = append(parts, "sender ID "+c.SenderID)
	if c.Text != "" {
		parts = append(parts, Plural(sms.CountSegments(c.Text, c.Unicode).Parts, "part", "parts")+" each")
	}
	if c.Flash {
		parts = append(parts, "flash message")
	}
	if c.TestOf > 0 {
		parts = append(parts, "test to one phone")
	}
	if kept := p.keptWords(c); kept != "" {
		parts = append(parts, kept)
	}
	return strings.Join(parts, " · ")
}

func (p CampaignPage) tiles() []TileProps {
	total := p.Tally.Total()
	list := []TileProps{{ID: "tile-all", Label: "All", Value: Number(int(total)), Glyph: GlyphMessage,
		Href: p.Path("", ""), Current: p.Tile == "" && p.State == ""}}
	for _, tile := range sms.Tiles() {
		n := p.Tally.Tile(tile)
		t := TileProps{ID: "tile-" + string(tile), Label: tile.Words(), Value: Number(int(n)), Tone: toneOf(tile.Tone()),
			Glyph: tileGlyph(tile),
			Href:  p.Path(tile, ""), Current: p.Tile == tile}
		if (tile == sms.TileDelivered || tile == sms.TileFailed) && n > 0 {
			t.More = Percent(n, total)
		}
		list = append(list, t)
	}
	return list
}

// states are the finer filters of the chosen tile, where it holds more than
// one kind of message.
func (p CampaignPage) states() []Chip {
	if p.Tile == "" {
		return nil
	}
	var chips []Chip
	for _, s := range sms.DisplayStatuses() {
		n := p.Tally[s.Key]
		if s.Tile != p.Tile || n == 0 && s.Key != p.State {
			continue
		}
		c := Chip{Text: s.Words + " (" + Number(int(n)) + ")", Href: p.Path(p.Tile, s.Key), Glyph: glyphOf(s.Icon)}
		if s.Key == p.State {
			c = Chip{Text: "Status: " + c.Text, Href: p.Path(p.Tile, ""), Glyph: GlyphClose}
		}
		chips = append(chips, c)
	}
	if len(chips) < 2 && p.State == "" {
		return nil
	}
	return chips
}

// Shown is how many messages pass the filter now.
func (p CampaignPage) Shown() int64 {
	switch {
	case p.State != "":
		return p.Tally[p.State]
	case p.Tile != "":
		return p.Tally.Tile(p.Tile)
	}
	return p.Tally.Total()
}

func (p CampaignPage) waiting() int64 { return p.Tally.Tile(sms.TileWaiting) }

func (p CampaignPage) sending() bool {
	return p.Campaign.State == sms.CampaignRunning && p.waiting() > 0 && p.Account.Pause == ""
}

// spoken is what a screen reader hears: quarters and decisions, so that it
// changes seldom.
func (p CampaignPage) spoken() string {
	total := p.Tally.Total()
	if total == 0 || p.Campaign.State == sms.CampaignDraft || p.Campaign.Waits() {
		return ""
	}
	done := total - p.waiting() - p.Tally.Tile(sms.TileNetwork)
	said := ""
	switch quarter := done * 4 / total; {
	case quarter == 4:
		said = fmt.Sprintf("All %s finished: %s delivered, %s not delivered.", Plural(int(total), "message", "messages"),
			Number(int(p.Tally.Tile(sms.TileDelivered))), Number(int(p.Tally.Tile(sms.TileFailed))))
	case quarter > 0:
		said = fmt.Sprintf("%d%% of %s done.", quarter*25, Plural(int(total), "message", "messages"))
	}
	if n := p.Tally.Tile(sms.TileDecision); n > 0 {
		said += " " + needDecision(n) + "."
	}
	return strings.TrimSpace(said)
}

func needDecision(n int64) string {
	if n == 1 {
		return "1 message needs your decision"
	}
	return Number(int(n)) + " messages need your decision"
}

// cannotReach says that the provider does not answer while messages wait.
func (p CampaignPage) cannotReach() string {
	if !p.sending() || p.Account.Failure == "" {
		return ""
	}
	if p.waiting() == p.Tally.Total() {
		return "We cannot reach the provider. Nothing was sent. We will keep trying."
	}
	return "We cannot reach the provider. " + waitingWords(p.waiting()) + ". We will keep trying."
}

func waitingWords(n int64) string {
	if n == 1 {
		return "1 message is waiting"
	}
	return Number(int(n)) + " messages are waiting"
}

func (p CampaignPage) kept() string {
	n := p.Tally["queued"] + p.Tally["draft"]
	switch n {
	case 0:
		return "Nothing more will be sent."
	case 1:
		return "1 message has not been sent."
	}
	return Number(int(n)) + " messages have not been sent."
}

// doubt says why a person has to decide, as far as one sentence can.
func (p CampaignPage) doubt() string {
	lost, held := p.Tally["doubt"], p.Tally["held"]
	switch {
	case lost > 0 && held > 0:
		return "Some may or may not have been sent. The provider refused the others for a reason we do not recognise; " +
			"they were probably not sent. Nothing is sent again unless you decide so."
	case held > 0:
		return "The provider refused these for a reason we do not recognise. They were probably not sent. Nothing is sent again unless you decide so."
	}
	return "We lost the connection while sending, so we cannot tell whether these messages were sent. Nothing is sent again unless you decide so."
}

func (p CampaignPage) caption() string {
	shown := p.Shown()
	switch {
	case len(p.Rows) == 0:
		return "No messages"
	case p.Search.Narrows() && !p.Search.Started && p.Search.Next == 0:
		return Plural(len(p.Rows), "message", "messages") + " found"
	case p.Search.Narrows():
		return Plural(len(p.Rows), "message", "messages") + " on this page"
	}
	last := int64(p.First + len(p.Rows) - 1)
	return fmt.Sprintf("Messages %s to %s of %s", Number(p.First), Number(int(last)), Number(int(max(shown, last))))
}

func (p CampaignPage) newer() string {
	if n := p.Shown() - p.Seen; n > 0 && !p.Search.Narrows() {
		return Plural(int(n), "change", "changes") + " since you opened this page."
	}
	return ""
}

func (p CampaignPage) pager() PagerProps {
	out := PagerProps{Text: p.caption()}
	if p.Search.Narrows() {
		if p.Search.Started {
			out.Previous = p.here()
		}
		if p.Search.Next > 0 {
			out.Next = With(p.here(), "after", id(p.Search.Next))
		}
		return out
	}
	if len(p.Rows) == 0 {
		return out
	}
	if p.First > 1 {
		out.Previous = p.here()
		if before := p.First - PageLength; before > 1 {
			out.Previous = With(With(out.Previous, "before", id(p.Rows[0].ID)), "first", strconv.Itoa(before))
		}
	}
	if p.Next {
		out.Next = With(With(p.here(), "after", id(p.Rows[len(p.Rows)-1].ID)), "first", strconv.Itoa(p.First+len(p.Rows)))
	}
	return out
}

// PageLength is how many messages a page shows.
const PageLength = 50

func (p CampaignPage) noRows() EmptyProps {
	switch {
	case p.Search.Narrows() && p.Search.Next > 0:
		return EmptyProps{Glyph: GlyphSearch, Title: "No matches yet", Text: "There are more messages to search.",
			Action: Link{Text: "Search more messages", Href: With(p.here(), "after", id(p.Search.Next))}}
	case p.Search.Narrows():
		return EmptyProps{Glyph: GlyphSearch, Title: "No messages match.", Action: Link{Text: "Clear filters", Href: p.all()}}
	}
	if p.Tile == "" && p.State == "" {
		return EmptyProps{Glyph: GlyphMessage, Title: "This campaign has no messages"}
	}
	return EmptyProps{Glyph: GlyphMessage, Title: "No messages with this status",
		Text: "Messages move here and away as reports arrive.", Action: Link{Text: "Show all messages", Href: p.Path("", "")}}
}

// to is whom a message goes to, as far as this person may see it.
func (p CampaignPage) to(m sms.Message) string {
	switch {
	case m.Number == "" && p.Campaign.GroupID == "":
		return "No number"
	case m.Number == "":
		return "Group " + Shorten(p.Campaign.GroupName, 40)
	}
	return p.Phone(m.Number)
}

// rawWords are the provider's own, for the line below a status.
func rawWords(m sms.Message) string {
	switch {
	case m.State == sms.Accepted:
		return reportWords(m.Delivery)
	case m.State == sms.Refused && m.Reason != "" && m.Code != "":
		return Shorten(m.Reason, 60) + ", code " + m.Code
	case m.State == sms.Refused && m.Reason != "":
		return Shorten(m.Reason, 60)
	case m.Code != "" && m.State != sms.Skipped:
		return "code " + m.Code
	}
	return ""
}

// ownWords say why a person or a rule of ours kept a message back. What a
// doubt is about stands above the table, for all of them.
func ownWords(m sms.Message) string {
	switch m.State {
	case sms.Skipped, sms.Cancelled, sms.ClosedUnknown, sms.ClosedResent:
		return Shorten(m.Reason, 120)
	}
	return ""
}

// leftOut tells how many messages were left out before sending.
func leftOut(n int64) string {
	if n == 1 {
		return "1 recipient was left out. The reason is shown next to it."
	}
	return Number(int(n)) + " recipients were left out. The reason is shown next to each."
}

func reportWords(d sms.Delivery) string {
	if d.Status == "" {
		return ""
	}
	words := string(d.Status)
	if d.ErrorCode != "" {
		words += ", code " + d.ErrorCode
	}
	if d.Conflict {
		words += ", reports conflict"
	}
	return words
}

func id(n int64) string { return strconv.FormatInt(n, 10) }
