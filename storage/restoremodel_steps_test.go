package storage_test

import (
	"cmp"
	"slices"
)

// next is a state that one step leads to.
type next struct {
	step  step
	world world
}

type adder func(step, world)

func said(what string, args ...uint8) step {
	s := step{what: what, n: uint8(len(args))}
	copy(s.args[:], args)
	return s
}

func about(c content, what string) step { return said(what, 'a'+uint8(c)) }

// outside is a step that is no way out of a stop.
func (s step) outside() step {
	s.aside = true
	return s
}

// first is a desk that has just begun to serve.
func (m *model) first() world {
	w := world{left: m.bounds.budget, next: 2}
	w.nodes[0].mode, w.nodes[0].known = serving, true
	w.db.nodes[0], w.db.lives[0] = named, 1
	if m.rules.readsBalance {
		w.db.balance = 10
	}
	if !m.rules.today && !m.rules.noStartLine {
		l := line{kind: startLine, seq: 1, id: 1}
		w.db.heads[0] = head{1, 1}
		w.nodes[0].write(l)
		if m.rules.startLineKept {
			w.db.open[0] = []line{l}
		}
	}
	return w
}

func (w *world) balance() int { return 10 - len(w.sent) + w.topUps }

// steps adds every state that one step leads to.
func (m *model) steps(w *world, out []next) []next {
	if w.wrong != "" {
		return out
	}
	at := 0
	add := func(s step, x world) {
		if m.bounds.nodes > 1 && at >= 0 {
			s.node = uint8(at + 1)
		}
		out = append(out, next{s, x})
	}
	people := false
	for n := range m.bounds.nodes {
		at = n
		if w.nodes[n].mode == serving && !people {
			people = true
			m.people(w, add)
		}
		m.process(w, n, add)
	}
	at = -1
	m.world(w, add)
	return out
}

// process is what one process of the desk does.
func (m *model) process(w *world, n int, add adder) {
	mode := w.nodes[n].mode
	switch mode {
	case serving, cutOff:
		m.calls(w, n, add)
	case asking:
		m.accept(w, n, add)
	case starting, pruning:
		m.started(w, n, add)
	case accepting:
		m.accepted(w, n, add)
	case older:
		m.olderCalls(w, add)
	case waiting:
		m.calls(w, n, add)
		m.together(w, n, add)
	}
	if n == 0 && (mode == serving || mode == asking) {
		m.reports(w, add)
	}
	if mode != down && w.left.crash > 0 {
		m.crash(w, n, add)
	}
	if !w.nodes[n].gone && (mode == down || mode == cutOff && len(w.nodes[n].flying) == 0) {
		m.start(w, n, add)
	}
	if mode == down && w.left.older > 0 {
		x := *w
		x.left.older--
		x.nodes[n].mode = older
		add(said("an older program is started"), x)
	}
}

// world is what happens to the desk from outside.
func (m *model) world(w *world, add adder) {
	if w.left.restore > 0 && (w.nodes[0].mode == down || m.bounds.nodes > 1) {
		m.restores(w, add)
	}
	if w.left.copies > 0 && (w.up(serving, asking) || m.bounds.copyAnyTime) {
		m.backups(w, add)
	}
	if w.left.clock > 0 {
		x := *w
		x.left.clock--
		x.clock = 1 - x.clock
		add(said(or(w.clock == 1, "the clock is set back", "the clock is set an hour fast")), x)
	}
	if w.left.topUp > 0 {
		x := *w
		x.left.topUp--
		x.topUps++
		add(said("somebody tops the balance up"), x)
	}
}

func (m *model) crash(w *world, n int, add adder) {
	node := &w.nodes[n]
	x := *w
	x.left.crash--
	x.nodes[n].mode, x.nodes[n].flying = down, nil
	if n == 0 {
		x.optOut, x.halfway = optingOut{}, nil
	}
	add(said("crash"), x)
	appending := slices.ContainsFunc(node.flying, func(c call) bool { return c.step == licensed })
	if w.left.torn > 0 && (appending || node.mode == starting && !m.rules.startLineJournalFirst) {
		x.left.torn--
		x.nodes[n].write(line{kind: damaged})
		add(said("crash in the middle of an append"), x)
	}
}

