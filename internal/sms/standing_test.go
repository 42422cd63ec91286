package sms

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// shown is one row of the table of statuses (views/README.md), typed out by hand: words, colour,
// icon, tile and whether nothing more is expected.
type shown struct {
	words string
	tone  Tone
	icon  string
	tile  string
	final bool
}

const (
	grey  = ToneMute
	blue  = ToneInfo
	green = ToneOK
	red   = ToneBad
	amber = ToneWarn
)

// byState holds every state but accepted, which stands by its delivery.
var byState = map[State]shown{
	"draft":          {"Not started", grey, "clock", "Waiting", false},
	"queued":         {"Waiting to send", grey, "clock", "Waiting", false},
	"claimed":        {"Sending", grey, "loader", "Waiting", false},
	"sending":        {"Sending", grey, "loader", "Waiting", false},
	"in_doubt":       {"Needs your decision", amber, "help", "Need your decision", false},
	"held":           {"Held for your decision", amber, "help", "Need your decision", false},
	"refused":        {"Refused by the provider", red, "x", "Not sent or closed", true},
	"skipped":        {"Left out", grey, "ban", "Not sent or closed", true},
	"cancelled":      {"Stopped", grey, "ban", "Not sent or closed", true},
	"closed_unknown": {"Closed, not known if sent", grey, "archive", "Not sent or closed", true},
	"closed_resent":  {"Replaced by a new message", grey, "repeat", "Not sent or closed", true},
}

var byStatus = map[Status]shown{
	"":          {"Awaiting report", blue, "clock", "Awaiting report", false},
	"ACCEPTD":   {"Awaiting report", blue, "clock", "Awaiting report", false},
	"DELIVRD":   {"Delivered", green, "check", "Delivered", true},
	"UNDELIV":   {"Not delivered", red, "x", "Not delivered", true},
	"EXPIRED":   {"Not delivered, expired", red, "x", "Not delivered", true},
	"DELETED":   {"Not delivered, deleted by the network", red, "x", "Not delivered", true},
	"REJECTD":   {"Refused by the network", red, "x", "Not delivered", true},
	"BLACKLIST": {"Number is blocked", red, "ban", "Not delivered", true},
	"UNKNOWN":   {"Unknown", amber, "alert", "Unknown or no report", false},
}

var whenLate = shown{"No report yet", amber, "clock", "Unknown or no report", false}

func everyStatus() []Status { return append(Statuses(), "") }

func wanted(state State, status Status, late bool) shown {
	if state != "accepted" {
		return byState[state]
	}
	if late && (status == "" || status == "ACCEPTD") {
		return whenLate
	}
	return byStatus[status]
}

func TestEveryMessageHasOneStanding(t *testing.T) {
	if len(byState) != len(States())-1 || len(byStatus) != len(Statuses())+1 {
		t.Fatalf("the hand-typed table has %d states and %d statuses", len(byState), len(byStatus))
	}
	met := map[string]bool{}
	for _, state := range States() {
		for _, status := range everyStatus() {
			for _, late := range []bool{false, true} {
				m := Message{State: state, Delivery: Delivery{Status: status, Late: late}}
				key := StandingKey(state, status, late)
				rows := 0
				for _, s := range DisplayStatuses() {
					if s.Key == key {
						rows++
					}
				}
				if rows != 1 {
					t.Fatalf("%s %q late=%v has key %q, which is in the table %d times", state, status, late, key, rows)
				}
				met[key] = true
				s := m.Standing()
				got := shown{s.Words, s.Tone, s.Icon, s.Tile.Words(), s.Final}
				if want := wanted(state, status, late); got != want {
					t.Errorf("%s %q late=%v is shown as %+v, want %+v", state, status, late, got, want)
				}
				if s.Help == "" {
					t.Errorf("%q has no help line", s.Words)
				}
			}
		}
	}
	for _, s := range DisplayStatuses() {
		if !met[s.Key] {
			t.Errorf("no message can ever be %q", s.Key)
		}
		if other, ok := StandingByKey(s.Key); !ok || other != s {
			t.Errorf("StandingByKey(%q) = %+v, %v", s.Key, other, ok)
		}
	}
	if _, ok := StandingByKey("nothing"); ok {
		t.Error("a standing that does not exist was found")
	}
}

// TestAFinalMessageMovesNoMore: what is shown as final has no way on, except
// that delivery statuses may still be corrected by a stronger one.
func TestAFinalMessageMovesNoMore(t *testing.T) {
	for _, state := range States() {
		if s := (Message{State: state}).Standing(); state != Accepted && s.Final != (len(state.Next()) == 0) {
			t.Errorf("%s is shown as final=%v and may still become %v", state, s.Final, state.Next())
		}
	}
}

func TestHelpLinesOfTheTable(t *testing.T) {
	for key, want := range map[string]string{
		"queued":      "We send as fast as the provider allows.",
		"network":     "The provider accepted it. We are waiting for the delivery report.",
		"delivered":   "The network says it reached the phone. There is no way to tell whether it was read.",
		"undelivered": "The network could not deliver it. Check the number, then send it again.",
		"expired":     "The phone was probably off or out of coverage for too long. You can send it again.",
		"deleted":     "The network deleted the message.",
		"rejected":    "The network refused it, often because of the sender ID or the text. Change the sender ID or the text before you send it again.",
		"blocked":     "The delivery report says this number is on a block list. Do not send to it again.",
		"unknown":     "The network does not know what happened.",
		"late":        "No delivery report arrived in time. The message may have been delivered: reports are lost while the provider cannot reach smsdesk.",
		"doubt":       "We got no clear answer from the provider. It may or may not have been sent.",
		"held":        "The provider refused it for a reason we do not recognise. It was probably not sent.",
	} {
		if s, _ := StandingByKey(key); s.Help != want {
			t.Errorf("help of %s is %q, want %q", key, s.Help, want)
		}
	}
}

func TestTilesPartTheStandings(t *testing.T) {
	want := []string{"Waiting", "Awaiting report", "Delivered", "Not delivered", "Unknown or no report",
		"Need your decision", "Not sent or closed"}
	var got []string
	for _, tile := range Tiles() {
		got = append(got, tile.Words())
		if tile.Tone() == "" {
			t.Errorf("tile %s has no tone", tile)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("tiles %q, want %q", got, want)
	}
	for _, s := range DisplayStatuses() {
		if !slices.Contains(Tiles(), s.Tile) {
			t.Errorf("%q is in no tile", s.Key)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		tally, total := Tally{}, int64(0)
		for _, s := range DisplayStatuses() {
			n := rapid.Int64Range(0, 1<<40).Draw(t, s.Key)
			tally[s.Key] = n
			total += n
		}
		var sum int64
		for _, tile := range Tiles() {
			sum += tally.Tile(tile)
		}
		if sum != total || tally.Total() != total {
			t.Fatalf("tiles add up to %d, the tally to %d, the messages are %d", sum, tally.Total(), total)
		}
	})
}
