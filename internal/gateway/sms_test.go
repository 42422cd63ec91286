package gateway

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

// decodePairs reads MobileNumber_Message as a service would (§4.4): split at
// "~", then each pair at the first "^".
func decodePairs(s string) (to []sms.Recipient) {
	for pair := range strings.SplitSeq(s, "~") {
		number, text, _ := strings.Cut(pair, "^")
		to = append(to, sms.Recipient{Number: number, Text: text})
	}
	return to
}

func TestPairsCannotBeInjected(t *testing.T) {
	for _, text := range []string{"hi~2348099999999^pay here", "~", "^", "a^b", "x~"} {
		if s, err := EncodePairs([]sms.Recipient{{Number: "2348031230101", Text: text}}); err == nil {
			t.Errorf("%q became %q", text, s)
		}
	}
	for _, number := range []string{"", "2348031230101~2348099999999^x", "+2348031230101", "234 803", "٢٣٤"} {
		if s, err := EncodePairs([]sms.Recipient{{Number: number, Text: "x"}}); err == nil {
			t.Errorf("%q became %q", number, s)
		}
	}
}

func FuzzBulkPairs(f *testing.F) {
	f.Add("2348031230101", "Hello", "2348031230102", "1+1=2 & ẹ\n")
	f.Add("2348031230101", "hi~2348099999999^x", "2348031230101", "")
	f.Add("", "^", "+1", "~")
	f.Fuzz(func(t *testing.T, n1, t1, n2, t2 string) {
		to := []sms.Recipient{{Number: n1, Text: t1}, {Number: n2, Text: t2}}
		s, err := EncodePairs(to)
		if err != nil {
			digits := func(n string) bool { return n != "" && strings.Trim(n, "0123456789") == "" }
			if digits(n1) && digits(n2) && n1 != n2 && !strings.ContainsAny(t1+t2, "^~") && utf8.ValidString(t1) &&
				utf8.ValidString(t2) {
				t.Fatalf("refused without need: %v", err)
			}
			return
		}
		if d := cmp.Diff(to, decodePairs(s)); d != "" {
			t.Fatal(d)
		}
	})
}
