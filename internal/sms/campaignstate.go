package sms

import (
	"fmt"
	"slices"
	"time"
)

// CampaignState is where a campaign stands.
type CampaignState string

// The stored states of a campaign.
const (
	CampaignHidden    CampaignState = "hidden"            // being made or taken away; nobody sees it
	CampaignDraft     CampaignState = "draft"             // checked, waiting for the person to confirm
	CampaignAwaiting  CampaignState = "awaiting_approval" // confirmed, waits for a second person
	CampaignScheduled CampaignState = "scheduled"         // confirmed, starts by itself at SendAt
	CampaignRunning   CampaignState = "running"           // messages may be claimed
	CampaignPaused    CampaignState = "paused"            // stopped by smsdesk; Pause says why
	CampaignStopped   CampaignState = "stopped"           // stopped by a person; can be continued
	CampaignFinished  CampaignState = "finished"          // nothing is left to send
	CampaignCancelled CampaignState = "cancelled"         // given up by a person for good; what is under way still ends
)

// CampaignHeld is paused before the first message: its time came and smsdesk
// left the start to a person. It is never stored, only derived.
const CampaignHeld CampaignState = "held"

// CampaignStates lists every state of the table, CampaignHeld too.
func CampaignStates() []CampaignState {
	return []CampaignState{CampaignHidden, CampaignDraft, CampaignAwaiting, CampaignScheduled, CampaignHeld,
		CampaignRunning,
		CampaignPaused, CampaignStopped, CampaignFinished, CampaignCancelled}
}

// The codes of pauses that are not the provider's. They are stored.
const (
	PauseSender   = "sender_id" // the sender ID cannot be used
	PauseGroup    = "group"     // the provider's group cannot be used
	PauseCopy     = "copy"      // an older state came back; a person continues it
	PauseHandOver = "hand_over" // too late to hand over for the campaign's time
	PauseFloor    = "floor"     // the balance reached the account's floor
	PauseLate     = "late"      // its time was missed by more than MaxLate
	PauseClock    = "clock"     // the computer's clock was wrong or jumped at its time
	PauseSame     = "again"     // the same campaign was sent in the meantime
)

// Way is what is done to a campaign.
type Way string

// The ways. Those behind WayReopen are statements of storage: they make and
// remove rows.
const (
	WayPropose      Way = "propose"
	WayRename       Way = "rename"
	WayStart        Way = "start"
	WayTry          Way = "try"
	WayHandOver     Way = "hand over"
	WaySchedule     Way = "schedule"
	WayReschedule   Way = "reschedule"
	WayUnschedule   Way = "unschedule"
	WayAsk          Way = "ask"
	WayApprove      Way = "approve"
	WayReturn       Way = "return"
	WayTakeBack     Way = "take back"
	WayStartDue     Way = "start due"
	WayHold         Way = "hold"
	WayRelease      Way = "release"
	WayPause        Way = "pause"
	WayPauseForCopy Way = "pause for copy"
	WayStop         Way = "stop"
	WayContinue     Way = "continue"
	WayCancel       Way = "cancel"
	WayFinish       Way = "finish"
	WayReopen       Way = "reopen"
	WayBegin        Way = "begin"
	WayCreate       Way = "create"
	WayShow         Way = "show"
	WayHide         Way = "hide"
	WayDrop         Way = "drop"
)

// Check is what must hold before a campaign goes a way on which its messages
// leave; desk asks.
type Check string

// The checks, in the order in which people are told.
const (
	CheckSender   Check = "sender"   // the provider takes the sender ID
	CheckTyped    Check = "typed"    // the number of recipients was typed, where the account wants it
	CheckGroup    Check = "group"    // the group is there
	CheckBlind    Check = "blind"    // the person knows that a group's numbers cannot be checked
	CheckLimit    Check = "limit"    // the person's limits allow it
	CheckApproval Check = "approval" // no second person has to say yes
	CheckRepeat   Check = "repeat"   // the person knows that some may get it twice, after an older state
	CheckSame     Check = "same"     // the same campaign was not sent lately, or the person knows
)

// Checks lists all of them.
func Checks() []Check {
	return []Check{CheckSender, CheckTyped, CheckGroup, CheckBlind, CheckLimit, CheckApproval, CheckRepeat, CheckSame}
}