// people start, continue, make again and opt out.
func (m *model) people(w *world, add adder) {
	if len(w.db.campaigns) == 0 && !w.past.made {
		x := *w
		x.past.made = true
		m.begin(&x, 0, 1, false)
		add(said("campaign X is started").outside(), x)
	}
	if len(w.db.campaigns) == 0 && w.past.made && w.left.again > 0 {
		for sender := range uint8(2) {
			if sender == 1 && !m.bounds.otherSender {
				break
			}
			x := *w
			x.left.again--
			warned := w.db.gap && !m.rules.noGap
			m.begin(&x, 1+w.left.again, 1+sender, warned)
			add(said("the lost campaign is made again"+or(sender == 1, " under another sender ID", "")+
				or(warned, ", after a warning", "")), x)
		}
	}
	for i, c := range w.db.campaigns {
		if c.paused && w.left.proceed > 0 {
			x := *w
			x.left.proceed--
			y := x.db.campaign(i)
			y.paused, y.warned = false, c.warned || c.unsure
			add(said("a person continues it"+or(c.unsure, " after a warning", "")), x)
		}
	}
	m.optOuts(w, add)
}

func (m *model) begin(w *world, id, sender uint8, warned bool) {
	c := campaign{id: id, sender: sender, clock: w.clock, warned: warned}
	for i := range m.bounds.contents {
		c.messages[i] = queued
	}
	w.db.campaigns = append(slices.Clip(w.db.campaigns), c)
}

// optOuts: the log, the database, the answer.
func (m *model) optOuts(w *world, add adder) {
	const who = content(0)
	x := *w
	switch {
	case w.left.optOut > 0 && !w.optOut.under && !w.optedOut.has(who):
		x.left.optOut--
		x.optOut = optingOut{under: true, to: who, at: len(w.log) + 1}
		if m.rules.blockedBeforeLog {
			x.optOut.done, x.optOut.at = true, 0
			x.optedOut, x.db.blocked = w.optedOut.with(who), w.db.blocked.with(who)
			add(about(who, "opt-out of %c: database, acknowledged"), x)
			return
		}
		x.write(entry{true, report{to: who}})
		add(about(who, "opt-out of %c: log"), x)
	case w.optOut.under && !w.optOut.done:
		x.optOut = optingOut{}
		x.optedOut, x.db.blocked = w.optedOut.with(who), w.db.blocked.with(who)
		x.db.cursor = m.cursor(&x, w.optOut.at)
		add(about(who, "opt-out of %c: database, acknowledged"), x)
	}
}

// write appends to the log.
func (w *world) write(e entry) {
	w.log = append(slices.Clip(w.log), e)
	w.past.logged = with(w.past.logged, e, func(a, b entry) int {
		if a.block != b.block {
			return cmp.Compare(len(a.kind()), len(b.kind()))
		}
		return byAttempt(a.report, b.report)
	})
}

func (e entry) kind() string { return or(e.block, "block", "report") }

func byAttempt(a, b report) int {
	return cmp.Or(cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.to, b.to), cmp.Compare(a.campaign, b.campaign))
}

// with is a sorted set and one more.
func with[T comparable](set []T, one T, order func(T, T) int) []T {
	i, there := slices.BinarySearchFunc(set, one, order)
	if there {
		return set
	}
	return slices.Insert(slices.Clone(set), i, one)
}

func without[T comparable](set []T, one T) []T {
	return slices.DeleteFunc(slices.Clone(set), func(v T) bool { return v == one })
}

// cursor is how far it may go once the entry has been applied: never over one
// that is not.
func (m *model) cursor(w *world, entry int) int {
	if m.rules.cursorJumps {
		return max(w.db.cursor, entry)
	}
	n := w.db.cursor
	for n < len(w.log) {
		e := w.log[n]
		if e.block && !w.db.blocked.has(e.to) || !e.block && !slices.Contains(w.db.reports, e.report) {
			break
		}
		n++
	}
	return n
}

// calls are claimed, licensed, written, sent and settled.
func (m *model) calls(w *world, n int, add adder) {
	node := &w.nodes[n]
	may := w.db.nodes[n] == named || m.rules.lostMayLicense
	if node.mode == serving && len(node.flying) < m.bounds.flights && may {
		for i := range w.db.campaigns {
			m.claim(w, n, i, add)
		}
	}
	for i := range node.flying {
		m.call(w, n, i, add)
	}
	known := w.db.balance == w.balance() && w.db.calls == 0
	if m.rules.readsBalance && len(node.flying) == 0 && node.mode == serving && !known {
		x := *w
		x.db.balance, x.db.calls = w.balance(), 0
		add(said("the balance is read").outside(), x)
	}
}

