package main

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"smsdesk/internal/sheet"
)

const (
	csvRows  = 1_000_000
	bookRows = 200_000
)

// writeFile makes a file by what write writes.
func writeFile(path string, write func(w *bufio.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, mib)
	return errors.Join(write(b), b.Flush(), f.Close())
}

// ordinaryList writes a CSV of a number and 120 characters a row.
func ordinaryList(rows int) func(w *bufio.Writer) error {
	return func(w *bufio.Writer) error {
		_, err := w.WriteString("phone,text\r\n")
		for i := 0; i < rows && err == nil; i++ {
			_, err = fmt.Fprintf(w,
				"%011d,\"Dear customer, your parcel %09d is with us. Please bring this code when you come for it, and pay no one who asks for it.\"\r\n", 8035000000+i, i)
		}
		return err
	}
}

// readList reads a list to its end, as an upload is read.
func readList(path string, o sheet.Options) (rows int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	r, err := sheet.Open(f, info.Size(), o)
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }()
	for {
		if _, err := r.Next(); err == io.EOF {
			return r.Tally().Rows, nil
		} else if err != nil {
			return rows, err
		}
	}
}

// childRead reads a list, where its memory counts.
func childRead(args []string) (figures, error) {
	if len(args) != 1 {
		return nil, errors.New("one file is to be named")
	}
	rows, err := readList(args[0], sheet.Options{})
	return figures{"rows": float64(rows)}, err
}

func (e env) peakOfReading(ctx context.Context, path string, rows int) (float64, error) {
	f, err := e.child(ctx, "read", path)
	if err == nil && f["rows"] != float64(rows) {
		err = fmt.Errorf("%.0f rows were read of %d", f["rows"], rows)
	}
	return f["peak"], err
}

// reading measures our reader against another one of the same file.
func reading(ctx context.Context, e env, path string, rows int, o sheet.Options,
	peer func() error) (ours, theirs string, ratio, peak float64, err error) {
	took, err := turns(ctx, func() error {
		n, err := readList(path, o)
		if err == nil && n != rows {
			err = fmt.Errorf("%d rows were read of %d", n, rows)
		}
		return err
	}, peer)
	if err != nil {
		return "", "", 0, 0, err
	}
	peak, err = e.peakOfReading(ctx, path, rows)
	return rate(rows, took[0]), rate(rows, took[1]), took[1].Seconds() / took[0].Seconds(), peak, err
}

func benchCSV(ctx context.Context, e env) ([]line, error) {
	path := e.path("list.csv")
	if err := writeFile(path, ordinaryList(csvRows)); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(path) }()
	// What was found out at the upload is told at the check.
	ours, theirs, ratio, peak, err := reading(ctx, e, path, csvRows,
		sheet.Options{Encoding: sheet.UTF8, Delimiter: ',', HeaderRow: 1}, func() error {
			return scanCSV(path)
		})
	return []line{
		{name: "CSV of a million rows", figure: ours, against: "encoding/csv alone " + theirs, ratio: ratio, bar: 0.5},
		memory("CSV of a million rows, memory", peak, 100),
	}, err
}

// scanCSV is encoding/csv by itself. Its records are to keep, as ours are.
func scanCSV(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	for {
		if _, err := r.Read(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func benchXLSX(ctx context.Context, e env) ([]line, error) {
	path := e.path("list.xlsx")
	if err := writeBook(path, bookRows); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(path) }()
	ours, theirs, ratio, peak, err := reading(ctx, e, path, bookRows, sheet.Options{}, func() error {
		return scanBook(path)
	})
	return []line{
		{name: "XLSX of 200,000 rows", figure: ours, against: "unzip and encoding/xml tokens alone " + theirs, ratio: ratio, bar: 1},
		memory("XLSX of 200,000 rows, memory", peak, 100),
	}, err
}

// scanBook unpacks a workbook and reads its XML token by token, and makes
// nothing of it.
func scanBook(path string) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }()
	for _, part := range z.File {
		r, err := part.Open()
		if err != nil {
			return err
		}
		tokens := xml.NewDecoder(bufio.NewReaderSize(r, 64<<10))
		for {
			if _, err := tokens.RawToken(); err == io.EOF {
				break
			} else if err != nil {
				return errors.Join(err, r.Close())
			}
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	return nil
}

const (
	mainNS = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	docNS  = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
)

// writeBook makes a workbook as Excel stores one: numbers as numbers, each
// text once in a table of shared texts.
func writeBook(path string, rows int) error {
	return writeFile(path, func(w *bufio.Writer) error {
		z := zip.NewWriter(w)
		for _, part := range []struct {
			name  string
			write func(w *bufio.Writer)
		}{
			{"[Content_Types].xml", func(w *bufio.Writer) {
				_, _ = w.WriteString(`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`)
			}},
			{"_rels/.rels", relations("officeDocument", "xl/workbook.xml")},
			{"xl/workbook.xml", func(w *bufio.Writer) {
				_, _ = w.WriteString(`<workbook ` + mainNS + ` xmlns:r="` + docNS +
					`"><sheets><sheet name="People" sheetId="1" r:id="rId1"/></sheets></workbook>`)
			}},
			{"xl/_rels/workbook.xml.rels", relations("worksheet", "worksheets/sheet1.xml", "sharedStrings", "sharedStrings.xml")},
			{"xl/worksheets/sheet1.xml", bookCells(rows)},
			{"xl/sharedStrings.xml", bookTexts(rows)},
		} {
			f, err := z.Create(part.name)
			if err != nil {
				return err
			}
			b := bufio.NewWriterSize(f, mib)
			part.write(b)
			if err := b.Flush(); err != nil {
				return err
			}
		}
		return z.Close()
	})
}

func relations(kindAndTarget ...string) func(w *bufio.Writer) {
	return func(w *bufio.Writer) {
		_, _ = w.WriteString(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
		for i := 0; i < len(kindAndTarget); i += 2 {
			_, _ = fmt.Fprintf(w, `<Relationship Id="rId%d" Type="%s/%s" Target="%s"/>`, i/2+1, docNS, kindAndTarget[i],
				kindAndTarget[i+1])
		}
		_, _ = w.WriteString(`</Relationships>`)
	}
}

func bookCells(rows int) func(w *bufio.Writer) {
	return func(w *bufio.Writer) {
		_, _ = w.WriteString(`<worksheet ` + mainNS +
			`><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c></row>`)
		for i := range rows {
			n := strconv.Itoa(i + 2)
			_, _ = fmt.Fprintf(w,
				`<row r="%s"><c r="A%s"><v>%d</v></c><c r="B%s" t="s"><v>%d</v></c><c r="C%s" t="s"><v>%d</v></c></row>`, n, n,
				2348030000000+i, n, 2*i+3, n, 2*i+4)
		}
		_, _ = w.WriteString(`</sheetData></worksheet>`)
	}
}

func bookTexts(rows int) func(w *bufio.Writer) {
	return func(w *bufio.Writer) {
		_, _ = w.WriteString(`<sst ` + mainNS + `><si><t>phone</t></si><si><t>name</t></si><si><t>text</t></si>`)
		for i := range rows {
			_, _ = fmt.Fprintf(w,
				`<si><t>Ada %d</t></si><si><t>Dear customer number %d, your parcel is with us. Please bring this code when you come `+
					`for it: %d. We are open until five every day.</t></si>`, i, i, i*7919)
		}
		_, _ = w.WriteString(`</sst>`)
	}
}
