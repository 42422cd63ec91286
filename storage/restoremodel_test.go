package storage_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A model of sending, crashing, backing up and restoring, small enough that
// every history within its bounds is searched, breadth first, so that the
// first history that breaks a promise is a shortest one. The protocol is in
// storage/README.md, whose words are used here: R1 to R7 are the rows of its
// start-up table. A rule that is changed there is changed here first.
//
// What is abstract: a call carries one message; a content (a, b, c) stands for
// one number with one text; a campaign's row is its place in the database; a
// clock is right (0) or an hour fast (1). Every sync is one step; a crash may
// come between any two steps, also in the middle of an append.
//
// The steps are in restoremodel_steps_test.go, what a start does in
// restoremodel_start_test.go, the runs in restoremodel_runs_test.go.

// content is one number with one text.
type content uint8

func (c content) String() string { return string(rune('a' + c)) }

const contents = 3

// people is a set of contents.
type people uint16

func (p people) has(c content) bool    { return p&(1<<c) != 0 }
func (p people) with(c content) people { return p | 1<<c }

// lives is a set of nodes, each with how often it joined: a node that was said
// to be lost and comes back begins another life.
type lives uint16

const maxLives = 7

func life(node int, n uint8) lives { return 1 << (node + maxNodes*int(n)) }

type lineKind uint8

const (
	startLine lineKind = iota + 1
	licenceLine
	acceptLine
	nodeLine // names another node
	damaged  // a line that cannot be read
	rubbish  // more of it than today's reader passes over
)

// line is one line of a journal. Its id is unique, and stands for its sum.
type line struct {
	kind                  lineKind
	seq, id, before       uint8
	to                    content
	campaign, row, sender uint8
	clock                 uint8
	names                 lives // of other nodes, in a start or a nodeLine
}

func (l line) readable() bool { return l.kind != damaged && l.kind != rubbish }

func readable(journal []line) []line {
	for i, l := range journal {
		if !l.readable() {
			good := slices.Clone(journal[:i])
			for _, l := range journal[i:] {
				if l.readable() {
					good = append(good, l)
				}
			}
			return good
		}
	}
	return journal
}

// lastOf is the zero line for a journal without a readable one.
func lastOf(journal []line) line {
	for i := len(journal) - 1; i >= 0; i-- {
		if journal[i].readable() {
			return journal[i]
		}
	}
	return line{}
}

type attemptState uint8

const (
	unknownAttempt attemptState = iota
	openAttempt
	doneAttempt
	doubtAttempt
	voidAttempt     // nothing was written
	acceptedAttempt // known from the journal only
)

type attempt struct {
	id    uint8
	state attemptState
	node  uint8
}

// message is the state of one content in a campaign. A message that is being
// sent knows by which node: sending + node.
type message uint8

const (
	noMessage message = iota
	queued
	inDoubt
	answered
	skipped
	sending
)

func (m message) isSending() bool { return m >= sending }

type campaign struct {
	id, sender, clock      uint8
	paused, warned, unsure bool // unsure: to continue it says that some may get it twice
	messages               [contents]message
}

type head struct{ seq, id uint8 }

// report says what became of a message.
type report struct {
	attempt  uint8
	to       content
	campaign uint8
}

// entry is one of the log of reports and blocks.
type entry struct {
	block bool
	report
}

// byStatus is what the database says about a node.
type byStatus uint8

const (
	notNamed byStatus = iota
	named
	saidLost
)

const maxNodes = 2

type database struct {
	campaigns  []campaign
	attempts   []attempt // in the order of their ids
	heads      [maxNodes]head
	open       [maxNodes][]line // lines not yet known to be in the journal
	nodes      [maxNodes]byStatus
	lives      [maxNodes]uint8  // how often a node joined
	looked     [maxNodes]people // who has compared its journal since this node began to wait
	blocked    people
	reports    []report // applied, in order
	cursor     int      // all entries of the log up to here are applied
	remembered people
	gap, copy  bool // a gap of unknown size is open; the mark of a backup
	balance    int  // as last read
	calls      int  // licensed since
}

