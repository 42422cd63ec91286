package sms

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// Fingerprinter takes in the messages of a campaign, each number and text once, in any
// order, and tells campaigns with the same ones.
type Fingerprinter struct {
	sum [4]uint64
	n   uint64
}

// Add takes in one message.
func (p *Fingerprinter) Add(number, text string) {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %s", len(number), number, text)
	whole := h.Sum(nil)
	carry := uint64(0)
	for i := range p.sum {
		p.sum[i], carry = bits.Add64(p.sum[i], binary.LittleEndian.Uint64(whole[8*i:]), carry)
	}
	p.n++
}

// Sum is the fingerprint of the messages under a sender ID.
func (p *Fingerprinter) Sum(senderID string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %x", senderID, p.n, p.sum)
	return hex.EncodeToString(h.Sum(nil))
}

// Fingerprint tells two campaigns with the same sender ID, text and set of
// numbers apart from all others.
func Fingerprint(senderID, text string, numbers []string) string {
	var p Fingerprinter
	seen := make(map[string]bool, len(numbers))
	for _, n := range numbers {
		if !seen[n] {
			seen[n] = true
			p.Add(n, text)
		}
	}
	return p.Sum(senderID)
}
