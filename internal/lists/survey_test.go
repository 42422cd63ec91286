package lists_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// What is told of a list while its message is written is what the check finds,
// the same rows shown.
func TestASurveySaysWhatTheCheckWill(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.importer()
	number := rapid.SampledFrom([]string{"08031234567", "08031234568", "08031234569", "0803123", "", "0803 123 4567"})
	value := rapid.SampledFrom([]string{"Ada", "Bola", "", "ọmọ", strings.Repeat("long ", 40)})
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		file.WriteString("phone,name\nx,Ada\n")
		for range rapid.IntRange(1, 9).Draw(t, "rows") {
			fmt.Fprintf(&file, "%s,%s\n", number.Draw(t, "number"), value.Draw(t, "value"))
		}
		l := r.upload("a.csv", file.String())
		o := order(l, rapid.SampledFrom([]string{"Dear ##name##", "Hello", "Ẹ káàárọ̀ ##name##"}).Draw(t, "text"))
		s, err := r.Desk.Survey(r.Ctx, r.By, l.UID, o, "")
		if err != nil || !s.Whole {
			t.Fatalf("%+v, %v", s, err)
		}
		again, err := r.Desk.Survey(r.Ctx, r.By, l.UID, o, "")
		if err != nil || again.Ready != s.Ready || again.Longest.Row != s.Longest.Row {
			t.Fatalf("asked again it is %+v, %v", again, err)
		}
		is := r.checked(l, o).Tally
		if s.Ready != is.Good || s.Parts != is.Parts || s.Unicode != is.Unicode || s.Longest.Row != is.Longest ||
			s.Special.Row != is.Odd || s.Rows != is.Rows || s.Twice != is.Kinds[sms.RowRepeat]+is.Kinds[sms.RowOtherText] {
			t.Fatalf("told %+v, found %+v", s, is)
		}
		if s.Longest.Row > 0 && len(s.Longest.Cells) == 0 {
			t.Fatal("the longest row has no cells")
		}
	})
}

// While the message is written, what is not chosen yet is nobody's fault.
func TestASurveyOfAnUnfinishedMessage(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	l := r.upload("a.csv", "phone,name\n08031234567,Ada\n08031234568,\n08031234567,Bola\n")
	for text, want := range map[string][3]int64{"": {2, 0, 1}, "Dear ##who##": {2, 2, 1}, "Dear ##name##": {2, 2, 1}} {
		s, err := r.Desk.Survey(r.Ctx, r.By, l.UID, order(l, text), "")
		if err != nil || [3]int64{s.Ready, s.Parts, s.Twice} != want {
			t.Errorf("%q: %+v, %v, want %v", text, s, err, want)
		}
	}
	stranger := r.By
	stranger.ID = 99
	if _, err := r.Desk.Survey(r.Ctx, stranger, l.UID, l.Order, ""); !errors.Is(err, sms.ErrNotFound) {
		t.Error("a list of somebody else is told of")
	}
}