// Along is what changes together with the state.
type Along string

// What goes along, with the fields behind each.
const (
	AlongWhy      Along = "why"      // Pause, PauseCode
	AlongWho      Along = "who"      // StartedBy, StartedName
	AlongStart    Along = "start"    // StartedAt
	AlongWindow   Along = "window"   // WindowFrom
	AlongEnd      Along = "end"      // FinishedAt, CancelledBy
	AlongTime     Along = "time"     // SendAt, SendZone, SendOffset
	AlongAgain    Along = "again"    // Resend
	AlongHandOver Along = "handover" // HandOver
	AlongApproval Along = "approval" // Approval
	AlongCanary   Along = "canary"   // Canary
	AlongName     Along = "name"     // Name
)

// Transition is a row of the table of campaigns' transitions.
type Transition struct {
	Way   Way
	From  []CampaignState // none: it is made
	To    []CampaignState // none: it stays where it is, or is gone where Gone says so; several: what was asked for decides
	Gone  bool
	Along []Along
	Seen  bool    // refused where the campaign is not the one that was decided on
	Asks  []Check // before it, by desk
	// Leaves says why it does not ask for the other checks, where messages leave.
	Leaves string
}

// transitions is the whole table. The engine holds the same pairs of states in
// a trigger, and README.md is written from it.
var transitions = []Transition{
	{Way: WayBegin, To: states(CampaignHidden)},
	{Way: WayCreate, To: states(CampaignDraft)},
	{Way: WayShow, From: states(CampaignHidden), To: states(CampaignDraft)},
	{Way: WayHide, From: states(CampaignDraft), To: states(CampaignHidden)},
	{Way: WayDrop, From: states(CampaignHidden, CampaignDraft), Gone: true},
	{Way: WayPropose, From: states(CampaignDraft), Along: along(AlongTime)},
	{Way: WayRename, From: states(CampaignDraft, CampaignScheduled, CampaignHeld), Along: along(AlongName)},
	{Way: WayStart, From: states(CampaignDraft), To: states(CampaignRunning), Seen: true,
		Along: along(AlongWho, AlongStart, AlongWindow, AlongTime, AlongAgain), Asks: Checks()},
	{Way: WayTry, From: states(CampaignDraft), To: states(CampaignRunning), Seen: true,
		Along: along(AlongWho, AlongStart, AlongWindow, AlongTime, AlongAgain), Asks: asks(CheckSender),
		Leaves: "one message to a phone of the person's own, which limits, approval and repetition do not count"},
	{Way: WayHandOver, From: states(CampaignDraft), To: states(CampaignRunning), Seen: true,
		Along: along(AlongWho, AlongStart, AlongWindow, AlongTime, AlongAgain, AlongHandOver), Asks: Checks()},
	{Way: WaySchedule, From: states(CampaignDraft), To: states(CampaignScheduled), Seen: true,
		Along: along(AlongWho, AlongTime, AlongAgain), Asks: Checks()},
	{Way: WayReschedule, From: states(CampaignScheduled, CampaignHeld), To: states(CampaignScheduled), Seen: true,
		Along:  along(AlongWhy, AlongWho, AlongTime, AlongAgain),
		Asks:   asks(CheckSender, CheckGroup, CheckLimit, CheckRepeat, CheckSame),
		Leaves: "the number was typed, the group accepted and the approval given when it was scheduled first"},
	{Way: WayUnschedule, From: states(CampaignScheduled, CampaignHeld), To: states(CampaignDraft),
		Along: along(AlongWhy, AlongWho, AlongTime, AlongAgain, AlongApproval)},
	{Way: WayAsk, From: states(CampaignDraft), To: states(CampaignAwaiting), Seen: true,
		Along:  along(AlongTime, AlongAgain, AlongHandOver, AlongApproval),
		Asks:   asks(CheckSender, CheckGroup, CheckBlind, CheckLimit, CheckRepeat, CheckSame),
		Leaves: "the second person's yes takes the place of the typed number"},
	{Way: WayApprove, From: states(CampaignAwaiting), To: states(CampaignRunning, CampaignScheduled, CampaignHeld), Seen: true,
		Along:  along(AlongWhy, AlongWho, AlongStart, AlongWindow, AlongAgain, AlongApproval),
		Asks:   asks(CheckSender, CheckGroup, CheckRepeat, CheckSame),
		Leaves: "the person who asked was asked for the rest, and the limits are that person's"},
	{Way: WayReturn, From: states(CampaignAwaiting), To: states(CampaignDraft), Seen: true,
		Along: along(AlongTime, AlongAgain, AlongHandOver, AlongApproval)},
	{Way: WayTakeBack, From: states(CampaignAwaiting), To: states(CampaignDraft),
		Along: along(AlongTime, AlongAgain, AlongHandOver, AlongApproval)},
	{Way: WayStartDue, From: states(CampaignScheduled), To: states(CampaignRunning), Seen: true,
		Along: along(AlongStart, AlongWindow), Asks: asks(CheckSender, CheckGroup, CheckSame),
		Leaves: "nobody is there to be asked; who scheduled it was, and an older state holds it until a person releases it"},
	{Way: WayHold, From: states(CampaignScheduled, CampaignHeld), To: states(CampaignHeld), Seen: true, Along: along(AlongWhy)},
	{Way: WayRelease, From: states(CampaignHeld), To: states(CampaignRunning), Seen: true,
		Along:  along(AlongWhy, AlongWho, AlongStart, AlongWindow),
		Asks:   asks(CheckSender, CheckGroup, CheckRepeat, CheckSame),
		Leaves: "it was confirmed in every other way when it was scheduled"},
	{Way: WayPause, From: states(CampaignRunning), To: states(CampaignPaused), Along: along(AlongWhy, AlongCanary)},
	{Way: WayPauseForCopy, From: states(CampaignRunning, CampaignPaused, CampaignStopped), To: states(CampaignPaused),
		Along: along(AlongWhy, AlongCanary)},
	{Way: WayPauseForCopy, From: states(CampaignScheduled, CampaignHeld), To: states(CampaignHeld), Along: along(AlongWhy)},
	{Way: WayStop, From: states(CampaignRunning, CampaignPaused), To: states(CampaignStopped), Along: along(AlongWhy)},
	{Way: WayContinue, From: states(CampaignPaused, CampaignStopped), To: states(CampaignRunning), Seen: true,
		Along: along(AlongWhy, AlongWindow, AlongHandOver, AlongCanary), Asks: asks(CheckRepeat),
		Leaves: "it was let go once, and each claim asks for the sender ID"},
	{Way: WayCancel, From: states(CampaignDraft, CampaignAwaiting, CampaignScheduled, CampaignHeld, CampaignRunning, CampaignPaused, CampaignStopped),
		To: states(CampaignCancelled), Along: along(AlongWhy, AlongEnd)},
	{Way: WayFinish, From: states(CampaignRunning, CampaignPaused, CampaignStopped), To: states(CampaignFinished), Along: along(AlongWhy, AlongEnd)},
	{Way: WayReopen, From: states(CampaignFinished), To: states(CampaignRunning), Along: along(AlongEnd, AlongWindow, AlongCanary),
		Leaves: "a person decided about each message, and each claim asks for the sender ID"},
}

