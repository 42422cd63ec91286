package page

import (
	"context"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

// unpaidBusy is how many running campaigns are looked at for what they still cost.
const unpaidBusy = 50

// unpaidQuestions are what Unpaid asks of the storage.
type unpaidQuestions interface {
	BusyCampaigns(ctx context.Context, account int64, limit int) ([]sms.Campaign, error)
	Tally(ctx context.Context, id int64) (sms.Tally, error)
}

// Unpaid are the parts that are still to be sent of the account's running
// campaigns and of the given ones, which are paused or have not begun.
func Unpaid(ctx context.Context, store unpaidQuestions, account int64, others []sms.Campaign) (parts int64, err error) {
	busy, err := store.BusyCampaigns(ctx, account, unpaidBusy)
	if err != nil {
		return 0, err
	}
	for _, c := range append(busy, others...) {
		if c.StartedAt == 0 {
			parts += c.Parts
			continue
		}
		tally, err := store.Tally(ctx, c.ID)
		if err != nil {
			return 0, err
		}
		if all := tally.Total(); all > 0 {
			parts += c.Parts * tally.Tile(sms.TileWaiting) / all
		}
	}
	return parts, nil
}

// usageQuestions are what Outlook asks of the storage.
type usageQuestions interface {
	UsageDays(ctx context.Context, account int64, from, to string) ([]sms.UsageDay, error)
}

// Outlook is how long a balance lasts, by what was used on the days before today.
func Outlook(ctx context.Context, store usageQuestions, a sms.Account, b *sms.Balance, price views.Price, unpaid int64,
	now time.Time) (views.Outlook, error) {
	o := views.Outlook{Now: now, Currency: a.Currency, Price: price, Unpaid: unpaid, Used: make([]int64, views.OutlookDays)}
	if b != nil {
		if left, ok := b.Amount(); ok {
			o.Left, o.Currency = left, b.Currency()
		}
	}
	day := func(back int) string { return now.AddDate(0, 0, -back).Format(time.DateOnly) }
	used, err := store.UsageDays(ctx, a.ID, day(views.OutlookDays), day(1))
	place := map[string]int{}
	for i := range o.Used {
		place[day(views.OutlookDays-i)] = i
	}
	for _, u := range used {
		if i, ok := place[u.Day]; ok {
			o.Used[i] += u.Parts
		}
	}
	return o, err
}
