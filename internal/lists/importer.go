package lists

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// Importer is the loop that works on uploaded lists: it checks their rows,
// makes campaigns of them and tidies up behind them. What a crash interrupts
// is begun anew; nobody ever sees the half of it.
type Importer struct {
	lists *Lists
	store ImporterStore
}

// ImporterStore is what the Importer needs to be remembered.
type ImporterStore interface {
	BusyLists(ctx context.Context) ([]sms.List, error)
	OldLists(ctx context.Context, before int64) ([]sms.List, error)
	CheckedLists(ctx context.Context, after int64) ([]sms.List, error)
	PutListProgress(ctx context.Context, l sms.List, done, total int64) error
	Uploads(before time.Time) ([]string, error)
	DropStaged(uid string) error
	WriteStaging(ctx context.Context, uid string, fill func(put func([]sms.ListRow, []sms.RowNote) error) error) (
		sum int64, err error)
	StagedRows(ctx context.Context, uid string, sum int64) iter.Seq2[sms.ListRow, error]
	EachBlocked(ctx context.Context, account int64, do func(number string)) error
	BlockedAmong(ctx context.Context, account int64, numbers []string) (map[string]sms.Blocked, error)
	GotRecently(ctx context.Context, account int64, number string, since int64) (int64, error)
	StartImport(ctx context.Context, l sms.List, c sms.Campaign, now int64) (int64, error)
	PutStaged(ctx context.Context, uid string, c sms.Campaign, rows int64, calls iter.Seq2[int64, int32],
		left iter.Seq2[sms.ListRow, error], now int64, progress func(done int64) error) error
	PublishImport(ctx context.Context, l sms.List, c sms.Campaign, tally sms.Tally, now int64) error
	MergeContacts(ctx context.Context, account int64, told []sms.Contact, columns []sms.ContactColumn, members,
		now int64) (added, changed int64, err error)
	PackContacts(ctx context.Context) (more bool, err error)
	DeleteAbandonedImports(ctx context.Context, before int64) (more bool, err error)
	ShrinkMemory(ctx context.Context) error
}

// NewImporter returns an Importer; Run makes it work.
func NewImporter(l *Lists, store ImporterStore) *Importer {
	return &Importer{lists: l, store: store}
}

const (
	importInterval = 500 * time.Millisecond
	tidyInterval   = 10 * time.Minute
	importWaits    = 2 * time.Second // for storage that is in trouble
	// shortList is the bytes of a list that is worked on beside a long one.
	shortList = 1 << 20
	// maxFailures is how often the work on a list is tried.
	maxFailures = 3
	// uploadTTL is how old a folder without a list must be to be a leftover.
	uploadTTL = 10 * time.Minute
	// resendTTL is how old a hidden campaign that sends messages again must be to
	// be a leftover.
	resendTTL = time.Hour
	// fileKept is how long the file of a campaign's list is kept.
	fileKept = 30 * 24 * time.Hour
	// rowsPerBatch is how many rows go from hand to hand, batchesWaiting how many
	// such batches may wait.
	rowsPerBatch   = 256
	batchesWaiting = 4
	// messagesPerTx is how many messages one transaction may store.
	messagesPerTx    = 3000
	progressInterval = 500 * time.Millisecond
)

// Run works until ctx ends. It returns nil then. A short list does not wait
// for a long one.
func (im *Importer) Run(ctx context.Context) error {
	im.logError(ctx, "checked lists not looked at", im.verify(ctx))
	var lanes errgroup.Group
	lanes.Go(func() error { im.worker(ctx, func(l sms.List) bool { return !isLarge(l) }); return nil })
	lanes.Go(func() error { im.worker(ctx, isLarge); return nil })
	lanes.Go(func() error { im.packContacts(ctx); return nil })
	lanes.Go(func() error { im.fillTextKeys(ctx); return nil })
	lanes.Go(func() error {
		for {
			im.logError(ctx, "lists not tidied", im.tidy(ctx))
			if !feed.Pause(ctx, tidyInterval, nil) {
				return nil
			}
		}
	})
	return lanes.Wait()
}

