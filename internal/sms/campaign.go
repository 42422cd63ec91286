package sms

import (
	"fmt"
	"strings"
	"time"
)

// Canary says how far a campaign has proved itself.
type Canary string

// The canary's states.
const (
	CanaryPending Canary = "pending" // the next call holds at most CanarySize messages
	CanaryFlying  Canary = "flying"  // that call is under way
	CanaryPassed  Canary = "passed"
)

// CanarySize is the most messages of a campaign's first call.
const CanarySize = 5

// Campaign is one order to send, by one person.
type Campaign struct {
	ID          int64
	AccountID   int64
	Name        string
	SenderID    string
	Text        string // own text, "" when every message has its own
	Unicode     bool
	Flash       bool
	GroupID     string // a gateway group instead of numbers, "" otherwise
	GroupName   string
	State       CampaignState
	Pause       string // why it is paused or who cancelled it, in plain words
	PauseCode   string
	Canary      Canary
	WindowFrom  int64 // since when the breaker judges its requests (ms)
	Version     int64 // for compare-and-set
	Recipients  int64
	Parts       int64
	Fingerprint string // sender, text and recipients: tells campaigns apart
	TextKey     int64  // tells texts that are nearly the same from others; see radar.TemplateKey
	CreatedBy   int64
	CreatedName string
	StartedBy   int64
	StartedName string
	CreatedAt   int64
	StartedAt   int64
	FinishedAt  int64
	CancelledBy int64  // 0: nobody, or before schema 37
	RemovedAt   int64  // when numbers and texts were removed, 0 while they are there
	AgainOf     int64  // the campaign whose messages this one sends again, 0: none
	Test        bool   // belongs to a test account
	SendAt      int64  // when it is or was to start by itself (ms), 0: at once
	SendZone    string // the zone in which that was chosen
	SendOffset  int    // its offset then, in seconds east of UTC
	SendAgain   bool   // the person wants those too who got nearly this text lately
	HandOver    bool   // at its start it goes to the service with SendAt as SchedTime (§4.2), and cannot be called back
	Urgent      bool   // a single message that a person waits for: it takes the places kept free for such
	ListID      int64  // the list it came from, 0: typed
	CallsText   int64  // calls of the plan with one text for many numbers
	CallsPairs  int64  // calls of the plan with a text for each number
	Template    string // of a new one: the name of the service's template whose text it has, "" for own text
	TestOf      int64  // the campaign whose text a person tries on a phone of their own, 0: none
	Approval    Approval
	IncludeSent bool  // it goes to recipients too who are remembered as having got its text
	SeriesID    int64 // the series of which it is a run, 0: none
	SeriesRun   int   // which of its runs, from 1
}

// Shows is the state that people see of a message of this campaign that is
// stored in state s. A start and a cancellation hold for all messages at once,
// while a million of them are moved later and a few at a time: a draft of a
// started campaign is queued, and what is unsent of a cancelled one is
// cancelled. A call under way is shown as what it is.
func (c Campaign) Shows(s State) State {
	switch {
	case c.State == CampaignCancelled && (s == Draft || s == Queued):
		return Cancelled
	case c.Started() && s == Draft:
		return Queued
	}
	return s
}

// handOverLead is how long before its SchedTime a call must leave: the time is
// given in whole minutes, and the service's clock may differ from ours.
const handOverLead = time.Minute

// HandOverLate says that it is too late to hand messages over to the service
// for the campaign's time.
func (c Campaign) HandOverLate(now time.Time) bool {
	return c.HandOver && now.Add(handOverLead).UnixMilli() > c.SendAt
}

// HandOverLateSentence says so to a person.
func (c Campaign) HandOverLateSentence() string {
	return fmt.Sprintf("Not all messages could be scheduled with the provider before %s. Continue to send the rest now",
		c.Schedule().Time().Format("2 January at 15:04"))
}

// Schedule is when it is to start by itself.
func (c Campaign) Schedule() Schedule {
	return Schedule{At: c.SendAt, Zone: c.SendZone, Offset: c.SendOffset}
}

const nameLength = 48

// NameFromText proposes a campaign's name: the text's first words, at most 48
// characters of them.
func NameFromText(text string) string {
	words := strings.Fields(text)
	name := ""
	for _, w := range words {
		longer := strings.TrimSpace(name + " " + w)
		if len([]rune(longer)) > nameLength {
			break
		}
		name = longer
	}
	if name == "" && len(words) > 0 {
		name = string([]rune(words[0])[:nameLength])
	}
	return name
}

// CampaignFilter says which campaigns are wanted, newest first.
type CampaignFilter struct {
	AccountID int64           // 0: those of every account
	States    []CampaignState // none: all
	Decision  bool            // only those with messages that wait for a person
	Trials    bool            // only those that try a text on a phone of one's own
	Name      string          // part of the name
	Words     string          // part of the name, of the text or of its list's text
	SenderID  string          // "": of every one
	Person    int64           // who wrote or started it, 0: whoever
	From, To  int64           // started, or else written, in [From, To), ms UTC; 0: unbounded
	Before    int64           // ids below this; 0: from the newest
	Limit     int
}

// CampaignRow is one line of the list.
type CampaignRow struct {
	Campaign Campaign
	Tally    Tally
}
