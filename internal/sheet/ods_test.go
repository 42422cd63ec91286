package sheet

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// odsBook is an OpenDocument spreadsheet with the given sheets; each begins
// with its name, ":" and its rows.
func odsBook(tables ...string) parts {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x" ` +
		`xmlns:style="s"><office:automatic-styles><style:style style:name="ta1" style:family="table">` +
		`<style:table-properties table:display="true"/></style:style><style:style style:name="ta2" style:family="table">` +
		`<style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body><office:spreadsheet>`)
	for _, t := range tables {
		at := strings.IndexByte(t+"<", '<')
		name, rows := strings.TrimSuffix(t[:at], ":"), t[at:]
		style := "ta1"
		if strings.HasPrefix(name, "-") {
			name, style = name[1:], "ta2"
		}
		b.WriteString(`<table:table table:name="` + name + `" table:style-name="` + style + `"><table:table-column ` +
			`table:number-columns-repeated="16384"/>` + rows + `</table:table>`)
	}
	b.WriteString(`</office:spreadsheet></office:body></office:document-content>`)
	return parts{"mimetype": odsType, "content.xml": b.String()}
}

// odsRow is a row of texts; odsText a cell.
func odsRow(cells ...string) string {
	row := `<table:table-row>`
	for _, c := range cells {
		row += odsText(c)
	}
	return row + `</table:table-row>`
}

func odsText(c string) string {
	if c == "" {
		return `<table:table-cell/>`
	}
	return `<table:table-cell office:value-type="string"><text:p>` + c + `</text:p></table:table-cell>`
}

// odsTimes is a cell that stands in so many columns.
func odsTimes(n int, text string) string {
	return fmt.Sprintf(`<table:table-cell table:number-columns-repeated="%d" office:value-type="string"><text:p>%s</text:p></table:table-cell>`, n, text)
}

const odsTail = `<table:table-row table:number-rows-repeated="1048500"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>`

func TestODS(t *testing.T) {
	cells := `<table:table-row><table:table-cell office:value-type="float" office:value="2348030000101"><text:p>2.35E+12</text:p></table:table-cell>` +
		`<table:table-cell office:value-type="currency" office:value="1234567.5"><office:annotation><text:p>a note</text:p></office:annotation>` +
		`<text:p>₦1,234,567.50</text:p></table:table-cell>` +
		`<table:table-cell office:value-type="percentage" office:value="0.15"/>` +
		`<table:table-cell office:value-type="date" office:date-value="2026-05-08"><text:p>8 May 2026</text:p></table:table-cell>` +
		`<table:table-cell office:value-type="date" office:date-value="2026-05-08"/>` +
		`<table:table-cell office:value-type="boolean" office:boolean-value="true"><text:p>TRUE</text:p></table:table-cell>` +
		`<table:table-cell office:value-type="string"><text:p> Dear <text:span>Ada</text:span>,` + "\n" + ` two<text:s/><text:s text:c="2"/>spaces<text:tab/>tab` +
		`<text:line-break/>&amp; line</text:p><text:p>second</text:p></table:table-cell></table:table-row>`
	got := mustRead(t, odsBook("List:"+odsRow("phone", "a", "b", "c", "d", "e", "f")+cells+odsTail).pack(t), Options{Country: "NG"})
	want := []string{"2: 2348030000101|₦1,234,567.50|0.15|8 May 2026|2026-05-08|TRUE|Dear Ada, two   spaces\ttab\n& line\nsecond"}
	if got.Kind != ODS || !slices.Equal(show(got.rows), want) || got.tally.Blank != 0 || got.Options.Encoding != "" {
		t.Errorf("%s %q %+v", got.Kind, show(got.rows), got.tally)
	}
	if g := Guess(got.Header, got.Sample, "NG"); g.Phone != 0 {
		t.Errorf("%+v", g)
	}
}

// TestODSRepeats: rows and cells that repeat count as often as they say.
func TestODSRepeats(t *testing.T) {
	rows := odsRow("phone", "name", "x") +
		`<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="string"><text:p>08035550101</text:p></table:table-cell>` +
		`<table:table-cell table:number-columns-repeated="2" office:value-type="string"><text:p>Ada</text:p></table:table-cell></table:table-row>` +
		`<table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="5"/></table:table-row>` +
		`<table:table-row table:visibility="collapse" table:number-rows-repeated="4">` + odsText("08035550102") + `</table:table-row>` +
		`<table:table-row-group><table:table-row table:visibility="filter">` + odsText("08035550103") + `</table:table-row></table:table-row-group>` +
		`<table:table-row><table:covered-table-cell/><table:table-cell table:number-columns-repeated="1"/>` + odsText("z") + `</table:table-row>`
	got := mustRead(t, odsBook("List:"+rows+odsTail).pack(t), Options{})
	if want := []string{"2: 08035550101|Ada|Ada", "3: 08035550101|Ada|Ada", "12: ||z"}; !slices.Equal(show(got.rows), want) ||
		got.tally.Hidden != 5 || got.tally.Blank != 3 {
		t.Errorf("%q %+v", show(got.rows), got.tally)
	}
	got.rows[0].Cells[1] = "changed"
	if got.rows[1].Cells[1] != "Ada" {
		t.Error("rows that repeat share their cells")
	}
}

