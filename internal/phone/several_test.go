package phone

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeveralNumbersOfACell(t *testing.T) {
	const one, two = "08031234567", "08051234567"
	for raw, want := range map[string][]string{
		one + " / " + two:                        {one, two},
		one + "/" + two:                          {one, two},
		one + ", " + two:                         {one, two},
		one + ";" + two:                          {one, two},
		one + " or " + two:                       {one, two},
		one + " and " + two:                      {one, two},
		one + "\n" + two:                         {one, two},
		one + " & " + two + " & 08021234567":     {one, two, "08021234567"},
		one + "+2348051234567":                   {one, "+2348051234567"},
		"+2348031234567+2348051234567":           {"+2348031234567", "+2348051234567"},
		"0803 123 4567 / 0805-123-4567":          {"0803 123 4567", "0805-123-4567"},
		"0803 123 4567 0805 123 4567":            {"0803 123 4567", "0805 123 4567"},
		"0803 123 4567 - 0805 123 4567":          {"0803 123 4567", "0805 123 4567"},
		"0803 123 4567 (0805 123 4567)":          {"0803 123 4567", "0805 123 4567"},
		"(0803) 123 4567, (0805) 123 4567":       {"(0803) 123 4567", "(0805) 123 4567"},
		one + two:                                {one, two},
		one + " / 01 234 5678":                   {one, "01 234 5678"},
		"Home " + one + ", work " + two:          {one, two},
		one + "/8":                               nil,
		one + "/":                                nil,
		one:                                      nil,
		"":                                       nil,
		"0803/000/0001":                          nil,
		"080312345670805123456708021234567":      nil,
		strings.Repeat(one+"/", 8) + one:         nil, // longer than a cell may be
		"2348031234567 and 1234":                 nil,
		"0803123456 or 0805123456 (no answer) ?": {"0803123456", "0805123456"},
	} {
		if d := cmp.Diff(want, Several(raw, "NG", false)); d != "" {
			t.Errorf("%q:\n%s", raw, d)
		}
	}
}

// What is read out of a cell is all of its digits, and no piece holds two numbers
// again.
func FuzzSeveral(f *testing.F) {
	for _, raw := range []string{"08031234567 / 08051234567", "0803 123 4567 0805 123 4567", "0803123456708051234567", "+1+2", ""} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		all := Several(raw, "NG", false)
		if all == nil {
			return
		}
		if got, want := countDigits(strings.Join(all, "")), countDigits(raw); got != want {
			t.Fatalf("%q has %d digits, %q has %d", raw, want, all, got)
		}
		for _, piece := range all {
			if more := Several(piece, "NG", false); more != nil {
				t.Fatalf("%q of %q is %q", piece, raw, more)
			}
		}
	})
}
