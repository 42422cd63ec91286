package workers

import (
	"log/slog"
	"sync"
	"time"

	"smsdesk/internal/health"
)

// Outage is what is known of a database that cannot be written: it is in memory
// only, since it could not be stored.
type Outage struct {
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	trouble health.Trouble
	began   time.Time
	said    time.Time
}

// NewOutage returns an Outage that is none.
func NewOutage(log *slog.Logger, now func() time.Time) *Outage { return &Outage{log: log, now: now} }

// outageSaid is how often an outage is in the log.
const outageSaid = time.Minute

// Note takes the end of a write: nil ends the outage. An error that says nothing
// of storage is nobody's outage.
func (o *Outage) Note(err error) {
	trouble := health.TroubleOf(err)
	if o == nil || err != nil && trouble == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	switch {
	case trouble == "" && o.trouble == "":
		return
	case trouble == "":
		o.log.Info("the database takes everything again", "after", now.Sub(o.began).Round(time.Second))
		o.trouble = ""
		return
	case o.trouble == "":
		o.began = now
	}
	if trouble != o.trouble || now.Sub(o.said) >= outageSaid {
		o.log.Error("the database cannot be written, so nothing is sent", "trouble", trouble, "since", o.began, "error", err)
		o.said = now
	}
	o.trouble = trouble
}

// Sentence says what is wrong and what to do; "" while nothing is.
func (o *Outage) Sentence() string {
	if o == nil {
		return ""
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.trouble.Sentence()
}
