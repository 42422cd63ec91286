package sheet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"smsdesk/internal/sms"
)

// Detect judges a file of size bytes by its content: what it is, how it is to
// be read and how it begins. A file that cannot be a list is refused as
// sms.Invalid with the sentence under "file". For a workbook the rows of each
// sheet are counted, which reads all of it.
func Detect(r io.ReaderAt, size int64) (Profile, error) {
	reader, err := Open(r, size, Options{})
	if err != nil {
		return Profile{}, err
	}
	p := reader.Profile()
	if b, ok := reader.source.(*worksheet); ok {
		for i := range p.Sheets {
			p.Sheets[i].Rows = countRows(b.book, i, maxBookRows)
		}
		err = reader.file.failure()
	}
	return p, errors.Join(err, reader.Close())
}

// signatures are the first bytes of files that are no lists, with the words
// for what they are.
var signatures = []struct{ magic, what, instead string }{
	{"%PDF-", "a PDF", ""},
	{"\x89PNG\r\n", "a picture", ""},
	{"\xff\xd8\xff", "a picture", ""},
	{"GIF8", "a picture", ""},
	{"II*\x00", "a picture", ""},
	{"MM\x00*", "a picture", ""},
	{"\x1f\x8b", "a compressed file", "Unzip it and upload the file inside"},
	{"7z\xbc\xaf\x27\x1c", "a compressed file", "Unzip it and upload the file inside"},
	{"Rar!\x1a\x07", "a compressed file", "Unzip it and upload the file inside"},
	{"{\\rtf", "a text document (RTF)", ""},
	{"SQLite format 3\x00", "a database", ""},
	{"\x7fELF", "a program", ""},
	{"MZ\x90\x00", "a program", ""},
	{"BEGIN:VCARD", "a contacts file (VCF)", ""},
	{"<?xml", "an XML file", "Open it in Excel, choose Save As, choose Excel Workbook (.xlsx), and upload that file"},
	{"<!doctype", "a web page", "Open it in Excel, choose Save As, choose Excel Workbook (.xlsx), and upload that file"},
	{"<html", "a web page", "Open it in Excel, choose Save As, choose Excel Workbook (.xlsx), and upload that file"},
	{"<table", "a web page", "Open it in Excel, choose Save As, choose Excel Workbook (.xlsx), and upload that file"},
}

const (
	zipMagic = "PK\x03\x04"
	oleMagic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
)

// refuseForeign refuses what is neither text nor a ZIP container by its first
// bytes, and tells the two apart.
func refuseForeign(r io.ReaderAt, size int64) (container bool, err error) {
	if size <= 0 {
		return false, refuse("The selected file is empty")
	}
	head := make([]byte, min(size, 512))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return false, fmt.Errorf("read the file's first bytes: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte(zipMagic)):
		return true, nil
	case bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return false, refuseType("an empty ZIP archive", "")
	case bytes.HasPrefix(head, []byte(oleMagic)):
		return false, refuseOLE(r, size)
	case bytes.HasPrefix(head, []byte("BM")) && len(head) > 14 && bytes.Equal(head[6:10], make([]byte, 4)):
		return false, refuseType("a picture", "")
	case bytes.HasPrefix(head, []byte("RIFF")) && bytes.HasPrefix(head[min(8, len(head)):], []byte("WEBP")):
		return false, refuseType("a picture", "")
	case len(head) > 12 && string(head[4:8]) == "ftyp":
		return false, refuseType("an image or a video", "")
	}
	text := strings.ToLower(strings.TrimLeft(strings.TrimPrefix(string(head), UTF8.mark()), " \t\r\n"))
	for _, s := range signatures {
		if strings.HasPrefix(string(head), s.magic) || strings.HasPrefix(text, strings.ToLower(s.magic)) {
			return false, refuseType(s.what, s.instead)
		}
	}
	return false, nil
}

// refuseOLE tells a workbook with a password from the old formats that share
// its container.
func refuseOLE(r io.ReaderAt, size int64) error {
	for _, c := range []struct {
		stream string
		err    error
	}{
		{"EncryptedPackage", refuse("The selected file is password protected. Remove the password and upload it again")},
		{"WordDocument", refuseType("an old Word document (DOC)", "")},
		{"PowerPoint Document", refuseType("an old presentation (PPT)", "")},
	} {
		found, err := contains(io.NewSectionReader(r, 0, size), wide(c.stream))
		if err != nil {
			return fmt.Errorf("look for %s in an OLE container: %w", c.stream, err)
		}
		if found {
			return c.err
		}
	}
	return refuseType("an old Excel file (XLS)",
		"Open it in Excel, choose Save As, choose Excel Workbook (.xlsx), and upload that file")
}

// wide writes ASCII as UTF-16LE, as names in an OLE directory are.
func wide(s string) []byte {
	b := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		b = append(b, s[i], 0)
	}
	return b
}

func contains(r io.Reader, want []byte) (bool, error) {
	buf := make([]byte, 256<<10)
	kept := 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		chunk := buf[:kept+n]
		switch {
		case bytes.Contains(chunk, want):
			return true, nil
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return false, nil
		case err != nil:
			return false, err
		}
		kept = copy(buf, chunk[len(chunk)-len(want)+1:])
	}
}

// refuseContainer says what a ZIP container without an Excel workbook is. The
// names are those of its entries, in small letters.
func refuseContainer(names map[string]bool, mimetype string) error {
	has := func(prefix string) bool {
		for n := range names {
			if strings.HasPrefix(n, prefix) {
				return true
			}
		}
		return false
	}
	saveAs := "Open it, choose Save As, choose Excel Workbook (.xlsx), and upload that file"
	switch {
	case strings.HasPrefix(mimetype, "application/vnd.oasis.opendocument"):
		return refuseType("an OpenDocument file", "")
	case has("xl/workbook.bin"):
		return refuseType("an Excel binary workbook (XLSB)", saveAs)
	case has("word/"):
		return refuseType("a Word document", "")
	case has("ppt/"):
		return refuseType("a presentation", "")
	case has("index/") && (has("metadata/") || has("index/document.iwa")):
		return refuseType("a Numbers document", "Open it in Numbers, choose File, Export To, Excel, and upload that file")
	}
	return refuseType("a ZIP archive", "Unzip it and upload the file inside")
}

// refuseBinary refuses text that no person wrote. UTF-16 is decoded by now, so
// control characters are rare in any list.
func refuseBinary(sample []byte, e Encoding) error {
	control := 0
	for _, b := range sample {
		if b < ' ' && !bytes.ContainsRune([]byte("\t\n\v\f\r\x1a"), rune(b)) {
			control++
		}
	}
	limit := len(sample) / 10
	if e == Windows1252 {
		limit = len(sample) / 33
	}
	if control > max(limit, 3) {
		return sms.Invalid{"file": unreadable}
	}
	return nil
}
