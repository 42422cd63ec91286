package sheet

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// errDamaged stands for everything that makes a workbook unreadable.
var errDamaged = errors.New("the workbook is damaged")

const (
	// maxText is the most bytes of one run of text or one tag. A cell holds at
	// most 32,767 letters, and "&#x10FFFF;" is the longest way to write one.
	maxText = 384 << 10
	// maxDepth is how deep elements may lie in each other.
	maxDepth = 64
)

type token int

const (
	tokenStart token = iota
	tokenEnd
	tokenText
)

// xmlReader reads the XML of one part of a workbook, in memory that no document
// can make grow: encoding/xml keeps a whole run of text, however long. It
// knows no namespaces, and refuses document types and with them all entities
// of a document's own.
type xmlReader struct {
	r     *bufio.Reader
	in    *meter
	stack [][]byte // names of the open elements, the buffers reused
	open  int

	name    []byte // of the element that starts or ends, without its prefix
	attrs   []byte // of the element that starts, as written
	text    []byte // of a run of text, as written
	isData  bool   // text is CDATA, in which nothing is escaped
	closes  bool   // an element without content: its end comes next
	tagOpen bool   // the "<" of the next tag is read
	gather  []byte
}

// meter counts the bytes of a part that passed, and takes every failure for
// damage: one of the disk is remembered below, in the tap.
type meter struct {
	r io.Reader
	n int64
}

// Read is that of io.Reader.
func (t *meter) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	if err != nil && err != io.EOF {
		err = errDamaged
	}
	return n, err
}

func newMarkup(r io.Reader) *xmlReader {
	in := &meter{r: r}
	buffered := bufio.NewReaderSize(in, 64<<10)
	if head, _ := buffered.Peek(2); string(head) == "\xff\xfe" || string(head) == "\xfe\xff" {
		buffered = bufio.NewReaderSize(transform.NewReader(buffered,
			unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()), 64<<10)
	}
	return &xmlReader{r: buffered, in: in}
}

// next returns the next token, and io.EOF behind the last element. What it
// leaves in the fields is good until the next call.
func (m *xmlReader) next() (token, error) {
	for {
		if m.closes {
			m.closes = false
			return tokenEnd, m.pop(m.name)
		}
		if !m.tagOpen {
			raw, err := m.until('<')
			if err == io.EOF && m.open == 0 && len(m.stack) > 0 {
				return 0, io.EOF
			}
			if err != nil {
				return 0, torn(err)
			}
			if len(raw) > 0 && m.open > 0 {
				m.text, m.isData, m.tagOpen = raw, false, true
				return tokenText, nil
			}
		}
		m.tagOpen = false
		kind, skipped, err := m.tag()
		if err != nil || !skipped {
			return kind, err
		}
	}
}

// until reads up to the byte end, which is read too and left out.
func (m *xmlReader) until(end byte) ([]byte, error) {
	part, err := m.r.ReadSlice(end)
	if err == nil {
		return part[:len(part)-1], nil
	}
	m.gather = append(m.gather[:0], part...)
	for err == bufio.ErrBufferFull {
		if len(m.gather) > maxText {
			return nil, errDamaged
		}
		part, err = m.r.ReadSlice(end)
		m.gather = append(m.gather, part...)
	}
	if err != nil {
		return nil, err
	}
	return m.gather[:len(m.gather)-1], nil
}

// tag reads what follows a "<".
func (m *xmlReader) tag() (kind token, skipped bool, err error) {
	head, err := m.r.Peek(1)
	if err != nil {
		return 0, false, torn(err)
	}
	switch head[0] {
	case '?':
		return 0, true, m.pass("?>")
	case '!':
		return m.special()
	case '/':
		raw, err := m.until('>')
		if err != nil {
			return 0, false, torn(err)
		}
		return tokenEnd, false, m.pop(raw[1:nameEnd(raw, 1)])
	}
	raw, err := m.element()
	if err != nil {
		return 0, false, err
	}
	if m.closes = len(raw) > 0 && raw[len(raw)-1] == '/'; m.closes {
		raw = raw[:len(raw)-1]
	}
	end := nameEnd(raw, 0)
	m.attrs = raw[end:]
	return tokenStart, false, m.push(raw[:end])
}

// element reads the rest of a start tag; a ">" in a quoted value is part of it.
func (m *xmlReader) element() ([]byte, error) {
	raw, err := m.until('>')
	if err != nil {
		return nil, torn(err)
	}
	quote := openQuote(0, raw)
	if quote == 0 {
		return raw, nil
	}
	whole := append([]byte(nil), raw...)
	for quote != 0 {
		if raw, err = m.until('>'); err != nil {
			return nil, torn(err)
		}
		quote = openQuote(quote, raw)
		if whole = append(append(whole, '>'), raw...); len(whole) > maxText {
			return nil, errDamaged
		}
	}
	return whole, nil
}

// openQuote is the quote that is open behind part of a tag, given the one that
// is open before it; 0 is none.
func openQuote(quote byte, part []byte) byte {
	for _, b := range part {
		switch {
		case quote == 0 && (b == '"' || b == '\''):
			quote = b
		case b == quote:
			quote = 0
		}
	}
	return quote
}

