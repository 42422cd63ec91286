package sms

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	ada, bola = User{ID: 1, Name: "Ada"}, User{ID: 2, Name: "Bola"}
	noon      = time.UnixMilli(1_700_000_000_000).UTC()
)

// order is one call of a method, as an order or a loop would make it, on what
// was seen.
type order struct {
	way  Way
	give func(c *Campaign, seen Campaign, now time.Time, at Schedule, flag bool) error
}

func orders() []order {
	return []order{
		{WayPropose, func(c *Campaign, _ Campaign, _ time.Time, at Schedule, _ bool) error { return c.Propose(at) }},
		{WayRename, func(c *Campaign, _ Campaign, now time.Time, _ Schedule, _ bool) error { return c.Rename(now.String()) }},
		{WayStart, func(c *Campaign, seen Campaign, now time.Time, _ Schedule, flag bool) error {
			return c.Start(ada, seen.Version, flag, now)
		}},
		{WayHandOver, func(c *Campaign, seen Campaign, now time.Time, at Schedule, flag bool) error {
			return c.HandOverAt(at, ada, seen.Version, flag, now)
		}},
		{WaySchedule, func(c *Campaign, seen Campaign, _ time.Time, at Schedule, flag bool) error {
			return c.ScheduleAt(at, ada, seen.Version, flag)
		}},
		{WayReschedule, func(c *Campaign, seen Campaign, _ time.Time, at Schedule, flag bool) error {
			return c.Reschedule(at, bola, seen.Version, flag)
		}},
		{WayUnschedule, func(c *Campaign, _ Campaign, _ time.Time, _ Schedule, _ bool) error { return c.Unschedule() }},
		{WayAsk, func(c *Campaign, seen Campaign, now time.Time, at Schedule, flag bool) error {
			return c.Ask(at, flag, ada, seen.Version, !flag, now)
		}},
		{WayApprove, func(c *Campaign, seen Campaign, now time.Time, _ Schedule, flag bool) error {
			return c.Approve(bola, seen.Version, flag, now)
		}},
		{WayReturn, func(c *Campaign, seen Campaign, now time.Time, _ Schedule, _ bool) error {
			return c.Return(bola, seen.Version, "The date is wrong.", now)
		}},
		{WayTakeBack, func(c *Campaign, _ Campaign, _ time.Time, _ Schedule, _ bool) error { return c.TakeBack() }},
		{WayStartDue, func(c *Campaign, seen Campaign, now time.Time, _ Schedule, _ bool) error {
			return c.StartDue(seen.Version, now)
		}},
		{WayHold, func(c *Campaign, seen Campaign, _ time.Time, _ Schedule, flag bool) error {
			return c.Hold(seen.Version, code(PauseLate, PauseSender, flag), "held")
		}},
		{WayRelease, func(c *Campaign, seen Campaign, now time.Time, _ Schedule, _ bool) error {
			return c.Release(bola, seen.Version, now)
		}},
		{WayPause, func(c *Campaign, _ Campaign, _ time.Time, _ Schedule, flag bool) error {
			return c.PauseFor(code(PauseFloor, "007", flag), "paused")
		}},
		{WayPauseForCopy, func(c *Campaign, _ Campaign, _ time.Time, _ Schedule, _ bool) error {
			if !c.PauseForCopy("an older state") {
				return ErrConflict
			}
			return nil
		}},
		{WayStop, func(c *Campaign, _ Campaign, _ time.Time, _ Schedule, _ bool) error { return c.Stop() }},
		{WayContinue, func(c *Campaign, seen Campaign, now time.Time, _ Schedule, _ bool) error {
			return c.Continue(seen, now)
		}},
		{WayCancel, func(c *Campaign, _ Campaign, now time.Time, _ Schedule, _ bool) error { return c.Cancel(ada, now) }},
		{WayFinish, func(c *Campaign, _ Campaign, now time.Time, _ Schedule, _ bool) error { return c.Finish(now) }},
		{WayReopen, func(c *Campaign, _ Campaign, now time.Time, _ Schedule, _ bool) error { return c.Reopen(now) }},
	}
}

func code(one, other string, flag bool) string {
	if flag {
		return one
	}
	return other
}

