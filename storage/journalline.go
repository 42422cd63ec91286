package storage

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"smsdesk/internal/sms"
)

// Kinds of lines of the journal.
const (
	lineStart   = "start"
	lineLicence = "licence"
	lineAccept  = "accept"
	lineSegment = "segment" // a segment's first line, outside the chain
)

// journalLine is a line's body. Its place in the chain is N and Prev; a line's
// own checksum stands behind the body.
type journalLine struct {
	N          int64  `json:"n"`
	Prev       string `json:"p"`
	Kind       string `json:"k"`
	Generation int64  `json:"g"`
	At         int64  `json:"t"` // milliseconds; shown, never compared

	// Of a start.
	Program string `json:"prog,omitempty"`
	Schema  int64  `json:"schema,omitempty"`
	Reports int64  `json:"log,omitempty"` // last entry of the log of reports
	Blocks  int64  `json:"blk,omitempty"` // last entry of the log of blocks

	// Of a licence.
	Attempt  string `json:"a,omitempty"`
	Campaign string `json:"c,omitempty"`
	Account  string `json:"acc,omitempty"`
	Test     int    `json:"x,omitempty"`
	People   string `json:"m,omitempty"` // base64url of personBytes for each recipient
	Group    int    `json:"r,omitempty"` // 1: People holds one group
	Name     []byte `json:"w,omitempty"` // the campaign's name and who started it, sealed

	// Of an accept.
	From     *journalPlace `json:"from,omitempty"` // the database's head before
	Relation string        `json:"rel,omitempty"`
	By       string        `json:"by,omitempty"`
}

type journalPlace struct {
	N   int64  `json:"n"`
	Sum string `json:"s"`
}

// journalSegment is the first line of a segment.
type journalSegment struct {
	Kind string `json:"k"`
	Desk string `json:"desk"`
	Node string `json:"node"`
	Key  string `json:"key"` // tells a wrong key
	N    int64  `json:"n"`   // of the line that follows
	Prev string `json:"p"`
}

const sumBytes = 16

// noSum is what the first line of all has before it.
var noSum = hex.EncodeToString(make([]byte, sumBytes))

func lineSum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:sumBytes])
}

// writeLine gives the line of a body, with its line feed, and its checksum.
func writeLine(body any) (line []byte, sum string, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, "", fmt.Errorf("write a line of the journal: %w", err)
	}
	sum = lineSum(text)
	return fmt.Appendf(text, " %s\n", sum), sum, nil
}

// readLine reads what stands before the line feed; ok is false for what is not
// a whole line.
func readLine(text []byte) (l journalLine, sum string, ok bool) {
	body, sum, ok := checkedLine(text)
	if !ok || json.Unmarshal(body, &l) != nil || l.Kind == "" || l.Kind == lineSegment {
		return l, "", false
	}
	return l, sum, true
}

func checkedLine(text []byte) (body []byte, sum string, ok bool) {
	space := bytes.LastIndexByte(text, ' ')
	if space < 0 {
		return nil, "", false
	}
	body, sum = text[:space], string(text[space+1:])
	return body, sum, sum == lineSum(body)
}

func readSegment(text []byte) (s journalSegment, ok bool) {
	body, _, ok := checkedLine(text)
	return s, ok && json.Unmarshal(body, &s) == nil && s.Kind == lineSegment
}

// personBytes is the length of the hash that stands for a number and a text.
const personBytes = 12

// person is the hash of a recipient.
type person [personBytes]byte

// people makes the hashes that stand for recipients in the journal. The sender
// ID is not in them: the same text under another sender ID is the same message.
type people struct {
	key   []byte
	names sealer // seals names of campaigns
	links *sms.StopLinks
}

func newPeople(seal sealer) (p people, err error) {
	if p.key, err = hkdf.Key(sha256.New, seal.key, nil, "smsdesk journal people v1", 32); err != nil {
		return p, fmt.Errorf("make the journal's key: %w", err)
	}
	names, err := hkdf.Key(sha256.New, seal.key, nil, "journal names v1", 32)
	if err != nil {
		return p, fmt.Errorf("make the journal's key: %w", err)
	}
	if p.names, err = sealerOf(names); err != nil {
		return p, err
	}
	stop, err := stopKey(seal)
	if err != nil {
		return p, err
	}
	p.links, err = sms.NewStopLinks("", stop)
	return p, err
}

// check tells a journal that was written with another key.
func (p people) check() string {
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte("check"))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

func (p people) hash(kind, whom, text string) (h person) {
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(kind + "\x00" + whom + "\x00" + p.links.Compared(text)))
	copy(h[:], mac.Sum(nil))
	return h
}

// of is the hash of a message to a number.
func (p people) of(number, text string) person { return p.hash("m", number, text) }

// ofGroup is the hash of a message to a group at the provider.
func (p people) ofGroup(group, text string) person { return p.hash("g", group, text) }

// ofCall lists the hashes of a call's recipients.
func (p people) ofCall(c sms.Call) []person {
	if c.Kind == sms.CallGroup {
		return []person{p.ofGroup(c.GroupID, c.Text)}
	}
	list := make([]person, len(c.Recipients))
	for i, r := range c.Recipients {
		text := c.Text
		if c.Kind == sms.CallPairs {
			text = r.Text
		}
		list[i] = p.of(r.Number, text)
	}
	return list
}

func writePeople(list []person) string {
	raw := make([]byte, 0, personBytes*len(list))
	for _, h := range list {
		raw = append(raw, h[:]...)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func readPeople(text string) []person {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	list := make([]person, len(raw)/personBytes)
	for i := range list {
		copy(list[i][:], raw[i*personBytes:])
	}
	return list
}

// recipients counts the people of a licence's line without reading them.
func (l journalLine) recipients() int64 {
	return int64(base64.RawURLEncoding.DecodedLen(len(l.People)) / personBytes)
}

// campaignName is what a line tells of its campaign.
type campaignName struct {
	Name    string `json:"name"`
	Started string `json:"by"`
}

func (p people) sealName(n campaignName, desk, campaign string) []byte {
	raw, err := json.Marshal(n)
	if err != nil {
		return nil
	}
	return p.names.seal(string(raw), "journal:"+desk+":"+campaign)
}

func (p people) openName(sealed []byte, desk, campaign string) (n campaignName) {
	raw, err := p.names.open(sealed, "journal:"+desk+":"+campaign)
	if err == nil {
		_ = json.Unmarshal([]byte(raw), &n)
	}
	return n
}

// campaignUID names a campaign in the journal. The token that made it is random
// and its own; it is not shown there.
func campaignUID(token string) string {
	sum := sha256.Sum256([]byte("campaign\x00" + token))
	return hex.EncodeToString(sum[:16])
}