func states(list ...CampaignState) []CampaignState { return list }
func along(list ...Along) []Along                  { return list }
func asks(list ...Check) []Check                   { return list }

// Transitions returns the table.
func Transitions() []Transition { return slices.Clone(transitions) }

// Next lists the states that may follow s, in the order of CampaignStates: by
// every way of the table.
func (s CampaignState) Next() (list []CampaignState) {
	for _, to := range CampaignStates() {
		if slices.ContainsFunc(transitions, func(t Transition) bool {
			return to != s && slices.Contains(t.From, s) && slices.Contains(t.To, to)
		}) {
			list = append(list, to)
		}
	}
	return list
}

// Asks lists what desk has to ask before a campaign goes this way.
func (w Way) Asks() []Check {
	for _, t := range transitions {
		if t.Way == w {
			return slices.Clone(t.Asks)
		}
	}
	return nil
}

// May says whether the table knows this way between two states.
func (w Way) May(from, to CampaignState) bool {
	return slices.ContainsFunc(transitions, func(t Transition) bool {
		stays := len(t.To) == 0 && !t.Gone && from == to
		return t.Way == w && slices.Contains(t.From, from) && (stays || slices.Contains(t.To, to))
	})
}

// may says whether a campaign that stands there can go this way to anywhere.
func (w Way) may(from CampaignState) bool {
	return slices.ContainsFunc(transitions, func(t Transition) bool { return t.Way == w && slices.Contains(t.From, from) })
}

