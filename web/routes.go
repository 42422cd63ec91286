package web

import (
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"smsdesk/internal/sms"
	"smsdesk/static"
	"smsdesk/views"
)

// table is every address there is, and who may. callbacks may be nil.
func (s *Web) table(callbacks http.Handler) []route {
	list := []route{
		{method: "GET", pattern: "/", least: sms.Viewer, do: s.overviews.overview},
		{method: "GET", pattern: views.SignInPath, least: anyone, do: s.door.signinForm},
		{method: "POST", pattern: views.SignInPath, least: anyone, do: s.door.signin},
		{method: "POST", pattern: "/signout", least: anyone, do: s.door.signout},
		{method: "GET", pattern: views.SetupPath, least: anyone, do: s.door.setupForm},
		{method: "POST", pattern: views.SetupPath, least: anyone, do: s.door.setup},
		{method: "GET", pattern: views.SetupTasksPath, least: sms.Administrator, do: s.accounts.setupTasks},
		{method: "GET", pattern: "/invite/{token}", least: anyone, do: s.door.inviteForm},
		{method: "POST", pattern: "/invite/{token}", least: anyone, do: s.door.inviteAccept},
		{method: "GET", pattern: stopPath, least: anyone, do: s.optouts.stopForm},
		{method: "POST", pattern: stopPath, least: anyone, do: s.optouts.stop},

		{method: "GET", pattern: views.MePath, least: sms.Viewer, do: s.door.me},
		{method: "POST", pattern: views.MePath + "/name", least: sms.Viewer, do: s.door.meName},
		{method: "POST", pattern: views.MePath + "/password", least: sms.Viewer, do: s.door.mePassword},
		{method: "POST", pattern: views.MePath + "/sessions/end", least: sms.Viewer, do: s.door.meSignOutEverywhere},
		{method: "POST", pattern: "/account", least: sms.Viewer, do: s.accounts.accountChoose},
		{method: "POST", pattern: "/theme", least: anyone, do: s.door.themeChoose},
		{method: "GET", pattern: views.SidePath, least: sms.Viewer, do: s.side, shared: byPerson},
		{method: "GET", pattern: views.LivePath, least: sms.Viewer, do: s.live},

		{method: "GET", pattern: views.AccountsPath, least: sms.Administrator, do: s.accounts.accountList},
		{method: "POST", pattern: views.AccountsPath, least: sms.Administrator, do: s.accounts.accountCreate},
		{method: "GET", pattern: views.AccountsPath + "/new", least: sms.Administrator, do: s.accounts.accountNew},
		{method: "GET", pattern: views.AccountsPath + "/{id}", least: sms.Administrator, do: s.accounts.accountForm},
		{method: "POST", pattern: views.AccountsPath + "/{id}", least: sms.Administrator, do: s.accounts.accountSave},
		{method: "POST", pattern: views.AccountsPath + "/{id}/sending", least: sms.Administrator, do: s.accounts.sendingSave},
		{method: "POST", pattern: views.AccountsPath + "/{id}/resume", least: sms.Administrator, do: s.accounts.accountResume},
		{method: "POST", pattern: views.AccountsPath + "/{id}/refresh", least: sms.Administrator, do: s.accounts.accountRefresh},
		{method: "POST", pattern: views.AccountsPath + "/{id}/records", least: sms.Administrator, do: s.records.recordSettingsSave},
		{method: "GET", pattern: views.CallbacksPath, least: sms.Administrator, do: s.endpoints.callbackList},
		{method: "GET", pattern: views.CallbacksPath + "/last", least: sms.Administrator, do: s.endpoints.callbackLast},
		{method: "GET", pattern: views.CallbacksPath + "/rotate", least: sms.Administrator, do: s.endpoints.callbackRotateForm},
		{method: "POST", pattern: views.CallbacksPath + "/rotate", least: sms.Administrator, do: s.endpoints.callbackRotate},
		{method: "GET", pattern: views.BlockedPath, least: sms.Sender, do: s.blocks.blockedList},
		{method: "POST", pattern: views.BlockedPath, least: sms.Sender, do: s.blocks.blockedAdd, upload: true},
		{method: "GET", pattern: views.BlockedPath + "/search", least: sms.Sender, do: s.blocks.blockedSearchBack},
		{method: "POST", pattern: views.BlockedPath + "/search", least: sms.Sender, do: s.blocks.blockedSearch},
		{method: "GET", pattern: views.BlockedPath + "/{id}/unblock", least: sms.Manager, do: s.blocks.unblockForm},
		{method: "POST", pattern: views.BlockedPath + "/{id}/unblock", least: sms.Manager, do: s.blocks.unblock},
		{method: "GET", pattern: views.TokensPath, least: sms.Viewer, do: s.tokens.tokenList},
		{method: "POST", pattern: views.TokensPath, least: sms.Viewer, do: s.tokens.tokenCreate},
		{method: "GET", pattern: views.TokensPath + "/{id}/revoke", least: sms.Viewer, do: s.tokens.tokenRevokeForm},
		{method: "POST", pattern: views.TokensPath + "/{id}/revoke", least: sms.Viewer, do: s.tokens.tokenRevoke},
		{method: "GET", pattern: views.RetentionPath, least: sms.Administrator, do: s.retentions.retentionForm},
		{method: "POST", pattern: views.RetentionPath, least: sms.Administrator, do: s.retentions.retentionSave},
		{method: "GET", pattern: views.BackupPath, least: sms.Administrator, do: s.backups.backupShow},
		{method: "POST", pattern: views.BackupPath, least: sms.Administrator, do: s.backups.backupMake},
		{method: "GET", pattern: views.JournalPath, least: sms.Administrator, do: s.journals.journalShow},
		{method: "POST", pattern: views.JournalPath, least: sms.Administrator, do: s.journals.journalAccept},
		{method: "GET", pattern: views.JournalPath + "/close", least: sms.Administrator, do: backTo(views.JournalPath)},
		{method: "POST", pattern: views.JournalPath + "/close", least: sms.Administrator, do: s.journals.journalClose},
		{method: "GET", pattern: views.JournalPath + "/forget", least: sms.Administrator, do: s.journals.journalForgetForm},
		{method: "POST", pattern: views.JournalPath + "/forget", least: sms.Administrator, do: s.journals.journalForget},
		{method: "GET", pattern: views.TeamPath, least: sms.Administrator, do: s.staff.userList},
		{method: "POST", pattern: views.TeamPath, least: sms.Administrator, do: s.staff.userInvite},
		{method: "GET", pattern: views.TeamPath + "/{id}", least: sms.Administrator, do: s.staff.userForm},
		{method: "POST", pattern: views.TeamPath + "/{id}", least: sms.Administrator, do: s.staff.userSave},

		{method: "GET", pattern: views.NewPath, least: sms.Sender, do: s.drafts.composeForm},
		{method: "POST", pattern: views.NewPath, least: sms.Sender, do: s.drafts.composeCheck, keeps: views.NewPath},
		{method: "GET", pattern: views.NewTemplatePath, least: sms.Sender, do: s.drafts.composeBack},
		{method: "POST", pattern: views.NewTemplatePath, least: sms.Sender, do: s.drafts.composeTemplate, keeps: views.NewPath},
		{method: "POST", pattern: views.NewPath + "/parts", least: anyone, do: s.drafts.composeParts},
		{method: "POST", pattern: views.NewPath + "/numbers", least: anyone, do: s.drafts.composeNumbers},
		{method: "GET", pattern: views.UploadPath, least: sms.Sender, do: s.uploads.uploadForm},
		{method: "POST", pattern: views.UploadPath, least: sms.Sender, do: s.uploads.upload, stream: true},
		{method: "GET", pattern: views.UploadPath + "/example.xlsx", least: sms.Sender, do: s.uploads.uploadExample("xlsx")},
		{method: "GET", pattern: views.UploadPath + "/example.csv", least: sms.Sender, do: s.uploads.uploadExample("csv")},
		{method: "GET", pattern: listMessagePath, least: sms.Sender, do: s.uploads.listMessageForm},
		{method: "POST", pattern: listMessagePath, least: sms.Sender, do: s.uploads.listMessage, keeps: listMessagePath},
		{method: "POST", pattern: listsPath + "/preview", least: anyone, do: s.uploads.listPreview},
		{method: "GET", pattern: listsPath + "/check", least: sms.Sender, do: s.uploads.listCheck},
		{method: "GET", pattern: listsPath + "/make", least: sms.Sender, do: s.uploads.listBack},
		{method: "POST", pattern: listsPath + "/make", least: sms.Sender, do: s.uploads.listMake},
		{method: "GET", pattern: listsPath + "/hidden", least: sms.Sender, do: s.uploads.listBack},
		{method: "POST", pattern: listsPath + "/hidden", least: sms.Sender, do: s.uploads.listHidden},
		{method: "GET", pattern: listsPath + "/rejected.xlsx", least: sms.Sender, do: s.uploads.rejected("xlsx")},
		{method: "GET", pattern: listsPath + "/rejected.csv", least: sms.Sender, do: s.uploads.rejected("csv")},
		{method: "GET", pattern: listsPath + "/delete", least: sms.Sender, do: s.uploads.listDeleteForm},
		{method: "POST", pattern: listsPath + "/delete", least: sms.Sender, do: s.uploads.listDelete},
		{method: "GET", pattern: views.CampaignsPath, least: sms.Viewer, do: s.campaigns.campaignList, shared: byRole},
		{method: "GET", pattern: views.CampaignsPath + "/{id}", least: sms.Viewer, do: s.campaigns.campaignShow, shared: byRole},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/confirm", least: sms.Sender, do: s.confirms.confirmForm},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/start", least: sms.Sender, do: s.confirms.confirmBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/start", least: sms.Sender, do: s.confirms.campaignStart},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/when", least: anyone, do: s.confirms.confirmWhen},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/test", least: sms.Sender, do: s.confirms.confirmBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/test", least: sms.Sender, do: s.confirms.sendTest},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/include", least: sms.Sender, do: s.confirms.confirmBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/include", least: sms.Sender, do: s.confirms.campaignInclude},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/name", least: sms.Sender, do: s.confirms.confirmBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/name", least: sms.Sender, do: s.confirms.campaignName},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/schedule", least: sms.Sender, do: s.confirms.scheduleForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/schedule", least: sms.Sender, do: s.confirms.scheduleSave},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/cancel", least: sms.Sender, do: s.confirms.scheduleCancelForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/cancel", least: sms.Sender, do: s.confirms.scheduleCancel},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/approval", least: sms.Sender, do: s.confirms.approvalShow},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/approval", least: sms.Approver, do: s.confirms.approvalGive},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/approval/return", least: sms.Approver, do: s.confirms.approvalBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/approval/return", least: sms.Approver, do: s.confirms.approvalReturn},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/approval/take-back", least: sms.Sender, do: s.confirms.approvalBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/approval/take-back", least: sms.Sender, do: s.confirms.approvalTakeBack},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/stop", least: sms.Sender, do: s.campaigns.campaignStopForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/stop", least: sms.Sender, do: s.campaigns.campaignStop},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/give-up", least: sms.Sender, do: s.campaigns.campaignGiveUpForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/give-up", least: sms.Sender, do: s.campaigns.campaignGiveUp},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/continue", least: sms.Sender, do: s.campaigns.campaignContinueForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/continue", least: sms.Sender, do: s.campaigns.campaignContinue},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/resume", least: sms.Manager, do: s.campaigns.campaignBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/resume", least: sms.Manager, do: s.campaigns.campaignResume},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/doubt", least: sms.Viewer, do: s.doubts.doubtShow},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/doubt", least: sms.Manager, do: s.doubts.doubtSave},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/doubt/agree", least: sms.Manager, do: s.doubts.doubtBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/doubt/agree", least: sms.Manager, do: s.doubts.doubtAgree},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/doubt/drop", least: sms.Manager, do: s.doubts.doubtBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/doubt/drop", least: sms.Manager, do: s.doubts.doubtDrop},
		{method: "GET", pattern: views.ReportsPath, least: sms.Viewer, do: s.reports.reportList, shared: byRole},
		{method: "GET", pattern: views.ReportsPath + "/export.csv", least: sms.Sender, do: s.reports.reportExport},
		{method: "GET", pattern: views.ReportsPath + "/{id}/link", least: sms.Manager, do: s.reports.reportBack},
		{method: "POST", pattern: views.ReportsPath + "/{id}/link", least: sms.Manager, do: s.reports.reportLink},
		{method: "GET", pattern: views.ReportsPath + "/gap", least: sms.Sender, do: s.reports.reportBack},
		{method: "POST", pattern: views.ReportsPath + "/gap", least: sms.Sender, do: s.reports.gapAsk},
		{method: "GET", pattern: views.ReportsPath + "/gap/stop", least: sms.Sender, do: s.reports.reportBack},
		{method: "POST", pattern: views.ReportsPath + "/gap/stop", least: sms.Sender, do: s.reports.gapStop},
		{method: "GET", pattern: views.MessagesPath, least: sms.Viewer, do: s.messages.messageList},
		{method: "GET", pattern: views.MessagesPath + "/search", least: sms.Viewer, do: s.messages.messageSearchBack},
		{method: "POST", pattern: views.MessagesPath + "/search", least: sms.Viewer, do: s.messages.messageSearch},
		{method: "GET", pattern: views.MessagesPath + "/{id}", least: sms.Viewer, do: s.messages.messageShow},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/again", least: sms.Sender, do: s.campaigns.againForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/again", least: sms.Sender, do: s.campaigns.againMake},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/breakdown", least: sms.Viewer, do: s.campaigns.campaignBreakdown, shared: byRole},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/find", least: sms.Viewer, do: s.campaigns.campaignBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/find", least: sms.Viewer, do: s.campaigns.campaignFind},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/messages.csv", least: sms.Sender, do: s.downloads.campaignDownload("csv", writeCSV, kindCSV)},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/messages.xlsx", least: sms.Sender, do: s.downloads.campaignDownload("xlsx", writeXLSX, kindXLSX)},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/evidence.zip", least: sms.Manager, do: s.downloads.campaignEvidence},
		{method: "GET", pattern: views.MessagesPath + "/{id}/ask", least: sms.Sender, do: s.messages.messageBack},
		{method: "POST", pattern: views.MessagesPath + "/{id}/ask", least: sms.Sender, do: s.messages.messageAsk},
		{method: "GET", pattern: views.MessagesPath + "/{id}/again", least: sms.Sender, do: s.messages.messageAgainForm},
		{method: "POST", pattern: views.MessagesPath + "/{id}/again", least: sms.Sender, do: s.messages.messageAgain},
		{method: "GET", pattern: views.MessagesPath + "/{id}/block", least: sms.Sender, do: s.messages.messageBlockForm},
		{method: "POST", pattern: views.MessagesPath + "/{id}/block", least: sms.Sender, do: s.messages.messageBlock},
		{method: "GET", pattern: views.TemplatesPath, least: sms.Viewer, do: s.records.templateList},
		{method: "GET", pattern: views.TemplatesPath + "/refresh", least: sms.Sender, do: backTo(views.TemplatesPath)},
		{method: "POST", pattern: views.TemplatesPath + "/refresh", least: sms.Sender, do: s.records.refreshRecords(sms.RecordTemplates, views.TemplatesPath)},
		{method: "GET", pattern: views.TemplatesPath + "/new", least: sms.Sender, do: s.records.draftForm},
		{method: "POST", pattern: views.TemplatesPath + "/new", least: sms.Sender, do: s.records.draftSave},
		{method: "GET", pattern: views.TemplatesPath + "/drafts/{id}", least: sms.Sender, do: s.records.draftForm},
		{method: "POST", pattern: views.TemplatesPath + "/drafts/{id}", least: sms.Sender, do: s.records.draftSave},
		{method: "GET", pattern: views.TemplatesPath + "/drafts/{id}/delete", least: sms.Sender, do: s.records.draftDeleteForm},
		{method: "POST", pattern: views.TemplatesPath + "/drafts/{id}/delete", least: sms.Sender, do: s.records.draftDelete},
		{method: "GET", pattern: views.TemplatesPath + "/drafts/{id}/create", least: sms.Manager, do: s.records.draftBack},
		{method: "POST", pattern: views.TemplatesPath + "/drafts/{id}/create", least: sms.Manager, do: s.records.draftCreate},
		{method: "GET", pattern: views.TemplatesPath + "/{id}", least: sms.Viewer, do: s.records.templateShow},
		{method: "GET", pattern: views.TemplatesPath + "/{id}/edit", least: sms.Manager, do: s.records.templateForm},
		{method: "POST", pattern: views.TemplatesPath + "/{id}/edit", least: sms.Manager, do: s.records.templateSave},
		{method: "GET", pattern: views.TemplatesPath + "/{id}/delete", least: sms.Manager, do: s.records.templateDeleteForm},
		{method: "POST", pattern: views.TemplatesPath + "/{id}/delete", least: sms.Manager, do: s.records.templateDelete},
		{method: "GET", pattern: views.SendersPath, least: sms.Viewer, do: s.records.senderList},
		{method: "POST", pattern: views.SendersPath, least: sms.Manager, do: s.records.senderCreate},
		{method: "GET", pattern: views.SendersPath + "/refresh", least: sms.Sender, do: backTo(views.SendersPath)},
		{method: "POST", pattern: views.SendersPath + "/refresh", least: sms.Sender, do: s.records.refreshRecords(sms.RecordSenders, views.SendersPath)},
		{method: "GET", pattern: views.SendersPath + "/{id}", least: sms.Manager, do: s.records.senderForm},
		{method: "POST", pattern: views.SendersPath + "/{id}", least: sms.Manager, do: s.records.senderSave},
		{method: "GET", pattern: views.SendersPath + "/{id}/delete", least: sms.Manager, do: s.records.senderDeleteForm},
		{method: "POST", pattern: views.SendersPath + "/{id}/delete", least: sms.Manager, do: s.records.senderDelete},
		{method: "GET", pattern: views.SendersPath + "/{id}/default", least: sms.Manager, do: backTo(views.SendersPath)},
		{method: "POST", pattern: views.SendersPath + "/{id}/default", least: sms.Manager, do: s.records.senderDefault},
		{method: "GET", pattern: views.GroupsPath, least: sms.Viewer, do: s.records.groupList},
		{method: "GET", pattern: views.GroupsPath + "/refresh", least: sms.Sender, do: backTo(views.GroupsPath)},
		{method: "POST", pattern: views.GroupsPath + "/refresh", least: sms.Sender, do: s.records.refreshRecords(sms.RecordGroups, views.GroupsPath)},
		{method: "GET", pattern: views.GroupsPath + "/new", least: sms.Manager, do: s.records.groupNew},
		{method: "POST", pattern: views.GroupsPath + "/new", least: sms.Manager, do: s.records.groupCreate},
		{method: "GET", pattern: views.GroupsPath + "/{id}", least: sms.Manager, do: s.records.groupForm},
		{method: "POST", pattern: views.GroupsPath + "/{id}", least: sms.Manager, do: s.records.groupSave},
		{method: "GET", pattern: views.GroupsPath + "/{id}/sub", least: sms.Manager, do: s.records.groupNew},
		{method: "POST", pattern: views.GroupsPath + "/{id}/sub", least: sms.Manager, do: s.records.groupCreate},
		{method: "GET", pattern: views.GroupsPath + "/{id}/delete", least: sms.Manager, do: s.records.groupDeleteForm},
		{method: "POST", pattern: views.GroupsPath + "/{id}/delete", least: sms.Manager, do: s.records.groupDelete},
		{method: "GET", pattern: views.BalancePath, least: sms.Viewer, do: s.balances.balanceShow, shared: byRole},
		{method: "GET", pattern: views.BalancePath + "/usage.csv", least: sms.Sender, do: s.balances.usageDownload},
		{method: "GET", pattern: views.BalancePath + "/refresh", least: sms.Sender, do: backTo(views.BalancePath)},
		{method: "POST", pattern: views.BalancePath + "/refresh", least: sms.Sender, do: s.records.refreshRecords(sms.RecordBalance, views.BalancePath)},
		{method: "GET", pattern: views.BalancePath + "/limits", least: sms.Administrator, do: backTo(views.BalancePath)},
		{method: "POST", pattern: views.BalancePath + "/limits", least: sms.Administrator, do: s.balances.balanceLimits},
		{method: "GET", pattern: views.BalancePath + "/seen", least: sms.Manager, do: backTo(views.BalancePath)},
		{method: "POST", pattern: views.BalancePath + "/seen", least: sms.Manager, do: s.balances.balanceSeen},
		{method: "GET", pattern: views.BalancePath + "/xml", least: sms.Administrator, do: backTo(views.BalancePath)},
		{method: "POST", pattern: views.BalancePath + "/xml", least: sms.Administrator, do: s.balances.balanceXML},
		{method: "GET", pattern: views.ContactsPath, least: sms.Viewer, do: s.people.contactList},
		{method: "GET", pattern: views.ContactsPath + "/search", least: sms.Viewer, do: s.people.contactBack},
		{method: "POST", pattern: views.ContactsPath + "/search", least: sms.Viewer, do: s.people.contactSearch},
		{method: "GET", pattern: views.ContactsPath + "/pick", least: sms.Sender, do: s.people.contactBack},
		{method: "POST", pattern: views.ContactsPath + "/pick", least: sms.Sender, do: s.people.contactPick},
		{method: "GET", pattern: views.ContactsPath + "/new", least: sms.Sender, do: s.people.contactNew},
		{method: "POST", pattern: views.ContactsPath + "/new", least: sms.Sender, do: s.people.contactCreate},
		{method: "GET", pattern: views.ContactsPath + "/{id}", least: sms.Viewer, do: s.people.contactShow},
		{method: "GET", pattern: views.ContactsPath + "/{id}/edit", least: sms.Sender, do: s.people.contactForm},
		{method: "POST", pattern: views.ContactsPath + "/{id}/edit", least: sms.Sender, do: s.people.contactSave},
		{method: "GET", pattern: views.ContactsPath + "/{id}/delete", least: sms.Sender, do: s.people.contactDeleteForm},
		{method: "POST", pattern: views.ContactsPath + "/{id}/delete", least: sms.Sender, do: s.people.contactDelete},
		{method: "GET", pattern: views.ImportPath, least: sms.Sender, do: s.uploads.importForm},
		{method: "POST", pattern: views.ImportPath, least: sms.Sender, do: s.uploads.uploadContacts, stream: true},
		{method: "GET", pattern: importList, least: sms.Sender, do: s.uploads.importColumns},
		{method: "POST", pattern: importList, least: sms.Sender, do: s.uploads.importCheck},
		{method: "GET", pattern: views.AudiencesPath, least: sms.Viewer, do: s.people.audienceList},
		{method: "GET", pattern: views.AudiencesPath + "/new", least: sms.Sender, do: s.people.audienceShow},
		{method: "POST", pattern: views.AudiencesPath + "/new", least: sms.Sender, do: s.people.audienceSave},
		{method: "GET", pattern: views.AudiencesPath + "/{id}", least: sms.Viewer, do: s.people.audienceShow},
		{method: "POST", pattern: views.AudiencesPath + "/{id}", least: sms.Sender, do: s.people.audienceSave},
		{method: "GET", pattern: views.AudiencesPath + "/{id}/send", least: sms.Sender, do: s.people.audienceBack},
		{method: "POST", pattern: views.AudiencesPath + "/{id}/send", least: sms.Sender, do: s.people.audienceSend},
		{method: "GET", pattern: views.AudiencesPath + "/{id}/remove", least: sms.Sender, do: s.people.audienceBack},
		{method: "POST", pattern: views.AudiencesPath + "/{id}/remove", least: sms.Sender, do: s.people.audienceRemove},
		{method: "GET", pattern: views.AudiencesPath + "/{id}/delete", least: sms.Sender, do: s.people.audienceDeleteForm},
		{method: "POST", pattern: views.AudiencesPath + "/{id}/delete", least: sms.Sender, do: s.people.audienceDelete},
		{method: "GET", pattern: views.USSDPath, least: sms.Viewer, do: s.menus.menuList},
		{method: "GET", pattern: views.NewMenuPath, least: sms.Manager, do: s.menus.menuNew},
		{method: "POST", pattern: views.NewMenuPath, least: sms.Manager, do: s.menus.menuCreate, upload: true},
		{method: "GET", pattern: views.SimulatorPath, least: sms.Sender, do: s.menus.simulator},
		{method: "POST", pattern: views.SimulatorPath, least: sms.Sender, do: s.menus.simulatorPress},
		{method: "GET", pattern: views.SessionsPath, least: sms.Viewer, do: s.callers.sessionList},
		{method: "GET", pattern: views.SessionsPath + "/keep", least: sms.Administrator, do: s.callers.sessionBack},
		{method: "POST", pattern: views.SessionsPath + "/keep", least: sms.Administrator, do: s.callers.sessionKeep},
		{method: "GET", pattern: views.SessionsPath + "/{id}", least: sms.Viewer, do: s.callers.sessionShow},
		{method: "GET", pattern: views.USSDPath + "/joined.csv", least: sms.Sender, do: s.callers.joinedExport},
		{method: "GET", pattern: menuPath + "", least: sms.Viewer, do: s.menus.menuEdit},
		{method: "GET", pattern: menuPath + "/order", least: sms.Manager, do: s.menus.menuBack},
		{method: "POST", pattern: menuPath + "/order", least: sms.Manager, do: s.menus.menuOrder},
		{method: "GET", pattern: menuPath + "/screen", least: sms.Manager, do: s.menus.screenForm},
		{method: "POST", pattern: menuPath + "/screen", least: sms.Manager, do: s.menus.screenSave, upload: true},
		{method: "GET", pattern: menuPath + "/screen/remove", least: sms.Manager, do: s.menus.screenRemoveForm},
		{method: "POST", pattern: menuPath + "/preview", least: sms.Manager, do: s.menus.screenPreview},
		{method: "GET", pattern: menuPath + "/settings", least: sms.Manager, do: s.menus.menuSettings},
		{method: "POST", pattern: menuPath + "/settings", least: sms.Manager, do: s.menus.menuSettingsSave, upload: true},
		{method: "GET", pattern: menuPath + "/publish", least: sms.Manager, do: s.menus.menuPublishForm},
		{method: "POST", pattern: menuPath + "/publish", least: sms.Manager, do: s.menus.menuPublish},
		{method: "GET", pattern: menuPath + "/versions", least: sms.Viewer, do: s.menus.menuVersions},
		{method: "GET", pattern: menuPath + "/restore", least: sms.Manager, do: s.menus.menuRestoreForm},
		{method: "POST", pattern: menuPath + "/restore", least: sms.Manager, do: s.menus.menuRestore},
		{method: "GET", pattern: menuPath + "/withdraw", least: sms.Manager, do: s.menus.menuAsk(false)},
		{method: "POST", pattern: menuPath + "/withdraw", least: sms.Manager, do: s.menus.menuEnd(false)},
		{method: "GET", pattern: menuPath + "/delete", least: sms.Manager, do: s.menus.menuAsk(true)},
		{method: "POST", pattern: menuPath + "/delete", least: sms.Manager, do: s.menus.menuEnd(true)},
		{method: "GET", pattern: menuPath + "/answers", least: sms.Viewer, do: s.callers.menuAnswers},
		{method: "GET", pattern: menuPath + "/answers.csv", least: sms.Sender, do: s.callers.answersExport},
		{method: "GET", pattern: menuPath + "/menu.json", least: sms.Manager, do: s.menus.menuExport},
		{method: "GET", pattern: views.HelpPath, least: sms.Viewer, do: s.door.help},

		{method: "GET", pattern: static.Prefix + "*", least: outside, plain: static.Handler()},
		{method: "GET", pattern: "/healthz", least: outside, plain: http.HandlerFunc(s.probes.health)},
		{method: "GET", pattern: "/livez", least: outside, plain: http.HandlerFunc(s.probes.alive)},
		{method: "GET", pattern: "/readyz", least: outside, plain: http.HandlerFunc(s.probes.readiness)},
	}
	list = append(list, s.programTable()...)
	if callbacks != nil {
		list = append(list,
			route{pattern: "/dlr/*", least: outside, plain: callbacks},
			route{pattern: "/ussd/*", least: outside, plain: callbacks})
	}
	if s.dev {
		list = append(list, route{method: "GET", pattern: "/styleguide", least: sms.Viewer, do: s.styleguide})
	}
	return list
}

