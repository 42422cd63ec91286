package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// maxTold is how many sentences are kept.
const maxTold = 10

// Tell keeps a sentence about something that happened with the desk's files,
// for pages to show for a while. The same sentence is kept once.
func (db *core) Tell(ctx context.Context, text string, now int64) error {
	return db.update(ctx, "note what happened", func(t *tx) error {
		set, err := t.Setting(ctx, health.SettingTold)
		if err != nil && !errors.Is(classify(err), sms.ErrNotFound) {
			return err
		}
		list, err := health.ReadTold(set)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(old health.Told) bool { return old.Text == text })
		list = append(list, health.Told{At: now, Text: text})
		value, err := json.Marshal(list[max(0, len(list)-maxTold):])
		if err != nil {
			return fmt.Errorf("write the setting %s: %w", health.SettingTold, err)
		}
		return t.PutSetting(ctx, health.SettingTold, string(value))
	})
}
