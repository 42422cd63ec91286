package e2e

import (
	"bytes"
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/playwright-community/playwright-go"
	"github.com/xuri/excelize/v2"
)

// upload is a list with columns of its own, of which two rows cannot be sent,
// and what the sandbox makes of each of the others.
type upload struct {
	columns []string
	rows    [][]string // as in the file
	fates   []told     // of each row
}

// told is what a download says about a row, behind the file's columns.
type told struct{ number, state, status, code string }

func awkwardUpload() upload {
	return upload{
		columns: []string{"File no", "Full Name", "Phone", "Amount due", "Note"},
		rows: [][]string{
			{"0042", "Adé, Ọlá", "0906 000 0001", "1,200.00", "=SUM(A1:A9)"},
			{"007", `Bọ́lá "Bobo" Ọkẹ́`, "09060000002", "00.50", "+1 bonus"},
			{"0043", "Chidi", "0906 0S0 0101", "10", "a number with a letter"},
			{"0044", "Dele", "9060000003", "75", "line one\nline two"},
			{"1E5", "Efe;Ejiro", "+234 906 000 0004", "-5", "@home"},
			{"", "Femi", "0906-000-0005", "0", "-1+2"},
			{"0044", "Gbenga\tG", "(0906) 000 0012", "3/4", "日本 😀"},
			{"0045", "Hauwa", "", "9", "no number"},
			{"0046", "'Ìfẹ́", "2349060000013", "1.0", "TRUE"},
			{"0047", "Jùmọ̀kẹ́", "0906 000 0010", "2026-06-03", "=1+1,\"x\""},
		},
		fates: []told{
			{"2349060000001", "Delivered", "DELIVRD", "000"}, {"2349060000002", "Not delivered", "UNDELIV", "101"}, {state: "Left out"},
			{"2349060000003", "Not delivered, expired", "EXPIRED", "102"}, {"2349060000004", "Refused by the network", "REJECTD", "103"},
			{"2349060000005", "Number is blocked", "BLACKLIST", "104"}, {"2349060000012", "Unknown", "UNKNOWN", "105"}, {state: "Left out"},
			{"2349060000013", "Not delivered, deleted by the network", "DELETED", "106"}, {"2349060000010", "Refused by the provider", "", "401"},
		},
	}
}

// comparesWithUpload sends a list and opens what can be downloaded of it: each
// column of the upload is there cell by cell, beside the fate of its row.
func (p *tab) comparesWithUpload() {
	p.t.Helper()
	u := awkwardUpload()
	var file bytes.Buffer
	w := csv.NewWriter(&file)
	p.do(w.WriteAll(append([][]string{u.columns}, u.rows...)))
	p.open("/new/list")
	p.choose(writeFile(p.t, "arrears.csv", file.String()))
	p.reaches(atMessage)
	p.do2(p.Locator("select[name=sender_id]").SelectOption(playwright.SelectOptionValues{Values: &[]string{"CLINIC"}}))
	p.mapping()
	p.press("Leave out 2 rows and continue")
	p.reaches(atConfirm)
	p.press("Send 8 messages now")
	p.reaches(atCampaign)
	for _, f := range u.fates {
		if f.number != "" {
			p.row("0"+f.number[3:6]+" "+f.number[6:9]+" "+f.number[9:], f.state)
		}
	}
	u.compare(p, "CSV", p.table("download-csv", func(content []byte) ([][]string, error) {
		return csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff")))).ReadAll()
	}), asText)
	u.compare(p, "XLSX", p.table("download-xlsx", func(content []byte) ([][]string, error) {
		book, err := excelize.OpenReader(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		return book.GetRows(book.GetSheetName(0))
	}), func(cell string) string { return cell })
}

// asText is how a cell stands in a CSV file: one that a spreadsheet program
// would calculate is marked as text.
func asText(cell string) string {
	if cell != "" && strings.Contains("=+-@", cell[:1]) {
		return "'" + cell
	}
	return cell
}

// table downloads a table.
func (p *tab) table(id string, read func(content []byte) ([][]string, error)) [][]string {
	p.t.Helper()
	file, err := p.ExpectDownload(func() error { return p.Locator("#" + id).Click() })
	p.do(err)
	path, err := file.Path()
	p.do(err)
	content, err := os.ReadFile(path)
	p.do(err)
	rows, err := read(content)
	p.do(err)
	return rows
}

// compare holds a download against the upload, cell by cell and row by row.
func (u upload) compare(p *tab, format string, got [][]string, stands func(cell string) string) {
	p.t.Helper()
	columns := append(slices.Clone(u.columns), "Row", "Phone number", "State", "Status", "Error code")
	if len(got) == 0 || len(got[0]) < len(columns) || !slices.Equal(got[0][:len(columns)], columns) {
		p.t.Fatalf("%s: the columns are %q", format, got)
	}
	if got = got[1:]; len(got) != len(u.rows) {
		p.t.Fatalf("%s: %d rows of %d: %q", format, len(got), len(u.rows), got)
	}
	for i, row := range u.rows {
		f := u.fates[i]
		var want []string
		for _, cell := range append(slices.Clone(row), strconv.Itoa(i+2), f.number, f.state, f.status, f.code) {
			want = append(want, stands(cell))
		}
		is := append(slices.Clone(got[i]), make([]string, len(want))...) // a workbook's reader drops blanks at the end
		for j := range want {
			if is[j] != want[j] {
				p.t.Errorf("%s: row %d, %s: %q, want %q", format, i+2, columns[j], is[j], want[j])
			}
		}
	}
}