// fillTextKeys gives campaigns of an older version their keys, a few at a time.
func (im *Importer) fillTextKeys(ctx context.Context) {
	for more := true; more; {
		var err error
		more, err = im.lists.already.FillTextKeys(ctx)
		im.logError(ctx, "keys of texts not stored", err)
		if err != nil {
			more = true
		}
		if more && !feed.Pause(ctx, importInterval, nil) {
			return
		}
	}
}

// worker works on some of the lists, the oldest first.
func (im *Importer) worker(ctx context.Context, mine func(sms.List) bool) {
	news := im.lists.feed.Subscribe(feed.Lists)
	defer news.Close()
	failed := map[string]int{}
	for {
		news.Take()
		busy, err := im.store.BusyLists(ctx)
		im.logError(ctx, "lists not read", err)
		at := slices.IndexFunc(busy, mine)
		if at >= 0 {
			im.work(ctx, busy[at], failed)
		}
		if ctx.Err() != nil || at < 0 && !feed.Pause(ctx, importInterval, news.C()) {
			return
		}
	}
}

func (im *Importer) logError(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		im.lists.log.Error(what, "error", err)
	}
}

// work does the next step of a list. A list that was changed or dropped
// meanwhile is left alone. failed counts failures in a row by UID.
func (im *Importer) work(ctx context.Context, l sms.List, failed map[string]int) {
	step := im.check
	switch {
	case l.State == sms.ListMaking && l.Purpose == sms.ForContacts:
		step = im.makeContacts
	case l.State == sms.ListMaking:
		step = im.make
	}
	err := recoverPanic(func() error { return step(ctx, l) })()
	var bad sms.Invalid
	switch {
	case err == nil:
		delete(failed, l.UID)
		return
	case ctx.Err() != nil || im.superseded(ctx, l):
		return
	case errors.As(err, &bad):
		im.fail(ctx, l, sms.Sentence(bad, "file"))
		return
	case health.TroubleOf(err) != "":
		// It is the disk that must be mended, not the list.
		im.lists.log.Error("list waits for storage", slog.String("list", l.UID), slog.String("state", string(l.State)),
			slog.Any("error", err))
		feed.Pause(ctx, importWaits, nil)
		return
	}
	failed[l.UID]++
	im.lists.log.Error("list not finished", slog.String("list", l.UID), slog.String("state", string(l.State)),
		slog.Any("error", err))
	if failed[l.UID] >= maxFailures {
		delete(failed, l.UID)
		im.fail(ctx, l, "Something went wrong while we were processing this list. Upload the file again")
		return
	}
	feed.Pause(ctx, importInterval, nil)
}

// superseded says that a list is not what it was when it was read.
func (im *Importer) superseded(ctx context.Context, l sms.List) bool {
	now, err := im.lists.store.List(ctx, l.UID)
	return errors.Is(err, sms.ErrNotFound) || err == nil && now.Version != l.Version
}

func (im *Importer) fail(ctx context.Context, l sms.List, sentence string) {
	_, err := im.change(ctx, l, func(now *sms.List) { now.State, now.Problem = sms.ListFailed, sentence })
	im.logError(ctx, "failure of a list not stored", err)
}

// change moves a list on, unless somebody else did.
func (im *Importer) change(ctx context.Context, l sms.List, change func(*sms.List)) (sms.List, error) {
	return im.lists.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != l.Version {
			return sms.ErrConflict
		}
		change(now)
		return nil
	})
}

