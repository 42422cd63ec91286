package storage_test

import (
	"os"
	"strings"
	"testing"
)

// run is one search of the model.
type run struct {
	name   string
	rules  rules
	bounds bounds
	strict bool
	// soak runs are searched only where SMSDESK_SOAK is set: make soak.
	soak bool
}

// base is one copy, one restore, one crash and a campaign to two people that
// may be made again; change adds to it.
func base(change func(*bounds)) bounds {
	b := bounds{nodes: 1, flights: 1, contents: 2,
		budget: budget{crash: 1, copies: 1, restore: 1, proceed: 1, again: 1}}
	if change != nil {
		change(&b)
	}
	return b
}

func unrestored(change func(*bounds)) bounds {
	b := bounds{nodes: 1, flights: 1, contents: 2}
	change(&b)
	return b
}

func soaking() bool { return os.Getenv("SMSDESK_SOAK") != "" }

func (r run) search(t *testing.T) wrapNotFound {
	t.Helper()
	m := model{rules: r.rules, bounds: r.bounds, strict: r.strict, most: 30_000_000}
	f := m.search()
	f.log(t)
	return f
}

func (r run) holds(t *testing.T) {
	if r.soak && !soaking() {
		return
	}
	t.Run(r.name, func(t *testing.T) {
		t.Parallel()
		if f := r.search(t); f.wrong != "" {
			t.Errorf("the protocol fails: %s", f)
		}
	})
}

// fails is a run that must find a history that breaks a promise: one that does
// not would hold without the rule that it switches off.
func (r run) fails(t *testing.T, why string) {
	t.Run(r.name, func(t *testing.T) {
		t.Parallel()
		if f := r.search(t); !strings.Contains(f.wrong, why) || f.wrong == "" {
			t.Errorf("found %q, want %q", f.wrong, why)
		}
	})
}

const (
	twice         = "is sent twice and nobody was told before"
	twiceKnown    = "is sent twice although the journal had its line"
	noReason      = "a question without a reason"
	reportLost    = "an acknowledged report is lost silently"
	optOutLost    = "an acknowledged opt-out is forgotten silently"
	blocked       = "blocked for ever"
	notInTheBack  = "a report acknowledged before the backup began is not in it"
	zeroIsClaimed = `messages" is told although`
)

// The rule that was there before fails in every way in which it was seen to fail.
func TestModelOfTheRuleBefore(t *testing.T) {
	today := rules{today: true}
	for _, r := range []run{
		{name: "older database, no journal", rules: today, bounds: base(nil)},
		{name: "older database, journal cut", rules: today,
			bounds: base(func(b *bounds) { b.noMissing, b.again = true, 0 })},
		{name: "older database, rubbish at the journal's end", rules: today,
			bounds: base(func(b *bounds) { b.noMissing, b.noCut, b.rubbish = true, true, 1 })},
		{name: "older database, a line damaged", rules: today,
			bounds: base(func(b *bounds) { b.noMissing, b.noCut, b.flip = true, true, 1 })},
		{name: "whole folder put back", rules: today,
			bounds: base(func(b *bounds) { b.noMissing, b.noCut, b.folder = true, true, 1 })},
		{name: "clock an hour fast, corrected, older database, accept", rules: today,
			bounds: base(func(b *bounds) { b.noMissing, b.noCut, b.clock, b.again = true, true, 2, 0 })},
		{name: "backup before the campaign, made again", rules: today,
			bounds: base(func(b *bounds) { b.noMissing, b.noCut = true, true })},
		{name: "older program on a newer database, older copy back", rules: rules{today: true, olderMayLicense: true},
			bounds: base(func(b *bounds) { b.noMissing, b.noCut, b.older, b.again, b.contents = true, true, 1, 0, 1 })},
	} {
		r.fails(t, twice)
	}
	run{name: "accepted: 0 messages", rules: rules{today: true, saysNone: true},
		bounds: base(func(b *bounds) { b.noMissing, b.noCut, b.clock, b.again = true, true, 2, 0 }),
	}.fails(t, zeroIsClaimed)
}

