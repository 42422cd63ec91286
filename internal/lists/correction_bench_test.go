package lists_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/lists"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// BenchmarkACorrectedCell measures one cell of a large list beside one of a small
// list: what is to be checked again does not grow with the list. At 1,000,000
// rows a cell may take 300 ms.
func BenchmarkACorrectedCell(b *testing.B) {
	var small float64
	for _, rows := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			r := newKit(b, sandbox.Config{}, nil)
			r.importer()
			var file strings.Builder
			file.WriteString("phone,name\n")
			for i := range rows {
				if i%100 == 0 {
					file.WriteString("0803,Ada\n")
				} else {
					fmt.Fprintf(&file, "0803%07d,Ada %d\n", i, i)
				}
			}
			l := r.upload("a.csv", file.String())
			if _, err := r.Desk.CheckList(r.Ctx, r.By, l.UID, l.Version, order(l, "Dear ##name##")); err != nil {
				b.Fatal(err)
			}
			for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
				l, _ = r.DB.List(r.Ctx, l.UID)
				if l.State == sms.ListChecked {
					break
				}
				if time.Now().After(deadline) {
					b.Fatalf("the list is %s", l.State)
				}
			}
			b.ResetTimer()
			for i := range b.N {
				row := int64(2 + 100*(i%(rows/100)))
				value := fmt.Sprintf("0803%07d", row+int64(i/(rows/100)))
				if _, err := r.Desk.Correct(r.Ctx, r.By, l.UID, []lists.Cell{{Row: row, Value: value}}); err != nil {
					b.Fatal(err)
				}
			}
			each := b.Elapsed().Seconds() * 1000 / float64(b.N)
			b.ReportMetric(each, "ms/cell")
			if rows == 1000 {
				small = each
			} else if small > 0 {
				b.ReportMetric(each/small, "times-a-small-list")
			}
		})
	}
}
