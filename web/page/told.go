package page

import (
	"context"
	"errors"
	"strconv"

	"smsdesk/internal/health"
	"smsdesk/views"
)

// logBands say what is wrong with the logs beside the journal, and what
// happened with the desk's files lately.
func (v *Visit) logBands(ctx context.Context) (bands []views.Banner, err error) {
	sentence, err := v.site.store.ReadSetting(ctx, health.SettingLogs)
	if sentence != "" {
		bands = append(bands, views.Banner{ID: "logs", Tone: views.ToneWarn, Text: sentence})
	}
	set, unread := v.site.store.ReadSetting(ctx, health.SettingTold)
	list, unreadable := health.ReadTold(set)
	for i, t := range list {
		if t.Fresh(v.site.Now()) {
			bands = append(bands, views.Banner{ID: "told-" + strconv.Itoa(i), Tone: views.ToneWarn, Text: t.Text})
		}
	}
	return bands, errors.Join(err, unread, unreadable)
}
