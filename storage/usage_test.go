package storage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

// TestUsageCountsWhatWasAccepted by day, sender ID, person and network, once,
// whichever way a message became accepted.
func TestUsageCountsWhatWasAccepted(t *testing.T) {
	f := newFixture(t)
	c := f.start("Hello", "2348030000101", "2348030000102", "2348050000103")
	a := f.license(f.claim(3))
	f.settle(a, sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000", Rows: []sms.ResultRow{
		{Number: "2348030000101", ProviderID: "a"}, {Number: "2348050000103", ProviderID: "b"}, {Number: "2348030000102", Code: "401", Description: "no"}}})
	g := f.set(f.newGroup("Hello", "107").ID, sms.CampaignRunning)
	f.settle(f.groupCall(g), rowsFor(sms.ResultRow{Number: "2348030000201", ProviderID: "g1"},
		sms.ResultRow{Number: "2348030000202", Code: "401"}))
	d := f.start("Doubt", "2348030000301")
	f.settle(f.license(f.claimAfter(d.ID-1, 1)), sms.Outcome{Class: sms.ClassDoubt})
	lost := f.messages(d.ID)[0]
	f.must(f.db.update(f.ctx, "test", func(t *tx) error {
		return t.leaveDoubt(f.ctx, lost, sms.Accepted, "", "", sms.ByPerson, f.now())
	}))

	days, err := f.db.UsageDays(f.ctx, f.account.ID, "2000-01-01", "2100-01-01")
	f.must(err)
	byNetwork := sms.SumUsage(days, true, func(d sms.UsageDay) string { return d.SenderID + " " + d.Network })
	want := []sms.UsageRow{{Name: "CLINIC Glo", Usage: sms.Usage{Messages: 1, Parts: 1}},
		{Name: "CLINIC MTN", Usage: sms.Usage{Messages: 3, Parts: 4}}}
	if diff := cmp.Diff(want, byNetwork); diff != "" {
		t.Error(diff)
	}
	if len(days) == 0 || days[0].Day != "2023-11-14" && days[0].Day != "2023-11-15" {
		t.Errorf("%+v", days)
	}
	cost, err := f.db.Cost(f.ctx, c.ID)
	f.must(err)
	if cost.Parts() != 2 || len(cost.Networks) != 2 || cost.Known {
		t.Errorf("%+v", cost)
	}
}

// TestTheCostOfACampaign is what the balance fell around it, where nothing else
// was sent meanwhile.
func TestTheCostOfACampaign(t *testing.T) {
	f := newFixture(t)
	read := func(credits string) {
		f.must(f.db.PutBalances(f.ctx, f.account.ID, []sms.Balance{{PluginType: "SMS", Credits: credits}}, f.now()))
	}
	send := func(number string) sms.Campaign {
		c := f.start("Hello "+number, number)
		_, err := f.db.writer.ExecContext(f.ctx, "update campaign set started_at = $1 where id = $2", f.now(), c.ID)
		f.must(err)
		f.settle(f.license(f.claimAfter(c.ID-1, 1)), sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000",
			Rows: []sms.ResultRow{{Number: number, ProviderID: "id" + number}}})
		return f.campaign(c.ID)
	}
	read("₦100.00")
	alone := send("2348030000101")
	read("₦96.00")
	read("₦96.00")
	first := send("2348030000102")
	second := send("2348030000103")
	read("₦88.00")
	late := send("2348030000104")
	for _, c := range []struct {
		name string
		of   sms.Campaign
		fell string
	}{{"alone", alone, "4.00"}, {"with another behind it", first, ""}, {"with another before it", second, ""},
		{"not read yet", late, ""}} {
		cost, err := f.db.Cost(f.ctx, c.of.ID)
		f.must(err)
		fell, ok := cost.Fell()
		if ok != (c.fell != "") || ok && fell.FloatString(2) != c.fell {
			t.Errorf("%s: %v %v %+v", c.name, fell, ok, cost)
		}
	}
	if list, err := f.db.Costs(f.ctx, f.account.ID, 0); err != nil || len(list) != 4 || list[0].Campaign.ID != late.ID {
		t.Errorf("%d %v", len(list), err)
	}
}

