package storage_test

import "slices"

// rules are the ways in which the protocol can be wrong. The zero value is the
// protocol of storage/README.md; a run that sets one must fail.
type rules struct {
	today bool // what was there before: a journal that is ahead, row ids, wall clocks

	aheadUnchecked         bool
	behindUnchecked        bool
	missingIsEmpty         bool // a journal that is not there is like one without a line
	damagePassedOver       bool
	shortGapIsACrash       bool
	noStartLine            bool
	startLineJournalFirst  bool
	startLineKept          bool
	onlyNewestLineKept     bool
	callBeforeLine         bool
	anyOrder               bool
	acceptDoesNotPause     bool
	acceptRemembersNothing bool
	onlyAheadAccepted      bool
	saysNone               bool // "0 messages", also where it does not know
	noGap                  bool
	senderInHash           bool
	olderMayLicense        bool
	noMark                 bool
	loggedAfterApply       bool
	acknowledgedBeforeLog  bool
	blockedBeforeLog       bool
	cursorJumps            bool
	notReplayed            bool
	databaseBeforeInbox    bool
	readsBalance           bool // a witness, not a mistake
	reportsIgnored         bool // of messages that the database does not know

	// With several nodes.
	sendsAlone        bool // without waiting for the others
	oneHead           bool // of all nodes
	joinsUnsaid       bool // a new node is not written in the others' journals
	startNamesNobody  bool // only a node that joins is written in the others' journals
	oneLife           bool // a node that comes back is not told from what it was
	keepsSending      bool // over a new connection
	looksCountTwice   bool // an older start's looks count for this one
	lostDoesNotPause  bool
	lostMayLicense    bool // a node that was said to be lost
	looksBeforeAccept bool // a node lets the others go on before its question is answered
}

// The rows of the start-up table.
const (
	equal    = "R1"
	crashed  = "R2"
	behind   = "R3" // the database, by starts only
	prefetch = "R4" // the journal
	damage   = "R4x"
	shorter  = "R5" // the journal
	diverged = "R6"
	marked   = "R7"
	poorer   = "W1" // the balance fell by what this desk did not spend
)

func inOrder(row string) bool { return row == equal || row == crashed || row == behind }

func (m *model) headOf(n int) int {
	if m.rules.oneHead {
		return 0
	}
	return n
}

// relation is the row of the start-up table for a node's journal.
func (m *model) relation(w *world, n int) string {
	db, journal := &w.db, w.nodes[n].journal
	tail := 0
	for tail < len(journal) && !journal[len(journal)-1-tail].readable() {
		tail++
	}
	good := journal[:len(journal)-tail]
	last, head := lastOf(good), db.heads[m.headOf(n)]
	if db.copy && !m.rules.noMark {
		return marked
	}
	if w.nodes[n].missing && !m.rules.missingIsEmpty {
		return shorter
	}
	at := slices.IndexFunc(good, func(l line) bool { return l.readable() && l.id == head.id })
	switch {
	case at < 0 && last.seq < head.seq && m.cutByCrash(w, n, good, tail, last, head):
		return crashed
	case at < 0 && last.seq < head.seq:
		return or(m.rules.behindUnchecked, crashed, shorter)
	case at < 0 && head.id != 0:
		return or(m.rules.aheadUnchecked, equal, diverged)
	case tail > 0 && !m.rules.damagePassedOver:
		return damage
	}
	after := good[at+1:]
	if !m.rules.damagePassedOver && slices.ContainsFunc(after, func(l line) bool { return !l.readable() }) {
		return damage
	}
	after = readable(after)
	switch {
	case len(after) == 0:
		return equal
	case !slices.ContainsFunc(after, func(l line) bool { return l.kind == licenceLine || l.kind == acceptLine }):
		return behind
	}
	return or(m.rules.aheadUnchecked, behind, prefetch)
}

func or(if_ bool, a, b string) string {
	if if_ {
		return a
	}
	return b
}

