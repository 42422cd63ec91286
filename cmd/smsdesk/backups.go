package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/storage"
	"smsdesk/storage/backup"
)

// backupFlags are how serve backs its desk up.
type backupFlags struct {
	Folder    string        `name:"backup" help:"Folder in which backups are made, best on another disk; none are made where left out." env:"SMSDESK_BACKUP" type:"path"`
	Every     time.Duration `name:"backup-every" default:"24h" help:"How often one is made." env:"SMSDESK_BACKUP_EVERY"`
	Keep      int           `name:"backup-keep" default:"7" help:"How many stay; the oldest is removed." env:"SMSDESK_BACKUP_KEEP"`
	Recipient string        `name:"backup-recipient" help:"Add the key to them, encrypted for this age recipient (age1…)." env:"SMSDESK_BACKUP_RECIPIENT"`
}

func (f backupFlags) check() (bad flagErrors) {
	if f.Every < time.Minute {
		bad = append(bad, "--backup-every: give a time of 1m or more, such as 24h")
	}
	if f.Keep < 1 {
		bad = append(bad, "--backup-keep: give a number from 1")
	}
	if _, err := f.lock(); err != nil {
		bad = append(bad, "--backup-recipient: "+err.Error())
	}
	return bad
}

func (f backupFlags) lock() (*backup.KeyLock, error) {
	if f.Recipient == "" {
		return nil, nil
	}
	return backup.ForRecipient(f.Recipient)
}

// backupRetry is how long after a failed backup the next is tried; backupLook how often it is looked whether one is
// due, so that a clock that is set does not put it off.
const (
	backupRetry = 15 * time.Minute
	backupLook  = 20 * time.Second
)

// backups makes the backups of a desk that runs, one at a time.
type backups struct {
	backupFlags
	config storage.Config
	spool  string
	db     *storage.DB
	feed   *feed.Feed
	log    *slog.Logger
	asked  chan string // by whom
	doing  atomic.Value
}

func (s *server) newBackups() *backups {
	return &backups{backupFlags: s.Backup, config: s.storage, spool: s.Spool, db: s.db, feed: s.feed, log: s.log,
		asked: make(chan string, 1)}
}

// Plan is how backups are made.
func (b *backups) Plan() health.BackupPlan {
	if b.Folder == "" {
		return health.BackupPlan{}
	}
	return health.BackupPlan{Folder: b.Folder, Every: b.Every, Keep: b.Keep, Retry: backupRetry}
}

// Start asks for a backup; while one is being made or waits, there is no second one.
func (b *backups) Start(by string) {
	if b.Doing() != "" {
		return
	}
	select {
	case b.asked <- by:
		b.say("Starting")
	default:
	}
}

// Doing says what is being done at the moment, "" for nothing.
func (b *backups) Doing() string {
	doing, _ := b.doing.Load().(string)
	return doing
}

func (b *backups) say(doing string) {
	b.doing.Store(doing)
	b.feed.Publish(feed.Backup)
}

// Run makes backups until ctx ends. A backup that was cut off then is made at the next start.
func (b *backups) Run(ctx context.Context) {
	if b.Folder == "" {
		return
	}
	look := time.NewTicker(backupLook)
	defer look.Stop()
	for {
		by := ""
		if due, err := b.due(ctx, time.Now()); err != nil {
			b.log.Error("backups not looked at", "error", err)
		} else if due {
			by = "smsdesk"
		}
		if by == "" {
			select {
			case <-ctx.Done():
				return
			case by = <-b.asked:
			case <-look.C:
				continue
			}
		}
		if err := b.make(ctx, by); err != nil && ctx.Err() == nil {
			b.log.Error("no backup was made", "error", err)
		}
		b.say("")
	}
}

func (b *backups) due(ctx context.Context, now time.Time) (bool, error) {
	set, err := b.db.ReadSetting(ctx, health.SettingBackup)
	if err != nil {
		return false, err
	}
	last, err := health.ReadBackup(set)
	return err == nil && !now.Before(last.Next(b.Plan(), now)), err
}

func (b *backups) make(ctx context.Context, by string) error {
	lock, err := b.lock()
	if err != nil {
		return err
	}
	made, err := backup.Make(ctx, backup.Order{Storage: b.config, Spool: b.spool, To: b.Folder, Key: lock, By: by,
		Program: programVersion(), Now: time.Now,
		Progress: b.say})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		b.log.Info("backup made", "folder", made.Folder, "bytes", made.Bytes(), "milliseconds", made.Took)
		b.say("Removing old backups")
		if removed, bad := backup.Thin(b.Folder, made.Desk, b.Keep); bad != nil {
			b.log.Error("old backups not removed", "error", bad)
		} else if len(removed) > 0 {
			b.log.Info("old backups removed", "folders", fmt.Sprint(removed))
		}
	}
	set, bad := b.db.ReadSetting(ctx, health.SettingBackup)
	if bad == nil {
		set, bad = afterBackup(set, made, err, time.Now())
	}
	if bad == nil {
		bad = b.db.PutSetting(ctx, health.SettingBackup, set)
	}
	if err != nil {
		return err
	}
	return bad
}
