package sms

import "strings"

// CampaignState is where a campaign stands.
type CampaignState string

// The states of a campaign.
const (
	CampaignDraft     CampaignState = "draft"     // checked, waiting for the person to confirm
	CampaignScheduled CampaignState = "scheduled" // confirmed, starts by itself at SendAt
	CampaignRunning   CampaignState = "running"   // messages may be claimed
	CampaignPaused    CampaignState = "paused"    // stopped by smsdesk; Pause says why
	CampaignStopped   CampaignState = "stopped"   // stopped by a person; can be continued
	CampaignFinished  CampaignState = "finished"  // nothing is left to send
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
	Pause       string // why it is paused, in plain words
	PauseCode   string
	Canary      Canary
	Version     int64 // for compare-and-set
	Recipients  int64
	Parts       int64
	Fingerprint string // sender, text and recipients: tells repeated campaigns
	CreatedBy   int64
	CreatedName string
	StartedBy   int64
	StartedName string
	CreatedAt   int64
	StartedAt   int64
	FinishedAt  int64
	Test        bool   // belongs to a test account
	SendAt      int64  // when it is or was to start by itself (ms), 0: at once
	SendZone    string // the zone in which that was chosen
	SendOffset  int    // its offset then, in seconds east of UTC
	SendAgain   bool   // the person knew that the same campaign was sent before
	HandOver    bool   // at its start it goes to the service with SendAt as SchedTime (§4.2), and cannot be called back
	Urgent      bool   // a single message that a person waits for: it takes the places kept free for such
	ListID      int64  // the list it came from, 0: typed
	CallsText   int64  // calls of the plan with one text for many numbers
	CallsPairs  int64  // calls of the plan with a text for each number
}

// MayStart says whether the campaign may go from a draft to running.
func (c Campaign) MayStart() bool { return c.State == CampaignDraft }

// MayStop says whether a person may stop it.
func (c Campaign) MayStop() bool {
	return c.State == CampaignRunning || c.State == CampaignPaused && !c.Held()
}

// Held says that it was due by its schedule but smsdesk left the start to a
// person; Pause says why.
func (c Campaign) Held() bool {
	return c.State == CampaignPaused && c.SendAt > 0 && c.StartedAt == 0
}

// MayReschedule says whether its time may still be changed, or the schedule
// taken back: until the minute it starts.
func (c Campaign) MayReschedule() bool { return c.State == CampaignScheduled || c.Held() }

// Schedule is when it is to start by itself.
func (c Campaign) Schedule() Schedule {
	return Schedule{At: c.SendAt, Zone: c.SendZone, Offset: c.SendOffset}
}

// MayContinue says whether a person may continue it.
func (c Campaign) MayContinue() bool {
	return c.State == CampaignPaused || c.State == CampaignStopped
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
	AccountID int64
	States    []CampaignState // none: all
	Decision  bool            // only those with messages that wait for a person
	Name      string          // part of the name
	Before    int64           // ids below this; 0: from the newest
	Limit     int
}

// CampaignRow is one line of the list.
type CampaignRow struct {
	Campaign Campaign
	Tally    Tally
}