func TestModelOfTheProtocol(t *testing.T) {
	for _, r := range []run{
		{name: "no restore, 3 crashes, torn and failed appends",
			bounds: unrestored(func(b *bounds) { b.crash, b.torn, b.void, b.doubt, b.proceed = 3, 1, 1, 1, 1 })},
		{name: "two calls at once, 2 crashes",
			bounds: unrestored(func(b *bounds) { b.crash, b.torn, b.flights = 2, 1, 2 })},
		{name: "2 messages, 1 copy, 1 restore, 2 crashes, made again",
			bounds: base(func(b *bounds) { b.crash = 2 })},
		{name: "2 messages, 2 copies, 2 restores, 2 crashes, no cuts",
			bounds: base(func(b *bounds) { b.crash, b.copies, b.restore, b.noCut = 2, 2, 2, true })},
		{name: "journal damaged",
			bounds: base(func(b *bounds) { b.crash, b.flip, b.rubbish = 2, 1, 1 })},
		{name: "backup by the verb",
			bounds: base(func(b *bounds) { b.crash, b.verbs = 2, verbOnly })},
		{name: "journal alone lost or cut, then an older database",
			bounds: base(func(b *bounds) { b.crash, b.restore, b.journalAlone, b.contents = 2, 2, 1, 1 })},
		{name: "two calls at once, restore",
			bounds: base(func(b *bounds) { b.crash, b.flights, b.again = 2, 2, 0 })},
		{name: "never twice what the journal knew, whatever is continued", strict: true,
			bounds: base(func(b *bounds) { b.crash, b.proceed, b.otherSender, b.noMissing = 2, 2, true, true })},
		{name: "an older program",
			bounds: base(func(b *bounds) { b.crash, b.older, b.contents = 2, 1, 1 })},
		{name: "reports and opt-outs, log kept or lost",
			bounds: base(func(b *bounds) { b.crash, b.reports, b.optOut, b.contents, b.again = 2, true, 1, 1, 0 })},
		{name: "reports and opt-outs, 2 copies, 1 restore",
			bounds: base(func(b *bounds) {
				b.crash, b.copies, b.contents, b.again, b.noCut, b.proceed = 2, 2, 1, 0, true, 0
				b.reports, b.optOut = true, 1
			})},
		{name: "reports, 1 copy, made again",
			bounds: base(func(b *bounds) { b.crash, b.reports, b.contents, b.noCut = 2, true, 1, true })},
		{name: "1 message, 2 copies, 2 restores, 3 crashes, 2 campaigns",
			bounds: base(func(b *bounds) { b.crash, b.copies, b.restore, b.proceed, b.contents = 3, 2, 2, 2, 1 })},
		{name: "3 messages, 1 copy, 1 restore, 2 crashes, 2 campaigns",
			bounds: base(func(b *bounds) { b.crash, b.contents = 2, 3 })},
		{name: "whole folder back, journal and log elsewhere; inbox lost",
			bounds: base(func(b *bounds) {
				b.crash, b.contents, b.elsewhere, b.journalAlone, b.noCut = 2, 1, 1, 1, true
				b.reports, b.optOut = true, 1
			})},
		{name: "2 messages, 1 copy at any time, 1 restore, 2 crashes, made again",
			bounds: base(func(b *bounds) { b.crash, b.copyAnyTime, b.emptied = 2, true, true })},
		{name: "backup in two steps, reports meanwhile",
			bounds: unrestored(func(b *bounds) {
				b.crash, b.copies, b.restore, b.reports, b.contents, b.verbs = 1, 1, 1, true, 1, verbInTwoSteps
			})},
	} {
		r.holds(t)
	}
}

