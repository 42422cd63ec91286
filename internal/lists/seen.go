package lists

import (
	"hash/maphash"
	"math/bits"

	"smsdesk/internal/sheet"
)

// numberSet remembers which numbers a list has had with which texts, in about 32
// bytes a row. A text is known by 64 bits under a seed of its own, so that no
// file can be made in which two texts of one number look alike.
type numberSet struct {
	seed  maphash.Seed
	first seenTable // by number: its first text
	more  seenTable // by number and text: the further texts of a number
}

func newNumberSet() *numberSet { return &numberSet{seed: maphash.MakeSeed()} }

func (s *numberSet) hash(text string) uint64 { return maphash.String(s.seed, text) }

// expect says how many rows there may be in all.
func (s *numberSet) expect(rows int64) { s.first.expected = int(min(rows, sheet.MaxRows)) }

// add takes in a row that may be sent. repeat is the earlier row with the same
// number and text, other the first row of the same number with another text; 0
// where there is none.
func (s *numberSet) add(number int64, text uint64, row int64) (repeat, other int64) {
	r := seenRow{uint64(number), text, uint32(row)}
	key := s.numberKey(r)
	at := s.first.find(key, func(o seenRow) bool { return o.number == r.number })
	if at == nil {
		s.first.put(key, r, s.numberKey)
		return 0, 0
	}
	if at.text == text {
		return int64(at.row), 0
	}
	key = s.pairKey(r)
	if again := s.more.find(key, r.samePair); again != nil {
		return int64(again.row), 0
	}
	s.more.put(key, r, s.pairKey)
	return 0, int64(at.row)
}

// texts counts the different texts. They are taken in turns by some of their
// bits, so that the table of those met stays small. Nothing can be asked of s
// afterwards.
func (s *numberSet) texts() (n int64) {
	s.first.slots, s.more.slots = nil, nil
	met := make([]uint64, 64<<bits.Len(uint(s.first.n+s.more.n)>>8))
	for turn := range uint64(textTurns) {
		clear(met)
		for _, t := range []*seenTable{&s.first, &s.more} {
			for i := range t.n {
				// 0 stands for a free place; the one text that it could be is
				// taken for its neighbour.
				if h := max(t.row(i).text, 1); h%textTurns == turn && addIfNew(met, h) {
					n++
				}
			}
		}
	}
	return n
}

const textTurns = 16

// addIfNew puts a text among those met and says whether it is new there.
func addIfNew(met []uint64, h uint64) bool {
	mask := uint64(len(met) - 1)
	at := h / textTurns & mask
	for met[at] != 0 {
		if met[at] == h {
			return false
		}
		at = (at + 1) & mask
	}
	met[at] = h
	return true
}

// The keys spread rows over the slots, unpredictably for whoever wrote the
// file.
func (s *numberSet) numberKey(r seenRow) uint64 { return maphash.Comparable(s.seed, r.number) }
func (s *numberSet) pairKey(r seenRow) uint64 {
	return maphash.Comparable(s.seed, [2]uint64{r.number, r.text})
}

type seenRow struct {
	number, text uint64
	row          uint32
}

func (r seenRow) samePair(o seenRow) bool { return o.number == r.number && o.text == r.text }

const (
	seenChunk = 1 << 14
	// placeBits is how much of a slot is the place of a row; the rest is a part
	// of its key, so that a row is rarely looked at in vain.
	placeBits = 20
	placeMask = 1<<placeBits - 1
)

// A slot has room for the place of every row that a list may have.
const _ = uint(placeMask - 1 - sheet.MaxRows)

// seenTable is a hash table with open addressing whose rows stay where they
// are when it grows.
type seenTable struct {
	chunks   [][]seenRow
	slots    []uint32 // place of a row and one, 0: free
	n        int
	expected int
}

func (t *seenTable) row(i int) *seenRow { return &t.chunks[i/seenChunk][i%seenChunk] }

func (t *seenTable) find(key uint64, is func(seenRow) bool) *seenRow {
	if t.n == 0 {
		return nil
	}
	mask, tag := uint64(len(t.slots)-1), uint32(key>>32)>>placeBits
	for at := key & mask; ; at = (at + 1) & mask {
		slot := t.slots[at]
		if slot == 0 {
			return nil
		}
		if slot>>placeBits != tag {
			continue
		}
		if r := t.row(int(slot&placeMask) - 1); is(*r) {
			return r
		}
	}
}

func (t *seenTable) put(key uint64, r seenRow, keyOf func(seenRow) uint64) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.slots = make([]uint32, 1<<bits.Len(uint(max(63, 2*len(t.slots)-1, t.expected/3*4))))
		for i := range t.n {
			t.place(keyOf(*t.row(i)), i)
		}
	}
	if t.n%seenChunk == 0 {
		t.chunks = append(t.chunks, make([]seenRow, seenChunk))
	}
	*t.row(t.n) = r
	t.place(key, t.n)
	t.n++
}

func (t *seenTable) place(key uint64, i int) {
	mask := uint64(len(t.slots) - 1)
	at := key & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = uint32(key>>32)>>placeBits<<placeBits | uint32(i+1)
}
