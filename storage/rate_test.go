package storage

import (
	"testing"

	"smsdesk/internal/sms"
)

// TestAReportForACallAnswered429IsProof: reliability.md, section 3, class C.
func TestAReportForACallAnswered429IsProof(t *testing.T) {
	const grace = 120_000
	unknown := func(f *fixture, mobile, text string) sms.DeliveryReport {
		return sms.DeliveryReport{AccountID: f.account.ID, ReceivedAt: f.now(), ProviderID: "never-given-" + text, Mobile: mobile, Status: "DELIVRD", ShortMessage: text}
	}
	for name, c := range map[string]struct {
		report func(f *fixture) sms.DeliveryReport
		wait   int64
		want   bool
	}{
		"same number and text":           {func(f *fixture) sms.DeliveryReport { return unknown(f, "0803 000 0000", "Hello  you") }, grace + 10, true},
		"too young to tell":              {func(f *fixture) sms.DeliveryReport { return unknown(f, "2348030000000", "Hello you") }, 10, false},
		"another text":                   {func(f *fixture) sms.DeliveryReport { return unknown(f, "2348030000000", "Hello") }, grace + 10, false},
		"no text":                        {func(f *fixture) sms.DeliveryReport { return unknown(f, "2348030000000", "") }, grace + 10, false},
		"a number that was not in there": {func(f *fixture) sms.DeliveryReport { return unknown(f, "2348030000009", "Hello you") }, grace + 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.start("Hello you", "2348030000000", "2348030000001")
			f.settle(f.license(f.claim(10)), sms.Outcome{Class: sms.ClassRate, HTTPStatus: 429, Written: 400})
			r := c.report(f)
			f.apply(r)
			for i := range 2 {
				proven, err := f.db.DoubtRateAnswers(f.ctx, f.account.ID, "NG", r.ReceivedAt+c.wait-grace)
				f.must(err)
				if proven != (c.want && i == 0) {
					t.Errorf("look %d: proven %v", i+1, proven)
				}
			}
			a, err := f.db.Account(f.ctx, f.account.ID)
			f.must(err)
			if a.Doubt429 != c.want {
				t.Errorf("the account doubts 429: %v, want %v", a.Doubt429, c.want)
			}
			f.check()
		})
	}
}
