package feed

import (
	"context"
	"log/slog"
	"time"

	"smsdesk/internal/sms"
)

// Audit writes down who did what. The order itself is done by then, so a
// failure is logged and not given back.
type Audit func(ctx context.Context, by sms.User, action, object, detail string)

// AuditStore keeps the lines.
type AuditStore interface {
	PutAudit(ctx context.Context, line sms.Audit) error
}

// AuditTo returns the Audit that writes to store. now is the wall clock.
func AuditTo(store AuditStore, log *slog.Logger, now func() time.Time) Audit {
	return func(ctx context.Context, by sms.User, action, object, detail string) {
		err := store.PutAudit(ctx, sms.Audit{At: now().UnixMilli(), User: by, Action: action, Object: object, Detail: detail})
		if err != nil {
			log.Error("audit line lost", "action", action, "object", object, "error", err)
		}
	}
}
