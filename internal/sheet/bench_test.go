package sheet

import (
	"encoding/csv"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// BenchmarkCSV reads a million rows of a number and 120 characters, and tells
// how long that takes against encoding/csv alone: when all must be found out
// first, and when Sniff was here before.
func BenchmarkCSV(b *testing.B) {
	const rows = 1_000_000
	f := bigFile(b, rows+1, ordinaryLine)
	var ours, told, bare time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		r := csv.NewReader(f)
		r.ReuseRecord, r.FieldsPerRecord = true, -1
		for {
			if _, err := r.Read(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		bare += time.Since(start)
		start = time.Now()
		drain(b, f, Options{})
		ours += time.Since(start)
		start = time.Now()
		drain(b, f, Options{Encoding: UTF8, Delimiter: ',', HeaderRow: 1})
		told += time.Since(start)
	}
	b.ReportMetric(float64(rows*b.N)/told.Seconds(), "rows/s")
	b.ReportMetric(float64(rows*b.N)/bare.Seconds(), "encoding/csv-rows/s")
	b.ReportMetric(told.Seconds()/bare.Seconds(), "x-encoding/csv")
	b.ReportMetric(ours.Seconds()/bare.Seconds(), "x-encoding/csv-unsniffed")
}

// BenchmarkXLSX reads a workbook of 200,000 rows, and tells how long that
// takes against the library's iterator.
func BenchmarkXLSX(b *testing.B) {
	const rows = 200_000
	book := bigBook(b, rows)
	f := bigFile(b, 1, func(int) string { return book })
	var ours, library time.Duration
	for b.Loop() {
		start := time.Now()
		x, err := excelize.OpenReader(strings.NewReader(book))
		if err != nil {
			b.Fatal(err)
		}
		it, err := x.Rows("People")
		if err != nil {
			b.Fatal(err)
		}
		for it.Next() {
			if _, err := it.Columns(excelize.Options{RawCellValue: true}); err != nil {
				b.Fatal(err)
			}
		}
		it.Close()
		x.Close()
		library += time.Since(start)
		start = time.Now()
		drain(b, f, Options{})
		ours += time.Since(start)
	}
	b.ReportMetric(float64(rows*b.N)/ours.Seconds(), "rows/s")
	b.ReportMetric(ours.Seconds()/library.Seconds(), "x-excelize")
}
