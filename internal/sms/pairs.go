package sms

import "strings"

// pairSeparators cannot stand in a text of a list of pairs, which has no
// escape for them (§4.4).
const pairSeparators = "^~"

// Bytes of a URL-encoded "^" and "~". "~" needs no encoding.
const (
	encodedCaret   = 3
	SeparatorBytes = 1
)

// PairBytes is how many bytes of a URL the pair of a number and a text takes
// in MobileNumber_Message (§4.4), URL-encoded and without the "~" before the
// next pair. ok is false for a text that cannot stand in a list of pairs at
// all: with "~" or "^" in it, a part of it could reach another number.
func PairBytes(number, text string) (n int, ok bool) {
	if strings.ContainsAny(text, pairSeparators) {
		return 0, false
	}
	return encodedBytes(number) + encodedCaret + encodedBytes(text), true
}

// encodedBytes is the length of s as the value of a query, a space written %20.
func encodedBytes(s string) int {
	n := len(s)
	for i := range len(s) {
		if !plainInQuery[s[i]] {
			n += 2
		}
	}
	return n
}

// plainInQuery tells the bytes that a query carries as they are (RFC 3986,
// section 2.3); every other byte becomes a percent sign and two digits.
var plainInQuery = func() (plain [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~") {
		plain[c] = true
	}
	return plain
}()

// FillCall makes one call of the first message and as many of the others as
// fit with it, in their order: at most limit of them and no number twice. They
// go as CallText where all have one text, otherwise as CallPairs, and then
// their pairs fill at most room bytes of the URL and no text holds "~" or "^".
// A first message that cannot stand in a list of pairs goes with those of its
// own text.
func FillCall(messages []Recipient, limit, room int) (kind CallKind, taken []Recipient) {
	if len(messages) == 0 {
		return CallText, nil
	}
	first := messages[0].Text
	same := fill(messages, limit, func(r Recipient) bool { return r.Text == first })
	room++ // the last pair has no "~" behind it
	pairs := fill(messages, limit, func(r Recipient) bool {
		n, ok := PairBytes(r.Number, r.Text)
		if !ok || n+SeparatorBytes > room {
			return false
		}
		room -= n + SeparatorBytes
		return true
	})
	if len(pairs) <= len(same) || pairs[0] != messages[0] {
		return CallText, same
	}
	return CallPairs, pairs
}

// fill takes messages in their order that fit, each number once.
func fill(messages []Recipient, limit int, fits func(Recipient) bool) (taken []Recipient) {
	numbers := make(map[string]bool, len(messages))
	for _, r := range messages {
		if len(taken) < max(limit, 1) && !numbers[r.Number] && fits(r) {
			numbers[r.Number] = true
			taken = append(taken, r)
		}
	}
	return taken
}
