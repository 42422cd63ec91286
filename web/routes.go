package web

import (
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
		{method: "GET", pattern: "/", least: sms.Viewer, do: s.overview},
		{method: "GET", pattern: views.SignInPath, least: anyone, do: s.signinForm},
		{method: "POST", pattern: views.SignInPath, least: anyone, do: s.signin},
		{method: "POST", pattern: "/signout", least: anyone, do: s.signout},
		{method: "GET", pattern: views.SetupPath, least: anyone, do: s.setupForm},
		{method: "POST", pattern: views.SetupPath, least: anyone, do: s.setup},
		{method: "GET", pattern: views.SetupTasksPath, least: sms.Administrator, do: s.setupTasks},
		{method: "GET", pattern: "/invite/{token}", least: anyone, do: s.inviteForm},
		{method: "POST", pattern: "/invite/{token}", least: anyone, do: s.inviteAccept},
		{method: "GET", pattern: stopPath, least: anyone, do: s.stopForm},
		{method: "POST", pattern: stopPath, least: anyone, do: s.stop},

		{method: "GET", pattern: views.MePath, least: sms.Viewer, do: s.me},
		{method: "POST", pattern: views.MePath + "/name", least: sms.Viewer, do: s.meName},
		{method: "POST", pattern: views.MePath + "/password", least: sms.Viewer, do: s.mePassword},
		{method: "POST", pattern: views.MePath + "/sessions/end", least: sms.Viewer, do: s.meSignOutEverywhere},
		{method: "POST", pattern: "/account", least: sms.Viewer, do: s.accountChoose},
		{method: "POST", pattern: "/theme", least: anyone, do: s.themeChoose},
		{method: "GET", pattern: views.SidePath, least: sms.Viewer, do: s.side, shared: byPerson},
		{method: "GET", pattern: views.LivePath, least: sms.Viewer, do: s.live},

		{method: "GET", pattern: views.AccountsPath, least: sms.Administrator, do: s.accountList},
		{method: "POST", pattern: views.AccountsPath, least: sms.Administrator, do: s.accountCreate},
		{method: "GET", pattern: views.AccountsPath + "/new", least: sms.Administrator, do: s.accountNew},
		{method: "GET", pattern: views.AccountsPath + "/{id}", least: sms.Administrator, do: s.accountForm},
		{method: "POST", pattern: views.AccountsPath + "/{id}", least: sms.Administrator, do: s.accountSave},
		{method: "POST", pattern: views.AccountsPath + "/{id}/sending", least: sms.Administrator, do: s.sendingSave},
		{method: "POST", pattern: views.AccountsPath + "/{id}/resume", least: sms.Administrator, do: s.accountResume},
		{method: "POST", pattern: views.AccountsPath + "/{id}/refresh", least: sms.Administrator, do: s.accountRefresh},
		{method: "POST", pattern: views.AccountsPath + "/{id}/records", least: sms.Administrator, do: s.recordSettingsSave},
		{method: "GET", pattern: views.CallbacksPath, least: sms.Administrator, do: s.callbackList},
		{method: "GET", pattern: views.CallbacksPath + "/last", least: sms.Administrator, do: s.callbackLast},
		{method: "GET", pattern: views.CallbacksPath + "/rotate", least: sms.Administrator, do: s.callbackRotateForm},
		{method: "POST", pattern: views.CallbacksPath + "/rotate", least: sms.Administrator, do: s.callbackRotate},
		{method: "GET", pattern: views.BlockedPath, least: sms.Sender, do: s.blockedList},
		{method: "POST", pattern: views.BlockedPath, least: sms.Sender, do: s.blockedAdd, upload: true},
		{method: "GET", pattern: views.BlockedPath + "/search", least: sms.Sender, do: s.blockedSearchBack},
		{method: "POST", pattern: views.BlockedPath + "/search", least: sms.Sender, do: s.blockedSearch},
		{method: "GET", pattern: views.BlockedPath + "/{id}/unblock", least: sms.Manager, do: s.unblockForm},
		{method: "POST", pattern: views.BlockedPath + "/{id}/unblock", least: sms.Manager, do: s.unblock},
		{method: "GET", pattern: views.TokensPath, least: sms.Viewer, do: s.tokenList},
		{method: "POST", pattern: views.TokensPath, least: sms.Viewer, do: s.tokenCreate},
		{method: "GET", pattern: views.TokensPath + "/{id}/revoke", least: sms.Viewer, do: s.tokenRevokeForm},
		{method: "POST", pattern: views.TokensPath + "/{id}/revoke", least: sms.Viewer, do: s.tokenRevoke},
		{method: "GET", pattern: views.RetentionPath, least: sms.Administrator, do: s.retentionForm},
		{method: "POST", pattern: views.RetentionPath, least: sms.Administrator, do: s.retentionSave},
		{method: "GET", pattern: views.BackupPath, least: sms.Administrator, do: s.backupShow},
		{method: "POST", pattern: views.BackupPath, least: sms.Administrator, do: s.backupMake},
		{method: "GET", pattern: views.JournalPath, least: sms.Administrator, do: s.journalShow},
		{method: "POST", pattern: views.JournalPath, least: sms.Administrator, do: s.journalAccept},
		{method: "GET", pattern: views.JournalPath + "/close", least: sms.Administrator, do: backTo(views.JournalPath)},
		{method: "POST", pattern: views.JournalPath + "/close", least: sms.Administrator, do: s.journalClose},
		{method: "GET", pattern: views.JournalPath + "/forget", least: sms.Administrator, do: s.journalForgetForm},
		{method: "POST", pattern: views.JournalPath + "/forget", least: sms.Administrator, do: s.journalForget},
		{method: "GET", pattern: views.TeamPath, least: sms.Administrator, do: s.userList},
		{method: "POST", pattern: views.TeamPath, least: sms.Administrator, do: s.userInvite},
		{method: "GET", pattern: views.TeamPath + "/{id}", least: sms.Administrator, do: s.userForm},
		{method: "POST", pattern: views.TeamPath + "/{id}", least: sms.Administrator, do: s.userSave},

		{method: "GET", pattern: views.NewPath, least: sms.Sender, do: s.composeForm},
		{method: "POST", pattern: views.NewPath, least: sms.Sender, do: s.composeCheck},
		{method: "GET", pattern: views.NewTemplatePath, least: sms.Sender, do: s.composeBack},
		{method: "POST", pattern: views.NewTemplatePath, least: sms.Sender, do: s.composeTemplate},
		{method: "POST", pattern: views.NewPath + "/parts", least: anyone, do: s.composeParts},
		{method: "POST", pattern: views.NewPath + "/numbers", least: anyone, do: s.composeNumbers},
		{method: "GET", pattern: views.UploadPath, least: sms.Sender, do: s.uploadForm},
		{method: "POST", pattern: views.UploadPath, least: sms.Sender, do: s.upload, stream: true},
		{method: "GET", pattern: views.UploadPath + "/example.xlsx", least: sms.Sender, do: s.uploadExample("xlsx")},
		{method: "GET", pattern: views.UploadPath + "/example.csv", least: sms.Sender, do: s.uploadExample("csv")},
		{method: "GET", pattern: listMessagePath, least: sms.Sender, do: s.listMessageForm},
		{method: "POST", pattern: listMessagePath, least: sms.Sender, do: s.listMessage},
		{method: "POST", pattern: listsPath + "/preview", least: anyone, do: s.listPreview},
		{method: "GET", pattern: listsPath + "/check", least: sms.Sender, do: s.listCheck},
		{method: "GET", pattern: listsPath + "/make", least: sms.Sender, do: s.listBack},
		{method: "POST", pattern: listsPath + "/make", least: sms.Sender, do: s.listMake},
		{method: "GET", pattern: listsPath + "/hidden", least: sms.Sender, do: s.listBack},
		{method: "POST", pattern: listsPath + "/hidden", least: sms.Sender, do: s.listHidden},
		{method: "GET", pattern: listsPath + "/rejected.xlsx", least: sms.Sender, do: s.rejected("xlsx")},
		{method: "GET", pattern: listsPath + "/rejected.csv", least: sms.Sender, do: s.rejected("csv")},
		{method: "GET", pattern: listsPath + "/delete", least: sms.Sender, do: s.listDeleteForm},
		{method: "POST", pattern: listsPath + "/delete", least: sms.Sender, do: s.listDelete},
		{method: "GET", pattern: views.CampaignsPath, least: sms.Viewer, do: s.campaignList, shared: byRole},
		{method: "GET", pattern: views.CampaignsPath + "/{id}", least: sms.Viewer, do: s.campaignShow, shared: byRole},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/confirm", least: sms.Sender, do: s.confirmForm},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/start", least: sms.Sender, do: s.confirmBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/start", least: sms.Sender, do: s.campaignStart},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/when", least: anyone, do: s.confirmWhen},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/test", least: sms.Sender, do: s.confirmBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/test", least: sms.Sender, do: s.sendTest},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/include", least: sms.Sender, do: s.confirmBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/include", least: sms.Sender, do: s.campaignInclude},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/name", least: sms.Sender, do: s.confirmBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/name", least: sms.Sender, do: s.campaignName},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/schedule", least: sms.Sender, do: s.scheduleForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/schedule", least: sms.Sender, do: s.scheduleSave},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/cancel", least: sms.Sender, do: s.scheduleCancelForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/cancel", least: sms.Sender, do: s.scheduleCancel},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/approval", least: sms.Sender, do: s.approvalShow},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/approval", least: sms.Approver, do: s.approvalGive},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/approval/return", least: sms.Approver, do: s.approvalBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/approval/return", least: sms.Approver, do: s.approvalReturn},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/approval/take-back", least: sms.Sender, do: s.approvalBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/approval/take-back", least: sms.Sender, do: s.approvalTakeBack},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/stop", least: sms.Sender, do: s.campaignStopForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/stop", least: sms.Sender, do: s.campaignStop},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/give-up", least: sms.Sender, do: s.campaignGiveUpForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/give-up", least: sms.Sender, do: s.campaignGiveUp},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/continue", least: sms.Sender, do: s.campaignContinueForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/continue", least: sms.Sender, do: s.campaignContinue},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/resume", least: sms.Manager, do: s.campaignBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/resume", least: sms.Manager, do: s.campaignResume},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/doubt", least: sms.Viewer, do: s.doubtShow},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/doubt", least: sms.Manager, do: s.doubtSave},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/doubt/agree", least: sms.Manager, do: s.doubtBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/doubt/agree", least: sms.Manager, do: s.doubtAgree},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/doubt/drop", least: sms.Manager, do: s.doubtBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/doubt/drop", least: sms.Manager, do: s.doubtDrop},
		{method: "GET", pattern: views.ReportsPath, least: sms.Viewer, do: s.reportList, shared: byRole},
		{method: "GET", pattern: views.ReportsPath + "/export.csv", least: sms.Sender, do: s.reportExport},
		{method: "GET", pattern: views.ReportsPath + "/{id}/link", least: sms.Manager, do: s.reportBack},
		{method: "POST", pattern: views.ReportsPath + "/{id}/link", least: sms.Manager, do: s.reportLink},
		{method: "GET", pattern: views.ReportsPath + "/gap", least: sms.Sender, do: s.reportBack},
		{method: "POST", pattern: views.ReportsPath + "/gap", least: sms.Sender, do: s.gapAsk},
		{method: "GET", pattern: views.ReportsPath + "/gap/stop", least: sms.Sender, do: s.reportBack},
		{method: "POST", pattern: views.ReportsPath + "/gap/stop", least: sms.Sender, do: s.gapStop},
		{method: "GET", pattern: views.MessagesPath, least: sms.Viewer, do: s.messageList},
		{method: "GET", pattern: views.MessagesPath + "/search", least: sms.Viewer, do: s.messageSearchBack},
		{method: "POST", pattern: views.MessagesPath + "/search", least: sms.Viewer, do: s.messageSearch},
		{method: "GET", pattern: views.MessagesPath + "/{id}", least: sms.Viewer, do: s.messageShow},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/again", least: sms.Sender, do: s.againForm},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/again", least: sms.Sender, do: s.againMake},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/breakdown", least: sms.Viewer, do: s.campaignBreakdown, shared: byRole},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/find", least: sms.Viewer, do: s.campaignBack},
		{method: "POST", pattern: views.CampaignsPath + "/{id}/find", least: sms.Viewer, do: s.campaignFind},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/messages.csv", least: sms.Sender, do: s.campaignDownload("csv", writeCSV, kindCSV)},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/messages.xlsx", least: sms.Sender, do: s.campaignDownload("xlsx", writeXLSX, kindXLSX)},
		{method: "GET", pattern: views.CampaignsPath + "/{id}/evidence.zip", least: sms.Manager, do: s.campaignEvidence},
		{method: "GET", pattern: views.MessagesPath + "/{id}/ask", least: sms.Sender, do: s.messageBack},
		{method: "POST", pattern: views.MessagesPath + "/{id}/ask", least: sms.Sender, do: s.messageAsk},
		{method: "GET", pattern: views.MessagesPath + "/{id}/again", least: sms.Sender, do: s.messageAgainForm},
		{method: "POST", pattern: views.MessagesPath + "/{id}/again", least: sms.Sender, do: s.messageAgain},
		{method: "GET", pattern: views.MessagesPath + "/{id}/block", least: sms.Sender, do: s.messageBlockForm},
		{method: "POST", pattern: views.MessagesPath + "/{id}/block", least: sms.Sender, do: s.messageBlock},
		{method: "GET", pattern: views.TemplatesPath, least: sms.Viewer, do: s.templateList},
		{method: "GET", pattern: views.TemplatesPath + "/refresh", least: sms.Sender, do: backTo(views.TemplatesPath)},
		{method: "POST", pattern: views.TemplatesPath + "/refresh", least: sms.Sender, do: s.refreshRecords(sms.RecordTemplates, views.TemplatesPath)},
		{method: "GET", pattern: views.TemplatesPath + "/new", least: sms.Sender, do: s.draftForm},
		{method: "POST", pattern: views.TemplatesPath + "/new", least: sms.Sender, do: s.draftSave},
		{method: "GET", pattern: views.TemplatesPath + "/drafts/{id}", least: sms.Sender, do: s.draftForm},
		{method: "POST", pattern: views.TemplatesPath + "/drafts/{id}", least: sms.Sender, do: s.draftSave},
		{method: "GET", pattern: views.TemplatesPath + "/drafts/{id}/delete", least: sms.Sender, do: s.draftDeleteForm},
		{method: "POST", pattern: views.TemplatesPath + "/drafts/{id}/delete", least: sms.Sender, do: s.draftDelete},
		{method: "GET", pattern: views.TemplatesPath + "/drafts/{id}/create", least: sms.Manager, do: s.draftBack},
		{method: "POST", pattern: views.TemplatesPath + "/drafts/{id}/create", least: sms.Manager, do: s.draftCreate},
		{method: "GET", pattern: views.TemplatesPath + "/{id}", least: sms.Viewer, do: s.templateShow},
		{method: "GET", pattern: views.TemplatesPath + "/{id}/edit", least: sms.Manager, do: s.templateForm},
		{method: "POST", pattern: views.TemplatesPath + "/{id}/edit", least: sms.Manager, do: s.templateSave},
		{method: "GET", pattern: views.TemplatesPath + "/{id}/delete", least: sms.Manager, do: s.templateDeleteForm},
		{method: "POST", pattern: views.TemplatesPath + "/{id}/delete", least: sms.Manager, do: s.templateDelete},
		{method: "GET", pattern: views.SendersPath, least: sms.Viewer, do: s.senderList},
		{method: "POST", pattern: views.SendersPath, least: sms.Manager, do: s.senderCreate},
		{method: "GET", pattern: views.SendersPath + "/refresh", least: sms.Sender, do: backTo(views.SendersPath)},
		{method: "POST", pattern: views.SendersPath + "/refresh", least: sms.Sender, do: s.refreshRecords(sms.RecordSenders, views.SendersPath)},
		{method: "GET", pattern: views.SendersPath + "/{id}", least: sms.Manager, do: s.senderForm},
		{method: "POST", pattern: views.SendersPath + "/{id}", least: sms.Manager, do: s.senderSave},
		{method: "GET", pattern: views.SendersPath + "/{id}/delete", least: sms.Manager, do: s.senderDeleteForm},
		{method: "POST", pattern: views.SendersPath + "/{id}/delete", least: sms.Manager, do: s.senderDelete},
		{method: "GET", pattern: views.SendersPath + "/{id}/default", least: sms.Manager, do: backTo(views.SendersPath)},
		{method: "POST", pattern: views.SendersPath + "/{id}/default", least: sms.Manager, do: s.senderDefault},
		{method: "GET", pattern: views.GroupsPath, least: sms.Viewer, do: s.groupList},
		{method: "GET", pattern: views.GroupsPath + "/refresh", least: sms.Sender, do: backTo(views.GroupsPath)},
		{method: "POST", pattern: views.GroupsPath + "/refresh", least: sms.Sender, do: s.refreshRecords(sms.RecordGroups, views.GroupsPath)},
		{method: "GET", pattern: views.GroupsPath + "/new", least: sms.Manager, do: s.groupNew},
		{method: "POST", pattern: views.GroupsPath + "/new", least: sms.Manager, do: s.groupCreate},
		{method: "GET", pattern: views.GroupsPath + "/{id}", least: sms.Manager, do: s.groupForm},
		{method: "POST", pattern: views.GroupsPath + "/{id}", least: sms.Manager, do: s.groupSave},
		{method: "GET", pattern: views.GroupsPath + "/{id}/sub", least: sms.Manager, do: s.groupNew},
		{method: "POST", pattern: views.GroupsPath + "/{id}/sub", least: sms.Manager, do: s.groupCreate},
		{method: "GET", pattern: views.GroupsPath + "/{id}/delete", least: sms.Manager, do: s.groupDeleteForm},
		{method: "POST", pattern: views.GroupsPath + "/{id}/delete", least: sms.Manager, do: s.groupDelete},
		{method: "GET", pattern: views.BalancePath, least: sms.Viewer, do: s.balanceShow, shared: byRole},
		{method: "GET", pattern: views.BalancePath + "/usage.csv", least: sms.Sender, do: s.usageDownload},
		{method: "GET", pattern: views.BalancePath + "/refresh", least: sms.Sender, do: backTo(views.BalancePath)},
		{method: "POST", pattern: views.BalancePath + "/refresh", least: sms.Sender, do: s.refreshRecords(sms.RecordBalance, views.BalancePath)},
		{method: "GET", pattern: views.BalancePath + "/limits", least: sms.Administrator, do: backTo(views.BalancePath)},
		{method: "POST", pattern: views.BalancePath + "/limits", least: sms.Administrator, do: s.balanceLimits},
		{method: "GET", pattern: views.BalancePath + "/seen", least: sms.Manager, do: backTo(views.BalancePath)},
		{method: "POST", pattern: views.BalancePath + "/seen", least: sms.Manager, do: s.balanceSeen},
		{method: "GET", pattern: views.BalancePath + "/xml", least: sms.Administrator, do: backTo(views.BalancePath)},
		{method: "POST", pattern: views.BalancePath + "/xml", least: sms.Administrator, do: s.balanceXML},
		{method: "GET", pattern: views.ContactsPath, least: sms.Viewer, do: s.contactList},
		{method: "GET", pattern: views.ContactsPath + "/search", least: sms.Viewer, do: s.contactBack},
		{method: "POST", pattern: views.ContactsPath + "/search", least: sms.Viewer, do: s.contactSearch},
		{method: "GET", pattern: views.ContactsPath + "/pick", least: sms.Sender, do: s.contactBack},
		{method: "POST", pattern: views.ContactsPath + "/pick", least: sms.Sender, do: s.contactPick},
		{method: "GET", pattern: views.ContactsPath + "/new", least: sms.Sender, do: s.contactNew},
		{method: "POST", pattern: views.ContactsPath + "/new", least: sms.Sender, do: s.contactCreate},
		{method: "GET", pattern: views.ContactsPath + "/{id}", least: sms.Viewer, do: s.contactShow},
		{method: "GET", pattern: views.ContactsPath + "/{id}/edit", least: sms.Sender, do: s.contactForm},
		{method: "POST", pattern: views.ContactsPath + "/{id}/edit", least: sms.Sender, do: s.contactSave},
		{method: "GET", pattern: views.ContactsPath + "/{id}/delete", least: sms.Sender, do: s.contactDeleteForm},
		{method: "POST", pattern: views.ContactsPath + "/{id}/delete", least: sms.Sender, do: s.contactDelete},
		{method: "GET", pattern: views.ImportPath, least: sms.Sender, do: s.importForm},
		{method: "POST", pattern: views.ImportPath, least: sms.Sender, do: s.uploadContacts, stream: true},
		{method: "GET", pattern: importList, least: sms.Sender, do: s.importColumns},
		{method: "POST", pattern: importList, least: sms.Sender, do: s.importCheck},
		{method: "GET", pattern: views.AudiencesPath, least: sms.Viewer, do: s.audienceList},
		{method: "GET", pattern: views.AudiencesPath + "/new", least: sms.Sender, do: s.audienceShow},
		{method: "POST", pattern: views.AudiencesPath + "/new", least: sms.Sender, do: s.audienceSave},
		{method: "GET", pattern: views.AudiencesPath + "/{id}", least: sms.Viewer, do: s.audienceShow},
		{method: "POST", pattern: views.AudiencesPath + "/{id}", least: sms.Sender, do: s.audienceSave},
		{method: "GET", pattern: views.AudiencesPath + "/{id}/send", least: sms.Sender, do: s.audienceBack},
		{method: "POST", pattern: views.AudiencesPath + "/{id}/send", least: sms.Sender, do: s.audienceSend},
		{method: "GET", pattern: views.AudiencesPath + "/{id}/remove", least: sms.Sender, do: s.audienceBack},
		{method: "POST", pattern: views.AudiencesPath + "/{id}/remove", least: sms.Sender, do: s.audienceRemove},
		{method: "GET", pattern: views.AudiencesPath + "/{id}/delete", least: sms.Sender, do: s.audienceDeleteForm},
		{method: "POST", pattern: views.AudiencesPath + "/{id}/delete", least: sms.Sender, do: s.audienceDelete},
		{method: "GET", pattern: views.USSDPath, least: sms.Viewer, do: s.menuList},
		{method: "GET", pattern: views.NewMenuPath, least: sms.Manager, do: s.menuNew},
		{method: "POST", pattern: views.NewMenuPath, least: sms.Manager, do: s.menuCreate, upload: true},
		{method: "GET", pattern: views.SimulatorPath, least: sms.Sender, do: s.simulator},
		{method: "POST", pattern: views.SimulatorPath, least: sms.Sender, do: s.simulatorPress},
		{method: "GET", pattern: views.SessionsPath, least: sms.Viewer, do: s.sessionList},
		{method: "GET", pattern: views.SessionsPath + "/keep", least: sms.Administrator, do: s.sessionBack},
		{method: "POST", pattern: views.SessionsPath + "/keep", least: sms.Administrator, do: s.sessionKeep},
		{method: "GET", pattern: views.SessionsPath + "/{id}", least: sms.Viewer, do: s.sessionShow},
		{method: "GET", pattern: views.USSDPath + "/joined.csv", least: sms.Sender, do: s.joinedExport},
		{method: "GET", pattern: menuPath + "", least: sms.Viewer, do: s.menuEdit},
		{method: "GET", pattern: menuPath + "/order", least: sms.Manager, do: s.menuBack},
		{method: "POST", pattern: menuPath + "/order", least: sms.Manager, do: s.menuOrder},
		{method: "GET", pattern: menuPath + "/screen", least: sms.Manager, do: s.screenForm},
		{method: "POST", pattern: menuPath + "/screen", least: sms.Manager, do: s.screenSave, upload: true},
		{method: "GET", pattern: menuPath + "/screen/remove", least: sms.Manager, do: s.screenRemoveForm},
		{method: "POST", pattern: menuPath + "/preview", least: sms.Manager, do: s.screenPreview},
		{method: "GET", pattern: menuPath + "/settings", least: sms.Manager, do: s.menuSettings},
		{method: "POST", pattern: menuPath + "/settings", least: sms.Manager, do: s.menuSettingsSave, upload: true},
		{method: "GET", pattern: menuPath + "/publish", least: sms.Manager, do: s.menuPublishForm},
		{method: "POST", pattern: menuPath + "/publish", least: sms.Manager, do: s.menuPublish},
		{method: "GET", pattern: menuPath + "/versions", least: sms.Viewer, do: s.menuVersions},
		{method: "GET", pattern: menuPath + "/restore", least: sms.Manager, do: s.menuRestoreForm},
		{method: "POST", pattern: menuPath + "/restore", least: sms.Manager, do: s.menuRestore},
		{method: "GET", pattern: menuPath + "/withdraw", least: sms.Manager, do: s.menuAsk(false)},
		{method: "POST", pattern: menuPath + "/withdraw", least: sms.Manager, do: s.menuEnd(false)},
		{method: "GET", pattern: menuPath + "/delete", least: sms.Manager, do: s.menuAsk(true)},
		{method: "POST", pattern: menuPath + "/delete", least: sms.Manager, do: s.menuEnd(true)},
		{method: "GET", pattern: menuPath + "/answers", least: sms.Viewer, do: s.menuAnswers},
		{method: "GET", pattern: menuPath + "/answers.csv", least: sms.Sender, do: s.answersExport},
		{method: "GET", pattern: menuPath + "/menu.json", least: sms.Manager, do: s.menuExport},
		{method: "GET", pattern: views.HelpPath, least: sms.Viewer, do: s.help},

		{method: "GET", pattern: static.Prefix + "*", least: outside, plain: static.Handler()},
		{method: "GET", pattern: "/healthz", least: outside, plain: http.HandlerFunc(s.health)},
		{method: "GET", pattern: "/livez", least: outside, plain: http.HandlerFunc(s.alive)},
		{method: "GET", pattern: "/readyz", least: outside, plain: http.HandlerFunc(s.readiness)},
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
	s.pages = m
	m.Use(s.recovered, identified, s.guarded, s.watched, s.clientIP, s.logged, middleware.GetHead)
	nowhere := route{least: anyone, do: func(http.ResponseWriter, *http.Request, *visit) error { return sms.ErrNotFound }}
	m.NotFound(apart(s.nowhereProgram, s.page(nowhere)))
	m.MethodNotAllowed(apart(func(w http.ResponseWriter, r *http.Request) { s.wrongMethodProgram(m, w, r) }, s.page(route{least: anyone, do: s.wrongMethod(m)})))
	for _, rt := range s.table(callbacks) {
		h := rt.plain
		switch {
		case rt.program != nil:
			h = s.handleProgram(rt)
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