// cutByCrash says whether a crash of an intact desk can leave what the journal
// lacks: all of it is still in the database, joins on, and none of it was sent.
func (m *model) cutByCrash(w *world, n int, good []line, tail int, last line, head head) bool {
	if m.rules.shortGapIsACrash && head.seq-last.seq <= 2 {
		return true
	}
	missing := later(w.db.open[m.headOf(n)], last.seq)
	if len(missing) != int(head.seq-last.seq) || tail > len(missing) {
		return false
	}
	before := uint8(0)
	if len(good) > 0 {
		before = good[len(good)-1].id
	}
	for i, l := range missing {
		if l.seq != last.seq+1+uint8(i) || i == 0 && l.before != before {
			return false
		}
		if s := w.db.attempt(l.id); l.kind == licenceLine && s != openAttempt && s != voidAttempt {
			return false
		}
	}
	return true
}

func later(lines []line, seq uint8) []line {
	var out []line
	for _, l := range lines {
		if l.seq > seq {
			out = append(out, l)
		}
	}
	return out
}

// unknown are the licences of a node's journal of which the database knows nothing.
func (w *world) unknown(n int) []line {
	var out []line
	for _, l := range w.nodes[n].journal {
		if l.kind == licenceLine && w.db.attempt(l.id) == unknownAttempt {
			out = append(out, l)
		}
	}
	return out
}

func (m *model) start(w *world, n int, add adder) {
	if m.rules.today {
		m.startToday(w, add)
		return
	}
	row := m.relation(w, n)
	if inOrder(row) && m.rules.readsBalance && w.db.balance-w.balance() > w.db.calls {
		row = poorer
	}
	x := *w
	x.told = w.told || len(w.log) < w.db.cursor
	x.nodes[n].known = true
	if !inOrder(row) {
		torn := slices.ContainsFunc(w.nodes[n].journal, func(l line) bool { return !l.readable() })
		if !w.past.restored && !w.past.lost && !(torn && w.past.flipped) {
			x.wrong = "a question without a reason (" + row + ")"
		}
		x.nodes[n].mode = asking
		add(said("start: "+row+", a question"), x)
		return
	}
	m.repair(&x, n, row)
	if m.rules.noStartLine {
		m.serve(&x, n)
		add(said("start: "+row), x)
		return
	}
	db := &x.db
	l := line{kind: startLine, seq: db.heads[m.headOf(n)].seq + 1, id: x.next, before: db.heads[m.headOf(n)].id}
	l.names = m.names(&x, n)
	x.next++
	x.nodes[n].mode = starting
	if !m.rules.startLineJournalFirst {
		db.heads[m.headOf(n)], db.open[m.headOf(n)] = head{l.seq, l.id}, []line{l}
		m.challenge(&x, n)
		if m.bounds.coarse {
			x.nodes[n].write(l)
			x.db.open[m.headOf(n)] = nil
			m.serve(&x, n)
			add(said("start: "+row), x)
			return
		}
		add(said("start: "+row+", line in the database"), x)
		return
	}
	x.nodes[n].write(l)
	add(said("start: "+row+", line in the journal"), x)
	if w.left.torn > 0 && w.left.crash > 0 {
		y := *w
		y.told = x.told
		y.left.torn--
		y.left.crash--
		y.nodes[n].write(line{kind: damaged})
		add(said("crash in the middle of the start line"), y)
	}
}

// repair appends what a crash cut off, and lets the head follow what it did not see.
func (m *model) repair(w *world, n int, row string) {
	node, at := &w.nodes[n], m.headOf(n)
	torn := len(node.journal) > 0 && !node.journal[len(node.journal)-1].readable()
	if row == crashed || torn && m.rules.damagePassedOver {
		for len(node.journal) > 0 && !node.journal[len(node.journal)-1].readable() {
			node.journal = node.journal[:len(node.journal)-1]
		}
		node.write(later(w.db.open[at], lastOf(node.journal).seq)...)
	}
	if last := lastOf(node.journal); row == behind && last.id != 0 {
		w.db.heads[at] = head{last.seq, last.id}
	}
}

// names are the other nodes that the database knows: after a rollback a
// journal may be all that does.
func (m *model) names(w *world, n int) lives {
	var out lives
	for k := range m.bounds.nodes {
		if k != n && w.db.nodes[k] == named && !m.rules.joinsUnsaid && !m.rules.startNamesNobody {
			out |= life(k, w.db.lives[k])
		}
	}
	return out
}

