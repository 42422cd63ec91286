package web

import (
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"smsdesk/internal/sms"
	"smsdesk/static"
	"smsdesk/views"
	"smsdesk/web/api"
	"smsdesk/web/campaign"
	"smsdesk/web/page"
	"smsdesk/web/ussd"
)

// table is every address there is, and who may. callbacks may be nil.
func (s *Web) table(callbacks http.Handler) []page.Route {
	list := []page.Route{
		{Method: "GET", Pattern: "/", Least: sms.Viewer, Do: s.campaign.Overviews.Show},
		{Method: "GET", Pattern: views.SignInPath, Least: page.Anyone, Do: s.door.signinForm},
		{Method: "POST", Pattern: views.SignInPath, Least: page.Anyone, Do: s.door.signin},
		{Method: "POST", Pattern: "/signout", Least: page.Anyone, Do: s.door.signout},
		{Method: "GET", Pattern: views.SetupPath, Least: page.Anyone, Do: s.door.setupForm},
		{Method: "POST", Pattern: views.SetupPath, Least: page.Anyone, Do: s.door.setup},
		{Method: "GET", Pattern: views.SetupTasksPath, Least: sms.Administrator, Do: s.accounts.setupTasks},
		{Method: "GET", Pattern: "/invite/{token}", Least: page.Anyone, Do: s.door.inviteForm},
		{Method: "POST", Pattern: "/invite/{token}", Least: page.Anyone, Do: s.door.inviteAccept},
		{Method: "GET", Pattern: "/wall/{token}", Least: page.Anyone, Do: s.campaign.Walls.Open},
		{Method: "GET", Pattern: "/wall/{token}/live", Least: page.Anyone, Do: s.campaign.Walls.Live},
		{Method: "GET", Pattern: stopPath, Least: page.Anyone, Do: s.optouts.stopForm},
		{Method: "POST", Pattern: stopPath, Least: page.Anyone, Do: s.optouts.stop},

		{Method: "GET", Pattern: views.MePath, Least: sms.Viewer, Do: page.Form(s.door.showMe).Show},
		{Method: "POST", Pattern: views.MePath + "/name", Least: sms.Viewer, Do: s.door.meName, Offers: true},
		{Method: "POST", Pattern: views.MePath + "/password", Least: sms.Viewer, Do: s.door.mePassword},
		{Method: "POST", Pattern: views.MePath + "/sessions/end", Least: sms.Viewer, Do: s.door.meSignOutEverywhere},
		{Method: "POST", Pattern: "/account", Least: sms.Viewer, Do: s.accounts.accountChoose},
		{Method: "POST", Pattern: "/theme", Least: page.Anyone, Do: s.door.themeChoose},
		{Method: "POST", Pattern: "/keys", Least: sms.Viewer, Do: s.door.keysChoose},
		{Method: "GET", Pattern: views.FindPath, Least: sms.Viewer, Do: s.campaign.Finds.Show},
		{Method: "POST", Pattern: views.FindPath, Least: sms.Viewer, Do: s.campaign.Finds.For},
		{Method: "GET", Pattern: views.KeptPath, Least: sms.Viewer, Do: s.Offer},
		{Method: "POST", Pattern: views.KeptPath, Least: sms.Viewer, Do: s.CarryOut},
		{Method: "GET", Pattern: views.SidePath, Least: sms.Viewer, Do: s.Side, Shared: page.ByPerson},
		{Method: "GET", Pattern: views.LivePath, Least: sms.Viewer, Do: s.Live},

		{Method: "GET", Pattern: views.AccountsPath, Least: sms.Administrator, Do: s.accounts.accountList},
		{Method: "POST", Pattern: views.AccountsPath, Least: sms.Administrator, Do: s.accounts.accountCreate},
		{Method: "GET", Pattern: views.AccountsPath + "/new", Least: sms.Administrator, Do: s.accounts.accountNew},
		{Method: "GET", Pattern: views.AccountsPath + "/{id}", Least: sms.Administrator, Do: s.accounts.accountForm},
		{Method: "POST", Pattern: views.AccountsPath + "/{id}", Least: sms.Administrator, Do: s.accounts.accountSave},
		{Method: "GET", Pattern: views.AccountsPath + "/{id}/connection", Least: sms.Administrator, Do: s.accounts.accountForm},
		{Method: "POST", Pattern: views.AccountsPath + "/{id}/connection", Least: sms.Administrator, Do: s.accounts.accountSave},
		{Method: "GET", Pattern: views.AccountsPath + "/{id}/hours", Least: sms.Administrator, Do: s.accounts.section(views.SectionHours)},
		{Method: "POST", Pattern: views.AccountsPath + "/{id}/hours", Least: sms.Administrator, Do: s.accounts.sendingSave(views.SectionHours), Offers: true},
		{Method: "GET", Pattern: views.AccountsPath + "/{id}/limits", Least: sms.Administrator, Do: s.accounts.section(views.SectionLimits)},
		{Method: "POST", Pattern: views.AccountsPath + "/{id}/limits", Least: sms.Administrator, Do: s.accounts.sendingSave(views.SectionLimits), Offers: true},
		{Method: "GET", Pattern: views.AccountsPath + "/{id}/money", Least: sms.Administrator, Do: s.accounts.section(views.SectionMoney)},
		{Method: "POST", Pattern: views.AccountsPath + "/{id}/money", Least: sms.Administrator, Do: s.accounts.moneySave, Offers: true},
		{Method: "GET", Pattern: views.AccountsPath + "/{id}/advanced", Least: sms.Administrator, Do: s.accounts.section(views.SectionAdvanced)},
		{Method: "POST", Pattern: views.AccountsPath + "/{id}/advanced", Least: sms.Administrator, Do: s.accounts.sendingSave(views.SectionAdvanced), Offers: true},
		// The form of before there were pages.
		{Method: "POST", Pattern: views.AccountsPath + "/{id}/sending", Least: sms.Administrator,
			Do: s.accounts.sendingSave(views.SectionLimits, views.SectionHours, views.SectionAdvanced)},
		{Method: "POST", Pattern: views.AccountsPath + "/{id}/resume", Least: sms.Administrator, Do: s.accounts.accountResume},
		{Method: "POST", Pattern: views.AccountsPath + "/{id}/refresh", Least: sms.Administrator, Do: s.accounts.accountRefresh},
		{Method: "POST", Pattern: views.AccountsPath + "/{id}/records", Least: sms.Administrator, Do: s.records.recordSettingsSave},
		{Method: "GET", Pattern: views.CallbacksPath, Least: sms.Administrator, Do: s.endpoints.callbackList},
		{Method: "GET", Pattern: views.CallbacksPath + "/last", Least: sms.Administrator, Do: s.endpoints.callbackLast},
		{Method: "GET", Pattern: views.CallbacksPath + "/rotate", Least: sms.Administrator, Do: s.endpoints.callbackRotateForm},
		{Method: "POST", Pattern: views.CallbacksPath + "/rotate", Least: sms.Administrator, Do: s.endpoints.callbackRotate},
		{Method: "POST", Pattern: views.CallbacksPath + "/posts", Least: sms.Administrator, Do: s.endpoints.callbackPosts},
		{Method: "GET", Pattern: views.BlockedPath, Least: sms.Sender, Do: s.blocks.blockedList},
		{Method: "POST", Pattern: views.BlockedPath, Least: sms.Sender, Do: s.blocks.blockedAdd, Upload: true, Offers: true},
		{Method: "GET", Pattern: views.BlockedPath + "/search", Least: sms.Sender, Do: backTo(views.BlockedPath)},
		{Method: "POST", Pattern: views.BlockedPath + "/search", Least: sms.Sender, Do: s.blocks.blockedSearch},
		{Method: "GET", Pattern: views.BlockedPath + "/{id}/unblock", Least: sms.Manager, Do: s.blocks.unblockForm},
		{Method: "POST", Pattern: views.BlockedPath + "/{id}/unblock", Least: sms.Manager, Do: s.blocks.unblock},
		{Method: "GET", Pattern: views.TokensPath, Least: sms.Viewer, Do: s.tokens.tokenList},
		{Method: "POST", Pattern: views.TokensPath, Least: sms.Viewer, Do: s.tokens.tokenCreate},
		{Method: "GET", Pattern: views.TokensPath + "/{id}/revoke", Least: sms.Viewer, Do: s.tokens.tokenRevokeForm},
		{Method: "POST", Pattern: views.TokensPath + "/{id}/revoke", Least: sms.Viewer, Do: s.tokens.tokenRevoke},
		{Method: "GET", Pattern: views.RetentionPath, Least: sms.Administrator, Do: s.retentions.retentionForm},
		{Method: "POST", Pattern: views.RetentionPath, Least: sms.Administrator, Do: s.retentions.retentionSave, Offers: true},
		{Method: "GET", Pattern: views.BackupPath, Least: sms.Administrator, Do: s.backups.backupShow},
		{Method: "POST", Pattern: views.BackupPath, Least: sms.Administrator, Do: s.backups.backupMake},
		{Method: "GET", Pattern: views.JournalPath, Least: sms.Administrator, Do: s.journals.journalShow},
		{Method: "POST", Pattern: views.JournalPath, Least: sms.Administrator, Do: s.journals.journalAccept},
		{Method: "GET", Pattern: views.JournalPath + "/close", Least: sms.Administrator, Do: backTo(views.JournalPath)},
		{Method: "POST", Pattern: views.JournalPath + "/close", Least: sms.Administrator, Do: s.journals.journalClose},
		{Method: "GET", Pattern: views.JournalPath + "/forget", Least: sms.Administrator, Do: s.journals.journalForgetForm},
		{Method: "POST", Pattern: views.JournalPath + "/forget", Least: sms.Administrator, Do: s.journals.journalForget},
		{Method: "GET", Pattern: views.TeamPath, Least: sms.Administrator, Do: s.staff.userList},
		{Method: "POST", Pattern: views.TeamPath, Least: sms.Administrator, Do: s.staff.userInvite},
		{Method: "GET", Pattern: views.TeamPath + "/{id}", Least: sms.Administrator, Do: s.staff.userForm},
		{Method: "POST", Pattern: views.TeamPath + "/{id}", Least: sms.Administrator, Do: s.staff.userSave},

		{Method: "GET", Pattern: views.NewPath, Least: sms.Sender, Do: s.campaign.Drafts.Form},
		{Method: "POST", Pattern: views.NewPath, Least: sms.Sender, Do: s.campaign.Drafts.Check, Keeps: views.NewPath},
		{Method: "GET", Pattern: views.NewTemplatePath, Least: sms.Sender, Do: s.campaign.Drafts.Back},
		{Method: "POST", Pattern: views.NewTemplatePath, Least: sms.Sender, Do: s.campaign.Drafts.Template, Keeps: views.NewPath},
		{Method: "GET", Pattern: views.NewAudiencePath, Least: sms.Sender, Do: s.campaign.Drafts.Back},
		{Method: "POST", Pattern: views.NewAudiencePath, Least: sms.Sender, Do: s.campaign.Drafts.ToAudience, Keeps: views.NewPath},
		{Method: "GET", Pattern: views.NewGroupPath, Least: sms.Sender, Do: s.campaign.Drafts.Back},
		{Method: "POST", Pattern: views.NewGroupPath, Least: sms.Sender, Do: s.campaign.Drafts.ToGroup, Keeps: views.NewPath},
		{Method: "GET", Pattern: views.NewWithoutPath, Least: sms.Sender, Do: s.campaign.Drafts.Back},
		{Method: "POST", Pattern: views.NewWithoutPath, Least: sms.Sender, Do: s.campaign.Drafts.Without, Keeps: views.NewPath},
		{Method: "POST", Pattern: views.NewPath + "/parts", Least: page.Anyone, Do: s.campaign.Drafts.Parts},
		{Method: "POST", Pattern: views.NewPath + "/numbers", Least: page.Anyone, Do: s.campaign.Drafts.Numbers},
		{Method: "GET", Pattern: views.UploadPath, Least: sms.Sender, Do: s.campaign.Uploads.UploadForm},
		{Method: "POST", Pattern: views.UploadPath, Least: sms.Sender, Do: s.campaign.Uploads.Upload, Stream: true, Offers: true},
		{Method: "GET", Pattern: views.UploadPath + "/example.xlsx", Least: sms.Sender, Do: s.campaign.Uploads.UploadExample("xlsx")},
		{Method: "GET", Pattern: views.UploadPath + "/example.csv", Least: sms.Sender, Do: s.campaign.Uploads.UploadExample("csv")},
		{Method: "GET", Pattern: campaign.ListMessagePath, Least: sms.Sender, Do: s.campaign.Uploads.ListMessageForm},
		{Method: "POST", Pattern: campaign.ListMessagePath, Least: sms.Sender, Do: s.campaign.Uploads.ListMessage, Keeps: campaign.ListMessagePath},
		{Method: "POST", Pattern: campaign.ListsPath + "/preview", Least: page.Anyone, Do: s.campaign.Uploads.ListPreview},
		{Method: "GET", Pattern: campaign.ListsPath + "/check", Least: sms.Sender, Do: s.campaign.Uploads.ListCheck},
		{Method: "GET", Pattern: campaign.ListsPath + "/make", Least: sms.Sender, Do: s.campaign.Uploads.ListBack},
		{Method: "POST", Pattern: campaign.ListsPath + "/make", Least: sms.Sender, Do: s.campaign.Uploads.ListMake},
		{Method: "GET", Pattern: campaign.ListsPath + "/already", Least: sms.Sender, Do: s.campaign.Uploads.ListBack},
		{Method: "POST", Pattern: campaign.ListsPath + "/already", Least: sms.Sender, Do: s.campaign.Uploads.ListAlready},
		{Method: "GET", Pattern: campaign.ListsPath + "/rows", Least: sms.Sender, Do: s.campaign.Uploads.ListBack},
		{Method: "POST", Pattern: campaign.ListsPath + "/rows", Least: sms.Sender, Do: s.campaign.Uploads.ListRows},
		{Method: "GET", Pattern: campaign.ListsPath + "/split", Least: sms.Sender, Do: s.campaign.Uploads.ListBack},
		{Method: "POST", Pattern: campaign.ListsPath + "/split", Least: sms.Sender, Do: s.campaign.Uploads.ListSplit},
		{Method: "GET", Pattern: campaign.ListsPath + "/fill", Least: sms.Sender, Do: s.campaign.Uploads.ListBack},
		{Method: "POST", Pattern: campaign.ListsPath + "/fill", Least: sms.Sender, Do: s.campaign.Uploads.ListFill},
		{Method: "GET", Pattern: campaign.ListsPath + "/first", Least: sms.Sender, Do: s.campaign.Uploads.ListBack},
		{Method: "POST", Pattern: campaign.ListsPath + "/first", Least: sms.Sender, Do: s.campaign.Uploads.ListFirst},
		{Method: "GET", Pattern: campaign.ListsPath + "/hidden", Least: sms.Sender, Do: s.campaign.Uploads.ListBack},
		{Method: "POST", Pattern: campaign.ListsPath + "/hidden", Least: sms.Sender, Do: s.campaign.Uploads.ListHidden},
		{Method: "GET", Pattern: campaign.ListsPath + "/rejected.xlsx", Least: sms.Sender, Do: s.campaign.Uploads.Rejected("xlsx")},
		{Method: "GET", Pattern: campaign.ListsPath + "/rejected.csv", Least: sms.Sender, Do: s.campaign.Uploads.Rejected("csv")},
		{Method: "GET", Pattern: campaign.ListsPath + "/delete", Least: sms.Sender, Do: s.campaign.Uploads.ListDeleteForm},
		{Method: "POST", Pattern: campaign.ListsPath + "/delete", Least: sms.Sender, Do: s.campaign.Uploads.ListDelete},
		{Method: "GET", Pattern: views.CalendarPath, Least: sms.Viewer, Do: s.series.Calendars.Show},
		{Method: "GET", Pattern: views.SeriesPath, Least: sms.Viewer, Do: s.series.Series.List},
		{Method: "POST", Pattern: views.SeriesPath, Least: sms.Sender, Do: s.series.Series.Save, Offers: true},
		{Method: "GET", Pattern: views.SeriesPath + "/new", Least: sms.Sender, Do: s.series.Series.New},
		{Method: "GET", Pattern: views.SeriesPath + "/{id}", Least: sms.Viewer, Do: s.series.Series.Show},
		{Method: "GET", Pattern: views.SeriesPath + "/{id}/pause", Least: sms.Sender, Do: s.series.Series.Back},
		{Method: "POST", Pattern: views.SeriesPath + "/{id}/pause", Least: sms.Sender, Do: s.series.Series.Pause},
		{Method: "GET", Pattern: views.SeriesPath + "/{id}/resume", Least: sms.Sender, Do: s.series.Series.Back},
		{Method: "POST", Pattern: views.SeriesPath + "/{id}/resume", Least: sms.Sender, Do: s.series.Series.Resume},
		{Method: "GET", Pattern: views.SeriesPath + "/{id}/stop", Least: sms.Sender, Do: s.series.Series.StopForm},
		{Method: "POST", Pattern: views.SeriesPath + "/{id}/stop", Least: sms.Sender, Do: s.series.Series.Stop},
		{Method: "GET", Pattern: views.SeriesPath + "/{id}/move", Least: sms.Sender, Do: s.series.Series.Back},
		{Method: "POST", Pattern: views.SeriesPath + "/{id}/move", Least: sms.Sender, Do: s.series.Series.Move},
		{Method: "GET", Pattern: views.SeriesPath + "/{id}/runs/{run}", Least: sms.Sender, Do: s.series.Series.Back},
		{Method: "POST", Pattern: views.SeriesPath + "/{id}/runs/{run}", Least: sms.Sender, Do: s.series.Series.Decide},
		{Method: "GET", Pattern: views.CampaignsPath, Least: sms.Viewer, Do: s.campaign.Campaigns.List, Shared: page.ByRole},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}", Least: sms.Viewer, Do: s.campaign.Campaigns.Show, Shared: page.ByRole},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}" + views.WallSuffix, Least: sms.Manager, Do: s.campaign.Walls.Links},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}" + views.WallSuffix, Least: sms.Manager, Do: s.campaign.Walls.Make},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}" + views.WallSuffix + "/revoke", Least: sms.Manager, Do: s.campaign.Walls.Revoke},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/confirm", Least: sms.Sender, Do: s.campaign.Confirms.Form},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/start", Least: sms.Sender, Do: s.campaign.Confirms.Back},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/start", Least: sms.Sender, Do: s.campaign.Confirms.Start},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/when", Least: page.Anyone, Do: s.campaign.Confirms.When},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/rehearse", Least: sms.Sender, Do: s.campaign.Confirms.Back},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/rehearse", Least: sms.Sender, Do: s.campaign.Rehearsals.Order},
		{Method: "GET", Pattern: views.RehearsalsPath, Least: sms.Sender, Do: backTo("/")},
		{Method: "POST", Pattern: views.RehearsalsPath, Least: sms.Sender, Do: s.campaign.Rehearsals.Watch},
		{Method: "GET", Pattern: views.RehearsalsPath + "/{id}", Least: sms.Sender, Do: s.campaign.Rehearsals.Show},
		{Method: "GET", Pattern: views.RehearsalsPath + "/{id}/stop", Least: sms.Sender, Do: s.campaign.Rehearsals.Back},
		{Method: "POST", Pattern: views.RehearsalsPath + "/{id}/stop", Least: sms.Sender, Do: s.campaign.Rehearsals.Stop},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/test", Least: sms.Sender, Do: s.campaign.Confirms.Back},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/test", Least: sms.Sender, Do: s.campaign.Confirms.SendTest},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/include", Least: sms.Sender, Do: s.campaign.Confirms.Back},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/include", Least: sms.Sender, Do: s.campaign.Confirms.Include},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/already", Least: sms.Sender, Do: s.campaign.Confirms.Back},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/already", Least: sms.Sender, Do: s.campaign.Confirms.Already},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/name", Least: sms.Sender, Do: s.campaign.Confirms.Back},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/name", Least: sms.Sender, Do: s.campaign.Confirms.Rename},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/schedule", Least: sms.Sender, Do: s.campaign.Confirms.ScheduleForm},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/schedule", Least: sms.Sender, Do: s.campaign.Confirms.ScheduleSave},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/cancel", Least: sms.Sender, Do: s.campaign.Confirms.ScheduleCancelForm},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/cancel", Least: sms.Sender, Do: s.campaign.Confirms.ScheduleCancel},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/approval", Least: sms.Sender, Do: s.campaign.Confirms.ApprovalShow},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/approval", Least: sms.Approver, Do: s.campaign.Confirms.ApprovalGive},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/approval/return", Least: sms.Approver, Do: s.campaign.Confirms.ApprovalBack},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/approval/return", Least: sms.Approver, Do: s.campaign.Confirms.ApprovalReturn},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/approval/take-back", Least: sms.Sender, Do: s.campaign.Confirms.ApprovalBack},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/approval/take-back", Least: sms.Sender, Do: s.campaign.Confirms.ApprovalTakeBack},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/stop", Least: sms.Sender, Do: s.campaign.Campaigns.StopForm},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/stop", Least: sms.Sender, Do: s.campaign.Campaigns.Stop},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/give-up", Least: sms.Sender, Do: s.campaign.Campaigns.GiveUpForm},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/give-up", Least: sms.Sender, Do: s.campaign.Campaigns.GiveUp},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/continue", Least: sms.Sender, Do: s.campaign.Campaigns.ContinueForm},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/continue", Least: sms.Sender, Do: s.campaign.Campaigns.Continue},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/resume", Least: sms.Manager, Do: s.campaign.Campaigns.ToCampaign},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/resume", Least: sms.Manager, Do: s.campaign.Campaigns.Resume},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/doubt", Least: sms.Viewer, Do: s.campaign.Doubts.Show},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/doubt", Least: sms.Manager, Do: s.campaign.Doubts.Save},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/doubt/agree", Least: sms.Manager, Do: s.campaign.Doubts.Back},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/doubt/agree", Least: sms.Manager, Do: s.campaign.Doubts.Agree},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/doubt/drop", Least: sms.Manager, Do: s.campaign.Doubts.Back},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/doubt/drop", Least: sms.Manager, Do: s.campaign.Doubts.Drop},
		{Method: "GET", Pattern: views.ReportsPath, Least: sms.Viewer, Do: s.reports.reportList, Shared: page.ByRole},
		{Method: "GET", Pattern: views.ReportsPath + "/export.csv", Least: sms.Sender, Do: s.reports.reportExport},
		{Method: "GET", Pattern: views.ReportsPath + "/{id}/link", Least: sms.Manager, Do: s.reports.reportBack},
		{Method: "POST", Pattern: views.ReportsPath + "/{id}/link", Least: sms.Manager, Do: s.reports.reportLink},
		{Method: "GET", Pattern: views.ReportsPath + "/gap", Least: sms.Sender, Do: s.reports.reportBack},
		{Method: "POST", Pattern: views.ReportsPath + "/gap", Least: sms.Sender, Do: s.reports.gapAsk},
		{Method: "GET", Pattern: views.ReportsPath + "/gap/stop", Least: sms.Sender, Do: s.reports.reportBack},
		{Method: "POST", Pattern: views.ReportsPath + "/gap/stop", Least: sms.Sender, Do: s.reports.gapStop},
		{Method: "GET", Pattern: views.MessagesPath, Least: sms.Viewer, Do: s.campaign.Messages.List},
		{Method: "GET", Pattern: views.MessagesPath + "/search", Least: sms.Viewer, Do: s.campaign.Messages.SearchBack},
		{Method: "POST", Pattern: views.MessagesPath + "/search", Least: sms.Viewer, Do: s.campaign.Messages.SearchFor},
		{Method: "GET", Pattern: views.MessagesPath + "/{id}", Least: sms.Viewer, Do: s.campaign.Messages.Show},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/again", Least: sms.Sender, Do: s.campaign.Campaigns.AgainForm},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/again", Least: sms.Sender, Do: s.campaign.Campaigns.Again},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/breakdown", Least: sms.Viewer, Do: s.campaign.Campaigns.Breakdown, Shared: page.ByRole},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/find", Least: sms.Viewer, Do: s.campaign.Campaigns.ToCampaign},
		{Method: "POST", Pattern: views.CampaignsPath + "/{id}/find", Least: sms.Viewer, Do: s.campaign.Campaigns.Find},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/messages.csv", Least: sms.Sender,
			Do: s.campaign.Downloads.Table("csv", page.KindCSV)},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/messages.xlsx", Least: sms.Sender,
			Do: s.campaign.Downloads.Table("xlsx", page.KindXLSX)},
		{Method: "GET", Pattern: views.CampaignsPath + "/{id}/evidence.zip", Least: sms.Manager, Do: s.campaign.Downloads.Evidence},
		{Method: "GET", Pattern: views.MessagesPath + "/{id}/ask", Least: sms.Sender, Do: s.campaign.Messages.Back},
		{Method: "POST", Pattern: views.MessagesPath + "/{id}/ask", Least: sms.Sender, Do: s.campaign.Messages.Ask},
		{Method: "GET", Pattern: views.MessagesPath + "/{id}/again", Least: sms.Sender, Do: s.campaign.Messages.AgainForm},
		{Method: "POST", Pattern: views.MessagesPath + "/{id}/again", Least: sms.Sender, Do: s.campaign.Messages.Again},
		{Method: "GET", Pattern: views.MessagesPath + "/{id}/block", Least: sms.Sender, Do: s.campaign.Messages.BlockForm},
		{Method: "POST", Pattern: views.MessagesPath + "/{id}/block", Least: sms.Sender, Do: s.campaign.Messages.Block},
		{Method: "GET", Pattern: views.TemplatesPath, Least: sms.Viewer, Do: s.records.templateList},
		{Method: "GET", Pattern: views.TemplatesPath + "/refresh", Least: sms.Sender, Do: backTo(views.TemplatesPath)},
		{Method: "POST", Pattern: views.TemplatesPath + "/refresh", Least: sms.Sender, Do: s.records.refreshRecords(sms.RecordTemplates, views.TemplatesPath)},
		{Method: "GET", Pattern: views.TemplatesPath + "/new", Least: sms.Sender, Do: page.Form(s.records.showDraft).Show},
		{Method: "POST", Pattern: views.TemplatesPath + "/new", Least: sms.Sender, Do: s.records.draftSave, Offers: true},
		{Method: "GET", Pattern: views.TemplatesPath + "/drafts/{id}", Least: sms.Sender, Do: page.Form(s.records.showDraft).Show},
		{Method: "POST", Pattern: views.TemplatesPath + "/drafts/{id}", Least: sms.Sender, Do: s.records.draftSave, Offers: true},
		{Method: "GET", Pattern: views.TemplatesPath + "/drafts/{id}/delete", Least: sms.Sender, Do: s.records.draftDeleteForm},
		{Method: "POST", Pattern: views.TemplatesPath + "/drafts/{id}/delete", Least: sms.Sender, Do: s.records.draftDelete},
		{Method: "GET", Pattern: views.TemplatesPath + "/drafts/{id}/create", Least: sms.Manager, Do: s.records.draftBack},
		{Method: "POST", Pattern: views.TemplatesPath + "/drafts/{id}/create", Least: sms.Manager, Do: s.records.draftCreate},
		{Method: "GET", Pattern: views.TemplatesPath + "/{id}", Least: sms.Viewer, Do: s.records.templateShow},
		{Method: "GET", Pattern: views.TemplatesPath + "/{id}/edit", Least: sms.Manager, Do: page.Form(s.records.showTemplateForm).Show},
		{Method: "POST", Pattern: views.TemplatesPath + "/{id}/edit", Least: sms.Manager, Do: s.records.templateSave, Offers: true},
		{Method: "GET", Pattern: views.TemplatesPath + "/{id}/delete", Least: sms.Manager, Do: page.Form(s.records.showTemplateDelete).Show},
		{Method: "POST", Pattern: views.TemplatesPath + "/{id}/delete", Least: sms.Manager, Do: s.records.templateDelete},
		{Method: "GET", Pattern: views.SendersPath, Least: sms.Viewer, Do: page.Form(s.records.showSenders).Show},
		{Method: "POST", Pattern: views.SendersPath, Least: sms.Manager, Do: s.records.senderCreate},
		{Method: "GET", Pattern: views.SendersPath + "/refresh", Least: sms.Sender, Do: backTo(views.SendersPath)},
		{Method: "POST", Pattern: views.SendersPath + "/refresh", Least: sms.Sender, Do: s.records.refreshRecords(sms.RecordSenders, views.SendersPath)},
		{Method: "GET", Pattern: views.SendersPath + "/{id}", Least: sms.Manager, Do: page.Form(s.records.showSenderForm).Show},
		{Method: "POST", Pattern: views.SendersPath + "/{id}", Least: sms.Manager, Do: s.records.senderSave},
		{Method: "GET", Pattern: views.SendersPath + "/{id}/delete", Least: sms.Manager, Do: page.Form(s.records.showSenderDelete).Show},
		{Method: "POST", Pattern: views.SendersPath + "/{id}/delete", Least: sms.Manager, Do: s.records.senderDelete},
		{Method: "GET", Pattern: views.SendersPath + "/{id}/default", Least: sms.Manager, Do: backTo(views.SendersPath)},
		{Method: "POST", Pattern: views.SendersPath + "/{id}/default", Least: sms.Manager, Do: s.records.senderDefault},
		{Method: "GET", Pattern: views.GroupsPath, Least: sms.Viewer, Do: s.records.groupList},
		{Method: "GET", Pattern: views.GroupsPath + "/refresh", Least: sms.Sender, Do: backTo(views.GroupsPath)},
		{Method: "POST", Pattern: views.GroupsPath + "/refresh", Least: sms.Sender, Do: s.records.refreshRecords(sms.RecordGroups, views.GroupsPath)},
		{Method: "GET", Pattern: views.GroupsPath + "/new", Least: sms.Manager, Do: page.Form(s.records.showGroupNew).Show},
		{Method: "POST", Pattern: views.GroupsPath + "/new", Least: sms.Manager, Do: s.records.groupCreate},
		{Method: "GET", Pattern: views.GroupsPath + "/{id}", Least: sms.Manager, Do: page.Form(s.records.showGroupForm).Show},
		{Method: "POST", Pattern: views.GroupsPath + "/{id}", Least: sms.Manager, Do: s.records.groupSave},
		{Method: "GET", Pattern: views.GroupsPath + "/{id}/sub", Least: sms.Manager, Do: page.Form(s.records.showGroupNew).Show},
		{Method: "POST", Pattern: views.GroupsPath + "/{id}/sub", Least: sms.Manager, Do: s.records.groupCreate},
		{Method: "GET", Pattern: views.GroupsPath + "/{id}/delete", Least: sms.Manager, Do: page.Form(s.records.showGroupDelete).Show},
		{Method: "POST", Pattern: views.GroupsPath + "/{id}/delete", Least: sms.Manager, Do: s.records.groupDelete},
		{Method: "GET", Pattern: views.BalancePath, Least: sms.Viewer, Do: s.balances.balanceShow, Shared: page.ByRole},
		{Method: "GET", Pattern: views.BalancePath + "/usage.csv", Least: sms.Sender, Do: s.balances.usageDownload},
		{Method: "GET", Pattern: views.BalancePath + "/refresh", Least: sms.Sender, Do: backTo(views.BalancePath)},
		{Method: "POST", Pattern: views.BalancePath + "/refresh", Least: sms.Sender, Do: s.records.refreshRecords(sms.RecordBalance, views.BalancePath)},
		{Method: "GET", Pattern: views.BalancePath + "/limits", Least: sms.Administrator, Do: backTo(views.BalancePath)},
		{Method: "POST", Pattern: views.BalancePath + "/limits", Least: sms.Administrator, Do: s.balances.balanceLimits},
		{Method: "GET", Pattern: views.BalancePath + "/seen", Least: sms.Manager, Do: backTo(views.BalancePath)},
		{Method: "POST", Pattern: views.BalancePath + "/seen", Least: sms.Manager, Do: s.balances.balanceSeen},
		{Method: "GET", Pattern: views.BalancePath + "/xml", Least: sms.Administrator, Do: backTo(views.BalancePath)},
		{Method: "POST", Pattern: views.BalancePath + "/xml", Least: sms.Administrator, Do: s.balances.balanceXML},
		{Method: "GET", Pattern: views.ContactsPath, Least: sms.Viewer, Do: s.people.contactList},
		{Method: "GET", Pattern: views.ContactsPath + "/search", Least: sms.Viewer, Do: s.people.contactBack},
		{Method: "POST", Pattern: views.ContactsPath + "/search", Least: sms.Viewer, Do: s.people.contactSearch},
		{Method: "GET", Pattern: views.ContactsPath + "/pick", Least: sms.Sender, Do: s.people.contactBack},
		{Method: "POST", Pattern: views.ContactsPath + "/pick", Least: sms.Sender, Do: s.people.contactPick},
		{Method: "GET", Pattern: views.ContactsPath + "/new", Least: sms.Sender, Do: s.people.contactNew},
		{Method: "POST", Pattern: views.ContactsPath + "/new", Least: sms.Sender, Do: s.people.contactCreate, Offers: true},
		{Method: "GET", Pattern: views.ContactsPath + "/{id}", Least: sms.Viewer, Do: s.people.contactShow},
		{Method: "GET", Pattern: views.ContactsPath + "/{id}/edit", Least: sms.Sender, Do: s.people.contactForm},
		{Method: "POST", Pattern: views.ContactsPath + "/{id}/edit", Least: sms.Sender, Do: s.people.contactSave, Offers: true},
		{Method: "GET", Pattern: views.ContactsPath + "/{id}/delete", Least: sms.Sender, Do: s.people.contactDeleteForm},
		{Method: "POST", Pattern: views.ContactsPath + "/{id}/delete", Least: sms.Sender, Do: s.people.contactDelete},
		{Method: "GET", Pattern: views.ImportPath, Least: sms.Sender, Do: s.campaign.Uploads.ImportForm},
		{Method: "POST", Pattern: views.ImportPath, Least: sms.Sender, Do: s.campaign.Uploads.UploadContacts, Stream: true, Offers: true},
		{Method: "GET", Pattern: campaign.ImportList, Least: sms.Sender, Do: s.campaign.Uploads.ImportColumns},
		{Method: "POST", Pattern: campaign.ImportList, Least: sms.Sender, Do: s.campaign.Uploads.ImportCheck, Offers: true},
		{Method: "GET", Pattern: views.AudiencesPath, Least: sms.Viewer, Do: s.people.audienceList},
		{Method: "GET", Pattern: views.AudiencesPath + "/new", Least: sms.Sender, Do: s.people.audienceShow},
		{Method: "POST", Pattern: views.AudiencesPath + "/new", Least: sms.Sender, Do: s.people.audienceSave, Offers: true},
		{Method: "GET", Pattern: views.AudiencesPath + "/{id}", Least: sms.Viewer, Do: s.people.audienceShow},
		{Method: "POST", Pattern: views.AudiencesPath + "/{id}", Least: sms.Sender, Do: s.people.audienceSave, Offers: true},
		{Method: "GET", Pattern: views.AudiencesPath + "/{id}/send", Least: sms.Sender, Do: s.people.audienceBack},
		{Method: "POST", Pattern: views.AudiencesPath + "/{id}/send", Least: sms.Sender, Do: s.people.audienceSend},
		{Method: "GET", Pattern: views.AudiencesPath + "/{id}/remove", Least: sms.Sender, Do: s.people.audienceBack},
		{Method: "POST", Pattern: views.AudiencesPath + "/{id}/remove", Least: sms.Sender, Do: s.people.audienceRemove},
		{Method: "GET", Pattern: views.AudiencesPath + "/{id}/delete", Least: sms.Sender, Do: s.people.audienceDeleteForm},
		{Method: "POST", Pattern: views.AudiencesPath + "/{id}/delete", Least: sms.Sender, Do: s.people.audienceDelete},
		{Method: "GET", Pattern: views.USSDPath, Least: sms.Viewer, Do: s.ussd.Menus.List},
		{Method: "GET", Pattern: views.NewMenuPath, Least: sms.Manager, Do: s.ussd.Menus.NewForm},
		{Method: "POST", Pattern: views.NewMenuPath, Least: sms.Manager, Do: s.ussd.Menus.Create, Upload: true, Offers: true},
		{Method: "GET", Pattern: views.SimulatorPath, Least: sms.Sender, Do: s.ussd.Menus.Simulator},
		{Method: "POST", Pattern: views.SimulatorPath, Least: sms.Sender, Do: s.ussd.Menus.SimulatorPress},
		{Method: "GET", Pattern: views.SessionsPath, Least: sms.Viewer, Do: s.ussd.Callers.List},
		{Method: "GET", Pattern: views.SessionsPath + "/keep", Least: sms.Administrator, Do: s.ussd.Callers.Back},
		{Method: "POST", Pattern: views.SessionsPath + "/keep", Least: sms.Administrator, Do: s.ussd.Callers.Keep},
		{Method: "GET", Pattern: views.SessionsPath + "/{id}", Least: sms.Viewer, Do: s.ussd.Callers.Show},
		{Method: "GET", Pattern: views.USSDPath + "/joined.csv", Least: sms.Sender, Do: s.ussd.Callers.JoinedExport},
		{Method: "GET", Pattern: ussd.MenuPath + "", Least: sms.Viewer, Do: s.ussd.Menus.Edit},
		{Method: "GET", Pattern: ussd.MenuPath + "/order", Least: sms.Manager, Do: s.ussd.Menus.Back},
		{Method: "POST", Pattern: ussd.MenuPath + "/order", Least: sms.Manager, Do: s.ussd.Menus.Order},
		{Method: "GET", Pattern: ussd.MenuPath + "/screen", Least: sms.Manager, Do: s.ussd.Menus.ScreenForm},
		{Method: "POST", Pattern: ussd.MenuPath + "/screen", Least: sms.Manager, Do: s.ussd.Menus.ScreenSave, Upload: true, Offers: true},
		{Method: "GET", Pattern: ussd.MenuPath + "/screen/remove", Least: sms.Manager, Do: s.ussd.Menus.ScreenRemoveForm},
		{Method: "POST", Pattern: ussd.MenuPath + "/preview", Least: sms.Manager, Do: s.ussd.Menus.ScreenPreview},
		{Method: "GET", Pattern: ussd.MenuPath + "/settings", Least: sms.Manager, Do: s.ussd.Menus.Settings},
		{Method: "POST", Pattern: ussd.MenuPath + "/settings", Least: sms.Manager, Do: s.ussd.Menus.SettingsSave, Upload: true, Offers: true},
		{Method: "GET", Pattern: ussd.MenuPath + "/publish", Least: sms.Manager, Do: s.ussd.Menus.PublishForm},
		{Method: "POST", Pattern: ussd.MenuPath + "/publish", Least: sms.Manager, Do: s.ussd.Menus.Publish},
		{Method: "GET", Pattern: ussd.MenuPath + "/versions", Least: sms.Viewer, Do: s.ussd.Menus.Versions},
		{Method: "GET", Pattern: ussd.MenuPath + "/restore", Least: sms.Manager, Do: s.ussd.Menus.RestoreForm},
		{Method: "POST", Pattern: ussd.MenuPath + "/restore", Least: sms.Manager, Do: s.ussd.Menus.Restore},
		{Method: "GET", Pattern: ussd.MenuPath + "/withdraw", Least: sms.Manager, Do: s.ussd.Menus.Ask(false)},
		{Method: "POST", Pattern: ussd.MenuPath + "/withdraw", Least: sms.Manager, Do: s.ussd.Menus.End(false)},
		{Method: "GET", Pattern: ussd.MenuPath + "/delete", Least: sms.Manager, Do: s.ussd.Menus.Ask(true)},
		{Method: "POST", Pattern: ussd.MenuPath + "/delete", Least: sms.Manager, Do: s.ussd.Menus.End(true)},
		{Method: "GET", Pattern: ussd.MenuPath + "/answers", Least: sms.Viewer, Do: s.ussd.Callers.MenuAnswers},
		{Method: "GET", Pattern: ussd.MenuPath + "/answers.csv", Least: sms.Sender, Do: s.ussd.Callers.AnswersExport},
		{Method: "GET", Pattern: ussd.MenuPath + "/menu.json", Least: sms.Manager, Do: s.ussd.Menus.Export},
		{Method: "GET", Pattern: views.HelpPath, Least: sms.Viewer, Do: s.door.help},

		{Method: "GET", Pattern: static.Prefix + "*", Least: page.Outside, Plain: static.Handler()},
		{Method: "GET", Pattern: "/healthz", Least: page.Outside, Plain: http.HandlerFunc(s.probes.health)},
		{Method: "GET", Pattern: "/livez", Least: page.Outside, Plain: http.HandlerFunc(s.probes.alive)},
		{Method: "GET", Pattern: "/readyz", Least: page.Outside, Plain: http.HandlerFunc(s.probes.readiness)},
	}
	list = append(list, s.programTable()...)
	if callbacks != nil {
		list = append(list,
			page.Route{Pattern: "/dlr/*", Least: page.Outside, Plain: callbacks},
			page.Route{Pattern: "/ussd/*", Least: page.Outside, Plain: callbacks})
	}
	if s.dev {
		list = append(list, page.Route{Method: "GET", Pattern: "/styleguide", Least: sms.Viewer, Do: s.styleguide})
	}
	return list
}

