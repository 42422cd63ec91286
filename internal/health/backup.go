package health

import (
	"encoding/json"
	"fmt"
	"time"
)

const (
	// SettingCopy names the setting that a copy of the database carries: a Copy as JSON. It is there until a person has
	// accepted that this is an older state.
	SettingCopy = "copy"
	// SettingBackup names the setting that holds what became of the latest backups: a Backup as JSON.
	SettingBackup = "backup"
)

// Copy says of which moment a copy of the database is.
type Copy struct {
	UID     string           `json:"uid"`    // of the backup, "" for a folder put back from a snapshot
	MadeAt  int64            `json:"madeAt"` // 0 where nobody knows
	By      string           `json:"by"`
	Head    int64            `json:"head"` // of the journal, as this copy knows it
	Sum     string           `json:"sum"`
	Cursors map[string]int64 `json:"cursors"`
}

// Backup is what became of the latest backups of a desk. Times are 0 where there was none.
type Backup struct {
	At       int64  `json:"at"` // when the latest one was begun that is whole
	Took     int64  `json:"took"`
	Bytes    int64  `json:"bytes"`
	Folder   string `json:"folder"`
	By       string `json:"by"`
	Verified bool   `json:"verified"` // opened again and compared
	SameDisk bool   `json:"sameDisk"` // it lies on the disk of the data
	WithKey  bool   `json:"withKey"`  // the key is in it, encrypted
	FailedAt int64  `json:"failedAt"` // 0 where the latest attempt succeeded
	Problem  string `json:"problem"`  // a sentence: why that one failed
}

// ReadBackup reads the setting; "" is no backup.
func ReadBackup(set string) (b Backup, err error) {
	if set == "" {
		return b, nil
	}
	if err := json.Unmarshal([]byte(set), &b); err != nil {
		return b, fmt.Errorf("read the setting %s: %w", SettingBackup, err)
	}
	return b, nil
}

// BackupPlan is how a desk backs itself up; without a folder it does not.
type BackupPlan struct {
	Folder string
	Every  time.Duration
	Keep   int           // how many backups stay
	Retry  time.Duration // after one that failed
}

// BackupState tells what is to be said about backups.
type BackupState string

// What is wrong with the backups of a desk, if anything.
const (
	BackupFine   BackupState = "fine"
	BackupNone   BackupState = "none" // never made
	BackupOld    BackupState = "old"
	BackupFailed BackupState = "failed"
)

// maxManualBackupAge is how old a backup may be where nothing says how often one is made.
const maxManualBackupAge = 7 * 24 * time.Hour

// State judges the latest backups. A desk that makes them by itself may be late by one of them.
func (b Backup) State(p BackupPlan, now time.Time) BackupState {
	most := maxManualBackupAge
	if p.Folder != "" {
		most = 2 * p.Every
	}
	switch {
	case b.FailedAt > 0:
		return BackupFailed
	case b.At == 0:
		return BackupNone
	case now.Sub(time.UnixMilli(b.At)) > most:
		return BackupOld
	}
	return BackupFine
}

// Next is when the desk makes the next backup by itself. A backup of later than now, because a clock was wrong, does
// not put it off.
func (b Backup) Next(p BackupPlan, now time.Time) time.Time {
	last, wait := b.At, p.Every
	if b.FailedAt > 0 {
		last, wait = b.FailedAt, min(p.Retry, p.Every)
	}
	if last == 0 || last > now.UnixMilli() {
		return now
	}
	return time.UnixMilli(last).Add(wait)
}