// check gives every row its verdict and stages them.
func (im *Importer) check(ctx context.Context, l sms.List) error {
	account, err := im.lists.store.Account(ctx, l.AccountID)
	if err != nil {
		return err
	}
	blocked, err := im.blocked(ctx, account)
	if err != nil {
		return err
	}
	reader, err := im.lists.openList(ctx, account, l, l.Reading)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	c := newChecker(account, l, blocked, im.lists.stops)
	c.fixed = reader.fixed
	if account.Limits.Capped() && l.Purpose != sms.ForContacts {
		since := account.Limits.CapSince(im.lists.now()).UnixMilli()
		c.often = func(number string) (int64, error) { return im.store.GotRecently(ctx, account.ID, number, since) }
	}
	sum, err := im.store.WriteStaging(ctx, l.UID, func(put func([]sms.ListRow, []sms.RowNote) error) error {
		return im.checkRows(ctx, l, reader, c, put)
	})
	if err != nil {
		return err
	}
	tally := c.result(reader.Tally())
	tally.Last = int64(reader.last)
	im.releaseMemory(ctx, l)
	if l.Purpose != sms.ForContacts {
		tally.LookedAt = im.lists.ms()
		found, err := im.already(ctx, l, sum, tally.Good)
		if err != nil {
			return err
		}
		tally.Already = found.Already()
		leaveOutAlready(&tally, l.Order.OnlyNew)
	}
	_, err = im.change(ctx, l, func(now *sms.List) {
		now.Tally, now.Sum, now.Done, now.Total, now.State = tally, sum, tally.Rows, tally.Rows, sms.ListChecked
		// Who mends a list sees what came of it.
		if tally.Clean() && len(l.Order.Empty) == 0 && !l.Order.FirstOnly {
			now.State, now.Done = sms.ListMaking, 0
		}
	})
	return err
}

// blocked are the account's blocked numbers in order. There may be many, so
// only the numbers are kept.
func (im *Importer) blocked(ctx context.Context, account sms.Account) (list []int64, err error) {
	err = im.store.EachBlocked(ctx, account.ID, func(number string) { list = append(list, numberOf(number)) })
	slices.Sort(list)
	return list, err
}