// Stands is the state in the table: the stored one, or CampaignHeld.
func (c Campaign) Stands() CampaignState {
	if c.Held() {
		return CampaignHeld
	}
	return c.State
}

// Held says that it was due by its schedule but smsdesk left the start to a
// person; Pause says why.
func (c Campaign) Held() bool {
	return c.State == CampaignPaused && c.SendAt > 0 && c.StartedAt == 0
}

// PausedForCopy says that it waits for a person because an older state came back.
func (c Campaign) PausedForCopy() bool { return c.State == CampaignPaused && c.PauseCode == PauseCopy }

// Started says that its messages were released for sending.
func (c Campaign) Started() bool { return c.StartedAt > 0 }

// Decided says that nobody has to decide or to wait any more before it starts:
// it did, or it was cancelled.
func (c Campaign) Decided() bool { return c.Started() || c.State == CampaignCancelled }

// MayStart says whether the campaign may go from a draft to running.
func (c Campaign) MayStart() bool { return WayStart.may(c.Stands()) }

// MayStop says whether a person may stop it. One that is paused because an
// older state came back stays so until a person continues it, who is then told
// that some may get it twice.
func (c Campaign) MayStop() bool { return WayStop.may(c.Stands()) && c.PauseCode != PauseCopy }

// MayCancel says whether a person may give it up for good.
func (c Campaign) MayCancel() bool { return WayCancel.may(c.Stands()) }

// MayReschedule says whether its time may still be changed, or the schedule
// taken back: until the minute it starts.
func (c Campaign) MayReschedule() bool { return WayReschedule.may(c.Stands()) }

// MayContinue says whether a person may continue it, or release it where it is
// held.
func (c Campaign) MayContinue() bool {
	return WayContinue.may(c.Stands()) || WayRelease.may(c.Stands())
}

// StartWay is the way on which the campaign starts at once.
func (c Campaign) StartWay() Way {
	if c.TestOf > 0 {
		return WayTry
	}
	return WayStart
}

// move brings the campaign into a state, or says with ErrConflict that the table
// has no such way.
func (c *Campaign) move(w Way, to CampaignState) error {
	if !w.May(c.Stands(), to) {
		return fmt.Errorf("%s a campaign that is %s: %w", w, c.Stands(), ErrConflict)
	}
	if c.State = to; to == CampaignHeld {
		c.State = CampaignPaused
	}
	return nil
}

// moveSeen moves the campaign if it is the version on which somebody decided.
func (c *Campaign) moveSeen(w Way, to CampaignState, version int64) error {
	if c.Version != version {
		return fmt.Errorf("%s version %d of a campaign that is at %d: %w", w, version, c.Version, ErrConflict)
	}
	return c.move(w, to)
}

func (c *Campaign) pause(code, sentence string) {
	c.Pause, c.PauseCode, c.Canary = sentence, code, CanaryPending
}

func (c *Campaign) unpause() { c.Pause, c.PauseCode = "", "" }

// runs notes since when its requests are judged.
func (c *Campaign) runs(now time.Time) { c.WindowFrom = now.UnixMilli() }

func (c *Campaign) began(now time.Time) { c.StartedAt = now.UnixMilli(); c.runs(now) }

func (c *Campaign) startedBy(u User) { c.StartedBy, c.StartedName = u.ID, u.Name }

func (c *Campaign) plan(at Schedule, again bool) {
	c.SendAt, c.SendZone, c.SendOffset = at.At, at.Zone, at.Offset
	c.SendAgain = again || c.SendAgain
}

// unplan takes away what was said about when a campaign goes and who let it go.
func (c *Campaign) unplan() {
	c.unpause()
	c.startedBy(User{})
	c.SendAgain = false
	c.plan(Schedule{}, false)
	c.HandOver, c.Approval = false, Approval{}
}