// fieldsOf are the fields behind what goes along.
var fieldsOf = map[Along][]string{
	AlongWhy: {"Pause", "PauseCode"}, AlongWho: {"StartedBy", "StartedName"}, AlongStart: {"StartedAt"}, AlongWindow: {"WindowFrom"},
	AlongEnd: {"FinishedAt", "CancelledBy"}, AlongTime: {"SendAt", "SendZone", "SendOffset"}, AlongAgain: {"SendAgain"}, AlongHandOver: {"HandOver"},
	AlongApproval: {"Approval"}, AlongCanary: {"Canary"}, AlongName: {"Name"},
}

// rows are those of the table for a way.
func rows(w Way) (list []Transition) {
	for _, t := range transitions {
		if t.Way == w {
			list = append(list, t)
		}
	}
	return list
}

// changed names the fields in which two campaigns differ, State apart.
func changed(before, after Campaign) (names []string) {
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range a.NumField() {
		if name := a.Type().Field(i).Name; name != "State" && a.Field(i).Interface() != b.Field(i).Interface() {
			names = append(names, name)
		}
	}
	return names
}

// TestEverySequenceOfOrdersKeepsTheTable gives orders in any sequence, on what is
// there and on what was there before. An order moves a campaign only as the table
// says, changes nothing else, and leaves one of which everything fits; a refused
// one changes nothing. Every row is gone, and everything that goes along changes.
func TestEverySequenceOfOrdersKeepsTheTable(t *testing.T) {
	w := walking{t: t, rng: rand.New(rand.NewPCG(12, 1)), met: map[string]bool{}}
	for range 3000 {
		w.walk()
	}
	var never []string
	for _, tr := range transitions {
		if byStorage(tr.Way) {
			continue
		}
		for _, from := range tr.From {
			for _, to := range tr.targets(from) {
				if name := fmt.Sprint(tr.Way, ": ", from, " to ", to); !w.met[name] {
					never = append(never, name)
				}
			}
		}
		for _, a := range tr.Along {
			if !slices.ContainsFunc(fieldsOf[a], func(field string) bool { return w.met[string(tr.Way)+" "+field] }) {
				never = append(never, fmt.Sprint(tr.Way, " with ", a))
			}
		}
	}
	if len(never) > 0 {
		t.Errorf("in the table, and in no sequence:\n%s", strings.Join(never, "\n"))
	}
}

type walking struct {
	t    *testing.T
	rng  *rand.Rand
	met  map[string]bool
	c    Campaign
	past []Campaign
	now  time.Time
}

func (w *walking) one(in int) bool { return w.rng.IntN(in) == 0 }

// walk gives thirty orders to a new draft.
func (w *walking) walk() {
	w.t.Helper()
	w.c = Campaign{ID: 7, State: CampaignDraft, Canary: CanaryPending, Version: 1, Name: "June", CreatedBy: 1}
	if w.one(10) {
		w.c.TestOf = 3
	}
	w.past, w.now = []Campaign{w.c}, noon
	for range 30 {
		w.now = w.now.Add(time.Duration(1+w.rng.IntN(7200)) * time.Second)
		w.step()
		if w.c.State == CampaignRunning && w.one(2) {
			w.c.Proves([]Canary{CanaryPending, CanaryPassed}[w.rng.IntN(2)])
			w.c.Version++
		}
		w.past = append(w.past, w.c)
	}
}

// step gives one order: by what the campaign is now, or was before.
func (w *walking) step() {
	w.t.Helper()
	o := orders()[w.rng.IntN(len(orders()))]
	at := ScheduleAt(w.now.Add(time.Duration(1+w.rng.IntN(5000)) * time.Second))
	if o.way == WayAsk && w.one(2) {
		at = Schedule{}
	}
	before, seen, way := w.c, w.c, o.way
	if w.one(5) {
		seen = w.past[w.rng.IntN(len(w.past))]
	}
	if way == WayStart {
		way = w.c.StartWay()
	}
	if err := o.give(&w.c, seen, w.now, at, w.one(2)); err != nil {
		if !errors.Is(err, ErrConflict) || w.c != before {
			w.t.Fatalf("%s was refused with %v and changed %v", way, err, changed(before, w.c))
		}
		return
	}
	follows(w.t, way, before, w.c, seen)
	fits(w.t, w.c)
	w.met[fmt.Sprint(way, ": ", before.Stands(), " to ", w.c.Stands())] = true
	for _, field := range changed(before, w.c) {
		w.met[string(way)+" "+field] = true
	}
	w.c.Version++
}

