package storage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

func TestTemplatesAreReplacedAsAWhole(t *testing.T) {
	f := newFixture(t)
	id := f.account.ID
	if r, err := f.db.Reading(f.ctx, id, sms.RecordTemplates); err != nil || r != (sms.Reading{}) {
		t.Errorf("never read: %+v %v", r, err)
	}
	f.must(f.db.PutTemplates(f.ctx, id, []sms.Template{{ID: 1, Name: "Old"}, {ID: 2, Name: "Gone"}}, 5))
	want := []sms.Template{{ID: 3, CompanyID: 9, Name: "Appointment", Text: "Dear ##Name##,\r\n\u1eb9 k\u00fa \u20a65",
		IsApproved: true, IsActive: true, CreatedDate: "Mar 19, 2018", ApprovedDate: "x"},
		{ID: 1, Name: "New", IsApproved: true}, {ID: 7, Name: "New", IsActive: true}}
	f.must(f.db.PutTemplates(f.ctx, id, []sms.Template{want[2], want[1], want[0], {ID: 1, Name: "Careless"}}, 6))
	got, err := f.db.Templates(f.ctx, id)
	f.must(err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if list, err := f.db.Templates(f.ctx, f.other(t, "Other").account.ID); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}

func TestTemplatesStayWhenTheyCannotBeRead(t *testing.T) {
	f := newFixture(t)
	id := f.account.ID
	for _, step := range []struct {
		do   func() error
		want sms.Reading
		left int
	}{
		{func() error { return f.db.MarkRecords(f.ctx, id, sms.RecordTemplates, "no") }, sms.Reading{Failure: "no"}, 0},
		{func() error { return f.db.PutTemplates(f.ctx, id, []sms.Template{{ID: 1}}, 7) }, sms.Reading{At: 7}, 1},
		{func() error { return f.db.MarkRecords(f.ctx, id, sms.RecordTemplates, "again no") }, sms.Reading{At: 7, Failure: "again no"}, 1},
		{func() error { return f.db.PutTemplates(f.ctx, id, nil, 8) }, sms.Reading{At: 8}, 0},
	} {
		f.must(step.do())
		got, err := f.db.Reading(f.ctx, id, sms.RecordTemplates)
		f.must(err)
		list, err := f.db.Templates(f.ctx, id)
		f.must(err)
		if got != step.want || len(list) != step.left {
			t.Errorf("%+v with %d templates, want %+v with %d", got, len(list), step.want, step.left)
		}
	}
}
