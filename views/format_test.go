package views

import (
	"strings"
	"testing"
	"time"
)

func TestPercentIsNeverRoundedUp(t *testing.T) {
	for _, c := range []struct {
		n, total int64
		want     string
	}{{0, 0, "–"}, {0, 5, "0%"}, {5, 5, "100%"}, {1, 3, "33.3%"}, {2, 3, "66.6%"}, {99_999, 100_000, "99.9%"},
		{1, 1_000_000, "0.1%"}, {1, 2, "50.0%"}} {
		if got := Percent(c.n, c.total); got != c.want {
			t.Errorf("Percent(%d, %d) = %q, want %q", c.n, c.total, got, c.want)
		}
	}
}

func TestMoney(t *testing.T) {
	for hundredths, want := range map[int64]string{0: "₦0.00", 5: "₦0.05", 481600: "₦4,816.00", 100000000: "₦1,000,000.00",
		-123456: "-₦1,234.56", 99999: "₦999.99"} {
		if got := Money("₦", hundredths); got != want {
			t.Errorf("Money(%d) = %q, want %q", hundredths, got, want)
		}
	}
}

func TestShortenCountsLetters(t *testing.T) {
	for text, want := range map[string]string{"": "", "abcde": "abcde", "abcdef": "abcd…", "ab  cd": "ab cd",
		"ọọọọọọ": "ọọọọ…", "a\nb": "a b"} {
		if got := Shorten(text, 5); got != want {
			t.Errorf("Shorten(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTimeLeftIsRough(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "Less than a minute left", 59 * time.Second: "Less than a minute left", time.Minute: "About 1 minute left",
		100 * time.Second: "About 2 minutes left",
		89 * time.Minute:  "About 89 minutes left", 90 * time.Minute: "About 2 hours left",
		10 * time.Hour: "About 10 hours left",
	} {
		if got := TimeLeft(d); got != want {
			t.Errorf("TimeLeft(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestOutlookShowsTimesInItsZone(t *testing.T) {
	lagos := time.FixedZone("WAT", 3600)
	o := Formatter{Now: time.Date(2026, 6, 3, 0, 30, 0, 0, lagos), Country: "NG"}
	today := time.Date(2026, 6, 2, 23, 10, 0, 0, time.UTC).UnixMilli()
	for ms, want := range map[int64]string{0: "–", today: "today at 12:10am", today - 3_600_000: "yesterday at 11:10pm"} {
		if got := o.When(ms); got != want {
			t.Errorf("When(%d) = %q, want %q", ms, got, want)
		}
	}
	if o.ShortTime(today) != "12:10am" || o.Stamp(today) != "2026-06-03T00:10:00+01:00" {
		t.Errorf("%q %q", o.ShortTime(today), o.Stamp(today))
	}
}

func TestForeignWordsHideNumbersFromViewers(t *testing.T) {
	o := Formatter{Masked: true}
	for _, number := range []string{"2348035550101", "+234 803 555 0101", "0803-555-0101", "(0803) 555 0101",
		"0803.555.0101"} {
		if got := o.MaskNumbers("refused for " + number + ", code 42"); got != "refused for •••, code 42" &&
			got != "refused for +•••, code 42" && got != "refused for (•••, code 42" {
			t.Errorf("%q", got)
		}
	}
	if got := o.MaskNumbers("code 401, 3 of 12 parts"); got != "code 401, 3 of 12 parts" {
		t.Errorf("%q", got)
	}
	if got := (Formatter{}).MaskNumbers("2348035550101"); !strings.Contains(got, "0101") {
		t.Errorf("%q", got)
	}
}

func TestTheLettersThatCostAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                       "",
		"ọ":                           " Each part holds only 70 characters because of “ọ”.",
		strings.Repeat("€", 81) + "ọ": " Each part holds only 67 characters because of “ọ”.",
		strings.Repeat("a", 70) +
			"ọẹ": " This message needs 2 parts because of “ọ” and “ẹ”. Without them, 1 part would be enough.",
		"ọẹṣçạịụ":            " Each part holds only 70 characters because of “ọ”, “ẹ”, “ṣ”, “ç”, “ạ” and 2 others.",
		"\u200b\u200d\ufe0f": " Each part holds only 70 characters because of an invisible character.",
		"o\u0323":            " Each part holds only 70 characters because of a separate accent mark.",
	} {
		if got := OddLetters(text); got != want {
			t.Errorf("OddLetters(%.12q) = %q, want %q", text, got, want)
		}
	}
}