func (w *world) busy(n int, c content) bool {
	for _, k := range w.db.campaigns {
		if k.messages[c] == inDoubt || k.messages[c].isSending() {
			return true
		}
	}
	return slices.ContainsFunc(w.nodes[n].flying, func(f call) bool {
		return f.line.kind == licenceLine && f.line.to == c
	})
}

func (m *model) claim(w *world, n, row int, add adder) {
	k := w.db.campaigns[row]
	if k.paused {
		return
	}
	for c := range content(contents) {
		if k.messages[c] != queued || w.busy(n, c) {
			continue
		}
		x := *w
		switch {
		case w.db.blocked.has(c):
			x.db.setMessage(row, c, skipped)
			add(about(c, "%c is skipped: blocked"), x)
			continue
		case w.db.remembered.has(m.hash(c, k.sender)):
			x.db.setMessage(row, c, skipped)
			add(about(c, "%c is left out: sent before, says the journal"), x)
			continue
		}
		l := line{kind: licenceLine, to: c, campaign: k.id, clock: w.clock, sender: k.sender, row: uint8(row)}
		l = m.append(&x, n, l)
		x.db.setMessage(row, c, sending+message(n))
		x.db.setAttempt(l.id, n, openAttempt)
		x.db.calls++
		f := call{l, licensed, k.warned}
		if m.bounds.coarse {
			f.step = written
			x.nodes[n].write(l)
			x.past.lines |= 1 << l.id
		}
		x.nodes[n].flying = append(slices.Clip(w.nodes[n].flying), f)
		if w.optedOut.has(c) && !w.told && !w.blind {
			x.wrong = c.String() + " is licensed although its person opted out"
		}
		add(about(c, "licence of %c in the database"), x)
		return
	}
}

// call takes one call a step further.
func (m *model) call(w *world, n, i int, add adder) {
	f := w.nodes[n].flying[i]
	c := f.line.to
	x := *w
	// end is the call's end in the database, unless that is not the one that licensed it.
	end := func(x *world, state attemptState, to message, from ...message) {
		x.nodes[n].flying = slices.Delete(slices.Clone(x.nodes[n].flying), i, i+1)
		if w.nodes[n].mode == cutOff {
			return
		}
		x.db.setMessage(int(f.line.row), c, to, from...)
		x.db.setAttempt(f.line.id, n, state)
	}
	at := func(x *world, s callStep) {
		x.nodes[n].flying = slices.Clone(x.nodes[n].flying)
		x.nodes[n].flying[i].step = s
	}
	switch f.step {
	case licensed:
		if lines := m.due(w, n, f.line); lines != nil {
			y := *w
			y.nodes[n].write(lines...)
			at(&y, written)
			for _, l := range lines {
				y.past.lines |= 1 << l.id
			}
			if f.line.kind == nodeLine {
				y.nodes[n].flying = slices.Delete(y.nodes[n].flying, i, i+1)
				add(said("its journal names another node"), y)
				return
			}
			add(about(c, "line of %c in the journal"), y)
		}
		if f.line.kind == nodeLine {
			return
		}
		if w.left.void > 0 {
			y := *w
			y.left.void--
			end(&y, voidAttempt, queued)
			add(about(c, "the journal cannot be written: %c goes back to its queue"), y)
		}
		if m.rules.callBeforeLine {
			m.carryOut(&x, n, f)
			at(&x, sentUnwritten)
			add(about(c, "%c is sent"), x)
		}
	case written:
		y := *w
		m.carryOut(&y, n, f)
		at(&y, sent)
		add(about(c, "%c is sent"), y)
		if w.left.doubt > 0 && m.bounds.unchargedDoubt {
			x.left.doubt--
			end(&x, doubtAttempt, inDoubt, sending+message(n))
			add(about(c, "%c never arrives: in doubt"), x)
		}
	case sent:
		y := *w
		end(&y, doneAttempt, answered, sending+message(n))
		add(about(c, "answer for %c is stored"), y)
		if w.left.doubt > 0 {
			x.left.doubt--
			end(&x, doubtAttempt, inDoubt, sending+message(n))
			add(about(c, "answer for %c is lost: in doubt"), x)
		}
	}
}