// Routes answers every address there is. callbacks answers /dlr and /ussd, and
// is nil where those are on another listener.
func (s *Web) Routes(callbacks http.Handler) http.Handler { return s.router(callbacks) }

func (s *Web) router(callbacks http.Handler) *chi.Mux {
	m := chi.NewRouter()
	s.useRoutes(m)
	m.Use(s.recovered, identified, s.guarded, s.probes.watched, s.clientIP, s.logged, middleware.GetHead)
	nowhere := route{least: anyone, do: func(http.ResponseWriter, *http.Request, *visit) error { return sms.ErrNotFound }}
	m.NotFound(apart(s.nowhereProgram, s.page(nowhere)))
	m.MethodNotAllowed(apart(func(w http.ResponseWriter, r *http.Request) { s.wrongMethodProgram(m, w, r) }, s.page(route{least: anyone, do: s.wrongMethod(m)})))
	for _, rt := range s.table(callbacks) {
		h := rt.plain
		switch {
		case rt.program != nil:
			h = rt.program
		case rt.least != outside || h == nil:
			h = s.page(rt)
		}
		if rt.method == "" {
			m.Handle(rt.pattern, h)
			continue
		}
		m.Method(rt.method, rt.pattern, h)
	}
	return m
}

// apart answers programs in one way and browsers in another.
func apart(programs http.HandlerFunc, browsers http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if forPrograms(r) {
			programs(w, r)
			return
		}
		browsers.ServeHTTP(w, r)
	}
}