func (d *database) attempt(id uint8) attemptState {
	for _, a := range d.attempts {
		if a.id == id {
			return a.state
		}
	}
	return unknownAttempt
}

// setAttempt works on a copy of what it changes, as all changes here do: a
// database, a journal and a log are shared by many states.
func (d *database) setAttempt(id uint8, node int, state attemptState) {
	i, found := slices.BinarySearchFunc(d.attempts, id, func(a attempt, id uint8) int { return int(a.id) - int(id) })
	if found {
		d.attempts = slices.Clone(d.attempts)
		d.attempts[i].state = state
		return
	}
	d.attempts = slices.Insert(slices.Clone(d.attempts), i, attempt{id, state, uint8(node)})
}

func (d *database) campaign(i int) *campaign {
	d.campaigns = slices.Clone(d.campaigns)
	return &d.campaigns[i]
}

func (d *database) find(id uint8) int {
	return slices.IndexFunc(d.campaigns, func(c campaign) bool { return c.id == id })
}

// setMessage leaves a message alone that is in none of the states.
func (d *database) setMessage(row int, c content, to message, from ...message) {
	if row >= len(d.campaigns) {
		return // another database than the one that the call knew
	}
	if len(from) == 0 || slices.Contains(from, d.campaigns[row].messages[c]) {
		d.campaign(row).messages[c] = to
	}
}

// pauseAll pauses every started campaign, and lets Continue say why.
func (d *database) pauseAll() {
	for i := range d.campaigns {
		c := d.campaign(i)
		c.paused, c.unsure = true, true
	}
}

type mode uint8

const (
	down     mode = iota
	starting      // the start's line is in the database
	pruning       // and in the journal
	asking        // a row that stops sending
	accepting
	waiting // for the other nodes to look at this database
	serving
	cutOff // the database is not the one it knew
	older  // an older program
)

// call is a licence on its way.
type call struct {
	line   line
	step   callStep
	warned bool
}

type callStep uint8

const (
	licensed callStep = iota + 1
	written
	sent
	sentUnwritten // only where a call goes out before its line
)

type node struct {
	mode    mode
	journal []line
	flying  []call
	known   bool // its folder has an id
	gone    bool // an administrator said so, and keeps to it
	missing bool // the journal is not there, which is not the same as empty
}

func (n *node) write(lines ...line) {
	n.journal, n.missing = append(slices.Clip(n.journal), lines...), false
}

// optingOut is a person's request under way.
type optingOut struct {
	under bool
	done  bool
	to    content
	at    int // in the log
}

// inboxEntry is what was copied or backed up.
type inboxEntry struct {
	verb    bool // by smsdesk backup
	half    bool
	db      database
	journal []line
	log     []entry
	inbox   []report
}

// past is what the model itself remembers, and no desk.
type past struct {
	made, restored, flipped, lost bool
	lines                         uint32 // that were in a journal once
	known                         people // whose line was readable at an accept
	logged                        []entry
	before                        []report // acknowledged when a backup began
}

type world struct {
	db       database
	nodes    [maxNodes]node
	log      []entry
	inbox    []report
	provider []report // that the service has not yet handed over
	halfway  []report // logged, and not yet in the inbox
	acked    []report
	optOut   optingOut
	optedOut people
	copies   []inboxEntry
	sent     []uint8 // attempts that were carried out, in order
	sentTo   people
	sentWarn people // by a campaign of which a person was told that some may get it twice
	left     budget
	blind    bool // nothing inside can know what is missing
	told     bool
	next     uint8
	clock    uint8
	topUps   int
	past     past
	wrong    string
}

func (w *world) up(modes ...mode) bool {
	return slices.ContainsFunc(w.nodes[:], func(n node) bool { return slices.Contains(modes, n.mode) })
}

// step names what happened between two states, so that a history can be read.
type step struct {
	what string
	args [3]uint8
	n    uint8
	node uint8
	// aside is not one of the ways out of a stop.
	aside bool
}

func (s step) String() string {
	args := make([]any, s.n)
	for i := range args {
		args[i] = s.args[i]
	}
	said := fmt.Sprintf(s.what, args...)
	if s.node > 0 {
		said = fmt.Sprintf("node %d: %s", s.node, said)
	}
	return said
}