// byStorage says that statements go this way, and no method.
func byStorage(w Way) bool {
	return slices.Contains([]Way{WayBegin, WayCreate, WayShow, WayHide, WayDrop}, w)
}

// follows holds a move against the table.
func follows(t *testing.T, way Way, before, after, seen Campaign) {
	t.Helper()
	if !way.May(before.Stands(), after.Stands()) {
		t.Fatalf("%s: %s to %s is not in the table", way, before.Stands(), after.Stands())
	}
	var may []string
	for _, tr := range rows(way) {
		if tr.Seen && seen.Version != before.Version && way != WayContinue {
			t.Fatalf("%s of version %d moved version %d", way, seen.Version, before.Version)
		}
		for _, a := range tr.Along {
			may = append(may, fieldsOf[a]...)
		}
	}
	if way == WayContinue && (seen.State != before.State || seen.PauseCode != before.PauseCode) {
		t.Fatalf("continued what is %s for %q, not %s for %q as was seen", before.State, before.PauseCode, seen.State,
			seen.PauseCode)
	}
	for _, name := range changed(before, after) {
		if !slices.Contains(may, name) {
			t.Fatalf("%s changed %s, which the table does not say", way, name)
		}
	}
}

// fits holds what must be true of a campaign in its state.
func fits(t *testing.T, c Campaign) {
	t.Helper()
	bad := map[string]bool{
		"started and not yet let go": c.Started() &&
			slices.Contains([]CampaignState{CampaignDraft, CampaignAwaiting, CampaignScheduled, CampaignHeld}, c.Stands()),
		"on its way and never started": !c.Started() &&
			slices.Contains([]CampaignState{CampaignRunning, CampaignPaused, CampaignStopped, CampaignFinished}, c.Stands()),
		"paused without a reason":       c.State == CampaignPaused && (c.Pause == "" || c.PauseCode == ""),
		"a reason without a pause":      c.State != CampaignPaused && (c.PauseCode != "" || c.Pause != "" && c.State != CampaignCancelled),
		"paused and trusted":            c.State == CampaignPaused && c.Canary != CanaryPending,
		"ended without a time":          (c.State == CampaignFinished || c.State == CampaignCancelled) != (c.FinishedAt > 0),
		"running for nobody":            c.Started() && (c.StartedBy == 0 || c.StartedName == ""),
		"judged since never":            c.Started() != (c.WindowFrom > 0) || c.WindowFrom < c.StartedAt,
		"scheduled for no time":         (c.State == CampaignScheduled || c.Held()) && c.SendAt == 0,
		"asked by nobody":               c.Waits() && c.Approval.AskedBy == 0,
		"a draft with an open question": c.State == CampaignDraft && (c.Approval.AskedBy > 0 || c.HandOver || c.StartedBy > 0),
		"handed over for no time":       c.HandOver && c.SendAt == 0,
	}
	for what, is := range bad {
		if is {
			t.Fatalf("%s: %+v", what, c)
		}
	}
}

// targets are the states to which a row leads from one of its own.
func (t Transition) targets(from CampaignState) []CampaignState {
	if len(t.To) == 0 && !t.Gone {
		return []CampaignState{from}
	}
	return t.To
}

// stood is a campaign that stands somewhere, made by the shortest way.
func stood(t *testing.T, state CampaignState) Campaign {
	t.Helper()
	c := Campaign{State: CampaignDraft, Canary: CanaryPending, Version: 4, Name: "June"}
	at := ScheduleAt(noon.Add(time.Hour))
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch state {
	case CampaignAwaiting:
		must(c.Ask(Schedule{}, false, ada, 4, false, noon))
	case CampaignScheduled, CampaignHeld:
		must(c.ScheduleAt(at, ada, 4, false))
		if state == CampaignHeld {
			must(c.Hold(4, PauseLate, "It was late"))
		}
	case CampaignRunning, CampaignPaused, CampaignStopped, CampaignFinished:
		must(c.Start(ada, 4, false, noon))
		c.Proves(CanaryPassed)
		switch state {
		case CampaignPaused:
			must(c.PauseFor("007", "The key is wrong"))
		case CampaignStopped:
			must(c.Stop())
		case CampaignFinished:
			must(c.Finish(noon))
		}
	case CampaignCancelled:
		must(c.Cancel(ada, noon))
	}
	if c.Stands() != state {
		t.Fatalf("%s instead of %s", c.Stands(), state)
	}
	return c
}

