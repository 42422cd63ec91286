package desk

import (
	"hash/maphash"
	"slices"
)

// seen remembers which numbers a list has had with which texts, in about 32
// bytes a row. A text is known by 64 bits under a seed of its own, so that no
// file can be made in which two texts of one number look alike.
type seen struct {
	seed  maphash.Seed
	first seenTable // by number: its first text
	more  seenTable // by number and text: the further texts of a number
}

func newSeen() *seen { return &seen{seed: maphash.MakeSeed()} }

func (s *seen) hash(text string) uint64 { return maphash.String(s.seed, text) }

// add takes in a row that may be sent. repeat is the earlier row with the same
// number and text, other the first row of the same number with another text; 0
// where there is none.
func (s *seen) add(number int64, text uint64, row int64) (repeat, other int64) {
	key := s.mix(uint64(number), 0)
	if at := s.first.find(key, func(r *seenRow) bool { return r.number == uint64(number) }); at != nil {
		if at.text == text {
			return int64(at.row), 0
		}
		key = s.mix(uint64(number), text)
		if again := s.more.find(key, func(r *seenRow) bool { return r.number == uint64(number) && r.text == text }); again != nil {
			return int64(again.row), 0
		}
		s.more.put(key, seenRow{uint64(number), text, uint32(row)}, s.moreKey)
		return 0, int64(at.row)
	}
	s.first.put(key, seenRow{uint64(number), text, uint32(row)}, s.firstKey)
	return 0, 0
}

// has says whether a number is in the list, and whether it has that text.
func (s *seen) has(number int64, text uint64) (in, same bool) {
	at := s.first.find(s.mix(uint64(number), 0), func(r *seenRow) bool { return r.number == uint64(number) })
	if at == nil || at.text == text {
		return at != nil, at != nil
	}
	again := s.more.find(s.mix(uint64(number), text), func(r *seenRow) bool { return r.number == uint64(number) && r.text == text })
	return true, again != nil
}

// numbers counts the different numbers.
func (s *seen) numbers() int64 { return int64(s.first.n) }

// texts counts the different texts. Nothing can be asked of s afterwards.
func (s *seen) texts() (n int64) {
	s.first.slots, s.more.slots = nil, nil
	all := make([]uint64, 0, s.first.n+s.more.n)
	for _, t := range []*seenTable{&s.first, &s.more} {
		for i := range t.n {
			all = append(all, t.row(i).text)
		}
		t.chunks = nil
	}
	slices.Sort(all)
	return int64(len(slices.Compact(all)))
}

func (s *seen) firstKey(r *seenRow) uint64 { return s.mix(r.number, 0) }
func (s *seen) moreKey(r *seenRow) uint64  { return s.mix(r.number, r.text) }

// mix spreads a number and a text over the slots, unpredictably for whoever
// wrote the file.
func (s *seen) mix(number, text uint64) uint64 {
	return maphash.Comparable(s.seed, [2]uint64{number, text})
}

type seenRow struct {
	number, text uint64
	row          uint32
}

const seenChunk = 1 << 14

// seenTable is a hash table with open addressing whose rows stay where they
// are when it grows.
type seenTable struct {
	chunks [][]seenRow
	slots  []uint32 // place of a row and one, 0: free
	n      int
}

func (t *seenTable) row(i int) *seenRow { return &t.chunks[i/seenChunk][i%seenChunk] }

func (t *seenTable) find(key uint64, is func(*seenRow) bool) *seenRow {
	if t.n == 0 {
		return nil
	}
	for at := key & uint64(len(t.slots)-1); t.slots[at] != 0; at = (at + 1) & uint64(len(t.slots)-1) {
		if r := t.row(int(t.slots[at] - 1)); is(r) {
			return r
		}
	}
	return nil
}

func (t *seenTable) put(key uint64, r seenRow, keyOf func(*seenRow) uint64) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.slots = make([]uint32, max(64, 2*len(t.slots)))
		for i := range t.n {
			t.place(keyOf(t.row(i)), i)
		}
	}
	if t.n%seenChunk == 0 {
		t.chunks = append(t.chunks, make([]seenRow, seenChunk))
	}
	t.chunks[t.n/seenChunk][t.n%seenChunk] = r
	t.place(key, t.n)
	t.n++
}

func (t *seenTable) place(key uint64, i int) {
	at := key & uint64(len(t.slots)-1)
	for t.slots[at] != 0 {
		at = (at + 1) & uint64(len(t.slots)-1)
	}
	t.slots[at] = uint32(i + 1)
}
