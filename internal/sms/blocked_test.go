package sms

import (
	"testing"
	"time"
)

func TestBlockedSentence(t *testing.T) {
	lagos, err := time.LoadLocation("Africa/Lagos")
	if err != nil {
		t.Fatal(err)
	}
	may := time.Date(2026, 5, 2, 23, 30, 0, 0, time.UTC).UnixMilli()
	for _, c := range []struct {
		b    Blocked
		year int
		want string
	}{
		{Blocked{Kind: BlockedByReport, Since: may}, 2026, "Number blocked since 3 May (reason: delivery report BLACKLIST)"},
		{Blocked{Kind: BlockedByReport, Since: may}, 2027, "Number blocked since 3 May 2026 (reason: delivery report BLACKLIST)"},
		{Blocked{Kind: BlockedByStaff, ByName: "Ada Obi", Since: may, Note: "0803 000 0101 asked"}, 2026, "Number blocked since 3 May (reason: added by Ada Obi)"},
		{Blocked{Kind: BlockedByFile, ByName: "Ada Obi", Since: may}, 2026, "Number blocked since 3 May (reason: from a file uploaded by Ada Obi)"},
		{Blocked{Kind: BlockedByStaff, Since: may}, 2026, "Number blocked since 3 May (reason: entered by hand)"},
		{Blocked{Kind: BlockedByFile, Since: may}, 2026, "Number blocked since 3 May (reason: from a file)"},
	} {
		if got := c.b.Sentence(time.Date(c.year, 6, 1, 12, 0, 0, 0, lagos)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestBlockable(t *testing.T) {
	for number, want := range map[string]bool{"2348030000101": true, "": false, "hidden••••": false, "+234": false,
		"23480 3": false} {
		if Blockable(number) != want {
			t.Errorf("%q: %v", number, !want)
		}
	}
}

func TestNumberPrefix(t *testing.T) {
	for typed, want := range map[string]string{"0803": "234803", "0803 000 0101": "2348030000101", "+234 80": "23480",
		"0023480": "23480", "234": "234", "": "", "abc": "", "0": "234"} {
		if got := NumberPrefix(typed, "NG"); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