// due are the lines to append for one that is licensed: itself, and those
// before it that could not be appended, from the database. None means not yet.
func (m *model) due(w *world, n int, l line) []line {
	journal := w.nodes[n].journal
	if m.rules.today || m.rules.anyOrder || len(journal) == 0 {
		return []line{l}
	}
	last := journal[len(journal)-1]
	if !last.readable() || last.id == l.before {
		return []line{l}
	}
	var lines []line
	for _, o := range later(w.db.open[m.headOf(n)], last.seq) {
		if o.seq <= l.seq {
			lines = append(lines, o)
		}
	}
	waits := func(f call) bool {
		same := func(o line) bool { return o.id == f.line.id }
		return f.step == licensed && f.line.id != l.id && slices.ContainsFunc(lines, same)
	}
	if len(lines) != int(l.seq)-int(last.seq) || slices.ContainsFunc(w.nodes[n].flying, waits) {
		return nil
	}
	return lines
}

// applyDecision is what the service does with a call.
func (m *model) carryOut(w *world, n int, f call) {
	// What a node still sends that is cut off was licensed before. Where a person
	// has sent the same since, that was after a warning.
	before := w.nodes[n].mode == cutOff && (f.warned || w.sentWarn.has(f.line.to))
	m.carry(w, f.line.id, f.line.to, f.line.campaign, before)
}

func (m *model) carry(w *world, id uint8, c content, campaign uint8, warned bool) {
	if i := w.db.find(campaign); i >= 0 {
		warned = warned || w.db.campaigns[i].warned
	}
	visible := !w.blind || m.blindCounts
	switch {
	case !visible || !w.sentTo.has(c):
	case !warned:
		w.wrong = c.String() + " is sent twice and nobody was told before"
	case m.strict && w.past.known.has(c):
		w.wrong = c.String() + " is sent twice although the journal had its line"
	}
	w.sent = append(slices.Clip(w.sent), id)
	w.sentTo = w.sentTo.with(c)
	if warned && m.bounds.nodes > 1 {
		w.sentWarn = w.sentWarn.with(c)
	}
	w.provider = append(slices.Clip(w.provider), report{id, c, campaign})
}

// reports: the log, the inbox, acknowledged; the database; forgotten in the inbox.
func (m *model) reports(w *world, add adder) {
	if !m.bounds.reports || m.rules.today {
		return
	}
	logged := func(r report) int {
		return slices.IndexFunc(w.log, func(e entry) bool { return !e.block && e.report == r })
	}
	for _, r := range w.provider {
		x := *w
		logFirst := !m.rules.loggedAfterApply && !m.rules.acknowledgedBeforeLog
		if logFirst && logged(r) < 0 && !slices.Contains(w.halfway, r) {
			x.write(entry{report: r})
			x.halfway = append(slices.Clip(x.halfway), r)
			add(about(r.to, "report for %c: log").outside(), x)
			continue
		}
		x.provider = without(w.provider, r)
		if logFirst {
			x.halfway = without(w.halfway, r)
		}
		x.inbox, x.acked = with(w.inbox, r, byAttempt), with(w.acked, r, byAttempt)
		add(about(r.to, "report for %c: inbox, acknowledged").outside(), x)
	}
	if w.nodes[0].mode != serving {
		return
	}
	for _, r := range w.inbox {
		x := *w
		what := "report for %c: database"
		switch {
		case slices.Contains(w.db.reports, r):
			x.inbox, what = without(w.inbox, r), "report for %c is forgotten in the inbox"
		case m.rules.loggedAfterApply:
			m.apply(&x, entry{report: r})
		case logged(r) < 0:
			x.write(entry{report: r})
			what = "report for %c: log"
		default:
			m.apply(&x, entry{report: r})
			x.db.cursor = m.cursor(&x, logged(r)+1)
		}
		add(about(r.to, what).outside(), x)
	}
}

// replay applies what the log holds behind the cursor.
func (m *model) replay(w *world) {
	for i := w.db.cursor; i < len(w.log); i++ {
		m.apply(w, w.log[i])
	}
	w.db.cursor = max(w.db.cursor, len(w.log))
}