// TestAFallWithoutSendingIsAnAlarm, and so is one below the warning level.
func TestAFallWithoutSendingIsAnAlarm(t *testing.T) {
	f := newFixture(t)
	id := f.account.ID
	read := func(credits string, at int64) {
		f.must(f.db.PutBalances(f.ctx, id, []sms.Balance{{PluginType: "SMS", Credits: credits}}, at))
	}
	_, err := f.db.UpdateRecordSettings(f.ctx, id, func(s *sms.RecordSettings) error { s.WarnBelow = 5_000; return nil })
	f.must(err)
	now := f.now()
	c := f.start("Hello", "2348030000101")
	f.settle(f.license(f.claimAfter(c.ID-1, 1)), sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000",
		Rows: []sms.ResultRow{{Number: "2348030000101", ProviderID: "a"}}})
	read("₦100.00", now)
	read("₦96.00", now+60_000)
	if list, err := f.db.Alarms(f.ctx, id); err != nil || len(list) != 0 {
		t.Errorf("a message was sent a moment ago: %+v %v", list, err)
	}
	hour := int64(3_600_000)
	read("₦96.00", now+2*hour)
	read("₦40.00", now+3*hour)
	read("₦39.00", now+4*hour)
	read("₦200.00", now+5*hour)
	list, err := f.db.Alarms(f.ctx, id)
	f.must(err)
	var got []sms.Alarm
	for _, a := range list {
		a.ID = 0
		got = append(got, a)
	}
	want := []sms.Alarm{
		{AccountID: id, Kind: sms.AlarmFall, PluginType: "SMS", At: now + 4*hour, From: now + 3*hour, Before: "₦40.00", After: "₦39.00"},
		{AccountID: id, Kind: sms.AlarmLow, PluginType: "SMS", At: now + 3*hour, From: now + 2*hour, Before: "₦96.00", After: "₦40.00"},
		{AccountID: id, Kind: sms.AlarmFall, PluginType: "SMS", At: now + 3*hour, From: now + 2*hour, Before: "₦96.00", After: "₦40.00"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n, err := f.db.SeeAlarms(f.ctx, id, list[1].ID, "Ada", 9); err != nil || n != 2 {
		t.Errorf("%d %v", n, err)
	}
	if left, err := f.db.Alarms(f.ctx, id); err != nil || len(left) != 1 || left[0].ID != list[0].ID {
		t.Errorf("%+v %v", left, err)
	}
	if unmailed, err := f.db.UnmailedAlarms(f.ctx); err != nil || len(unmailed) != 3 {
		t.Errorf("%+v %v", unmailed, err)
	}
	f.must(f.db.AlarmMailed(f.ctx, list[0].ID))
	if unmailed, err := f.db.UnmailedAlarms(f.ctx); err != nil || len(unmailed) != 2 {
		t.Errorf("%+v %v", unmailed, err)
	}
}

// TestAGroupMadeHereKeepsItsParent though the service tells neither its id nor
// its parent.
func TestAGroupMadeHereKeepsItsParent(t *testing.T) {
	f := newFixture(t)
	id := f.account.ID
	f.must(f.db.PutGroups(f.ctx, id, []sms.Group{{ID: 1, Name: "Parents", ContactCount: 12}, {ID: 1, Name: "Careless"}},
		5))
	f.must(f.db.ExpectGroup(f.ctx, id, "Mothers", 1, 6))
	f.must(f.db.ExpectGroup(f.ctx, id, "Refused", 1, 6))
	f.must(f.db.UnexpectGroup(f.ctx, id, "Refused"))
	f.must(f.db.PutGroups(f.ctx, id, []sms.Group{{ID: 1, Name: "Parents", ContactCount: 13}, {ID: 2, Name: "Mothers"},
		{ID: 3, Name: "Refused"}}, 7))
	f.must(f.db.ChangeGroup(f.ctx, id, 2, "All mothers"))
	f.must(f.db.PutGroups(f.ctx, id, []sms.Group{{ID: 1, Name: "Parents", ContactCount: 13}, {ID: 2, Name: "Mums"},
		{ID: 3, Name: "Refused"}, {ID: 4, Name: "Mothers"}}, 8))
	f.must(f.db.DeleteGroup(f.ctx, id, 3))
	got, err := f.db.Groups(f.ctx, id)
	f.must(err)
	want := []sms.Group{{ID: 4, Name: "Mothers"}, {ID: 2, Name: "Mums", MadeHere: true, ParentID: 1},
		{ID: 1, Name: "Parents", ContactCount: 13}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestACampaignRemembersItsTemplate as it was, and drafts are saved by whoever
// saw them last.
func TestACampaignRemembersItsTemplate(t *testing.T) {
	f := newFixture(t)
	id := f.account.ID
	f.must(f.db.PutTemplates(f.ctx, id, []sms.Template{{ID: 7, Name: "Holiday", Text: "Closed.", IsApproved: true,
		IsActive: true}, {ID: 8, Name: "Fees", Text: "x"}}, 5))
	made := map[string]sms.Campaign{}
	for _, name := range []string{"Holiday", "Fees", ""} {
		c, _, err := f.db.CreateDraft(f.ctx, sms.Campaign{AccountID: id, Name: "n", SenderID: "CLINIC", Text: "Closed.",
			Template: name}, randomHex(32), nil, 0, f.now())
		f.must(err)
		made[name] = c
	}
	f.must(f.db.ChangeTemplate(f.ctx, id, 7, "Holidays", "Open."))
	used, err := f.db.CampaignTemplate(f.ctx, made["Holiday"].ID)
	if err != nil || used.TemplateID != 7 || used.Name != "Holiday" || used.Text != "Closed." {
		t.Errorf("%+v %v", used, err)
	}
	for _, none := range []string{"Fees", ""} {
		if got, err := f.db.CampaignTemplate(f.ctx, made[none].ID); err == nil {
			t.Errorf("%q: %+v", none, got)
		}
	}
	uses, err := f.db.TemplateUses(f.ctx, id)
	if err != nil || len(uses) != 1 || uses[7].Campaigns != 1 {
		t.Errorf("%v %v", uses, err)
	}
	list, waiting, err := f.db.CampaignsOfTemplate(f.ctx, id, 7)
	if err != nil || len(list) != 1 || waiting != 0 {
		t.Errorf("%v %d %v", list, waiting, err)
	}

	d, err := f.db.PutTemplateDraft(f.ctx, sms.TemplateDraft{AccountID: id, Name: "A", Text: "t", ChangedName: "Ada"}, 10)
	f.must(err)
	mine, hers := d, d
	mine.Name, hers.Name = "Mine", "Hers"
	_, err = f.db.PutTemplateDraft(f.ctx, mine, 11)
	f.must(err)
	if _, err := f.db.PutTemplateDraft(f.ctx, hers, 12); err == nil {
		t.Error("a draft was overwritten unseen")
	}
	if kept, err := f.db.TemplateDraft(f.ctx, id, d.ID); err != nil || kept.Name != "Mine" {
		t.Errorf("%+v %v", kept, err)
	}
}
