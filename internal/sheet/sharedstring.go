package sheet

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

const (
	stringsPerBlock = 32
	cachedBlocks    = 4 << 20 // bytes
	spillAt         = 4 << 20 // bytes
)

// sharedStrings are the texts of a workbook, which its cells name by number.
// They are read as far as cells ask for, and put aside in blocks, so that
// memory holds a few blocks however many texts there are.
type sharedStrings struct {
	m      *xmlReader
	closer io.Closer
	count  int // of the strings read
	done   bool

	aside  spill
	starts []int64 // of the blocks put aside
	block  []byte  // in work: lengths and texts
	cache  map[int][]byte
	cached int
	text   []byte
}

func openSharedStrings(b *book) (*sharedStrings, error) {
	s := &sharedStrings{cache: map[int][]byte{}, aside: spill{dir: b.tempDir}}
	if b.parts[b.texts] == nil {
		s.done = true
		return s, nil
	}
	var err error
	if s.m, s.closer, err = b.open(b.texts, maxPart); err != nil {
		return nil, err
	}
	return s, nil
}

// appendString appends string i to dst.
func (s *sharedStrings) appendString(dst []byte, i int) ([]byte, error) {
	for i >= s.count && !s.done {
		if err := s.read(); err != nil {
			return dst, err
		}
	}
	if i < 0 || i >= s.count {
		return dst, errDamaged
	}
	block, err := s.find(i / stringsPerBlock)
	if err != nil {
		return dst, err
	}
	for range i % stringsPerBlock {
		n, w := binary.Uvarint(block)
		block = block[w+int(n):]
	}
	n, w := binary.Uvarint(block)
	return append(dst, block[w:w+int(n)]...), nil
}

// find returns block n, which exists.
func (s *sharedStrings) find(n int) ([]byte, error) {
	if n == len(s.starts) {
		return s.block, nil
	}
	if block, ok := s.cache[n]; ok {
		return block, nil
	}
	end := s.aside.size
	if n+1 < len(s.starts) {
		end = s.starts[n+1]
	}
	block := make([]byte, end-s.starts[n])
	if err := s.aside.readAt(block, s.starts[n]); err != nil {
		return nil, fmt.Errorf("read texts put aside: %w", err)
	}
	if s.cached += len(block); s.cached > cachedBlocks {
		clear(s.cache)
		s.cached = len(block)
	}
	s.cache[n] = block
	return block, nil
}

// read takes in the next string.
func (s *sharedStrings) read() error {
	for {
		kind, err := s.m.next()
		if err == io.EOF {
			s.done = true
			return nil
		}
		if err != nil {
			return err
		}
		if kind == tokenStart && string(s.m.name) == "si" {
			break
		}
	}
	s.text = s.text[:0]
	if err := s.m.appendRuns(&s.text); err != nil {
		return err
	}
	s.block = append(binary.AppendUvarint(s.block, uint64(len(s.text))), s.text...)
	if s.count++; s.count%stringsPerBlock != 0 {
		return nil
	}
	s.starts = append(s.starts, s.aside.size)
	if err := s.aside.append(s.block); err != nil {
		return fmt.Errorf("put texts aside: %w", err)
	}
	s.block = s.block[:0]
	return nil
}

// finish reads the rest, of which nothing is kept. No string can be read
// afterwards that was not before.
func (s *sharedStrings) finish() error {
	for !s.done {
		if _, err := s.m.next(); err == io.EOF {
			s.done = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (s *sharedStrings) close() error {
	if s.closer != nil {
		s.closer.Close()
	}
	return s.aside.close()
}

// appendRuns appends the text of the element that has just started: of its t
// elements, also those in runs of rich text, but not of the reading aids of
// East Asian scripts. It stops keeping beyond MaxRecord bytes and one.
func (m *xmlReader) appendRuns(dst *[]byte) error {
	from := len(*dst)
	inText := false
	for depth := m.open; m.open >= depth; {
		kind, err := m.next()
		if err != nil {
			return torn(err)
		}
		switch {
		case kind == tokenStart && string(m.name) == "rPh":
			err = m.skip()
		case kind == tokenStart:
			inText = string(m.name) == "t"
		case kind == tokenEnd:
			inText = false
		case inText && len(*dst)-from <= MaxRecord:
			*dst = m.appendText(*dst)
		}
		if err != nil {
			return err
		}
	}
	*dst = decodeX((*dst)[:min(len(*dst), from+MaxRecord+1)], from)
	return nil
}

// spill keeps bytes in memory while they are few, and else in a file without
// a name, of which nothing is left when the process ends in whatever way.
type spill struct {
	dir    string
	size   int64
	memory []byte
	file   *os.File
}

func (s *spill) append(b []byte) error {
	if s.file == nil && len(s.memory)+len(b) <= spillAt {
		s.memory = append(s.memory, b...)
		s.size += int64(len(b))
		return nil
	}
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "smsdesk-")
		if err != nil {
			return err
		}
		// Where an open file cannot lose its name, close takes it away.
		os.Remove(f.Name())
		s.file = f
		if _, err := f.Write(s.memory); err != nil {
			return err
		}
		s.memory = nil
	}
	n, err := s.file.Write(b)
	s.size += int64(n)
	return err
}

func (s *spill) readAt(p []byte, off int64) error {
	if s.file == nil {
		copy(p, s.memory[off:])
		return nil
	}
	_, err := s.file.ReadAt(p, off)
	return err
}

func (s *spill) close() error {
	s.memory = nil
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	err := f.Close()
	os.Remove(f.Name())
	return err
}