// budget is how often each thing may still happen.
type budget struct {
	crash, torn, restore, again, proceed, doubt, optOut, clock, void, older, topUp uint8
	copies, flip, rubbish, journalAlone, folder, elsewhere, lost                   uint8
}

// bounds are what a run may do.
type bounds struct {
	budget
	nodes, flights, contents int
	reports                  bool
	otherSender              bool
	emptied                  bool // a journal may lose all its lines, and still be there
	lostReturns              bool // a node that was said to be lost, to a database that does not know it
	copyAnyTime              bool // also while a start or an accept is under way
	// coarse runs make one step of a start, of a look at another node and of a
	// licence: what a crash between their syncs leaves is searched with one node.
	coarse           bool
	unchargedDoubt   bool
	noMissing, noCut bool // a journal is never missing, or never cut
	verbs            verb
	notLive          bool // liveness is not looked at
}

type verb uint8

const (
	copyOnly verb = iota
	verbOnly
	verbInTwoSteps
)

// model is the protocol in its bounds.
type model struct {
	rules  rules
	bounds bounds
	strict bool // nothing is sent twice that the journal knew, whatever a person says
	// blindCounts is for witnesses from outside: they must see what nothing inside can know.
	blindCounts bool
	most        int
}

// wrapNotFound is what a search came to.
type wrapNotFound struct {
	states, depth int
	wrong         string
	history       []step
	blind         map[string][]pair // by the kind of restore
	pairs         map[pair]bool     // of database and journal that a crash leaves
	took          time.Duration
}

// pair is a database and a journal side by side.
type pair [16]byte

type edge struct {
	parent int32
	step   step
}

func (m *model) search() wrapNotFound {
	began := time.Now()
	out := wrapNotFound{blind: map[string][]pair{}, pairs: map[pair]bool{}}
	type reached struct {
		world world
		at    int32
	}
	first := m.first()
	seen := map[pair]struct{}{first.key(): {}}
	edges := []edge{{parent: -1}}
	layer := []reached{{first, 0}}
	var steps []next
	for ; len(layer) > 0 && out.wrong == ""; out.depth++ {
		var later []reached
		for _, r := range layer {
			w := &r.world
			if out.wrong = m.broken(w); out.wrong != "" {
				out.history = history(edges, r.at)
				break
			}
			if w.nodes[0].mode == down && !w.past.restored {
				out.pairs[w.pair()] = true
			}
			if w.blind && !m.blindCounts {
				kind := edges[r.at].step.what
				out.blind[kind] = append(out.blind[kind], w.pair())
				continue
			}
			steps = m.steps(w, steps[:0])
			for i := range steps {
				key := steps[i].world.key()
				if _, there := seen[key]; there {
					continue
				}
				seen[key] = struct{}{}
				later = append(later, reached{steps[i].world, int32(len(edges))})
				edges = append(edges, edge{r.at, steps[i].step})
			}
		}
		layer = later
		if m.most > 0 && len(seen) > m.most {
			out.wrong = fmt.Sprintf("not searched to the end: more than %d states", m.most)
		}
	}
	out.states, out.took = len(seen), time.Since(began)
	return out
}

func history(edges []edge, at int32) []step {
	var steps []step
	for ; edges[at].parent >= 0; at = edges[at].parent {
		steps = append(steps, edges[at].step)
	}
	slices.Reverse(steps)
	return steps
}

func (f wrapNotFound) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d states, depth %d, %.1f s", f.states, f.depth, f.took.Seconds())
	if f.wrong != "" {
		fmt.Fprintf(&b, ": %s", f.wrong)
	}
	for i, s := range f.history {
		fmt.Fprintf(&b, "\n\t%2d %s", i+1, s)
	}
	return b.String()
}

func (f wrapNotFound) log(t *testing.T) {
	t.Helper()
	kinds := ""
	if len(f.blind) > 0 {
		kinds = fmt.Sprintf("; %d kinds of blind history", len(f.blind))
	}
	t.Logf("%s%s", f, kinds)
}