// Every rule is needed: without it the model finds what it is there to prevent.
func TestModelWithoutARule(t *testing.T) {
	kept := func(change func(*bounds)) bounds {
		return base(func(b *bounds) { b.crash, b.noMissing = 2, true; change(b) })
	}
	lost := base(func(b *bounds) { b.crash = 2 })
	emptied := base(func(b *bounds) { b.crash, b.emptied = 2, true })
	nothing := func(*bounds) {}
	reported := func(change func(*bounds)) bounds {
		return base(func(b *bounds) {
			b.crash, b.contents, b.again, b.noCut, b.noMissing = 2, 1, 0, true, true
			change(b)
		})
	}
	for _, c := range []struct {
		run
		why string
	}{
		{run{name: "journal ahead is not checked", rules: rules{aheadUnchecked: true}, bounds: kept(nothing)}, twice},
		{run{name: "journal missing or shorter is not checked", rules: rules{behindUnchecked: true},
			bounds: lost}, twice},
		{run{name: "every short gap counts as a crash", rules: rules{shortGapIsACrash: true}, bounds: lost}, twice},
		{run{name: "unreadable lines are passed over", rules: rules{damagePassedOver: true},
			bounds: kept(func(b *bounds) { b.flip, b.rubbish = 1, 1 })}, twice},
		{run{name: "no line at a start", rules: rules{noStartLine: true}, bounds: emptied}, twice},
		{run{name: "the start line goes to the journal first", rules: rules{startLineJournalFirst: true},
			bounds: unrestored(func(b *bounds) { b.crash, b.torn, b.contents = 3, 1, 1 })}, noReason},
		{run{name: "the database keeps the line of a start", rules: rules{startLineKept: true},
			bounds: emptied}, twice},
		{run{name: "accept does not pause campaigns", rules: rules{acceptDoesNotPause: true}, bounds: lost}, twice},
		{run{name: "accept remembers nothing", rules: rules{acceptRemembersNothing: true},
			bounds: kept(nothing), strict: true}, twiceKnown},
		{run{name: "no warning for what is made again", rules: rules{noGap: true}, bounds: lost}, twice},
		{run{name: "the sender ID is part of the hash", rules: rules{senderInHash: true},
			bounds: kept(func(b *bounds) { b.otherSender = true }), strict: true}, twiceKnown},
		{run{name: "the call goes out before its line", rules: rules{callBeforeLine: true},
			bounds: kept(nothing)}, twice},
		{run{name: "lines are appended in any order", rules: rules{anyOrder: true},
			bounds: unrestored(func(b *bounds) { b.crash, b.flights = 2, 2 })}, noReason},
		{run{name: "only the newest open line is kept in the database", rules: rules{onlyNewestLineKept: true},
			bounds: unrestored(func(b *bounds) { b.crash, b.flights = 2, 2 })}, noReason},
		{run{name: "an older program may license", rules: rules{olderMayLicense: true},
			bounds: base(func(b *bounds) { b.crash, b.older, b.contents = 2, 1, 1 })}, twice},
		{run{name: "a backup carries no mark", rules: rules{noMark: true},
			bounds: kept(func(b *bounds) { b.verbs, b.contents = verbOnly, 1 })}, twice},
		{run{name: "a report is logged after it is applied", rules: rules{loggedAfterApply: true},
			bounds: reported(func(b *bounds) { b.reports = true })}, reportLost},
		{run{name: "a report is acknowledged before it is in the log", rules: rules{acknowledgedBeforeLog: true},
			bounds: reported(func(b *bounds) { b.reports, b.elsewhere = true, 1 })}, reportLost},
		{run{name: "an opt-out is acknowledged before it is in the log", rules: rules{blockedBeforeLog: true},
			bounds: reported(func(b *bounds) { b.optOut = 1 })}, optOutLost},
		{run{name: "the log's cursor jumps over what is not applied", rules: rules{cursorJumps: true},
			bounds: reported(func(b *bounds) { b.reports, b.optOut, b.noMissing = true, 1, false })}, optOutLost},
		{run{name: "the log is not replayed", rules: rules{notReplayed: true},
			bounds: reported(func(b *bounds) { b.reports, b.optOut = true, 1 })}, optOutLost},
		{run{name: "only a journal that is ahead can be accepted", rules: rules{onlyAheadAccepted: true},
			bounds: lost}, blocked},
		{run{name: "accept says how many the journal knows, also when that is none", rules: rules{saysNone: true},
			bounds: base(func(b *bounds) { b.crash, b.notLive = 2, true })}, zeroIsClaimed},
		{run{name: "backup copies the database before the inbox", rules: rules{databaseBeforeInbox: true},
			bounds: unrestored(func(b *bounds) {
				b.crash, b.copies, b.restore, b.reports, b.contents, b.verbs = 1, 1, 1, true, 1, verbInTwoSteps
			})}, notInTheBack},
	} {
		c.fails(t, c.why)
	}
}

