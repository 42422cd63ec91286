package sms

// Tone is the meaning of a colour; never shown without words and an icon.
type Tone string

// The tones.
const (
	ToneMute Tone = "mute"
	ToneInfo Tone = "info"
	ToneOK   Tone = "ok"
	ToneBad  Tone = "bad"
	ToneWarn Tone = "warn"
)

// Tile is a group of standings that is counted together on a campaign's page.
type Tile string

// The tiles, in the order of the page. Every message is in exactly one.
const (
	TileWaiting   Tile = "waiting"
	TileNetwork   Tile = "network"
	TileDelivered Tile = "delivered"
	TileFailed    Tile = "failed"
	TileUnknown   Tile = "unknown"
	TileDecision  Tile = "decision"
	TileNotSent   Tile = "notsent"
)

// Tiles lists the tiles in the order of the page.
func Tiles() []Tile {
	return []Tile{TileWaiting, TileNetwork, TileDelivered, TileFailed, TileUnknown, TileDecision, TileNotSent}
}

// Words is the tile's name on screen.
func (t Tile) Words() string {
	return map[Tile]string{TileWaiting: "Waiting", TileNetwork: "Awaiting report", TileDelivered: "Delivered",
		TileFailed:  "Not delivered",
		TileUnknown: "Unknown or no report", TileDecision: "Need your decision", TileNotSent: "Not sent or closed"}[t]
}

// Keys are the standings of the tile, none for no tile.
func (t Tile) Keys() (keys []string) {
	for _, s := range allStatuses() {
		if s.Tile == t {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Tone is the tile's tone.
func (t Tile) Tone() Tone {
	return map[Tile]Tone{TileWaiting: ToneMute, TileNetwork: ToneInfo, TileDelivered: ToneOK, TileFailed: ToneBad,
		TileUnknown: ToneWarn, TileDecision: ToneWarn, TileNotSent: ToneMute}[t]
}

// DisplayStatus is what people are told about a message: one table for tiles,
// filters, tags, downloads and the help page.
type DisplayStatus struct {
	Key   string // stable name, used in URLs
	Words string
	Tone  Tone
	Icon  string // a symbol of the sprite
	Tile  Tile
	Final bool
	Help  string
}

// DisplayStatuses lists the table in the order of the help page.
func DisplayStatuses() []DisplayStatus {
	table := allStatuses()
	return table[:]
}

// allStatuses is an array, so that a look at one row of it takes no memory.
func allStatuses() [19]DisplayStatus {
	return [...]DisplayStatus{
		{"draft", "Not started", ToneMute, "clock", TileWaiting, false, "The campaign is a draft, is scheduled for later or is waiting for approval."},
		{"queued", "Waiting to send", ToneMute, "clock", TileWaiting, false, "We send as fast as the provider allows."},
		{"sending", "Sending", ToneMute, "loader", TileWaiting, false, "We are sending the request to the provider."},
		{"network", "Awaiting report", ToneInfo, "clock", TileNetwork, false, "The provider accepted it. We are waiting for the delivery report."},
		{"delivered", "Delivered", ToneOK, "check", TileDelivered, true, "The network says it reached the phone. There is no way to tell whether it was read."},
		{"undelivered", "Not delivered", ToneBad, "x", TileFailed, true, "The network could not deliver it. Check the number, then send it again."},
		{"expired", "Not delivered, expired", ToneBad, "x", TileFailed, true, "The phone was probably off or out of coverage for too long. You can send it again."},
		{"deleted", "Not delivered, deleted by the network", ToneBad, "x", TileFailed, true, "The network deleted the message."},
		{"rejected", "Refused by the network", ToneBad, "x", TileFailed, true,
			"The network refused it, often because of the sender ID or the text. Change the sender ID or the text before you send it again."},
		{"blocked", "Number is blocked", ToneBad, "ban", TileFailed, true, "The delivery report says this number is on a block list. Do not send to it again."},
		{"unknown", "Unknown", ToneWarn, "alert", TileUnknown, false, "The network does not know what happened."},
		{"late", "No report yet", ToneWarn, "clock", TileUnknown, false,
			"No delivery report arrived in time. The message may have been delivered: reports are lost while the provider cannot reach smsdesk."},
		{"doubt", "Needs your decision", ToneWarn, "help", TileDecision, false, "We got no clear answer from the provider. It may or may not have been sent."},
		{"held", "Held for your decision", ToneWarn, "help", TileDecision, false,
			"The provider refused it for a reason we do not recognise. It was probably not sent."},
		{"refused", "Refused by the provider", ToneBad, "x", TileNotSent, true, "The provider did not accept this message. The reason is shown next to it."},
		{"closed", "Closed, not known if sent", ToneMute, "archive", TileNotSent, true, "Someone closed it. It may or may not have been sent."},
		{"resent", "Replaced by a new message", ToneMute, "repeat", TileNotSent, true, "It may or may not have been sent. Someone sent a new message in its place."},
		{"stopped", "Stopped", ToneMute, "ban", TileNotSent, true, "Someone stopped the campaign before this message was sent."},
		{"leftout", "Left out", ToneMute, "ban", TileNotSent, true, "It was left out before sending. The reason is shown next to it."},
	}
}

// StandingByKey finds a row of the table.
func StandingByKey(key string) (DisplayStatus, bool) {
	table := allStatuses()
	for i := range table {
		if table[i].Key == key {
			return table[i], true
		}
	}
	return DisplayStatus{}, false
}

// StandingKey names the row of a message with this state, status and lateness.
// Each message has exactly one.
func StandingKey(state State, status Status, late bool) string {
	if state == Accepted {
		return acceptedKey(status, late)
	}
	switch state {
	case Draft:
		return "draft"
	case Queued:
		return "queued"
	case Claimed, Sending:
		return "sending"
	case Refused:
		return "refused"
	case InDoubt:
		return "doubt"
	case Held:
		return "held"
	case Skipped:
		return "leftout"
	case Cancelled:
		return "stopped"
	case ClosedUnknown:
		return "closed"
	case ClosedResent:
		return "resent"
	}
	return ""
}

func acceptedKey(status Status, late bool) string {
	switch {
	case status == Unknown:
		return "unknown"
	case !status.Final() && late:
		return "late"
	case !status.Final():
		return "network"
	}
	switch status {
	case Delivrd:
		return "delivered"
	case Undeliv:
		return "undelivered"
	case Expired:
		return "expired"
	case Deleted:
		return "deleted"
	case Rejectd:
		return "rejected"
	case Blacklist:
		return "blocked"
	}
	return ""
}

// Standing is what people are told about the message.
func (m Message) Standing() DisplayStatus {
	s, _ := StandingByKey(StandingKey(m.State, m.Delivery.Status, m.Delivery.Late))
	return s
}

// Tally counts a campaign's messages by standing key.
type Tally map[string]int64

// Tile adds up the standings of one tile.
func (t Tally) Tile(tile Tile) (n int64) {
	for _, s := range DisplayStatuses() {
		if s.Tile == tile {
			n += t[s.Key]
		}
	}
	return n
}

// Total adds up everything.
func (t Tally) Total() (n int64) {
	for _, c := range t {
		n += c
	}
	return n
}