// addBlockReasons says why the blocked numbers of a batch are blocked.
func (im *Importer) addBlockReasons(ctx context.Context, account sms.Account, j checkedBatch) error {
	var numbers []string
	for _, r := range j.rows {
		if r.Kind == sms.RowBlocked {
			numbers = append(numbers, r.MSISDN())
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	known, err := im.store.BlockedAmong(ctx, account.ID, numbers)
	if err != nil {
		return err
	}
	today := im.lists.now().In(account.Location())
	for i, n := range j.notes {
		if n.Kind != sms.RowBlocked {
			continue
		}
		if b, is := known[n.After]; is {
			j.notes[i].Text = b.Sentence(today)
		}
		j.notes[i].After = ""
	}
	return nil
}

// rowBatch is a batch of rows on its way to the checker.
type rowBatch struct {
	rows  []sheet.Row
	share float64 // of the file that is read
}

// checkedBatch is a batch of verdicts on its way to the staging file.
type checkedBatch struct {
	rows  []sms.ListRow
	notes []sms.RowNote
	total int64 // rows judged so far
	about int64 // of about so many
}

// checkRows lets three hands work at once: one reads, one judges, and this one
// stages.
func (im *Importer) checkRows(ctx context.Context, l sms.List, reader *rowReader, c *checker,
	put func([]sms.ListRow, []sms.RowNote) error) error {
	hands, ctx := errgroup.WithContext(ctx)
	unread, unstaged := make(chan rowBatch, batchesWaiting), make(chan checkedBatch, batchesWaiting)
	hands.Go(recoverPanic(func() error {
		defer close(unread)
		return readRows(ctx, reader, unread)
	}))
	hands.Go(recoverPanic(func() error {
		defer close(unstaged)
		for batch := range unread {
			j := c.checkBatch(batch)
			if c.failed != nil {
				return c.failed
			}
			if err := im.addBlockReasons(ctx, c.account, j); err != nil {
				return err
			}
			if !send(ctx, unstaged, j) {
				return ctx.Err()
			}
		}
		return nil
	}))
	hands.Go(recoverPanic(func() error {
		said := im.lists.now()
		for batch := range unstaged {
			if err := errors.Join(ctx.Err(), put(batch.rows, batch.notes)); err != nil {
				return err
			}
			if now := im.lists.now(); now.Sub(said) >= progressInterval {
				said = now
				if err := im.progress(ctx, l, batch.total, batch.about); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	return hands.Wait()
}

// recoverPanic makes a panic over a hostile file a failure of its list, which would
// otherwise end the process at every start.
func recoverPanic(do func() error) func() error {
	return func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("work on a list: panic: %v", p)
			}
		}()
		return do()
	}
}

func readRows(ctx context.Context, reader *rowReader, to chan<- rowBatch) error {
	for {
		batch := rowBatch{rows: make([]sheet.Row, 0, rowsPerBatch)}
		var err error
		for err == nil && len(batch.rows) < rowsPerBatch {
			var r sheet.Row
			if r, err = reader.Next(); err == nil {
				batch.rows = append(batch.rows, r)
			}
		}
		batch.share = reader.Progress()
		if err != nil && err != io.EOF {
			return err
		}
		if !send(ctx, to, batch) || err == io.EOF {
			return ctx.Err()
		}
	}
}

// send gives a batch on, unless the work has ended.
func send[T any](ctx context.Context, to chan<- T, batch T) bool {
	select {
	case to <- batch:
		return true
	case <-ctx.Done():
		return false
	}
}

// estimateTotal guesses how many rows there are after a share of the file.
func estimateTotal(rows int64, share float64) int64 {
	if share <= 0 {
		return rows
	}
	return max(rows, int64(float64(rows)/share))
}

func (im *Importer) progress(ctx context.Context, l sms.List, done, total int64) error {
	if err := im.store.PutListProgress(ctx, l, done, total); err != nil {
		return err
	}
	im.lists.feed.Publish(feed.List(l.UID))
	return nil
}

// verify looks whether the staged rows of lists that wait for a person are
// whole; a power cut may have taken some. Such a list is checked again.
func (im *Importer) verify(ctx context.Context) error {
	list, err := im.store.CheckedLists(ctx, im.lists.now().Add(-sms.ListKept).UnixMilli())
	for _, l := range list {
		for _, bad := range im.store.StagedRows(ctx, l.UID, l.Sum) {
			if bad != nil && ctx.Err() == nil {
				im.lists.log.Warn("the staged rows of a list are damaged: it is checked again", "list", l.UID, "error", bad)
				_, changed := im.change(ctx, l, func(now *sms.List) { now.State, now.Done = sms.ListChecking, 0 })
				err = errors.Join(err, changed)
			}
		}
	}
	return err
}

// tidy forgets lists that were not used, folders that belong to none, and what
// is left of campaigns that were never finished.
func (im *Importer) tidy(ctx context.Context) error {
	old, err := im.store.OldLists(ctx, im.lists.now().Add(-sms.ListKept).UnixMilli())
	if err != nil {
		return err
	}
	for _, l := range old {
		err = errors.Join(err, im.lists.store.DeleteList(ctx, l), im.lists.store.DropUpload(l.UID))
	}
	folders, bad := im.store.Uploads(im.lists.now().Add(-uploadTTL))
	err = errors.Join(err, bad)
	for _, uid := range folders {
		err = errors.Join(err, im.tidyFolder(ctx, uid))
	}
	for more := true; more && err == nil && ctx.Err() == nil; {
		more, err = im.store.DeleteAbandonedImports(ctx, im.lists.now().Add(-resendTTL).UnixMilli())
	}
	return err
}

// tidyFolder removes what is not needed any more of the files of a list.
func (im *Importer) tidyFolder(ctx context.Context, uid string) error {
	l, err := im.lists.store.List(ctx, uid)
	age := im.lists.now().Sub(time.UnixMilli(l.ChangedAt))
	switch {
	case errors.Is(err, sms.ErrNotFound):
		return im.lists.store.DropUpload(uid)
	case err != nil || l.State != sms.ListMade:
		return err
	case age > fileKept:
		return im.lists.store.DropUpload(uid)
	case age > sms.ListKept:
		return im.store.DropStaged(uid)
	}
	return nil
}

// isLarge says that a list is worked on beside short ones, and memory is spared.
func isLarge(l sms.List) bool { return l.Size > shortList }

// releaseEvery is after how many rows memory is given back.
const releaseEvery = 100_000

// releaseMemory gives back what the work on a large list does not need any more:
// a million rows then take 121 MiB at the peak instead of 142
// (TestMemoryOfLargeLists, make soak).
func (im *Importer) releaseMemory(ctx context.Context, l sms.List) {
	if isLarge(l) {
		im.logError(ctx, "memory not given back", im.store.ShrinkMemory(ctx))
		debug.FreeOSMemory()
	}
}
