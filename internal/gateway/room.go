package gateway

import (
	"strings"

	"smsdesk/internal/sms"
)

// pairSeparators cannot stand in a text of a list of pairs, which has no
// escape for them (§4.4).
const pairSeparators = "^~"

// Bytes of a URL-encoded "^" and "~". "~" needs no encoding.
const (
	encodedCaret = 3
	encodedTilde = 1
)

// PairSize is how many bytes of a URL the pair of a number and a text takes
// in MobileNumber_Message (§4.4), URL-encoded and with the "~" behind it. ok is
// false for a text that cannot stand in a list of pairs at all: with "~" or "^"
// in it, a part of it could reach another number.
func PairSize(number, text string) (n int, ok bool) {
	if strings.ContainsAny(text, pairSeparators) {
		return 0, false
	}
	return encodedBytes(number) + encodedCaret + encodedBytes(text) + encodedTilde, true
}

// PairSize is the function of that name, for whoever plans calls.
func (*Client) PairSize(number, text string) (n int, ok bool) { return PairSize(number, text) }

// PairRoom is how many bytes the pairs of a call may take in all, as PairSize
// counts them, so that its whole URL has at most budget bytes; 0 is
// sms.DefaultURLBudget. It does not look at the call's recipients.
func (c *Client) PairRoom(call sms.Call, budget int) int {
	if budget == 0 {
		budget = sms.DefaultURLBudget
	}
	q := c.sendQuery(call)
	q.Set("MobileNumber_Message", "")
	return budget - len(c.target("/SendBulkSMS", q)) + encodedTilde // the last pair has none behind it
}

// Bytes of the URL-encoded comma between two numbers, and the most digits of a number.
const (
	encodedComma = 3
	maxDigits    = 15
)

// TextLimit is how many recipients a call of one text may have, at most limit:
// where it goes by GET, so many that its URL keeps within its length whatever
// their numbers and its time are.
func (c *Client) TextLimit(call sms.Call, limit int) int {
	if call.SchedTime.IsZero() {
		call.SchedTime = c.now()
	}
	fits := c.textRoom(call) / (maxDigits + encodedComma)
	if fits < 1 {
		return limit
	}
	return min(limit, fits)
}

// textRoom is how many bytes the numbers of a call may take with a comma behind
// each; below 1 for a call that goes by POST whatever its numbers are.
func (c *Client) textRoom(call sms.Call) int {
	if c.byGet == 0 {
		return 0
	}
	call.Recipients = nil
	return c.byGet - len(c.target("/SendSMS", c.getQuery(call))) + encodedComma
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

// Fill makes one call of the first message and as many of the others as fit
// with it: see Fill, the function. Of a text that goes by GET it takes as many
// numbers as its URL holds.
func (c *Client) Fill(call sms.Call, messages []sms.Recipient, limit, budget int) (sms.CallKind, []sms.Recipient) {
	kind, taken := Fill(messages, limit, c.PairRoom(call, budget))
	if kind != sms.CallText || len(taken) == 0 {
		return kind, taken
	}
	call.Kind, call.Text = kind, taken[0].Text
	room := c.textRoom(call)
	for i, r := range taken {
		room -= len(r.Number) + encodedComma
		if room < 0 && i > 0 {
			return kind, taken[:i]
		}
		if room < 0 {
			break
		}
	}
	return kind, taken
}

// Fill makes one call of the first message and as many of the others as fit
// with it, in their order: at most limit of them and no number twice. They go
// as CallText where all have one text, otherwise as CallPairs, and then their
// pairs take at most room bytes and no text holds "~" or "^". A first message
// that cannot stand in a list of pairs goes with those of its own text.
func Fill(messages []sms.Recipient, limit, room int) (kind sms.CallKind, taken []sms.Recipient) {
	if len(messages) == 0 {
		return sms.CallText, nil
	}
	first := messages[0].Text
	same := fill(messages, limit, func(r sms.Recipient) bool { return r.Text == first })
	pairs := fill(messages, limit, func(r sms.Recipient) bool {
		n, ok := PairSize(r.Number, r.Text)
		if !ok || n > room {
			return false
		}
		room -= n
		return true
	})
	if len(pairs) <= len(same) || pairs[0] != messages[0] {
		return sms.CallText, same
	}
	return sms.CallPairs, pairs
}

// fill takes messages in their order that fit, each number once.
func fill(messages []sms.Recipient, limit int, fits func(sms.Recipient) bool) (taken []sms.Recipient) {
	numbers := make(map[string]bool, len(messages))
	for _, r := range messages {
		if len(taken) < max(limit, 1) && !numbers[r.Number] && fits(r) {
			numbers[r.Number] = true
			taken = append(taken, r)
		}
	}
	return taken
}