// Routes answers every address there is. callbacks answers /dlr and /ussd, and
// is nil where those are on another listener.
func (s *Web) Routes(callbacks http.Handler) http.Handler { return s.router(callbacks) }

func (s *Web) router(callbacks http.Handler) *chi.Mux {
	m := chi.NewRouter()
	s.UseRoutes(m)
	m.Use(s.Recovered, page.Identified, s.Guarded, s.probes.watched, s.ClientIP, s.Logged, middleware.GetHead)
	nowhere := page.Route{Least: page.Anyone, Do: func(http.ResponseWriter, *http.Request, *page.Visit) error {
		return sms.ErrNotFound
	}}
	m.NotFound(splitAPI(s.apiNotFound, s.Page(nowhere)))
	m.MethodNotAllowed(splitAPI(func(w http.ResponseWriter, r *http.Request) {
		s.wrongMethodProgram(m, w, r)
	}, s.Page(page.Route{Least: page.Anyone, Do: s.methodNotAllowed(m)})))
	for _, rt := range s.table(callbacks) {
		h := rt.Plain
		switch {
		case rt.Program != nil:
			h = rt.Program
		case rt.Least != page.Outside || h == nil:
			h = s.Page(rt)
		}
		if rt.Method == "" {
			m.Handle(rt.Pattern, h)
			continue
		}
		m.Method(rt.Method, rt.Pattern, h)
	}
	return m
}