// special reads a comment or CDATA.
func (m *xmlReader) special() (kind token, skipped bool, err error) {
	if head, err := m.r.Peek(3); err == nil && string(head) == "!--" {
		if _, err := m.r.Discard(3); err != nil {
			return 0, false, torn(err)
		}
		return 0, true, m.pass("-->")
	}
	const cdata = "![CDATA["
	if head, err := m.r.Peek(len(cdata)); err != nil || string(head) != cdata || m.open == 0 {
		return 0, false, errDamaged
	}
	if _, err := m.r.Discard(len(cdata)); err != nil {
		return 0, false, torn(err)
	}
	var whole []byte
	for {
		part, err := m.until('>')
		if err != nil {
			return 0, false, torn(err)
		}
		if whole = append(whole, part...); bytes.HasSuffix(whole, []byte("]]")) {
			m.text, m.isData = whole[:len(whole)-2], true
			return tokenText, false, nil
		}
		if whole = append(whole, '>'); len(whole) > maxText {
			return 0, false, errDamaged
		}
	}
}

// pass skips to behind end without keeping what it skips.
func (m *xmlReader) pass(end string) error {
	matched := 0
	for matched < len(end) {
		b, err := m.r.ReadByte()
		switch {
		case err != nil:
			return torn(err)
		case b == end[matched]:
			matched++
		case matched == 2 && b == '-' && end == "-->":
			// "--->" ends a comment as well.
		case b == end[0]:
			matched = 1
		default:
			matched = 0
		}
	}
	return nil
}

func (m *xmlReader) push(name []byte) error {
	if len(name) == 0 || m.open == maxDepth {
		return errDamaged
	}
	if m.open == len(m.stack) {
		m.stack = append(m.stack, nil)
	}
	m.stack[m.open] = append(m.stack[m.open][:0], name...)
	m.name = m.stack[m.open]
	m.open++
	m.name = local(m.name)
	return nil
}

func (m *xmlReader) pop(name []byte) error {
	if m.open == 0 {
		return errDamaged
	}
	m.open--
	if !bytes.Equal(local(m.stack[m.open]), local(name)) {
		return errDamaged
	}
	m.name = local(m.stack[m.open])
	return nil
}

// skip passes over the rest of the element that has just started.
func (m *xmlReader) skip() error {
	for depth := m.open - 1; m.open > depth; {
		if _, err := m.next(); err != nil {
			return torn(err)
		}
	}
	return nil
}

// attr is the value of an attribute by its name without prefix.
func (m *xmlReader) attr(name string) string { return string(unescape(nil, m.rawAttr(name))) }

// rawAttr is the value of an attribute as written, nil when there is none.
func (m *xmlReader) rawAttr(name string) []byte {
	rest := m.attrs
	for {
		equals := bytes.IndexByte(rest, '=')
		if equals < 0 {
			return nil
		}
		key := local(trimWhite(rest[:equals]))
		rest = trimWhite(rest[equals+1:])
		if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
			return nil
		}
		end := bytes.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return nil
		}
		if string(key) == name {
			return rest[1 : 1+end]
		}
		rest = rest[end+2:]
	}
}

// appendText appends the run of text to dst as it is meant.
func (m *xmlReader) appendText(dst []byte) []byte {
	if m.isData {
		return append(dst, m.text...)
	}
	return unescape(dst, m.text)
}

// nameEnd is where the name ends that begins at i.
func nameEnd(tag []byte, i int) int {
	for i < len(tag) && !white(tag[i]) {
		i++
	}
	return i
}

func white(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

func trimWhite(b []byte) []byte {
	for len(b) > 0 && white(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && white(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// local is a name without its prefix.
func local(name []byte) []byte { return name[bytes.IndexByte(name, ':')+1:] }

// torn is the error of a document that ends in the middle.
func torn(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errDamaged
	}
	return err
}

// unescape appends raw to dst with its entities replaced and its line ends as
// "\n".
func unescape(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '&')
		if r := bytes.IndexByte(raw, '\r'); i < 0 || r >= 0 && r < i {
			i = r
		}
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		if raw = raw[i:]; raw[0] == '\r' {
			dst = append(dst, '\n')
			if raw = raw[1:]; len(raw) > 0 && raw[0] == '\n' {
				raw = raw[1:]
			}
			continue
		}
		end := bytes.IndexByte(raw[:min(len(raw), 12)], ';')
		r := rune(-1)
		if end > 0 {
			r = entity(string(raw[1:end]))
		}
		if r < 0 {
			dst, raw = append(dst, '&'), raw[1:]
			continue
		}
		dst, raw = utf8.AppendRune(dst, r), raw[end+1:]
	}
}

func entity(name string) rune {
	switch name {
	case "amp":
		return '&'
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "quot":
		return '"'
	case "apos":
		return '\''
	}
	base := 10
	if len(name) < 2 || name[0] != '#' {
		return -1
	}
	if name = name[1:]; name[0] == 'x' || name[0] == 'X' {
		base, name = 16, name[1:]
	}
	n, err := strconv.ParseUint(name, base, 32)
	if err != nil || n > utf8.MaxRune {
		return -1
	}
	return rune(n)
}
