package sms

import (
	"encoding/binary"
	"errors"
	"slices"
)

// sketchSize is how many numbers a sketch holds.
const sketchSize = 256

// Sketch is a sample of a set of numbers by which similar sets are found
// without comparing them number by number: the numbers whose scattered values
// are the lowest. Two sets draw the same sample from what they share.
type Sketch struct {
	size  int64    // numbers of the set
	low   []uint64 // the lowest values, and those met since they were last sorted
	bound uint64   // values from here on are too high; 0: none is
}

// Add puts a number into the set. Each number may be added once only.
func (s *Sketch) Add(number int64) {
	s.size++
	v := hash64(uint64(number))
	if s.bound > 0 && v >= s.bound {
		return
	}
	if s.low = append(s.low, v); len(s.low) == 2*sketchSize {
		s.compact()
	}
}

func (s *Sketch) compact() {
	slices.Sort(s.low)
	if len(s.low) >= sketchSize {
		s.low = s.low[:sketchSize]
		s.bound = s.low[sketchSize-1]
	}
}

// hash64 is the finaliser of splitmix64: one to one, and its output looks
// random.
func hash64(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// Size counts the numbers of the set.
func (s *Sketch) Size() int64 { return s.size }

// Alike estimates which share of the larger of two sets stands in both.
func (s *Sketch) Alike(o *Sketch) float64 {
	s.compact()
	o.compact()
	if s.size == 0 || o.size == 0 {
		return 0
	}
	both, union, i, j := 0, 0, 0, 0
	for union < sketchSize && (i < len(s.low) || j < len(o.low)) {
		switch {
		case j == len(o.low) || i < len(s.low) && s.low[i] < o.low[j]:
			i++
		case i == len(s.low) || o.low[j] < s.low[i]:
			j++
		default:
			i, j, both = i+1, j+1, both+1
		}
		union++
	}
	jaccard := float64(both) / float64(union)
	shared := jaccard / (1 + jaccard) * float64(s.size+o.size)
	return min(1, shared/float64(max(s.size, o.size)))
}

// Bytes is the sketch for storage.
func (s *Sketch) Bytes() []byte {
	s.compact()
	b := binary.BigEndian.AppendUint64(nil, uint64(s.size))
	for _, v := range s.low {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// ReadSketch is the reverse of Bytes.
func ReadSketch(b []byte) (Sketch, error) {
	if len(b) < 8 || len(b)%8 != 0 {
		return Sketch{}, errors.New("read a sketch: it is cut off")
	}
	s := Sketch{size: int64(binary.BigEndian.Uint64(b))}
	for b = b[8:]; len(b) > 0; b = b[8:] {
		s.low = append(s.low, binary.BigEndian.Uint64(b))
	}
	return s, nil
}