// Two nodes with a journal each send from one database, and the database alone
// goes back.
func shared(change func(*bounds)) bounds {
	b := bounds{nodes: 2, flights: 1, contents: 1, coarse: true,
		budget: budget{crash: 1, copies: 1, restore: 1, proceed: 1}}
	change(&b)
	return b
}

func TestModelOfTwoNodes(t *testing.T) {
	for _, r := range []run{
		{name: "no restore, 2 crashes, torn",
			bounds: shared(func(b *bounds) {
				b.crash, b.torn, b.contents, b.copies, b.restore, b.doubt = 2, 1, 2, 0, 0, 1
			})},
		{name: "no restore, a node is lost, or only said to be",
			bounds: shared(func(b *bounds) { b.crash, b.lost, b.contents, b.copies, b.restore = 2, 1, 2, 0, 0 })},
		{name: "1 message, 1 copy, 1 restore, 2 crashes, made again", soak: true,
			bounds: shared(func(b *bounds) { b.crash, b.again = 2, 1 })},
		{name: "2 messages, 1 copy, 1 restore, 1 crash", soak: true,
			bounds: shared(func(b *bounds) { b.contents = 2 })},
		{name: "1 message, 1 copy, 1 restore, a node is lost",
			bounds: shared(func(b *bounds) { b.lost, b.crash = 2, 0 })},
		{name: "1 message, 2 restores, a journal is lost as well", soak: true,
			bounds: shared(func(b *bounds) { b.restore, b.journalAlone = 2, 1 })},
		{name: "2 messages, 1 copy, 1 restore, 2 crashes, made again", soak: true,
			bounds: shared(func(b *bounds) { b.contents, b.crash, b.again = 2, 2, 1 })},
		{name: "2 messages, 1 copy, 1 restore, 1 crash, a node is lost", soak: true,
			bounds: shared(func(b *bounds) { b.contents, b.lost = 2, 1 })},
		{name: "1 message, 2 copies, 2 restores, 1 crash", soak: true,
			bounds: shared(func(b *bounds) { b.copies, b.restore = 2, 2 })},
		{name: "1 message, 1 copy, 1 restore, every sync is a step", soak: true,
			bounds: shared(func(b *bounds) { b.coarse = false })},
	} {
		r.holds(t)
	}
}

