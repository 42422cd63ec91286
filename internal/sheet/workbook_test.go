package sheet

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
	"pgregory.net/rapid"
)

// writtenRows is a workbook of rows as another program and as smsdesk read it,
// without blank cells at the end of a row.
func writtenRows(t interface{ Fatal(...any) }, rows [][]string) (theirs, ours [][]string) {
	var b bytes.Buffer
	err := WriteTableXLSX(&b, func(yield func([]string, error) bool) {
		for _, cells := range rows {
			if !yield(slices.Clone(cells), nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenReader(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err = f.GetRows("Sheet1"); err != nil {
		t.Fatal(err)
	}
	r, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()), Options{HeaderRow: NoHeader})
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, err := r.Next()
		if err != nil {
			return theirs, ours
		}
		cells := slices.Clone(row.Cells)
		for len(cells) > 0 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
		ours = append(ours, cells)
	}
}

// TestAWorkbookHoldsWhatWasWritten: every text comes back as it was, whatever
// it looks like to a program that reads workbooks.
func TestAWorkbookHoldsWhatWasWritten(t *testing.T) {
	bits := rapid.SampledFrom([]string{"_x000D_", "_x0041", "_", "x0041_", "_x005F_", "a", " ", "\n", "\t", "<&>\"'",
		"]]>", "é😀", "=1+1", "0803", "1e9"})
	rapid.Check(t, func(t *rapid.T) {
		var rows [][]string
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			cells := make([]string, rapid.IntRange(1, 40).Draw(t, "cells"))
			for i := range cells {
				cells[i] = strings.Join(rapid.SliceOfN(bits, 0, 6).Draw(t, "cell"), "")
			}
			rows = append(rows, append(cells, "end"))
		}
		theirs, ours := writtenRows(t, rows)
		if !slices.EqualFunc(rows, theirs, slices.Equal) || !slices.EqualFunc(rows, ours, slices.Equal) {
			t.Fatalf("%q: others read %q, we %q", rows, theirs, ours)
		}
	})
}

func TestAWorkbookLeavesOutWhatItCannotHold(t *testing.T) {
	long := strings.Repeat("é😀", bookText)
	theirs, _ := writtenRows(t, [][]string{{"a\x00b\x0bc", long}})
	if got := theirs[0][0]; got != "a\ufffdb\ufffdc" {
		t.Errorf("signs that XML cannot hold became %q", got)
	}
	if got := theirs[0][1]; !strings.HasPrefix(long, got) || utf8.RuneCountInString(got) != bookText/3*2+1 {
		t.Errorf("a long cell has %d letters", utf8.RuneCountInString(got))
	}
	s := sheetWriter{rows: bookRows}
	if err := s.put(nil); err == nil {
		t.Error("a row too many was taken")
	}
}
