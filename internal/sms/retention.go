package sms

import (
	"encoding/json"
	"fmt"
	"time"
)

// SettingRetention names the setting that holds a Retention as JSON.
const SettingRetention = "retention"

// MaxRetention is the longest time in months that can be set.
const MaxRetention = 120

// Retention says after how many months numbers and texts are removed; 0 keeps
// them for ever. What was counted stays, and so do states, times and costs.
type Retention struct {
	Messages int `json:"messages"` // of a campaign, from its end, and blocks of numbers, from theirs
	Reports  int `json:"reports"`  // delivery reports, from their arrival
	Calls    int `json:"calls"`    // requests to the provider and its answers, from their end
	// LogDays is how many days the log of delivery reports goes back; 0 is
	// DefaultLogDays. What the months above remove is not kept longer there.
	LogDays int `json:"logDays,omitempty"`
}

// The bounds of Retention.LogDays.
const (
	DefaultLogDays = 30
	MaxLogDays     = 400
)

// Days is LogDays with its default.
func (r Retention) Days() int {
	if r.LogDays > 0 {
		return r.LogDays
	}
	return DefaultLogDays
}

// LogBefore is the time before which the log of delivery reports keeps nothing.
func (r Retention) LogBefore(now time.Time) int64 {
	before := now.AddDate(0, 0, -r.Days()).UnixMilli()
	return max(before, RemovedBefore(now, r.Messages), RemovedBefore(now, r.Reports))
}

// ReadRetention reads the setting as a store gives it; "" keeps everything.
func ReadRetention(setting string, err error) (r Retention, _ error) {
	if setting != "" {
		if err = json.Unmarshal([]byte(setting), &r); err != nil {
			err = fmt.Errorf("read the setting %s: %w", SettingRetention, err)
		}
	}
	return r, err
}

// ReadSetting is what ReadRetention reads.
func (r Retention) ReadSetting() string {
	b, _ := json.Marshal(r)
	return string(b)
}

// Check refuses what is out of bounds.
func (r Retention) Check() error {
	bad := Invalid{}
	for field, months := range map[string]int{"messages": r.Messages, "reports": r.Reports, "calls": r.Calls} {
		if months < 0 || months > MaxRetention {
			bad[field] = fmt.Sprintf("Months must be between 1 and %d. Leave empty to keep them forever", MaxRetention)
		}
	}
	if r.LogDays < 0 || r.LogDays > MaxLogDays {
		bad["log"] = fmt.Sprintf("Enter a number of days from 1 to %d, or leave it empty for %d", MaxLogDays, DefaultLogDays)
	}
	if len(bad) > 0 {
		return bad
	}
	return nil
}

// KeptUntil is when something from the given time, in milliseconds UTC, is
// removed; 0 is never. Months are those of the calendar in the zone.
func KeptUntil(from int64, months int, zone *time.Location) int64 {
	if months <= 0 || from <= 0 {
		return 0
	}
	at := time.UnixMilli(from).In(zone)
	until := at.AddDate(0, months, 0)
	if until.Day() != at.Day() {
		// 31 January and a month is the end of February, not March.
		until = until.AddDate(0, 0, -until.Day())
	}
	return until.UnixMilli()
}

// RemovedBefore is the time from before which things kept for so many months
// are removed now: never earlier than KeptUntil says. 0 removes nothing.
func RemovedBefore(now time.Time, months int) int64 {
	if months <= 0 {
		return 0
	}
	at := now.AddDate(0, -months, 0)
	if at.Day() != now.Day() {
		at = at.AddDate(0, 0, -at.Day())
	}
	return at.UnixMilli()
}