func TestModelOfTwoNodesWithoutARule(t *testing.T) {
	for _, c := range []struct {
		run
		why string
	}{
		{run{name: "a node sends while the other has not brought its lines", rules: rules{sendsAlone: true},
			bounds: shared(func(b *bounds) { b.crash = 2 })}, twice},
		{run{name: "the head is not kept by node", rules: rules{oneHead: true},
			bounds: shared(func(b *bounds) { b.copies, b.restore = 0, 0 })}, noReason},
		{run{name: "a new node is not written in the journals of the others", rules: rules{joinsUnsaid: true},
			bounds: shared(func(b *bounds) { b.crash = 2 })}, twice},
		{run{name: "a start does not name the other nodes", rules: rules{startNamesNobody: true},
			bounds: shared(func(b *bounds) { b.lost, b.crash = 2, 0 })}, twice},
		{run{name: "a node that comes back is not told from what it was", rules: rules{oneLife: true},
			bounds: shared(func(b *bounds) { b.lost, b.crash = 2, 0 })}, twice},
		{run{name: "a node goes on over a new connection", rules: rules{keepsSending: true},
			bounds: shared(func(b *bounds) { b.crash, b.notLive = 2, true })}, twice},
		{run{name: "what others looked at before a start counts", rules: rules{looksCountTwice: true},
			bounds: shared(func(b *bounds) { b.crash = 2 })}, twice},
		{run{name: "a node looks before its own question is answered", rules: rules{looksBeforeAccept: true},
			bounds: shared(func(b *bounds) { b.crash = 2 })}, twice},
		{run{name: "a lost node does not pause campaigns", rules: rules{lostDoesNotPause: true},
			bounds: shared(func(b *bounds) { b.crash, b.lost = 2, 1 })}, twice},
		{run{name: "a node that was said to be lost may license", rules: rules{lostMayLicense: true},
			bounds: shared(func(b *bounds) { b.crash, b.lost = 2, 1 })}, twice},
		{run{name: "a node that was said to be lost returns to a database that does not know it",
			bounds: shared(func(b *bounds) { b.lost, b.lostReturns = 1, true })}, twice},
		{run{name: "a journal that is not there is like one without a line", rules: rules{missingIsEmpty: true},
			bounds: shared(func(b *bounds) { b.restore, b.journalAlone = 2, 1 })}, twice},
	} {
		c.fails(t, c.why)
	}
}

// Where the inside agrees although calls are lost, database and journal are a
// pair that a crash of an intact desk can leave: a stricter table would ask
// without a reason.
func TestModelOfWhatNothingInsideCanKnow(t *testing.T) {
	t.Parallel()
	crashes := model{bounds: unrestored(func(b *bounds) { b.crash, b.notLive = 3, true })}
	left := crashes.search()
	left.log(t)
	restores := model{bounds: base(func(b *bounds) { b.folder, b.again, b.notLive = 1, 0, true })}
	blind := restores.search()
	blind.log(t)
	if left.wrong != "" || blind.wrong != "" {
		t.Fatalf("%s %s", left, blind)
	}
	pairs := map[pair]bool{}
	for _, list := range blind.blind {
		for _, p := range list {
			pairs[p] = true
			if !left.pairs[p] {
				t.Error("a blind pair of database and journal is none that a crash leaves")
			}
		}
	}
	t.Logf("%d blind pairs", len(pairs))
	if len(pairs) == 0 {
		t.Error("no blind pair was found")
	}
}

// Witnesses from outside see the whole folder put back, or miss it as
// storage/README.md says.
func TestModelOfWitnesses(t *testing.T) {
	folder := func(change func(*bounds)) bounds {
		return base(func(b *bounds) {
			b.crash, b.folder, b.contents, b.noMissing, b.noCut = 2, 1, 1, true, true
			change(b)
		})
	}
	balance := rules{readsBalance: true}
	for _, c := range []struct {
		run
		missed bool
	}{
		{run{name: "balance read before the first call", rules: balance,
			bounds: folder(func(b *bounds) { b.again = 0 })}, false},
		{run{name: "somebody tops the balance up", rules: balance,
			bounds: folder(func(b *bounds) { b.again, b.topUp = 0, 1 })}, true},
		{run{name: "an uncharged doubt hides a call", rules: balance,
			bounds: folder(func(b *bounds) { b.again, b.contents, b.doubt, b.unchargedDoubt = 0, 2, 1, true })}, true},
		{run{name: "the copy is older than the campaign, made again", rules: balance,
			bounds: folder(func(*bounds) {})}, false},
		{run{name: "no balance; a late report",
			bounds: folder(func(b *bounds) { b.again, b.reports = 0, true })}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := model{rules: c.rules, bounds: c.bounds, blindCounts: true}
			f := m.search()
			f.log(t)
			if missed := strings.Contains(f.wrong, twice); missed != c.missed || f.wrong != "" && !missed {
				t.Errorf("missed %v, want %v: %s", missed, c.missed, f.wrong)
			}
		})
	}
}