func TestODSSheets(t *testing.T) {
	list := odsRow("phone") + odsRow("08035550101")
	book := odsBook("Cover:"+odsRow("Dear all"), "-Old:"+list, "June:"+list+odsRow("08035550102"), "'file:///tmp/a.ods'#$Sheet1:"+list).pack(t)
	p, err := Detect(strings.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Tab{{"Cover", false, 1}, {"Old", true, 2}, {"June", false, 3}}; !slices.Equal(p.Sheets, want) || p.Options.Sheet != "June" {
		t.Errorf("%+v %q", p.Sheets, p.Options.Sheet)
	}
	if got := mustRead(t, book, Options{Sheet: "Old"}); len(got.rows) != 1 {
		t.Errorf("%q", show(got.rows))
	}
	if _, err := read(book, Options{Sheet: "July"}); sentence(err) != `The file has no sheet called "July". Choose another` {
		t.Error(err)
	}
}

func TestHostileODS(t *testing.T) {
	list := odsRow("phone", "name") + odsRow("08035550101", "Ada")
	row := func(attr, cell string) string {
		return list + `<table:table-row ` + attr + `>` + cell + `</table:table-row>`
	}
	wide := strings.Repeat("x", 200)
	for name, c := range map[string]struct{ rows, want string }{
		"more rows than a sheet has":    {row(`table:number-rows-repeated="2000000"`, odsText("a")), unreadable},
		"more blank rows than that":     {row(`table:number-rows-repeated="99999999999999999999"`, ""), unreadable},
		"less than one row":             {row(`table:number-rows-repeated="0"`, odsText("a")), unreadable},
		"more columns than a sheet has": {row("", `<table:table-cell table:number-columns-repeated="16385"/>`), unreadable},
		"columns in two steps":          {row("", strings.Repeat(`<table:table-cell table:number-columns-repeated="16384"/>`, 2)), unreadable},
		"no sheet":                      {"", "The selected file is empty"},
		"torn":                          {list + `<table:table-row>`, unreadable},
		"a million rows of one value": {row(`table:number-rows-repeated="1048570"`, odsText("a")),
			"The selected file has 1,048,571 rows. The limit is 1,000,000. Split it into two files"},
		"a thousand columns of one value": {row("", odsTimes(900, wide)), "row 3: " + problemLong},
		"ten thousand columns of a value": {row("", odsTimes(9000, "x")), "row 3: " + fmt.Sprintf(problemColumns, "9,000", "1,000")},
		"a long text":                     {row("", odsText(strings.Repeat("y", 70_000))), "row 3: " + problemLong},
		"a billion spaces":                {row("", odsText(`a<text:s text:c="1000000000"/>`)), "row 3: " + problemLong},
	} {
		got, err := read(odsBook("List:"+c.rows).pack(t), Options{})
		said := ""
		if err != nil {
			said = sentence(err)
		} else if i := slices.IndexFunc(got.rows, func(r Row) bool { return r.Problem != "" }); i >= 0 {
			said = fmt.Sprintf("row %d: %s", got.rows[i].Number, got.rows[i].Problem)
		}
		if said != c.want {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
	}
	locked := odsBook("List:"+list).with("META-INF/manifest.xml", `<m:manifest xmlns:m="m"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>`)
	if _, err := read(locked.pack(t), Options{}); !strings.HasPrefix(sentence(err), "The selected file is password protected") {
		t.Error(err)
	}
	bomb := odsBook("List:" + list + strings.Repeat(odsRow("a", wide), 400_000))
	if _, err := read(bomb.pack(t), Options{}); !strings.HasPrefix(sentence(err), "Each part of the selected file must be smaller than 128MB when opened.") {
		t.Error(err)
	}
}

// TestODSMemory: a spreadsheet at the limits is read in memory that does not
// grow with it, whether its rows are written out or repeat.
func TestODSMemory(t *testing.T) {
	out := odsRow("phone", "name") + strings.Repeat(odsRow("08035550101", "Ada Obi of the long street"), 150_000/lighter)
	again := odsRow("phone", "name") + `<table:table-row table:number-rows-repeated="1000000">` + strings.Repeat(odsText("08035550101"), 2) + `</table:table-row>`
	for name, c := range map[string]struct {
		rows string
		want int
	}{"written out": {out, 150_000 / lighter}, "repeated": {again, 1_000_000}} {
		f := bigFile(t, 1, func(int) string { return odsBook("List:" + c.rows).pack(t) })
		var got Tally
		grown := growth(t, func() { got = drain(t, f, Options{}) })
		t.Logf("%s: %d rows, memory +%d MiB", name, got.Rows, grown)
		if got.Rows != c.want || grown >= 64*lighter {
			t.Errorf("%s: %d rows, memory grew by %d MiB", name, got.Rows, grown)
		}
		f.Close()
		os.Remove(f.Name())
	}
}

// FuzzODS feeds sheets that no program would write. It looks below the recover
// that keeps a panic from the page.
func FuzzODS(f *testing.F) {
	f.Add(odsRow("phone", "name") + odsRow("08035550101", "Ada") + odsTail)
	f.Add(`<table:table-row table:number-rows-repeated="3" table:visibility="collapse"><table:covered-table-cell/><table:table-cell ` +
		`table:number-columns-repeated="4" office:value-type="float" office:value="1e9"><text:p>a<text:s text:c="3"/>b</text:p></table:table-cell></table:table-row>`)
	f.Fuzz(func(t *testing.T, rows string) {
		data := odsBook("List:" + rows).pack(t)
		r := &Reader{file: &boundedReader{r: strings.NewReader(data), left: -1}, profile: Profile{Options: Options{HeaderRow: NoHeader}}}
		err := r.open(int64(len(data)))
		l := list{}
		for err == nil && len(l.rows) < 10_000 {
			var row Row
			if row, err = r.advance(); err == nil {
				l.rows = append(l.rows, row)
			}
		}
		if err != nil && err != io.EOF && strings.HasPrefix(sentence(err), "no sentence") {
			t.Fatalf("refused without a sentence: %v", err)
		}
		l.tally = r.Tally()
		sane(t, l)
	})
}