// key tells states apart. The first 16 bytes of a SHA-256 stand for the whole,
// which would take ten times the memory.
func (w *world) key() pair {
	b := make(bytes, 0, 512)
	b = b.database(&w.db)
	for i := range w.nodes {
		n := &w.nodes[i]
		b = b.small(uint8(n.mode), uint8(len(n.flying))).flag(n.known).flag(n.missing).flag(n.gone).lines(n.journal)
		for _, c := range n.flying {
			b = b.line(c.line).small(uint8(c.step)).flag(c.warned)
		}
	}
	b = b.entries(w.log).reports(w.inbox).reports(w.provider).reports(w.halfway).reports(w.acked)
	b = b.flag(w.optOut.under).flag(w.optOut.done).small(uint8(w.optOut.to), uint8(w.optOut.at))
	b = b.small(uint8(w.optedOut), uint8(len(w.copies)))
	for i := range w.copies {
		c := &w.copies[i]
		b = b.flag(c.verb).flag(c.half).database(&c.db).lines(c.journal).entries(c.log).reports(c.inbox)
	}
	b = append(b.small(uint8(len(w.sent))), w.sent...)
	l := w.left
	b = b.small(uint8(w.sentTo), uint8(w.sentWarn), l.crash, l.torn, l.restore, l.again, l.proceed, l.doubt,
		l.optOut, l.clock, l.void, l.older, l.topUp,
		l.copies, l.flip, l.rubbish, l.journalAlone, l.folder, l.elsewhere, l.lost)
	b = b.flag(w.blind).flag(w.told).small(w.next, w.clock, uint8(w.topUps))
	p := w.past
	b = b.flag(p.made).flag(p.restored).flag(p.flipped).flag(p.lost)
	b = b.small(uint8(p.lines), uint8(p.lines>>8), uint8(p.lines>>16), uint8(p.lines>>24), uint8(p.known))
	b = append(b.entries(p.logged).reports(p.before), w.wrong...)
	sum := sha256.Sum256(b)
	return pair(sum[:16])
}

// pair is what a start compares.
func (w *world) pair() pair {
	sum := sha256.Sum256(bytes{}.database(&w.db).lines(w.nodes[0].journal))
	return pair(sum[:16])
}

// bytes is a state as it is being written down.
type bytes []byte

func (b bytes) small(n ...uint8) bytes { return append(b, n...) }

func (b bytes) flag(v bool) bytes {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func (b bytes) line(l line) bytes {
	return append(b, uint8(l.kind), l.seq, l.id, l.before, uint8(l.to), l.campaign, l.row, l.sender, l.clock,
		uint8(l.names), uint8(l.names>>8))
}

func (b bytes) lines(list []line) bytes {
	b = b.small(uint8(len(list)))
	for _, l := range list {
		b = b.line(l)
	}
	return b
}

func (b bytes) reports(list []report) bytes {
	b = b.small(uint8(len(list)))
	for _, r := range list {
		b = b.small(r.attempt, uint8(r.to), r.campaign)
	}
	return b
}

func (b bytes) entries(list []entry) bytes {
	b = b.small(uint8(len(list)))
	for _, e := range list {
		b = b.flag(e.block).small(e.attempt, uint8(e.to), e.campaign)
	}
	return b
}

func (b bytes) database(d *database) bytes {
	b = b.small(uint8(len(d.campaigns)))
	for _, c := range d.campaigns {
		b = b.small(c.id, c.sender, c.clock).flag(c.paused).flag(c.warned).flag(c.unsure)
		for _, m := range c.messages {
			b = b.small(uint8(m))
		}
	}
	b = b.small(uint8(len(d.attempts)))
	for _, a := range d.attempts {
		b = b.small(a.id, uint8(a.state), a.node)
	}
	for i := range d.heads {
		b = b.small(d.heads[i].seq, d.heads[i].id, uint8(d.nodes[i]), d.lives[i], uint8(d.looked[i])).lines(d.open[i])
	}
	b = b.small(uint8(d.blocked), uint8(d.cursor), uint8(d.remembered), uint8(d.remembered>>8)).reports(d.reports)
	return b.flag(d.gap).flag(d.copy).small(uint8(d.balance), uint8(d.calls))
}
