package sheet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding is how a text file writes letters as bytes.
type Encoding string

const (
	UTF8        Encoding = "UTF-8"
	UTF16LE     Encoding = "UTF-16LE"
	UTF16BE     Encoding = "UTF-16BE"
	Windows1252 Encoding = "Windows-1252"
)

// Encodings are the ones that can be chosen, the likely ones first.
func Encodings() []Encoding {
	return []Encoding{UTF8, Windows1252, UTF16LE, UTF16BE, "Windows-1250", "Windows-1251", "Windows-1254", "Windows-1256",
		"IBM850", "Macintosh"}
}

// codec is nil for UTF-8 and for what is not an encoding of ours.
func (e Encoding) codec() encoding.Encoding {
	switch e {
	case UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case Windows1252:
		return charmap.Windows1252
	case "Windows-1250":
		return charmap.Windows1250
	case "Windows-1251":
		return charmap.Windows1251
	case "Windows-1254":
		return charmap.Windows1254
	case "Windows-1256":
		return charmap.Windows1256
	case "IBM850":
		return charmap.CodePage850
	case "Macintosh":
		return charmap.Macintosh
	}
	return nil
}

func (e Encoding) known() bool { return e == UTF8 || e.codec() != nil }

// lossy tells whether what cannot be decoded comes out as U+FFFD.
func (e Encoding) lossy() bool { return e == UTF16LE || e == UTF16BE }

func (e Encoding) mark() string {
	switch e {
	case UTF8:
		return "\xef\xbb\xbf"
	case UTF16LE:
		return "\xff\xfe"
	case UTF16BE:
		return "\xfe\xff"
	}
	return ""
}

// reader gives the file as UTF-8, without its byte order mark. UTF-8 itself
// passes unchecked, because a bad byte is the fault of one row.
func (e Encoding) reader(r io.ReaderAt, size int64) (io.Reader, error) {
	skip := 0
	if m := e.mark(); m != "" {
		head := make([]byte, len(m))
		if n, err := r.ReadAt(head, 0); n < len(m) && err != nil && err != io.EOF {
			return nil, fmt.Errorf("read the file's first bytes: %w", err)
		}
		if string(head) == m {
			skip = len(m)
		}
	}
	body := io.NewSectionReader(r, int64(skip), size-int64(skip))
	if c := e.codec(); c != nil {
		return transform.NewReader(body, c.NewDecoder()), nil
	}
	return body, nil
}

// detectEncoding reads the whole file, unless its first bytes settle it: one
// letter that is not UTF-8 in the last row of a long list decides.
func detectEncoding(r io.ReaderAt, size int64) (Encoding, error) {
	head := make([]byte, min(size, 4<<10))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return "", fmt.Errorf("read the file's first bytes: %w", err)
	}
	for _, e := range []Encoding{UTF8, UTF16LE, UTF16BE} {
		if bytes.HasPrefix(head, []byte(e.mark())) {
			return e, nil
		}
	}
	if e := detectUTF16(head); e != "" {
		return e, nil
	}
	good, bad, err := countUTF8(io.NewSectionReader(r, 0, size))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the file to find its encoding: %w", err)
	case bad == 0, bad <= good:
		// Mostly UTF-8: the few bad bytes become errors of their rows, where
		// Windows-1252 would spoil all the other rows unseen.
		return UTF8, nil
	}
	return Windows1252, nil
}

// detectUTF16 knows UTF-16 without a mark by the zero bytes that digits, commas
// and line ends have on one side.
func detectUTF16(head []byte) Encoding {
	var zero [2]int
	for i, b := range head {
		if b == 0 {
			zero[i%2]++
		}
	}
	half := len(head) / 2
	switch {
	case half < 2:
	case zero[1] > half/4 && zero[0] <= zero[1]/10:
		return UTF16LE
	case zero[0] > half/4 && zero[1] <= zero[0]/10:
		return UTF16BE
	}
	return ""
}

// countUTF8 counts the letters beyond ASCII that are UTF-8, and the bytes that
// are not.
func countUTF8(r io.Reader) (good, bad int, err error) {
	buf := make([]byte, 256<<10)
	kept := 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		chunk := buf[:kept+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return 0, 0, err
		}
		kept = 0
		if !last {
			kept = splitRune(chunk)
		}
		whole := chunk[:len(chunk)-kept]
		switch {
		case ascii(whole):
		case utf8.Valid(whole):
			// A letter beyond ASCII has one byte that begins it and one to
			// three that do not, so this is a count to within a factor.
			good += (len(whole) - utf8.RuneCount(whole) + 1) / 2
		default:
			for i := 0; i < len(whole); {
				r, w := utf8.DecodeRune(whole[i:])
				switch {
				case r == utf8.RuneError && w == 1:
					bad++
				case w > 1:
					good++
				}
				i += w
			}
		}
		if last {
			return good, bad, nil
		}
		copy(buf, chunk[len(chunk)-kept:])
	}
}

func ascii(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// splitRune is how many bytes at the end of chunk begin a letter that goes on
// behind it.
func splitRune(chunk []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(chunk); n++ {
		if utf8.RuneStart(chunk[len(chunk)-n]) {
			if utf8.FullRune(chunk[len(chunk)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}