// splitAPI answers programs in one way and browsers in another.
func splitAPI(programs http.HandlerFunc, browsers http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if page.ForPrograms(r) {
			programs(w, r)
			return
		}
		browsers.ServeHTTP(w, r)
	}
}

func (s *Web) methodNotAllowed(m *chi.Mux) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
		if m.Match(chi.NewRouteContext(), http.MethodGet, r.URL.Path) {
			w.Header().Set("Allow", "GET, HEAD")
		}
		if m.Match(chi.NewRouteContext(), http.MethodPost, r.URL.Path) {
			w.Header().Add("Allow", "POST")
		}
		return s.ShowProblem(w, r, v, views.Problem{Status: http.StatusMethodNotAllowed,
			Title: "This page cannot be opened this way",
			Text:  "This link belongs to a form. Go back and reload the page.",
			Link:  views.Link{Text: "Go to the overview", Href: "/"}})
	}
}

func (s *Web) styleguide(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.Render(w, r, http.StatusOK, views.StyleGuide(v.Frame("Style guide", "")))
}

// programTable is every address for programs, and who may.
func (s *Web) programTable() []page.Route {
	of := func(method, pattern string, least sms.Role, stream bool, do api.Handler) page.Route {
		pattern = api.Path + pattern
		return page.Route{Method: method, Pattern: pattern, Least: least, Program: s.api.Handle(pattern, least, stream, do)}
	}
	kept, follow, drafts := s.api.Kept(), s.api.Follow(), s.api.Drafts()
	return []page.Route{
		{Method: "GET", Pattern: api.Path + "/openapi.yaml", Least: page.Outside, Plain: http.HandlerFunc(api.OpenAPI)},
		of("GET", "/campaigns", sms.Viewer, false, s.api.ListCampaigns),
		of("POST", "/campaigns", sms.Sender, true, s.api.Create),
		of("GET", "/campaigns/{id}", sms.Viewer, false, s.api.PublishImport),
		of("GET", "/campaigns/{id}/messages", sms.Viewer, false, s.api.ListMessages),
		of("POST", "/campaigns/{id}/send", sms.Sender, false, s.api.Send),
		of("POST", "/campaigns/{id}/test", sms.Sender, false, s.api.Test),
		of("POST", "/campaigns/{id}/stop", sms.Sender, false, s.api.Stop),
		of("POST", "/campaigns/{id}/continue", sms.Sender, false, s.api.Continue),
		of("POST", "/campaigns/{id}/cancel", sms.Sender, false, s.api.Cancel),
		of("POST", "/campaigns/{id}/reschedule", sms.Sender, false, drafts.Reschedule),
		of("POST", "/campaigns/{id}/unschedule", sms.Sender, false, drafts.Unschedule),
		of("POST", "/campaigns/{id}/again", sms.Sender, false, s.api.Again),
		of("POST", "/campaigns/{id}/rename", sms.Sender, false, drafts.Rename),
		of("POST", "/campaigns/{id}/include", sms.Sender, false, drafts.Include),
		of("POST", "/campaigns/{id}/approval/withdraw", sms.Sender, false, drafts.WithdrawApproval),
		of("GET", "/campaigns/{id}/doubt", sms.Viewer, false, follow.ListDoubts),
		of("POST", "/campaigns/{id}/doubt", sms.Manager, false, follow.Decide),
		of("POST", "/campaigns/{id}/doubt/drop", sms.Manager, false, follow.DropDecision),
		of("GET", "/reports", sms.Viewer, false, follow.ListReports),
		of("POST", "/reports/{id}/link", sms.Manager, false, follow.LinkReport),
		of("GET", "/reports/gaps", sms.Viewer, false, follow.ListGaps),
		of("POST", "/reports/gaps/ask", sms.Sender, false, follow.AskAboutGap),
		of("POST", "/reports/gaps/stop", sms.Sender, false, follow.StopAsking),
		of("POST", "/messages/search", sms.Viewer, false, follow.SearchMessages),
		of("GET", "/messages/{id}", sms.Viewer, false, s.api.ShowMessage),
		of("POST", "/messages/{id}/again", sms.Sender, false, follow.MessageAgain),
		of("POST", "/messages/{id}/ask", sms.Sender, false, follow.Ask),
		of("GET", "/balance", sms.Viewer, false, kept.Balance),
		of("GET", "/templates", sms.Viewer, false, kept.ListTemplates),
		of("PUT", "/templates/{id}", sms.Manager, false, kept.ChangeTemplate),
		of("DELETE", "/templates/{id}", sms.Manager, false, kept.DeleteTemplate),
		of("GET", "/template-drafts", sms.Viewer, false, kept.ListTemplateDrafts),
		of("POST", "/template-drafts", sms.Sender, false, kept.CreateTemplateDraft),
		of("PUT", "/template-drafts/{id}", sms.Sender, false, kept.ChangeTemplateDraft),
		of("DELETE", "/template-drafts/{id}", sms.Sender, false, kept.DeleteTemplateDraft),
		of("POST", "/template-drafts/{id}/create", sms.Manager, false, kept.CreateTemplate),
		of("GET", "/sender-ids", sms.Viewer, false, kept.ListSenderIDs),
		of("POST", "/sender-ids", sms.Manager, false, kept.CreateSenderID),
		of("PUT", "/sender-ids/{id}", sms.Manager, false, kept.ChangeSenderID),
		of("DELETE", "/sender-ids/{id}", sms.Manager, false, kept.DeleteSenderID),
		of("POST", "/sender-ids/{id}/default", sms.Manager, false, kept.ChooseDefaultSender),
		of("GET", "/groups", sms.Viewer, false, kept.ListGroups),
		of("POST", "/groups", sms.Manager, false, kept.CreateGroup),
		of("PUT", "/groups/{id}", sms.Manager, false, kept.RenameGroup),
		of("DELETE", "/groups/{id}", sms.Manager, false, kept.DeleteGroup),
		of("GET", "/contacts", sms.Viewer, false, kept.ListContacts),
		of("POST", "/contacts", sms.Sender, false, kept.CreateContact),
		of("POST", "/contacts/import", sms.Sender, true, kept.ImportContacts),
		of("PUT", "/contacts/{id}", sms.Sender, false, kept.ChangeContact),
		of("DELETE", "/contacts/{id}", sms.Sender, false, kept.DeleteContact),
		of("GET", "/audiences", sms.Viewer, false, kept.ListAudiences),
		of("POST", "/audiences", sms.Sender, false, kept.CreateAudience),
		of("PUT", "/audiences/{id}", sms.Sender, false, kept.ChangeAudience),
		of("DELETE", "/audiences/{id}", sms.Sender, false, kept.DeleteAudience),
		of("POST", "/audiences/{id}/add", sms.Sender, false, kept.ChangeMembers),
		of("POST", "/audiences/{id}/remove", sms.Sender, false, kept.ChangeMembers),
		of("GET", "/blocked", sms.Sender, false, kept.ListBlocked),
		of("POST", "/blocked", sms.Sender, false, kept.Block),
		of("POST", "/blocked/{id}/unblock", sms.Manager, false, kept.Unblock),
	}
}

// apiNotFound answers addresses for programs that do not exist.
func (s *Web) apiNotFound(w http.ResponseWriter, _ *http.Request) {
	s.Program(w, views.Problem{Status: http.StatusNotFound, Text: "Not found"})
}

// wrongMethodProgram answers methods that an address for programs does not take.
func (s *Web) wrongMethodProgram(m *chi.Mux, w http.ResponseWriter, r *http.Request) {
	for _, allowed := range []struct{ method, words string }{{http.MethodGet, "GET, HEAD"}, {http.MethodPost, "POST"},
		{http.MethodPut, "PUT"}, {http.MethodDelete, "DELETE"}} {
		if m.Match(chi.NewRouteContext(), allowed.method, r.URL.Path) {
			w.Header().Add("Allow", allowed.words)
		}
	}
	s.Program(w, views.Problem{Status: http.StatusMethodNotAllowed, Text: "Method not allowed"})
}

// programs tells a program of a problem that belongs to no address of its own.
func programs(log *slog.Logger) func(http.ResponseWriter, views.Problem) {
	return func(w http.ResponseWriter, v views.Problem) {
		api.Tell(w, log, v.Status, v.Text, v.Reference)
	}
}
