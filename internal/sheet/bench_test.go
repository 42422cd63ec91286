package sheet

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// BenchmarkRead reads 20,000 rows: of plain cells, which most files have, and
// of cells with number formats.
func BenchmarkRead(b *testing.B) {
	const n = 20_000
	var lines strings.Builder
	for i := range n + 1 {
		lines.WriteString(ordinaryLine(i))
	}
	var rows strings.Builder
	rows.WriteString(`<row r="1"><c r="A1" t="inlineStr"><is><t>phone</t></is></c></row>`)
	for i := range n {
		fmt.Fprintf(&rows, `<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d" s="1"><v>%d.5</v></c><c r="C%d" s="2"><v>%d</v></c></row>`,
			i+2, i+2, 2348030000000+i, i+2, i*7, i+2, 40000+i%7000)
	}
	for _, c := range []struct{ name, data string }{
		{"CSV", lines.String()},
		{"plain XLSX", bigBook(b, n)},
		{"formatted XLSX", plainBook(rows.String()).with("xl/styles.xml",
			`<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="4"/><xf numFmtId="15"/></cellXfs></styleSheet>`).pack(b)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := Open(strings.NewReader(c.data), int64(len(c.data)), Options{})
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = r.Next()
				}
				if err != io.EOF || r.Close() != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