// Propose notes when a draft is meant to start.
func (c *Campaign) Propose(at Schedule) error {
	if err := c.move(WayPropose, c.Stands()); err != nil {
		return err
	}
	c.plan(at, c.SendAgain)
	return nil
}

// Rename gives a campaign that has not started another name.
func (c *Campaign) Rename(name string) error {
	if err := c.move(WayRename, c.Stands()); err != nil {
		return err
	}
	c.Name = name
	return nil
}

// Start starts a draft at once; again says that the person knows that the same
// was sent before. A time that was proposed for it is forgotten.
func (c *Campaign) Start(by User, version int64, again bool, now time.Time) error {
	if err := c.moveSeen(c.StartWay(), CampaignRunning, version); err != nil {
		return err
	}
	c.startedBy(by)
	c.began(now)
	c.plan(Schedule{}, again)
	return nil
}

// HandOverAt starts a draft at once and lets the service keep it until then.
func (c *Campaign) HandOverAt(at Schedule, by User, version int64, again bool, now time.Time) error {
	if err := c.moveSeen(WayHandOver, CampaignRunning, version); err != nil {
		return err
	}
	c.startedBy(by)
	c.began(now)
	c.plan(at, again)
	c.HandOver = true
	return nil
}

// ScheduleAt lets a draft start by itself.
func (c *Campaign) ScheduleAt(at Schedule, by User, version int64, again bool) error {
	return c.schedule(WaySchedule, at, by, version, again)
}

// Reschedule gives a campaign another time. An approval stays: it is for what
// is sent and to whom.
func (c *Campaign) Reschedule(at Schedule, by User, version int64, again bool) error {
	return c.schedule(WayReschedule, at, by, version, again)
}

func (c *Campaign) schedule(w Way, at Schedule, by User, version int64, again bool) error {
	if err := c.moveSeen(w, CampaignScheduled, version); err != nil {
		return err
	}
	c.unpause()
	c.startedBy(by)
	c.plan(at, again)
	return nil
}

// Unschedule makes a draft again of what has not started.
func (c *Campaign) Unschedule() error { return c.draftAgain(WayUnschedule) }

// Ask puts a draft before a second person. At is zero for at once.
func (c *Campaign) Ask(at Schedule, handOver bool, by User, version int64, again bool, now time.Time) error {
	if err := c.moveSeen(WayAsk, CampaignAwaiting, version); err != nil {
		return err
	}
	c.Approval = Approval{AskedBy: by.ID, AskedName: by.Name, AskedAt: now.UnixMilli()}
	c.plan(at, again)
	c.HandOver = handOver && at.At > 0
	return nil
}

// Approve is the second person's yes: the campaign starts, waits for its time
// or, where that is over, is left to a person.
func (c *Campaign) Approve(by User, version int64, again bool, now time.Time) error {
	to := CampaignScheduled
	if _, late := c.Schedule().Due(now); c.SendAt == 0 || c.HandOver {
		to = CampaignRunning
	} else if late {
		to = CampaignHeld
	}
	if err := c.moveSeen(WayApprove, to, version); err != nil {
		return err
	}
	c.Approval.ApprovedBy, c.Approval.ApprovedName, c.Approval.ApprovedAt = by.ID, by.Name, now.UnixMilli()
	c.startedBy(User{ID: c.Approval.AskedBy, Name: c.Approval.AskedName})
	c.SendAgain = again || c.SendAgain
	switch to {
	case CampaignRunning:
		c.began(now)
	case CampaignHeld:
		c.pause(PauseLate, LateApproval(c.Schedule()))
	}
	return nil
}

// Return sends a campaign that waits for approval back to its author.
func (c *Campaign) Return(by User, version int64, reason string, now time.Time) error {
	if err := c.moveSeen(WayReturn, CampaignDraft, version); err != nil {
		return err
	}
	c.unplan()
	c.Approval = Approval{Returned: reason, ReturnedBy: by.ID, ReturnedName: by.Name, ReturnedAt: now.UnixMilli()}
	return nil
}

// TakeBack makes a campaign that waits for approval a draft again.
func (c *Campaign) TakeBack() error { return c.draftAgain(WayTakeBack) }