func (m *model) apply(w *world, e entry) {
	db := &w.db
	if e.block {
		db.blocked = db.blocked.with(e.to)
		return
	}
	if slices.Contains(db.reports, e.report) {
		return
	}
	db.reports = with(db.reports, e.report, byAttempt)
	if db.attempt(e.attempt) == doneAttempt {
		return
	}
	for i := range db.campaigns {
		switch k := &db.campaigns[i]; {
		case k.messages[e.to] == inDoubt:
			db.setMessage(i, e.to, answered)
		case k.messages[e.to] == queued && !m.rules.reportsIgnored:
			db.setMessage(i, e.to, inDoubt)
			c := db.campaign(i)
			c.paused, c.unsure = true, true
		}
	}
}

// startToday is the check that was there before: calls at the journal's end
// that the database does not know.
func (m *model) startToday(w *world, add adder) {
	x := *w
	x.db.recover(0)
	x.nodes[0].mode = serving
	if len(w.aheadToday()) > 0 {
		x.nodes[0].mode = asking
		add(said("start: the journal is ahead"), x)
		return
	}
	add(said("start"), x)
}

func (w *world) aheadToday() []line {
	var out []line
	journal := w.nodes[0].journal
	for i := len(journal) - 1; i >= 0; i-- {
		l := journal[i]
		if l.kind == damaged {
			continue
		}
		if l.kind == rubbish || w.db.attempt(l.id) != unknownAttempt {
			break
		}
		out = append(out, l)
	}
	slices.Reverse(out)
	return out
}

// acceptToday goes by row ids, and compares two wall clocks.
func (m *model) acceptToday(w *world, add adder) {
	x := *w
	db, n := &x.db, uint8(0)
	for _, l := range w.aheadToday() {
		if row := int(l.row); row < len(db.campaigns) && db.campaigns[row].clock <= l.clock {
			if s := db.campaigns[row].messages[l.to]; s == queued || s.isSending() {
				n++
				db.setMessage(row, l.to, inDoubt)
			}
		}
		db.setAttempt(l.id, 0, acceptedAttempt)
	}
	x.nodes[0].mode = serving
	if n == 0 && m.rules.saysNone {
		x.wrong = `"accepted: 0 messages" is told although some are not known to this copy`
	}
	add(said(`accept: "%d messages need a decision"`, n), x)
}

// olderCalls: an older program knows neither heads nor lines of this journal.
func (m *model) olderCalls(w *world, add adder) {
	stopped := *w
	stopped.nodes[0].mode = down
	if !m.rules.olderMayLicense {
		add(said("the older program cannot license: stopped"), stopped)
		return
	}
	for i, k := range w.db.campaigns {
		for c := range content(contents) {
			if k.messages[c] == queued && !k.paused && !w.db.blocked.has(c) {
				x := *w
				x.db.setMessage(i, c, answered)
				x.db.setAttempt(w.next, 0, doneAttempt)
				m.carry(&x, w.next, c, k.id, false)
				x.next++
				add(about(c, "the older program sends %c"), x)
			}
		}
	}
	add(said("the older program is stopped"), stopped)
}

func (m *model) backups(w *world, add adder) {
	x := *w
	plain := inboxEntry{db: w.db, journal: w.nodes[0].journal, log: w.log, inbox: w.inbox}
	if m.bounds.verbs == copyOnly {
		x.left.copies--
		x.copies = append(slices.Clip(w.copies), plain)
		add(said("a copy is made"), x)
		return
	}
	made := inboxEntry{verb: true, db: w.db, inbox: w.inbox}
	made.db.copy = !m.rules.noMark
	if m.bounds.verbs == verbOnly {
		x.left.copies--
		x.copies = append(slices.Clip(w.copies), made)
		add(said("smsdesk backup"), x)
		return
	}
	i := slices.IndexFunc(w.copies, func(k inboxEntry) bool { return k.half })
	if i < 0 {
		made.half = true
		x.copies, x.past.before = append(slices.Clip(w.copies), made), w.acked
		add(said("backup begins: "+or(m.rules.databaseBeforeInbox, "database", "inbox")), x)
		return
	}
	if m.rules.databaseBeforeInbox {
		made.db = w.copies[i].db
	} else {
		made.inbox = w.copies[i].inbox
	}
	x.left.copies--
	x.copies = append(slices.Delete(slices.Clone(w.copies), i, i+1), made)
	add(said("backup ends: "+or(m.rules.databaseBeforeInbox, "inbox", "database")), x)
}