// challenge names the node in the database, and lets what others looked at
// before count no more.
func (m *model) challenge(w *world, n int) {
	if m.bounds.nodes == 1 {
		return
	}
	if w.db.nodes[n] != named && !m.rules.oneLife {
		w.db.lives[n]++
	}
	w.db.nodes[n] = named
	if !m.rules.looksCountTwice {
		w.db.looked[n] = 0
	}
}

// started is a step further with the line of a start.
func (m *model) started(w *world, n int, add adder) {
	x := *w
	node, at := &x.nodes[n], m.headOf(n)
	switch {
	case m.rules.startLineJournalFirst:
		l := lastOf(node.journal)
		x.db.heads[at] = head{l.seq, l.id}
		m.serve(&x, n)
		add(said("start: line in the database"), x)
	case node.mode == starting:
		node.mode = pruning
		open := x.db.open[at]
		node.write(open[len(open)-1])
		add(said("start: line in the journal"), x)
	default:
		if !m.rules.startLineKept {
			x.db.open[at] = nil
		}
		m.serve(&x, n)
		add(said("start: the database lets go of the line"), x)
	}
}

// serve replays the log and puts open calls in doubt; then it sends, or waits
// for the other nodes.
func (m *model) serve(w *world, n int) {
	if !m.rules.notReplayed {
		m.replay(w)
	}
	w.db.recover(n)
	w.nodes[n].mode = serving
	if m.bounds.nodes > 1 && !m.rules.sendsAlone {
		w.nodes[n].mode = waiting
	}
}

// recover puts a node's open calls in doubt.
func (d *database) recover(n int) {
	for _, a := range d.attempts {
		if a.state == openAttempt && int(a.node) == n {
			d.setAttempt(a.id, n, doubtAttempt)
		}
	}
	for i := range d.campaigns {
		for c := range content(contents) {
			d.setMessage(i, c, inDoubt, sending+message(n))
		}
	}
}

func (m *model) accept(w *world, n int, add adder) {
	if m.rules.today {
		m.acceptToday(w, add)
		return
	}
	if m.rules.onlyAheadAccepted && m.relation(w, n) != prefetch {
		return
	}
	x := *w
	last := lastOf(x.nodes[n].journal)
	seq := max(last.seq, x.db.heads[m.headOf(n)].seq) + 1
	x.nodes[n].write(line{kind: acceptLine, seq: seq, id: x.next, before: last.id})
	x.next++
	x.nodes[n].mode = accepting
	add(said("accept: line in the journal"), x)
}

func (m *model) accepted(w *world, n int, add adder) {
	x := *w
	db, l := &x.db, lastOf(w.nodes[n].journal)
	if m.rules.saysNone && len(w.unknown(n)) == 0 && w.hidden() {
		x.wrong = `"0 messages" is told although some are not known to this copy`
		add(said("accept: line in the database"), x)
		return
	}
	for _, u := range w.unknown(n) {
		x.past.known = x.past.known.with(u.to)
		if !m.rules.acceptRemembersNothing {
			db.remembered = db.remembered.with(m.hash(u.to, u.sender))
		}
		if i := db.find(u.campaign); i >= 0 {
			db.setMessage(i, u.to, inDoubt, queued, sending, sending+1)
		}
		db.setAttempt(u.id, n, acceptedAttempt)
	}
	db.recover(n)
	if !m.rules.acceptDoesNotPause {
		db.pauseAll()
	}
	db.heads[m.headOf(n)], db.open[m.headOf(n)] = head{l.seq, l.id}, nil
	db.gap, db.copy, db.balance, db.calls = true, false, w.balance(), 0
	m.challenge(&x, n)
	x.told = true
	m.serve(&x, n)
	add(said("accept: line in the database"), x)
}

// hidden says whether something was sent that the database does not know.
func (w *world) hidden() bool {
	return slices.ContainsFunc(w.sent, func(id uint8) bool { return w.db.attempt(id) == unknownAttempt })
}

func (m *model) hash(c content, sender uint8) content {
	if m.rules.senderInHash {
		return c + contents*content(sender)
	}
	return c
}