func (s *Web) wrongMethod(m *chi.Mux) handler {
	return func(w http.ResponseWriter, r *http.Request, v *visit) error {
		if m.Match(chi.NewRouteContext(), http.MethodGet, r.URL.Path) {
			w.Header().Set("Allow", "GET, HEAD")
		}
		if m.Match(chi.NewRouteContext(), http.MethodPost, r.URL.Path) {
			w.Header().Add("Allow", "POST")
		}
		s.showProblem(w, r, v, views.Problem{Status: http.StatusMethodNotAllowed, Title: "This address does not work that way",
			Text: "It may be part of a form. Go back and load the page again.", Link: views.Link{Text: "Go to the overview", Href: "/"}})
		return nil
	}
}

func (s *Web) styleguide(w http.ResponseWriter, r *http.Request, v *visit) error {
	return s.render(w, r, http.StatusOK, views.StyleGuide(v.frame("Style guide", "")))
}

// programTable is every address for programs, and who may.
func (s *Web) programTable() []route {
	of := func(method, pattern string, least sms.Role, stream bool, do programHandler) route {
		pattern = apiPath + pattern
		return route{method: method, pattern: pattern, least: least, program: s.api.handleProgram(pattern, least, stream, do)}
	}
	return []route{
		{method: "GET", pattern: apiPath + "/openapi.yaml", least: outside, plain: http.HandlerFunc(openAPI)},
		of("GET", "/campaigns", sms.Viewer, false, s.api.apiCampaignList),
		of("POST", "/campaigns", sms.Sender, true, s.api.apiCreate),
		of("GET", "/campaigns/{id}", sms.Viewer, false, s.api.apiCampaign),
		of("GET", "/campaigns/{id}/messages", sms.Viewer, false, s.api.apiMessageList),
		of("POST", "/campaigns/{id}/send", sms.Sender, false, s.api.apiSend),
		of("POST", "/campaigns/{id}/stop", sms.Sender, false, s.api.apiStop),
		of("POST", "/campaigns/{id}/continue", sms.Sender, false, s.api.apiContinue),
		of("POST", "/campaigns/{id}/cancel", sms.Sender, false, s.api.apiCancel),
		of("GET", "/messages/{id}", sms.Viewer, false, s.api.apiMessage),
	}
}

// nowhereProgram answers addresses for programs that do not exist.
func (s *Web) nowhereProgram(w http.ResponseWriter, _ *http.Request) {
	s.program(w, views.Problem{Status: http.StatusNotFound, Text: "There is nothing at this address"})
}

// wrongMethodProgram answers methods that an address for programs does not take.
func (s *Web) wrongMethodProgram(m *chi.Mux, w http.ResponseWriter, r *http.Request) {
	for _, allowed := range []struct{ method, words string }{{http.MethodGet, "GET, HEAD"}, {http.MethodPost, "POST"}} {
		if m.Match(chi.NewRouteContext(), allowed.method, r.URL.Path) {
			w.Header().Add("Allow", allowed.words)
		}
	}
	s.program(w, views.Problem{Status: http.StatusMethodNotAllowed, Text: "This address does not take this method"})
}

// programs tells a program of a problem that belongs to no address of its own.
func programs(log *slog.Logger) func(http.ResponseWriter, views.Problem) {
	return func(w http.ResponseWriter, v views.Problem) {
		p := newProblem(v.Status, v.Text)
		p.Instance = v.Reference
		writeProblem(w, log, p)
	}
}
