package series

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func days(list []Date) (out []string) {
	for _, d := range list {
		words := d.Day
		if d.Skipped {
			words = "-" + words
		}
		out = append(out, words)
	}
	return out
}

func TestDates(t *testing.T) {
	for name, c := range map[string]struct {
		rule Rule
		want []string
	}{
		"every Monday": {Rule{Unit: Weekly, Step: 1, Weekdays: [7]bool{1: true}, From: "2026-11-25", Count: 3},
			[]string{"2026-11-30", "2026-12-07", "2026-12-14"}},
		"every two weeks": {Rule{Unit: Weekly, Step: 2, Weekdays: [7]bool{1: true, 5: true}, From: "2026-11-23", Until: "2026-12-14"},
			[]string{"2026-11-23", "2026-11-27", "2026-12-07", "2026-12-11"}},
		"last day of the month": {Rule{Unit: Monthly, Step: 1, From: "2027-01-31", Count: 3},
			[]string{"2027-01-31", "2027-02-28", "2027-03-31"}},
		"the 30th, or the last": {Rule{Unit: Monthly, Step: 1, MonthDay: 30, Short: LastDay, From: "2027-01-01", Count: 3},
			[]string{"2027-01-30", "2027-02-28", "2027-03-30"}},
		"the 31st, skipped and told": {Rule{Unit: Monthly, Step: 1, MonthDay: 31, Short: NoRun, From: "2027-01-01", Count: 2},
			[]string{"2027-01-31", "-2027-02-28", "2027-03-31"}},
		"every third day": {Rule{Unit: Daily, Step: 3, From: "2026-12-30", Until: "2027-01-05"},
			[]string{"2026-12-30", "2027-01-02", "2027-01-05"}},
		"a skipped day does not count": {Rule{Unit: Daily, Step: 1, From: "2026-12-01", Count: 2, Moved: map[string]string{"2026-12-02": ""}},
			[]string{"2026-12-01", "-2026-12-02", "2026-12-03"}},
	} {
		c.rule.Zone = "Africa/Lagos"
		if got := days(c.rule.Dates("", 0, 100)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestClocksThatChangeAreTold(t *testing.T) {
	r := Rule{Unit: Daily, Step: 1, From: "2026-03-29", Count: 1, Hour: 2, Minute: 30, Zone: "Europe/Berlin"}
	d := r.Dates("", 0, 1)[0]
	if got := d.At.Time().Format("15:04 MST"); got != "03:00 CEST" || !strings.Contains(d.Note, "2:30am does not exist") {
		t.Errorf("forward: %s, %q", got, d.Note)
	}
	r.From = "2026-10-25"
	d = r.Dates("", 0, 1)[0]
	if got := d.At.Time().Format("15:04 MST"); got != "02:30 CEST" || !strings.Contains(d.Note, "happens twice") {
		t.Errorf("back: %s, %q", got, d.Note)
	}
}

// Whatever the rule, its days follow each other, lie inside it, and going on from
// any of them gives the rest.
func TestDatesGoOnFromAnyDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 800).Draw(t, "from"))
		r := Rule{Unit: rapid.SampledFrom([]Unit{Daily, Weekly, Monthly}).Draw(t, "unit"), Step: rapid.IntRange(1, 5).Draw(t, "step"),
			MonthDay: rapid.IntRange(0, 31).Draw(t, "day"), Short: rapid.SampledFrom([]Short{LastDay, NoRun}).Draw(t, "short"),
			Hour: rapid.IntRange(0, 23).Draw(t, "hour"), Minute: rapid.IntRange(0, 59).Draw(t, "minute"),
			Zone: rapid.SampledFrom([]string{"Africa/Lagos", "Europe/Berlin", "Pacific/Apia", "America/New_York"}).Draw(t, "zone"),
			From: from.Format(day)}
		for i := range r.Weekdays {
			r.Weekdays[i] = rapid.Bool().Draw(t, "weekday")
		}
		if rapid.Bool().Draw(t, "until") {
			r.Until = from.AddDate(0, 0, rapid.IntRange(0, 400).Draw(t, "days")).Format(day)
		} else {
			r.Count = rapid.IntRange(1, 40).Draw(t, "count")
		}
		list := r.Dates("", 0, MostDays)
		runs := 0
		for i, d := range list {
			if d.Day < r.From || r.Until != "" && d.Day > r.Until || i > 0 && d.Day <= list[i-1].Day {
				t.Fatalf("%s stands at %d of %v", d.Day, i, days(list))
			}
			if !d.Skipped {
				runs++
				if i > 0 && !list[i-1].Skipped && d.At.At <= list[i-1].At.At {
					t.Fatalf("%v is not after %v", d, list[i-1])
				}
			}
			if rest := r.Dates(d.Day, runs, MostDays); !slices.Equal(days(rest), days(list[i+1:])) {
				t.Fatalf("after %s there is %v, want %v", d.Day, days(rest), days(list[i+1:]))
			}
		}
		if r.Until == "" && runs > r.Count {
			t.Fatalf("%d runs, want %d at most", runs, r.Count)
		}
	})
}

func TestWords(t *testing.T) {
	for want, r := range map[string]Rule{
		"Every Monday and Thursday at 9:00am":      {Unit: Weekly, Step: 1, Weekdays: [7]bool{1: true, 4: true}, Hour: 9},
		"Sunday of every 2 weeks at 9:00am":        {Unit: Weekly, Step: 2, Weekdays: [7]bool{0: true}, Hour: 9},
		"On the last day of every month at 5:30pm": {Unit: Monthly, Step: 1, Hour: 17, Minute: 30},
		"On the 22nd of every 3 months at 9:00am":  {Unit: Monthly, Step: 3, MonthDay: 22, Hour: 9},
		"Every day at 8:05am":                      {Unit: Daily, Step: 1, Hour: 8, Minute: 5},
	} {
		if got := r.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestARuleThatCannotBe(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for field, r := range map[string]Rule{
		"from":     {Unit: Daily, Step: 1, From: "2026-11-22", Count: 1},
		"count":    {Unit: Daily, Step: 1, From: "2026-11-23"},
		"until":    {Unit: Monthly, Step: 1, MonthDay: 31, Short: NoRun, From: "2027-02-01", Until: "2027-02-27"},
		"weekdays": {Unit: Weekly, Step: 1, From: "2026-11-23", Count: 1},
		"step":     {Unit: Daily, Step: 13, From: "2026-11-23", Count: 1},
		"unit":     {Step: 1, From: "2026-11-23", Count: 1},
	} {
		r.Zone = "Africa/Lagos"
		err := r.Check(now)
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	good := Rule{Unit: Daily, Step: 1, From: "2026-11-23", Count: 1, Zone: "Africa/Lagos"}
	if err := good.Check(now); err != nil {
		t.Error(err)
	}
}
