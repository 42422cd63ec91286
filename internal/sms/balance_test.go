package sms

import (
	"math/big"
	"strings"
	"testing"
)

func TestAmountOfCredits(t *testing.T) {
	for credits, want := range map[string]string{
		"₦57,524.50":         "57524.5",
		"KSh7578560.8000":    "7578560.8",
		"$22.00":             "22",
		"$0.0000":            "0",
		"₦0":                 "0",
		" ₦ 1,000 ":          "1000",
		"NGN 12.30":          "12.3",
		"Rs. 500.00":         "500",
		"Rs.500.00":          "500",
		"US$1.5":             "1.5",
		"1":                  "1",
		"₦-5.25":             "-5.25",
		"-₦5.25":             "-5.25",
		"−₦1,234":            "-1234",
		"₦999,999,999,999":   "999999999999",
		"₦12345678901234567": "12345678901234567",
		"₦5.":                "5",
	} {
		want, _ := new(big.Rat).SetString(want)
		if got, ok := (Balance{Credits: credits}).Amount(); !ok || got.Cmp(want) != 0 {
			t.Errorf("%q = %v, %v; want %v", credits, got, ok, want)
		}
	}
	for _, credits := range []string{"", "₦", "none", "unlimited", "1,5", "₦12,34,567.00", "₦1.234,50", "1 234", "1.2.3",
		"₦5 left", "₦,500", "₦.50", "Rs.50",
		"5e3", "0x10", "₦1,234,5", "₦1234,567", "--5", "-₦-5", "SMS-Credits 5", "credits=5", "12/3", "₦1,,000", "₦" +
			strings.Repeat("9", 41), "٥٠", "5,000₦", "1_000"} {
		if got, ok := (Balance{Credits: credits}).Amount(); ok {
			t.Errorf("%q was read as %v", credits, got)
		}
	}
}

// FuzzCredits: an amount is never made up. Its digits are the digits of the
// text, in their order, with the text's only point where it stood.
func FuzzCredits(f *testing.F) {
	for _, s := range []string{"₦57,524.50", "KSh7578560.8000", "-$5", "1,5", "", ".", "₦.5", "Rs.1.0", "\x00", "1e9",
		"₦-,-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := Balance{Credits: s}.Amount()
		if !ok {
			return
		}
		start, digits := strings.IndexAny(s, "0123456789"), ""
		for _, r := range s[start:] {
			if r >= '0' && r <= '9' || r == '.' {
				digits += string(r)
			}
		}
		want, _ := new(big.Rat).SetString(digits)
		if strings.ContainsAny(s, "-−") {
			want.Neg(want)
		}
		if want == nil || got.Cmp(want) != 0 {
			t.Fatalf("%q was read as %v, its digits are %s", s, got, digits)
		}
	})
}
