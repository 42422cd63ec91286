// Package plan divides messages into as few calls as it can find, and puts
// together what is sent again. It must never know who ordered it, what stores it
// or how it travels: it is arithmetic over sizes.
package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

// Limits is what one call may hold.
type Limits struct {
	CallLimit int // most recipients of a call; 0: DefaultCallLimit

	// Size is how much of a call's room a message takes that goes with messages
	// of other texts; ok is false for one that cannot. nil: none can.
	Size func(number, text string) (n int, ok bool)
	// Room is how much room such a call has, by its Is_Unicode (§4.2). More than
	// 65,536 counts as that.
	Room func(unicode bool) int
}

// Row is one message that waits for its call.
type Row struct {
	ID      int64  // names the message in an error
	Number  string // as ParsePhone gives it
	Text    string
	Unicode bool // the call's Is_Unicode (§4.2)
}

// Plan says which call carries each message. Every message is in exactly one
// call, no call holds a number twice, GSM-7 beside Unicode, or more than the
// limits allow. A call is CallText where all of its messages have the same
// text, otherwise CallPairs, and then no text holds "~" or "^". Calls are
// numbered from 0 in the order of their first messages. The same messages,
// added in the same order, make the same plan.
type Plan struct {
	Calls  int
	ByKind map[sms.CallKind]int
	Assign []int32 // the call of each message, in the order of Add
	pairs  []bool  // by call
}

// Kind is the form of one call of the plan.
func (p Plan) Kind(call int32) sms.CallKind {
	if p.pairs[call] {
		return sms.CallPairs
	}
	return sms.CallText
}

// maxRoom bounds the tables that are as long as a call has room.
const maxRoom = 1 << 16

// Planner collects messages and divides them into as few calls as it can find
// (§4.2, §4.4). It keeps about 40 bytes of a message and never its text, so a
// million of them can be planned while they stream by.
type Planner struct {
	limits Limits
	rows   []row
	texts  textIndex
	buffer []byte
}

// row is what the planner remembers of a message.
type row struct {
	number uint64
	text   int32
	size   int32 // of a call's room; 0: it goes by its text alone
}

// New makes a planner for about that many messages; 0: not known.
func New(l Limits, messages int) *Planner {
	if l.CallLimit == 0 {
		l.CallLimit = sms.DefaultCallLimit
	}
	if l.Size == nil {
		l.Size = func(string, string) (int, bool) { return 0, false }
		l.Room = func(bool) int { return 0 }
	}
	l.CallLimit = max(l.CallLimit, 1)
	return &Planner{limits: l, rows: make([]row, 0, messages)}
}

// Add appends a message. It refuses what no call could carry: a number that is
// not 1 to 18 digits, or a text that is not UTF-8.
func (p *Planner) Add(r Row) error {
	number, ok := packNumber(r.Number)
	switch {
	case !ok:
		return fmt.Errorf("plan message %d: %w", r.ID, errors.New("its number is not made of 1 to 18 digits"))
	case !utf8.ValidString(r.Text):
		return fmt.Errorf("plan message %d: %w", r.ID, errors.New("its text is not UTF-8"))
	}
	row := row{number: number}
	if n, ok := p.limits.Size(r.Number, r.Text); ok && n <= maxRoom {
		row.size = int32(n)
	}
	p.buffer = append(p.buffer[:0], r.Text...)
	row.text = p.texts.id(p.buffer, r.Unicode)
	p.rows = append(p.rows, row)
	return nil
}

// packNumber writes digits as one word, with a 1 before them so that leading
// zeros count.
func packNumber(digits string) (uint64, bool) {
	if digits == "" || len(digits) > 18 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n := uint64(1)
	for i := range len(digits) {
		n = n*10 + uint64(digits[i]-'0')
	}
	return n, true
}

// Seal lets go of what only Add needs, half of what the planner holds. After it
// nothing can be added; whoever has to be sparing collects it before Plan.
func (p *Planner) Seal() { p.texts = textIndex{unicode: p.texts.unicode} }

// Plan divides the messages added so far. It takes about two seconds of one
// core for a million of them and leaves the planner empty.
func (p *Planner) Plan() Plan {
	unicode := p.texts.unicode
	p.texts = textIndex{}
	d := newDivision(p.limits, p.rows, unicode)
	d.divide()
	p.rows = nil
	return d.plan()
}

// capacity is how much room the messages of one call may take.
func (l Limits) capacity(unicode bool) int { return min(max(l.Room(unicode), 0), maxRoom) }

// textIndex numbers texts, those of Unicode calls apart from the others. It
// knows a text by 127 bits of its SHA-256: two texts taken for one would send
// somebody's text to somebody else.
type textIndex struct {
	sums    [][][16]byte // in chunks, which are never copied
	n       int
	unicode []bool
	slots   []int32 // open addressing; a text's number and one, 0: free
}

const textChunk = 1 << 12

func (x *textIndex) sum(i int) *[16]byte { return &x.sums[i/textChunk][i%textChunk] }

func (x *textIndex) id(text []byte, unicode bool) int32 {
	whole := sha256.Sum256(text)
	sum := [16]byte(whole[:16])
	sum[15] &^= 1
	if unicode {
		sum[15] |= 1
	}
	if 4*x.n >= 3*len(x.slots) {
		x.grow()
	}
	at := x.find(sum)
	if x.slots[at] == 0 {
		if x.n%textChunk == 0 {
			x.sums = append(x.sums, make([][16]byte, textChunk))
		}
		*x.sum(x.n) = sum
		x.n++
		x.unicode = append(x.unicode, unicode)
		x.slots[at] = int32(x.n)
	}
	return x.slots[at] - 1
}

func (x *textIndex) find(sum [16]byte) int {
	mask := len(x.slots) - 1
	at := int(binary.LittleEndian.Uint64(sum[:8])) & mask
	for x.slots[at] != 0 && *x.sum(int(x.slots[at]) - 1) != sum {
		at = (at + 1) & mask
	}
	return at
}

func (x *textIndex) grow() {
	x.slots = make([]int32, max(16, 2*len(x.slots)))
	for i := range x.n {
		x.slots[x.find(*x.sum(i))] = int32(i + 1)
	}
}

// repeated finds the numbers that stand in more than one row.
func repeated(rows []row) map[uint64]bool {
	numbers := make([]uint64, len(rows))
	for i, r := range rows {
		numbers[i] = r.number
	}
	slices.Sort(numbers)
	again := map[uint64]bool{}
	for i := 1; i < len(numbers); i++ {
		if numbers[i] == numbers[i-1] {
			again[numbers[i]] = true
		}
	}
	return again
}
