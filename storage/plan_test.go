package storage

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"smsdesk/internal/sms"
)

// large are the tables that grow with every message; reading one from end to
// end takes seconds where a page or a call has milliseconds.
var large = regexp.MustCompile(
	`\bSCAN (message|m|attempt|am|blocked|b|ended_block|delivery_report|in_flight|f|attempt_message|message_alias|contact|contact_block|contact_stale|audience_member)\b`)

var embedded = regexp.MustCompile(`sqlc\.embed\((\w+)\)`)

func (f *fixture) plan(query string) string {
	f.t.Helper()
	places := strings.Count(query, "?")
	for strings.Contains(query, fmt.Sprintf("$%d", places+1)) {
		places++
	}
	rows, err := f.db.writer.QueryContext(f.ctx, "explain query plan "+query, make([]any, places)...)
	if err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		f.must(rows.Scan(&id, &parent, &unused, &detail))
		plan = append(plan, detail)
	}
	f.must(rows.Err())
	return strings.Join(plan, "\n")
}

// TestNoHotQuestionReadsAWholeTable explains every query that there is.
func TestNoHotQuestionReadsAWholeTable(t *testing.T) {
	f := newFixture(t)
	queries := namedQueries(t)
	for name, text := range queries {
		queries[name] = embedded.ReplaceAllString(text, "$1.*")
	}
	for name, filter := range map[string]sms.MessageFilter{
		"page": {CampaignID: 1, Limit: 50}, "next page": {CampaignID: 1, After: 9, Limit: 50}, "page before": {CampaignID: 1, Before: 9, Limit: 50},
		"page of a tile": {CampaignID: 1, Keys: []string{"doubt", "held"}, Limit: 50}, "page of the queue": {CampaignID: 1, Keys: []string{"queued"}, Limit: 50},
		"page of delivered": {CampaignID: 1, Keys: []string{"delivered", "late"}, After: 9, Limit: 50},
		"page of a state":   {CampaignID: 1, States: []sms.State{sms.InDoubt}, After: 9, Limit: 50},
		"page of a status":  {CampaignID: 1, Status: sms.NoReport, Limit: 50}, "rows on screen": {CampaignID: 1, IDs: []int64{1, 2}, Limit: 50},
	} {
		order := "asc"
		if filter.Before > 0 {
			order = "desc"
		}
		if narrow(filter) {
			queries[name] = standingMessages(filter, sms.Campaign{State: sms.CampaignRunning}, messageColumns, order)
			continue
		}
		where, _ := messageConditions(filter)
		queries[name] = "select " + messageColumns + " from message where " + where + " order by id " + order + " limit 51"
	}
	for name, search := range map[string]sms.MessageSearch{
		"search": {}, "search by standing": {Keys: []string{"doubt", "held"}}, "search by day": {From: 1, To: 2, Keys: []string{"delivered"}},
	} {
		search.AccountID, search.Limit = 1, 50
		queries[name+", campaigns"], _ = campaignsQuery(search, 1, 9)
		queries[name+", messages"] = newestQuery(search, sms.Campaign{})
		queries[name+", span"], _ = spanQuery(search)
	}
	queries["search by number"], _ = numberQuery(sms.MessageSearch{Number: "2348030000101", Limit: 50,
		Before: sms.MessageCursor{MessageID: 9}}, nil)
	queries["search by last digits"], _ = numberQuery(sms.MessageSearch{Ends: "0101", Limit: 50}, nil)
	for name, f := range map[string]sms.MessageFilter{"find": {Text: "a"},
		"find by standing": {Keys: []string{"delivered", "late"}},
		"find by number":   {Number: "2348030000101", Keys: []string{"late"}}, "find by last digits": {Ends: "0101"}} {
		queries[name], _ = findQuery(f, sms.Campaign{State: sms.CampaignRunning})
	}
	for name, filter := range map[string]sms.CampaignFilter{
		"campaigns": {Name: "a", Before: 9}, "campaigns of a state": {States: []sms.CampaignState{"awaiting_approval"}, Before: 9},
		"campaigns of states": {States: []sms.CampaignState{"running", "paused"}, Before: 9}, "campaigns to decide": {Decision: true, Before: 9},
		"campaigns of a sender ID": {SenderID: "CLINIC", Before: 9}, "campaigns of a person": {Person: 1, Before: 9}, "trials": {Trials: true, Before: 9},
		"campaigns of a month": {From: 1, To: 2, Before: 9},
	} {
		filter.AccountID, filter.Limit = 1, 25
		queries[name], _ = campaignList(filter, "")
	}
	queries["campaigns by name"], _ = campaignList(sms.CampaignFilter{AccountID: 1, Name: "abc", Limit: 25}, "abc")
	queries["count a gram"] = countGram
	queries["campaigns of a person too"] = queries["campaigns of a person"]
	queries["call"], queries["blocked"] = callRecipients, blockedRecipients
	queries["settle"] = fmt.Sprintf(settleStatement, "(cast($7 as bigint), $8), (cast($9 as bigint), $10)")
	queries["early"] = fmt.Sprintf(earlyIDs, "$2, $3")
	queries["forget"] = fmt.Sprintf(forgetMessages, "(cast($2 as bigint), $3)")
	queries["waiting"] = fmt.Sprintf(waitingReports, "?, ?")
	queries["reported"], queries["deliver"] = fmt.Sprintf(reportedMessages, "?, ?"),
		fmt.Sprintf(deliverMessages, "(cast(? as bigint), ?, ?, ?, cast(? as boolean), cast(? as boolean), cast(? as bigint))")
	queries["latest started"], queries["failing numbers"] = latestStarted, messageNumbers(3)
	failing := sms.MessageSearch{AccountID: 1, Keys: sms.TileFailed.Keys(), Limit: failingLook}
	queries["failing campaigns"], _ = campaignsQuery(failing, 1, 9)
	queries["failing messages"] = newestQuery(failing, sms.Campaign{})
	queries["recipients"], queries["drafts"] = someRecipients, insertDrafts(2)
	queries["sent of a campaign"], queries["sent to a number"] = sentOfCampaign, sentToNumber
	queries["packed contacts"], queries["stale contacts"], queries["blocked people"] = countPacked, countStale,
		blockedPeople
	queries["got recently"], queries["sent since"], queries["started since"] = gotRecently, sentSince, startedSince
	queries["contact blocks"], queries["contacts by id"], queries["known contacts"] = blocksQuery(3), contactsIn(3),
		contactsOfNumbers+"($2, $3)"
	delete(queries, "SomeStale") // a table of what is to be done, empty most of the time
	plans := map[string]string{}
	for name, text := range queries {
		plans[name] = f.plan(text)
		if large.MatchString(plans[name]) {
			t.Errorf("%s reads a whole table:\n%s", name, plans[name])
		}
	}
	for name, index := range map[string]string{
		"failing numbers": "INTEGER PRIMARY KEY", "failing campaigns": "campaign_tally_some", "failing messages": "message_standing",
		"contact blocks": "contact_block_place", "got recently": "PRIMARY KEY", "sent since": "attempt_licensed",
		"started since": "campaign_started", "packed contacts": "contact_block_place", "stale contacts": "contact_newest",
		"blocked people": "contact_number", "contacts by id": "INTEGER PRIMARY KEY", "known contacts": "contact_number",
		"ContactsPage": "contact_newest", "ContactsRange": "contact_number", "ContactByNumber": "contact_number",
		"ContactsOfBlock": "contact_newest", "MembersPage": "PRIMARY KEY", "CountMembers": "PRIMARY KEY",
		"AudiencesOf": "audience_member_contact", "Audiences": "audience_name", "StaleBlocks": "PRIMARY KEY",
		"DeleteBlock": "contact_block_place", "DeleteMemberships": "audience_member_contact",
		"FirstQueued": "message_queued", "recipients": "message_campaign", "sent of a campaign": "message_campaign",
		"sent to a number": "PRIMARY KEY", "SimilarCampaigns": "campaign_text_key", "CampaignsSince": "campaign_started",
		"CampaignsWithoutTextKey": "campaign_no_text_key",
		"BusyLists":               "list_busy", "RecentLists": "list_recent", "OldLists": "list_changed",
		"AbandonedCampaigns": "campaign_hidden", "call": "message_queued", "DraftCalls": "message_draft",
		"QueueDrafts": "message_draft", "CancelQueued": "message_queued", "CancelDrafts": "message_draft",
		"settle": "SEARCH message USING INTEGER PRIMARY KEY", "early": "delivery_report_unmatched",
		"reported": "message_provider", "forget": "SEARCH message USING INTEGER PRIMARY KEY", "FirstKept": "campaign_keeping",
		"SomeNumbers": "message_campaign", "SomeReports": "INTEGER PRIMARY KEY", "SomeCalls": "INTEGER PRIMARY KEY",
		"waiting": "delivery_report_unmatched", "deliver": "SEARCH message USING INTEGER PRIMARY KEY",
		"FirstUntidy": "campaign_untidy", "OldDrafts": "campaign_draft", "DeleteSomeMessages": "message_campaign",
		"page": "message_campaign", "next page": "message_campaign", "page before": "message_campaign",
		"page of a tile": "message_standing", "page of the queue": "message_standing",
		"page of delivered": "message_standing", "page of a state": "message_standing",
		"page of a status": "message_standing", "search, messages": "message_campaign",
		"search by standing, messages": "message_standing", "search by standing, campaigns": "campaign_tally_some", "search by day, campaigns": "campaign_tally_some",
		"search, campaigns": "campaign_account", "latest started": "campaign_account",
		"search by day, span": "campaign_started", "search by number": "PRIMARY KEY",
		"search by last digits": "PRIMARY KEY", "DecisionCount": "campaign_tally_some",
		"MessagesByProviderID": "message_provider", "UnmatchedFor": "delivery_report_unmatched",
		"CampaignTally": "PRIMARY KEY", "LateMessages": "message_silent", "OpenAttempts": "attempt_open",
		"OpenCanary": "attempt_open", "RecentAttempts": "attempt_ended",
		"LatestCalls": "attempt_account", "OtherCalls": "account_call_account", "MessageReports": "delivery_report_message",
		"LastReportAt": "delivery_report_last", "CountUnsent": "message_standing",
		"FirstDraft": "message_draft", "DraftLengths": "message_draft", "MessageFrom": "message_campaign",
		"LastMessage": "message_campaign", "LastBlocked": "blocked_newest",
		"BlockedDrafts": "message_draft", "CountLicences": "attempt_licensed", "LastRateAnswer": "attempt_rate",
		"campaigns by name": "SEARCH g USING PRIMARY KEY", "count a gram": "SEARCH campaign_gram",
		"CampaignsWithoutKey": "campaign_keyless", "DropGrams": "campaign_gram_campaign",
		"RunningCampaigns": "campaign_state", "CountAwaiting": "campaign_state", "campaigns": "campaign_account",
		"campaigns of a month": "campaign_account", "campaigns of a state": "campaign_state",
		"campaigns of states": "campaign_state", "campaigns to decide": "campaign_tally_some",
		"campaigns of a sender ID": "campaign_sender", "campaigns of a person": "campaign_author",
		"campaigns of a person too": "campaign_starter", "trials": "campaign_trial", "DueCampaigns": "campaign_due",
		"blocked": "blocked_number", "BlockedPage": "blocked_newest", "EndedBlocks": "ended_block_number",
		"SomeEndedBlocks": "ended_block_keeping", "BlockedRange": "blocked_number", "LicenseAttempt": "blocked_number",
		"MessageAttempts": "attempt_message_message", "DeleteInFlight": "in_flight_message",
		"DoubtsWithReports": "message_doubt", "UnmatchedTo": "delivery_report_number", "MayHaveLeft": "message_evidence",
		"NextAsked": "asked_waiting", "MessageAsked": "asked_message", "WaitingAsked": "asked_",
		"DecisionAttempts": "message_decision", "HintedDoubts": "message_standing", "WaitingOf": "message_decision",
		"DecidedSince": "PRIMARY KEY", "SettledSince": "PRIMARY KEY",
		"ProposedDecisions": "decision_campaign", "Predecessors": "resend_campaign", "PredecessorOf": "resend_successor",
		"ReportsPage": "delivery_report_page", "UnmatchedPage": "delivery_report_", "RepeatedPage": "delivery_report_again",
		"NewerReports": "delivery_report_page", "NewerUnmatched": "delivery_report_", "NewerRepeated": "delivery_report_again",
		"SuspiciousReports": "delivery_report_suspicious", "ForgetUnmatched": "delivery_report_",
		"CountSilent": "message_silent", "NextSilent": "message_silent", "NextLate": "message_late", "Pulses": "PRIMARY KEY",
		"RefusedMinutes": "receiver_refused", "RunningInquiry": "inquiry_running", "InquiryAt": "inquiry_gap",
		"TemplateDrafts": "template_draft_account", "CampaignsOfTemplate": "campaign_template_used",
		"TemplateUses": "campaign_template_used", "TemplateWaits": "campaign_state", "SenderWaits": "campaign_s", "GroupWaits": "campaign_state",
		"UsageDays": "PRIMARY KEY", "CampaignUsage": "PRIMARY KEY", "AcceptedOf": "attempt",
		"LicencesBetween": "attempt_licensed", "LatestFinished": "campaign_started", "HandedOverBetween": "campaign_started",
		"OpenAlarms": "balance_alarm_open", "UnmailedAlarms": "balance_alarm_mail", "BalanceHistory": "balance_latest",
		"LastBalanceAt": "balance_since", "FirstBalanceFrom": "balance_latest",
	} {
		if !strings.Contains(plans[name], index) {
			t.Errorf("%s does not use %s:\n%s", name, index, plans[name])
		}
	}
	for _, name := range []string{"latest started", "contact blocks", "ContactsPage", "ContactsRange", "ContactsOfBlock",
		"MembersPage", "Audiences", "StaleBlocks", "page", "next page", "page before", "FirstQueued", "call", "DraftCalls",
		"blocked", "RecentAttempts", "EndedBlocks", "SomeEndedBlocks", "LateMessages", "FirstDraft", "DraftLengths",
		"MessageFrom", "LastMessage", "LastBlocked", "BlockedDrafts", "LastRateAnswer", "ReportsPage", "UnmatchedPage",
		"RepeatedPage", "NextSilent", "NextLate", "DecisionAttempts", "WaitingOf", "RefusedMinutes", "campaigns",
		"campaigns of a state", "campaigns of a sender ID", "campaigns of a month", "trials"} {
		if strings.Contains(plans[name], "TEMP B-TREE") {
			t.Errorf("%s sorts:\n%s", name, plans[name])
		}
	}
}
