package web

import (
	"context"

	"smsdesk/internal/sms"
)

type recordQuestions interface {
	Groups(ctx context.Context, account int64) ([]sms.Group, error)
	GroupWaits(ctx context.Context, account, id int64) (int64, error)
	SenderWaits(ctx context.Context, account int64, text string) (int64, error)
	SenderDays(ctx context.Context, account int64) (map[string]string, error)
	TemplateDrafts(ctx context.Context, account int64) ([]sms.TemplateDraft, error)
	TemplateDraft(ctx context.Context, account, id int64) (sms.TemplateDraft, error)
	TemplateUses(ctx context.Context, account int64) (map[int64]sms.TemplateUse, error)
	CampaignsOfTemplate(ctx context.Context, account, id int64) (list []sms.Campaign, waiting int64, err error)
	CampaignTemplate(ctx context.Context, campaign int64) (sms.CampaignTemplate, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
}

type balanceQuestions interface {
	BalanceHistory(ctx context.Context, account int64, pluginType string, since int64) ([]sms.BalanceSpan, error)
	Alarms(ctx context.Context, account int64) ([]sms.Alarm, error)
	UsageDays(ctx context.Context, account int64, from, to string) ([]sms.UsageDay, error)
	Costs(ctx context.Context, account, after int64) ([]sms.Cost, error)
	Cost(ctx context.Context, campaign int64) (sms.Cost, error)
}
