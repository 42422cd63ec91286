package views

import (
	"time"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/health"
)

// Backups is what is known of the desk's backups.
type Backups struct {
	Formatter
	Last  health.Backup
	Plan  health.BackupPlan
	Doing string // at this moment, "" for nothing
	Live  bool   // there is an account that is not for tests
}

// BackupPage is the page about them.
type BackupPage struct {
	Backups
	Renew Refresh
}

func (b Backups) state() health.BackupState { return b.Last.State(b.Plan, b.Now) }

// attention is what an administrator must do about backups. Without a real account there is nothing to lose yet.
func (b Backups) attention() action {
	if !b.Live && b.Plan.Folder == "" {
		return action{}
	}
	title, text, tone := b.trouble()
	if title == "" {
		return action{}
	}
	return action{"backup", title, text, tone, GlyphRecords, Link{"Open the Backup page", BackupPath}}
}

// trouble says what is wrong, "" where nothing is.
func (b Backups) trouble() (title, text string, tone Tone) {
	switch b.state() {
	case health.BackupFailed:
		return "The last backup failed " + b.When(b.Last.FailedAt), withStop(capitalise(b.Last.Problem)) + b.stillThere(),
			ToneBad
	case health.BackupOld:
		return "The last backup is " + b.age() + " old", "What was done since then is lost if this disk breaks.", ToneWarn
	case health.BackupNone:
		if b.Plan.Folder != "" {
			return "", "", ToneInfo
		}
		return "No backup was ever made", "If this disk breaks, every campaign, contact and opt-out is lost.", ToneWarn
	}
	return "", "", ToneInfo
}

func (b Backups) stillThere() string {
	if b.Last.At == 0 {
		return " No backup was ever made."
	}
	return " The last good one is " + b.age() + " old."
}

// age is that of the last backup, in words.
func (b Backups) age() string { return lastingLeast(b.Now.Sub(time.UnixMilli(b.Last.At))) }

func (b Backups) terms() []KeyValue {
	last := b.Last
	verified := "No"
	if last.Verified {
		verified = "Yes: every file was read again, and the databases were opened"
	}
	key := "No. Keep a copy of smsdesk.key in another place"
	if last.WithKey {
		key = "Yes, encrypted"
	}
	return []KeyValue{
		{Name: "Made", Text: capitalise(b.When(last.At)) + ", " + b.age() + " ago, by " + last.By},
		{Name: "Size", Text: humanize.Bytes(uint64(max(last.Bytes, 0)))},
		{Name: "Verified", Text: verified},
		{Name: "Folder", Text: last.Folder},
		{Name: "Key included", Text: key},
	}
}

func (b Backups) planned() []KeyValue {
	next := b.Last.Next(b.Plan, b.Now)
	when := capitalise(b.When(next.UnixMilli()))
	if b.Doing != "" || !next.After(b.Now) {
		when = "Now"
	}
	return []KeyValue{
		{Name: "Next backup", Text: when},
		{Name: "How often", Text: "Every " + everyWords(b.Plan.Every)},
		{Name: "Kept", Text: "The newest " + Number(b.Plan.Keep)},
		{Name: "Folder", Text: b.Plan.Folder},
	}
}

func everyWords(d time.Duration) string {
	for _, unit := range []struct {
		long      time.Duration
		one, many string
	}{{24 * time.Hour, "day", "days"}, {time.Hour, "hour", "hours"}} {
		if d%unit.long == 0 {
			if n := int(d / unit.long); n != 1 {
				return Plural(n, unit.one, unit.many)
			}
			return unit.one
		}
	}
	return Plural(int(d/time.Minute), "minute", "minutes")
}