// back is what was put back.
type back struct {
	db      database
	journal []line
	missing bool // the journal is not even empty
	log     []entry
	inbox   []report
}

func (m *model) restores(w *world, add adder) {
	journal := w.nodes[0].journal
	for i := range w.copies {
		k := &w.copies[i]
		if k.half {
			continue
		}
		n := uint8(i + 1)
		if m.bounds.nodes > 1 {
			m.restoreBeneath(w, k.db, add)
			continue
		}
		// The verb fills an empty folder; a copy is put into the old one.
		inbox := w.inbox
		if k.verb {
			inbox = k.inbox
		}
		put := func(s step, journal []line, log []entry, inbox []report, change func(*world)) {
			x := *w
			change(&x)
			m.put(&x, back{k.db, journal, journal == nil, log, inbox}, k.verb)
			add(s, x)
		}
		same := func(*world) {}
		if w.left.folder > 0 && !k.verb {
			put(said("restore: the whole folder of copy %d", n), k.journal, k.log, k.inbox, same)
		}
		put(said("restore: database of %d, journal kept", n), journal, w.log, inbox, same)
		if !m.bounds.noMissing {
			put(said("restore: database of %d, no journal", n), nil, nil, k.inbox, same)
		}
		if m.bounds.emptied {
			put(said("restore: database of %d, journal without a line", n), []line{}, w.log, inbox, same)
		}
		for c := 1; c < len(journal) && !m.bounds.noCut; c++ {
			cut := said("restore: database of %d, journal cut to %d of %d lines", n, uint8(c), uint8(len(journal)))
			put(cut, journal[:c:c], w.log, inbox, same)
		}
		flipped := func(x *world) { x.past.flipped = true }
		for c := 0; c < len(journal) && w.left.flip > 0; c++ {
			bad := slices.Clone(journal)
			bad[c] = line{kind: damaged}
			flip := said("restore: database of %d, line %d of the journal damaged", n, uint8(c+1))
			put(flip, bad, w.log, inbox, flipped)
		}
		if w.left.rubbish > 0 {
			bad := append(slices.Clone(journal), line{kind: rubbish})
			put(said("restore: database of %d, rubbish at the end of the journal", n), bad, w.log, inbox, flipped)
		}
		if w.left.elsewhere > 0 && !k.verb {
			put(said("restore: the whole folder of %d, journal and log elsewhere", n), journal, w.log, k.inbox, same)
		}
	}
	if w.left.journalAlone > 0 {
		m.lostAlone(w, add)
	}
}

func (m *model) lostAlone(w *world, add adder) {
	journal := w.nodes[0].journal
	put := func(s step, journal []line, inbox []report) {
		x := *w
		m.put(&x, back{w.db, journal, journal == nil, w.log, inbox}, false)
		add(s, x)
	}
	if m.bounds.nodes > 1 {
		x := *w
		x.left.restore--
		x.past.restored = true
		x.nodes[1].journal, x.nodes[1].missing = nil, true
		if w.nodes[1].mode == down && w.nodes[1].known {
			add(said("the journal of node 2 alone is lost"), x)
		}
		return
	}
	put(said("the journal alone is lost"), nil, w.inbox)
	put(said("the inbox alone is lost"), journal, nil)
	for c := 1; c < len(journal); c++ {
		put(said("the journal alone is cut to %d lines", uint8(c)), journal[:c:c], w.inbox)
	}
}

// restoreBeneath puts the one database of several nodes back. Whoever was
// connected to it is cut off; what it had licensed still goes out.
func (m *model) restoreBeneath(w *world, db database, add adder) {
	x := *w
	x.left.restore--
	x.past.restored = true
	x.db = db
	for n := range x.nodes {
		if w.db.nodes[n] == saidLost && db.nodes[n] != saidLost && !m.bounds.lostReturns {
			x.nodes[n].gone = true
		}
		if mode := &x.nodes[n].mode; *mode != down && !(*mode == serving && m.rules.keepsSending) {
			*mode = cutOff
		}
	}
	add(said("restore: the database of all nodes"), x)
}