// moves is the table once more, as people would write it down: what is not here
// is forbidden.
const moves = `
propose     draft: draft
rename      draft: draft, scheduled: scheduled, held: held
start       draft: running
hand over   draft: running
schedule    draft: scheduled
reschedule  scheduled: scheduled, held: scheduled
unschedule  scheduled: draft, held: draft
ask         draft: awaiting_approval
approve     awaiting_approval: running
return      awaiting_approval: draft
take back   awaiting_approval: draft
start due   scheduled: running
hold        scheduled: held, held: held
release     held: running
pause       running: paused
pause for copy running: paused, paused: paused, stopped: paused, scheduled: held, held: held
stop        running: stopped, paused: stopped
continue    paused: running, stopped: running
cancel      draft: cancelled, awaiting_approval: cancelled, scheduled: cancelled, held: cancelled, running: cancelled, paused: cancelled, stopped: cancelled
finish      running: finished, paused: finished, stopped: finished
reopen      finished: running
`

// TestEveryOrderFromEveryState gives every order to a campaign in every state.
func TestEveryOrderFromEveryState(t *testing.T) {
	want := map[string]string{}
	for line := range strings.Lines(moves) {
		for _, o := range orders() {
			rest, is := strings.CutPrefix(line, string(o.way)+" ")
			if !is || strings.HasPrefix(rest, "due ") || strings.HasPrefix(rest, "for copy") {
				continue
			}
			for pair := range strings.SplitSeq(rest, ",") {
				from, to, _ := strings.Cut(pair, ":")
				want[string(o.way)+" "+strings.TrimSpace(from)] = strings.TrimSpace(to)
			}
		}
	}
	if len(want) != 40 {
		t.Fatalf("%d moves were read", len(want))
	}
	at := ScheduleAt(noon.Add(time.Hour))
	for _, state := range CampaignStates() {
		if state == CampaignHidden {
			continue
		}
		for _, o := range orders() {
			c := stood(t, state)
			before := c
			err := o.give(&c, c, noon.Add(time.Minute), at, false)
			to := want[string(o.way)+" "+string(state)]
			if err == nil && string(c.Stands()) != to || (err == nil) != (to != "") || err != nil &&
				(!errors.Is(err, ErrConflict) || c != before) {
				t.Errorf("%s from %s: %s, %v; want %q", o.way, state, c.Stands(), err, to)
			}
		}
	}
}

// TestOrdersAboutWhatWasNotSeenAreRefused: whoever decided on another version
// decided on another campaign.
func TestOrdersAboutWhatWasNotSeenAreRefused(t *testing.T) {
	at := ScheduleAt(noon.Add(time.Hour))
	for _, o := range orders() {
		row := rows(o.way)[0]
		for _, from := range row.From {
			c := stood(t, from)
			before, seen := c, c
			seen.Version--
			seen.PauseCode += "x"
			if err := o.give(&c, seen, noon, at, true); (err != nil) != row.Seen || row.Seen && c != before {
				t.Errorf("%s from %s on another version: %v", o.way, from, err)
			}
		}
	}
}

