package sms

import "strings"

// pairSeparators cannot stand in a text of a list of pairs, which has no
// escape for them (§4.4).
const pairSeparators = "^~"

// Bytes of a URL-encoded "^" and "~". "~" needs no encoding.
const (
	encodedCaret = 3
	encodedTilde = 1
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
