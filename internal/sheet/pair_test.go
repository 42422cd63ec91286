package sheet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPairs(t *testing.T) {
	flag := " ! " + problemPair
	for _, c := range []struct {
		name, data string
		want       []string
	}{
		{"lines", "2348035550101^Hi Ada\r\n2348035550102^Hi Bola\r\n", []string{"1: 2348035550101|Hi Ada", "2: 2348035550102|Hi Bola"}},
		{"one string", "2348035550101^Hi Ada~2348035550102^Hi, Bola; x", []string{"1: 2348035550101|Hi Ada", "2: 2348035550102|Hi, Bola; x"}},
		{"one string with a line end", "2348035550101^Hi Ada~2348035550102^Hi\n", []string{"1: 2348035550101|Hi Ada", "2: 2348035550102|Hi"}},
		{"only the first caret parts", "2348035550101^2^3 is 8\n", []string{"1: 2348035550101|2^3 is 8"}},
		{"blank lines keep the numbers", "2348035550101^a\n\n \n2348035550102^b\n", []string{"1: 2348035550101|a", "4: 2348035550102|b"}},
		{"names above", "phone^message\n+234 (0)803 555 0101^a\n", []string{"2: +234 (0)803 555 0101|a"}},
		{"wrong numbers are numbers", "0803 5S5 0101^a\n2.34803E+12^b\n", []string{"1: 0803 5S5 0101|a", "2: 2.34803E+12|b"}},
		{"an empty message", "2348035550101^\n2348035550102^b\n2348035550103\n", []string{"1: 2348035550101|", "2: 2348035550102|b", "3: 2348035550103|"}},
		{"a message of two lines", "2348035550101^Dear Ada,\nsee you\n2348035550102^b\n",
			[]string{"1! 2348035550101|Dear Ada,\nsee you" + flag, "3: 2348035550102|b"}},
		{"a message with a blank line", "2348035550101^Dear Ada,\n\nsee you\n2348035550102^b\n",
			[]string{"1! 2348035550101|Dear Ada,\nsee you" + flag, "4: 2348035550102|b"}},
		{"a tilde in a message", "2348035550101^about ~500 men~2348035550102^b", []string{"1! 2348035550101|about ~500 men" + flag, "3: 2348035550102|b"}},
		{"a tilde and a caret in a message", "2348035550101^a ~b^c~2348035550102^b", []string{"1! 2348035550101|a ~b^c" + flag, "3: 2348035550102|b"}},
		{"a sum in a message", "2348035550101^Learn:\n2^3 is 8\n2348035550102^b\n", []string{"1! 2348035550101|Learn:\n2^3 is 8" + flag, "3: 2348035550102|b"}},
		{"rubbish first", "END\n2348035550102^b\n2348035550103^c\n2348035550103^c\n",
			[]string{"1! |END ! " + problemCaret, "2: 2348035550102|b", "3: 2348035550103|c", "4: 2348035550103|c"}},
		{"NUL", "2348035550101^a\x00\n2348035550102^b\n", []string{"1! 2348035550101|a\ufffd ! " + problemNUL, "2: 2348035550102|b"}},
		{"too long", "2348035550101^" + strings.Repeat("x", MaxRecord*3) + "~2348035550102^b~2348035550103^c~2348035550104^d",
			[]string{"1! 2348035550101|" + strings.Repeat("x", keptOfLong-14) + " ! " + problemLong, "2: 2348035550102|b",
				"3: 2348035550103|c", "4: 2348035550104|d"}},
	} {
		got := mustRead(t, c.data, Options{})
		if got.Kind != Pairs || !slices.Equal(got.Header, []string{"phone", "message"}) ||
			!slices.Equal(show(got.rows), c.want) {
			t.Errorf("%s: %s %q %.300q, want %.300q", c.name, got.Kind, got.Header, show(got.rows), c.want)
		}
		sane(t, got)
	}
	for _, data := range []string{"phone,text\n08035550101,2^3\n08035550102,3^2\n", "08035550101,5^2\n08035550102,6^2\n",
		"phone\n08035550101\n"} {
		if got := mustRead(t, data, Options{}); got.Kind != CSV {
			t.Errorf("%q is taken for pairs", data)
		}
	}
}

func TestManyPairs(t *testing.T) {
	for _, separator := range []string{"~", "\n", "\r\n", "\r"} {
		var b strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&b, "%d^Hello number %d%s", 2348030000000+i, i, separator)
		}
		got := mustRead(t, b.String(), Options{})
		if len(got.rows) != 50_000 || got.tally.Problems > 0 {
			t.Fatalf("%q: %d rows, %+v", separator, len(got.rows), got.tally)
		}
		for i, row := range got.rows {
			if row.Number != i+1 || row.Cells[0] != fmt.Sprint(2348030000000+i) ||
				row.Cells[1] != fmt.Sprintf("Hello number %d", i) {
				t.Fatalf("%q: row %d is %q", separator, row.Number, row.Cells)
			}
		}
	}
}