// Several nodes send from one database, each with its own journal, head, open
// lines and chain. Where that database alone goes back, the node that starts
// first may find its own journal in order while another's is ahead. So a node
// that starts, or finds its connection gone, waits until every node that the
// database or its own journal names has compared its journal with this
// database, or until an administrator says that the node is lost, which pauses
// all as an accept does. A start's line names the other nodes, and a node that
// joins or comes back is first written in the journals of those that look.

// requires is whom a node waits for.
func (m *model) requires(w *world, n int) people {
	var out people
	for k := range m.bounds.nodes {
		later := w.latestLife(n, k) > w.db.lives[k]
		if k != n && (w.db.nodes[k] == named || later) {
			out = out.with(content(k))
		}
	}
	return out
}

// latestLife is how often node k joined as far as the journal of node n knows.
func (w *world) latestLife(n, k int) uint8 {
	most := uint8(0)
	for _, l := range w.nodes[n].journal {
		for i := most + 1; i <= maxLives; i++ {
			if l.names&life(k, i) != 0 {
				most = i
			}
		}
	}
	return most
}

// together is how nodes of one database wait for each other.
func (m *model) together(w *world, n int, add adder) {
	if w.nodes[n].mode != waiting {
		return
	}
	missing := m.requires(w, n) &^ w.db.looked[n]
	if missing == 0 {
		x := *w
		x.nodes[n].mode = serving
		add(said("every other node has looked at this database"), x)
		return
	}
	for k := range m.bounds.nodes {
		if !missing.has(content(k)) {
			continue
		}
		m.look(w, n, k, add)
		if w.left.lost > 0 {
			x := *w
			x.left.lost--
			x.past.lost = true
			m.lose(&x, n, k)
			add(said("a person says that node %d is lost", uint8(k+1)), x)
		}
	}
}

// look is node k that compares its journal for node n, and lets its own
// journal name n before it says so.
func (m *model) look(w *world, n, k int, add adder) {
	other := &w.nodes[k]
	if other.mode != waiting && other.mode != serving && !(m.rules.looksBeforeAccept && other.mode == asking) {
		return
	}
	names := func(l line) bool { return l.names&life(n, w.db.lives[n]) != 0 }
	x := *w
	if m.rules.joinsUnsaid || slices.ContainsFunc(other.journal, names) {
		x.db.looked[n] = x.db.looked[n].with(content(k))
		add(said("node %d has looked", uint8(k+1)), x)
		return
	}
	if !slices.ContainsFunc(other.flying, func(c call) bool { return names(c.line) }) {
		l := m.append(&x, k, line{kind: nodeLine, names: life(n, w.db.lives[n])})
		if m.bounds.coarse {
			x.nodes[k].write(l)
			x.db.looked[n] = x.db.looked[n].with(content(k))
			add(said("node %d names it and has looked", uint8(k+1)), x)
			return
		}
		x.nodes[k].flying = append(slices.Clip(other.flying), call{line: l, step: licensed})
		add(said("node %d names it in the database", uint8(k+1)), x)
	}
}

// lose is an administrator's word, at node n, that node k will not come back.
func (m *model) lose(w *world, n, k int) {
	db := &w.db
	db.nodes[k], db.lives[k] = saidLost, max(db.lives[k], w.latestLife(n, k))
	db.gap = true
	db.recover(k)
	if !m.rules.lostDoesNotPause {
		db.pauseAll()
	}
	if !m.rules.lostMayLicense {
		db.heads[k], db.open[k] = head{}, nil
		if mode := &w.nodes[k].mode; *mode != down {
			*mode = cutOff
		}
	}
}

// append gives a line its place in a node's chain, in the transaction of what it says.
func (m *model) append(w *world, n int, l line) line {
	db, at := &w.db, m.headOf(n)
	l.seq, l.id, l.before = db.heads[at].seq+1, w.next, db.heads[at].id
	w.next++
	if m.rules.today {
		return l
	}
	open := []line{l}
	if !m.rules.onlyNewestLineKept {
		open = append(later(db.open[at], lastOf(w.nodes[n].journal).seq), l)
	}
	db.heads[at], db.open[at] = head{l.seq, l.id}, open
	return l
}