func TestWhatGoesAlong(t *testing.T) {
	now, at := noon.Add(time.Hour), ScheduleAt(noon.Add(5*time.Hour))
	ms := now.UnixMilli()
	for _, c := range []struct {
		name string
		from Campaign
		do   func(c *Campaign) error
		want func(c *Campaign)
	}{
		{"a start keeps that the person knew of the same", stood(t, CampaignDraft), func(c *Campaign) error { return c.Start(bola, 4, true, now) },
			func(c *Campaign) {
				c.State, c.StartedBy, c.StartedName, c.StartedAt, c.WindowFrom, c.SendAgain = CampaignRunning, 2, "Bola", ms, ms,
					true
			}},
		{"a start forgets the time that was proposed", Campaign{State: CampaignDraft, Version: 4, SendAt: 9, SendZone: "UTC", SendOffset: 1},
			func(c *Campaign) error { return c.Start(bola, 4, false, now) },
			func(c *Campaign) {
				*c = Campaign{State: CampaignRunning, Version: 4, StartedBy: 2, StartedName: "Bola", StartedAt: ms, WindowFrom: ms}
			}},
		{"handed over", stood(t, CampaignDraft), func(c *Campaign) error { return c.HandOverAt(at, bola, 4, true, now) }, func(c *Campaign) {
			c.State, c.StartedBy, c.StartedName, c.StartedAt, c.WindowFrom = CampaignRunning, 2, "Bola", ms, ms
			c.HandOver, c.SendAt, c.SendZone, c.SendOffset, c.SendAgain = true, at.At, at.Zone, at.Offset, true
		}},
		{"a held one is scheduled again", stood(t, CampaignHeld), func(c *Campaign) error { return c.Reschedule(at, bola, 4, true) }, func(c *Campaign) {
			c.State, c.Pause, c.PauseCode, c.StartedBy, c.StartedName = CampaignScheduled, "", "", 2, "Bola"
			c.SendAt, c.SendZone, c.SendOffset, c.SendAgain = at.At, at.Zone, at.Offset, true
		}},
		{"a due one keeps its time and who scheduled it", stood(t, CampaignScheduled), func(c *Campaign) error { return c.StartDue(4, now) },
			func(c *Campaign) { c.State, c.StartedAt, c.WindowFrom = CampaignRunning, ms, ms }},
		{"a held one keeps its time", stood(t, CampaignHeld), func(c *Campaign) error { return c.Release(bola, 4, now) }, func(c *Campaign) {
			c.State, c.Pause, c.PauseCode, c.StartedBy, c.StartedName, c.StartedAt, c.WindowFrom = CampaignRunning, "", "", 2,
				"Bola", ms, ms
		}},
		{"a schedule taken back leaves nothing of it", stood(t, CampaignHeld), func(c *Campaign) error { return c.Unschedule() },
			func(c *Campaign) { *c = stood(t, CampaignDraft) }},
		{"whoever asked has started it", stood(t, CampaignAwaiting), func(c *Campaign) error { return c.Approve(bola, 4, true, now) }, func(c *Campaign) {
			c.State, c.StartedBy, c.StartedName, c.StartedAt, c.WindowFrom, c.SendAgain = CampaignRunning, 1, "Ada", ms, ms, true
			c.Approval.ApprovedBy, c.Approval.ApprovedName, c.Approval.ApprovedAt = 2, "Bola", ms
		}},
		{"sent back", stood(t, CampaignAwaiting), func(c *Campaign) error { return c.Return(bola, 4, "No.", now) }, func(c *Campaign) {
			*c = stood(t, CampaignDraft)
			c.Approval = Approval{Returned: "No.", ReturnedBy: 2, ReturnedName: "Bola", ReturnedAt: ms}
		}},
		{"a pause begins small again", stood(t, CampaignRunning), func(c *Campaign) error { return c.PauseFor(PauseFloor, "Low") }, func(c *Campaign) {
			c.State, c.Pause, c.PauseCode, c.Canary = CampaignPaused, "Low", "floor", CanaryPending
		}},
		{"a stopped one begins small again", stood(t, CampaignStopped), func(c *Campaign) error { return c.Continue(*c, now) },
			func(c *Campaign) { c.State, c.Canary, c.WindowFrom = CampaignRunning, CanaryPending, ms }},
		{"a stop takes the reason of the pause away", stood(t, CampaignPaused), func(c *Campaign) error { return c.Stop() },
			func(c *Campaign) { c.State, c.Pause, c.PauseCode = CampaignStopped, "", "" }},
		{"cancelled", stood(t, CampaignPaused), func(c *Campaign) error { return c.Cancel(bola, now) },
			func(c *Campaign) {
				c.State, c.Pause, c.PauseCode, c.FinishedAt, c.CancelledBy = CampaignCancelled, "Cancelled by Bola", "", ms, 2
			}},
		{"finished", stood(t, CampaignPaused), func(c *Campaign) error { return c.Finish(now) },
			func(c *Campaign) { c.State, c.Pause, c.PauseCode, c.FinishedAt = CampaignFinished, "", "", ms }},
		{"opened again", stood(t, CampaignFinished), func(c *Campaign) error { return c.Reopen(now) },
			func(c *Campaign) {
				c.State, c.Canary, c.WindowFrom, c.FinishedAt = CampaignRunning, CanaryPending, ms, 0
			}},
	} {
		want := c.from
		c.want(&want)
		if err := c.do(&c.from); err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if d := cmp.Diff(want, c.from); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestAnApprovalLeadsToWhatWasAskedFor(t *testing.T) {
	asked := func(at Schedule, handOver bool) Campaign {
		c := stood(t, CampaignDraft)
		if err := c.Ask(at, handOver, ada, 4, false, noon); err != nil {
			t.Fatal(err)
		}
		return c
	}
	at := ScheduleAt(noon.Add(time.Hour))
	for name, x := range map[string]struct {
		c    Campaign
		now  time.Time
		want CampaignState
		code string
	}{
		"at once":            {asked(Schedule{}, true), noon, CampaignRunning, ""},
		"at a time to come":  {asked(at, false), noon, CampaignScheduled, ""},
		"a little late":      {asked(at, false), at.Time().Add(MaxLate), CampaignScheduled, ""},
		"too late":           {asked(at, false), at.Time().Add(MaxLate + time.Second), CampaignHeld, PauseLate},
		"by the provider":    {asked(at, true), noon, CampaignRunning, ""},
		"by the provider, 2": {asked(at, true), at.Time().Add(time.Hour), CampaignRunning, ""},
	} {
		if err := x.c.Approve(bola, 4, false, x.now); err != nil || x.c.Stands() != x.want || x.c.PauseCode != x.code ||
			(x.c.StartedAt > 0) != (x.want == CampaignRunning) {
			t.Errorf("%s: %s %q %v, want %s", name, x.c.Stands(), x.c.PauseCode, err, x.want)
		}
	}
	if c := asked(Schedule{}, true); c.HandOver {
		t.Error("nothing is handed over without a time")
	}
}

// TestAnOlderStateStopsWhatCouldSend: until a person continues it, and nobody
// turns that into a stop that needs no question.
func TestAnOlderStateStopsWhatCouldSend(t *testing.T) {
	for _, state := range []CampaignState{CampaignRunning, CampaignPaused, CampaignStopped, CampaignScheduled,
		CampaignHeld} {
		c := stood(t, state)
		if !c.PauseForCopy("An older state") || c.PauseForCopy("Once more") || c.Pause != "An older state" ||
			!c.PausedForCopy() || c.MayStop() || !c.MayContinue() {
			t.Errorf("%s: %+v", state, c)
		}
		if err := c.Stop(); !errors.Is(err, ErrConflict) {
			t.Errorf("%s was stopped: %v", state, err)
		}
	}
}

func TestAContinuedHandOverThatIsLateGoesAtOnce(t *testing.T) {
	at := ScheduleAt(noon.Add(time.Hour))
	for late, now := range map[bool]time.Time{false: at.Time().Add(-handOverLead),
		true: at.Time().Add(-handOverLead + time.Millisecond)} {
		c := stood(t, CampaignDraft)
		err := errors.Join(c.HandOverAt(at, ada, 4, false, noon), c.Stop())
		stopped := c
		if err = errors.Join(err, c.Continue(stopped, now)); err != nil || c.HandOver == late {
			t.Errorf("late %v: %v %+v", late, err, c)
		}
	}
}

// TestEveryWayOutAsksOrSaysWhyNot: a row on which messages leave asks for every
// check or says why it leaves some out, and no other row asks.
func TestEveryWayOutAsksOrSaysWhyNot(t *testing.T) {
	for _, tr := range transitions {
		leave := slices.ContainsFunc(tr.To, func(to CampaignState) bool {
			return slices.Contains([]CampaignState{CampaignRunning, CampaignScheduled, CampaignAwaiting}, to)
		})
		switch {
		case !leave && (len(tr.Asks) > 0 || tr.Leaves != ""):
			t.Errorf("%s asks although nothing leaves", tr.Way)
		case leave && (len(tr.Asks) < len(Checks())) != (tr.Leaves != ""):
			t.Errorf("%s asks for %v and leaves the rest out: %q", tr.Way, tr.Asks, tr.Leaves)
		}
	}
	if d := cmp.Diff(Checks(), WayStart.Asks()); d != "" {
		t.Error(d)
	}
	if asks := Way("made up").Asks(); asks != nil {
		t.Error(asks)
	}
}

// TestTheTableKnowsEveryState: each is entered, and each but the ended ones left.
func TestTheTableKnowsEveryState(t *testing.T) {
	for _, s := range CampaignStates() {
		in := slices.ContainsFunc(transitions, func(tr Transition) bool { return slices.Contains(tr.To, s) })
		out := slices.ContainsFunc(transitions, func(tr Transition) bool { return slices.Contains(tr.From, s) })
		if !in || out == (s == CampaignCancelled) {
			t.Errorf("%s: entered %v, left %v", s, in, out)
		}
	}
}