// put puts back, and finds out whether anything inside can know what is missing.
func (m *model) put(x *world, b back, verb bool) {
	x.left.restore--
	x.past.restored = true
	x.db, x.nodes[0].journal, x.log, x.inbox = b.db, b.journal, b.log, b.inbox
	x.nodes[0].missing = b.missing
	asked := *x
	asked.db.copy = asked.db.copy || verb
	judge := model{bounds: m.bounds}
	if agrees := !m.rules.today && len(b.journal) > 0 && inOrder(judge.relation(&asked, 0)); agrees {
		x.blind = x.blind || x.callsLost() || len(b.log) >= b.db.cursor && x.entriesLost()
	}
	for _, r := range x.past.before {
		if m.bounds.verbs == verbInTwoSteps && !slices.Contains(b.db.reports, r) && !slices.Contains(b.inbox, r) {
			x.wrong = "a report acknowledged before the backup began is not in it"
		}
	}
}

// callsLost: they were in a journal once, and are now nowhere.
func (w *world) callsLost() bool {
	return slices.ContainsFunc(w.sent, func(id uint8) bool {
		written := slices.ContainsFunc(w.nodes[0].journal, func(l line) bool { return l.readable() && l.id == id })
		return w.past.lines&(1<<id) != 0 && !written && w.db.attempt(id) == unknownAttempt
	})
}

// entriesLost: what neither log nor database has cannot be missed by anybody inside.
func (w *world) entriesLost() bool {
	return slices.ContainsFunc(w.past.logged, func(e entry) bool {
		if slices.Contains(w.log, e) {
			return false
		}
		if e.block {
			return !w.db.blocked.has(e.to)
		}
		return !slices.Contains(w.db.reports, e.report) && !slices.Contains(w.inbox, e.report)
	})
}

// broken is the promise that a state breaks.
func (m *model) broken(w *world) string {
	if w.wrong != "" {
		return w.wrong
	}
	if wrong := w.forgotten(); wrong != "" {
		return wrong
	}
	if m.bounds.notLive || m.rules.today || w.blind || !m.stopped(w) {
		return ""
	}
	return m.stuck(w)
}

func (m *model) stopped(w *world) bool {
	return w.up(asking) || slices.ContainsFunc(w.nodes[:m.bounds.nodes], func(n node) bool { return n.mode == down })
}

// forgotten is an acknowledged report or opt-out that a desk which sends has lost.
func (w *world) forgotten() string {
	if !w.up(serving) || w.blind {
		return ""
	}
	if w.told && slices.ContainsFunc(w.past.logged, func(e entry) bool { return !slices.Contains(w.log, e) }) {
		return "" // the log itself is not whole, and that was told
	}
	for c := range content(contents) {
		if w.optedOut.has(c) && !w.db.blocked.has(c) {
			return "an acknowledged opt-out is forgotten silently: " + c.String()
		}
	}
	behind := w.log[min(w.db.cursor, len(w.log)):]
	for _, r := range w.acked {
		there := slices.Contains(w.db.reports, r) || slices.Contains(w.inbox, r)
		if !there && !slices.Contains(behind, entry{report: r}) {
			return "an acknowledged report is lost silently: " + r.to.String()
		}
	}
	return ""
}

// stuck goes the way that a person has out of a stop: start, accept, continue.
// After it, all that is not in doubt, left out or blocked was sent.
func (m *model) stuck(from *world) string {
	w := *from
	w.left = budget{proceed: 9, lost: w.left.lost}
	if m.bounds.nodes > 1 {
		w.left.lost = 2
	}
	w.blind = true
	var steps []next
	for range 60 * m.bounds.nodes {
		steps = m.steps(&w, steps[:0])
		i := slices.IndexFunc(steps, func(n next) bool { return !n.step.aside })
		if i < 0 {
			break
		}
		w = steps[i].world
		w.wrong = ""
	}
	if !w.up(serving) {
		return "blocked for ever: nobody serves"
	}
	for c := range content(contents) {
		left, doubt := false, false
		for _, k := range w.db.campaigns {
			left = left || k.messages[c] == queued || k.messages[c].isSending()
			doubt = doubt || k.messages[c] == inDoubt
		}
		if left && !doubt {
			return "blocked for ever: " + c.String()
		}
	}
	return ""
}