func (c *Campaign) draftAgain(w Way) error {
	if err := c.move(w, CampaignDraft); err != nil {
		return err
	}
	c.unplan()
	return nil
}

// StartDue starts a campaign whose time has come.
func (c *Campaign) StartDue(version int64, now time.Time) error {
	if err := c.moveSeen(WayStartDue, CampaignRunning, version); err != nil {
		return err
	}
	c.began(now)
	return nil
}

// Hold leaves the start to a person, and says why.
func (c *Campaign) Hold(version int64, code, sentence string) error {
	if err := c.moveSeen(WayHold, CampaignHeld, version); err != nil {
		return err
	}
	c.pause(code, sentence)
	return nil
}

// Release starts a campaign that is held.
func (c *Campaign) Release(by User, version int64, now time.Time) error {
	if err := c.moveSeen(WayRelease, CampaignRunning, version); err != nil {
		return err
	}
	c.unpause()
	c.startedBy(by)
	c.began(now)
	return nil
}

// PauseFor stops a running campaign until a person continues it.
func (c *Campaign) PauseFor(code, sentence string) error {
	if err := c.move(WayPause, CampaignPaused); err != nil {
		return err
	}
	c.pause(code, sentence)
	return nil
}

// PauseForCopy stops what could send after an older state came back; false
// where it could not, or where it is stopped for that already.
func (c *Campaign) PauseForCopy(sentence string) (paused bool) {
	to := CampaignPaused
	if WayPauseForCopy.May(c.Stands(), CampaignHeld) {
		to = CampaignHeld
	}
	if c.PausedForCopy() || c.move(WayPauseForCopy, to) != nil {
		return false
	}
	c.pause(PauseCopy, sentence)
	return true
}

// Stop keeps back what has not left.
func (c *Campaign) Stop() error {
	if !c.MayStop() {
		return fmt.Errorf("stop a campaign that is %s for %q: %w", c.Stands(), c.PauseCode, ErrConflict)
	}
	if err := c.move(WayStop, CampaignStopped); err != nil {
		return err
	}
	c.unpause()
	return nil
}

// Continue goes on with a campaign that stands still for the same reason as
// when somebody decided that, beginning with a small first call. Its version is
// not compared: requests that were under way may end meanwhile. What could not
// be handed over in time is sent at once.
func (c *Campaign) Continue(seen Campaign, now time.Time) error {
	if c.State != seen.State || c.PauseCode != seen.PauseCode {
		return fmt.Errorf("continue a campaign that is %s for %q now: %w", c.Stands(), c.PauseCode, ErrConflict)
	}
	if err := c.move(WayContinue, CampaignRunning); err != nil {
		return err
	}
	c.unpause()
	c.runs(now)
	c.Canary = CanaryPending
	if c.HandOverLate(now) {
		c.HandOver = false
	}
	return nil
}

// Cancel gives a campaign up for good. Its messages show the sentence, too.
func (c *Campaign) Cancel(by User, now time.Time) error {
	if err := c.move(WayCancel, CampaignCancelled); err != nil {
		return err
	}
	c.Pause, c.PauseCode, c.FinishedAt = "Cancelled by "+by.Name, "", now.UnixMilli()
	c.CancelledBy = by.ID
	return nil
}

// Finish ends a started campaign that has nothing left to send.
func (c *Campaign) Finish(now time.Time) error {
	if err := c.move(WayFinish, CampaignFinished); err != nil {
		return err
	}
	c.unpause()
	c.FinishedAt = now.UnixMilli()
	return nil
}

// MayFinish says that it ends as soon as nothing is left to send.
func (c Campaign) MayFinish() bool { return WayFinish.may(c.Stands()) }

// Reopen lets a finished campaign send what was put back into the queue,
// beginning with a small first call.
func (c *Campaign) Reopen(now time.Time) error {
	if err := c.move(WayReopen, CampaignRunning); err != nil {
		return err
	}
	c.runs(now)
	c.Canary, c.FinishedAt = CanaryPending, 0
	return nil
}

// Proves notes what the end of a request says about the campaign.
func (c *Campaign) Proves(canary Canary) { c.Canary = canary }
