package storage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

// scatter gives the messages of a campaign fates of every kind, and counts them.
func (f *fixture) scatter(t *rapid.T, campaign int64) {
	f.t.Helper()
	tally := sms.Tally{}
	c := f.campaign(campaign)
	for _, m := range f.messages(campaign) {
		state := rapid.SampledFrom([]sms.State{sms.Draft, sms.Queued, sms.Accepted, sms.Accepted, sms.Accepted, sms.Refused,
			sms.InDoubt, sms.Held, sms.Skipped, sms.Cancelled}).Draw(t, "state")
		status, late := sms.Status(""), false
		if state == sms.Accepted {
			status = rapid.SampledFrom(append(sms.Statuses(), "")).Draw(t, "status")
			late = rapid.Bool().Draw(t, "late")
		}
		_, err := f.db.writer.ExecContext(f.ctx, "update message set state = $2, status = $3, late = $4 where id = $1", m.ID,
			string(state), string(status), late)
		f.must(err)
		tally[sms.StandingKey(c.Shows(state), status, late)]++
	}
	_, err := f.db.writer.ExecContext(f.ctx, "delete from campaign_tally where campaign_id = $1", campaign)
	f.must(err)
	for key, n := range tally {
		_, err := f.db.writer.ExecContext(f.ctx, "insert into campaign_tally (campaign_id, key, n) values ($1, $2, $3)",
			campaign, key, n)
		f.must(err)
	}
}

// TestSearchFindsWhatLookingAtEachWould: pages of a search are what holding its
// conditions against every message gives, in order, whatever the page's length.
func TestSearchFindsWhatLookingAtEachWould(t *testing.T) {
	base := newFixture(t)
	_, err := base.db.writer.ExecContext(base.ctx, "drop trigger message_transition; drop trigger campaign_transition")
	base.must(err)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		f := base.other(t, fmt.Sprint("Account ", n))
		pool := []string{"2348030000101", "2347030000101", "2348030000202", "2348055550101", "23480010", "447400123456"}
		for range rapid.IntRange(1, 4).Draw(t, "campaigns") {
			c := f.newDraft("text", rapid.SliceOfN(rapid.SampledFrom(pool), 1, 12).Draw(t, "numbers")...)
			if rapid.IntRange(0, 4).Draw(t, "draft") > 0 {
				state := rapid.SampledFrom([]sms.CampaignState{sms.CampaignRunning, sms.CampaignFinished,
					sms.CampaignCancelled}).Draw(t, "state")
				_, err := f.db.writer.ExecContext(f.ctx, "update campaign set state = $2, started_at = $3 where id = $1", c.ID,
					string(state), rapid.Int64Range(1, 5).Draw(t, "at")*1000)
				f.must(err)
			}
			f.scatter(t, c.ID)
		}
		search := sms.MessageSearch{AccountID: f.account.ID, Limit: rapid.IntRange(1, 6).Draw(t, "limit"),
			Since: rapid.SampledFrom([]int64{0, 2000}).Draw(t, "since"),
			From:  rapid.SampledFrom([]int64{0, 0, 2000, 3000}).Draw(t, "from"),
			To:    rapid.SampledFrom([]int64{0, 0, 4000}).Draw(t, "to")}
		switch rapid.IntRange(0, 2).Draw(t, "by") {
		case 1:
			search.Number = rapid.SampledFrom(pool).Draw(t, "number")
		case 2:
			search.Ends = rapid.SampledFrom([]string{"0101", "30000101", "0010", "3456", "9999"}).Draw(t, "ends")
		}
		for _, s := range sms.DisplayStatuses() {
			if rapid.IntRange(0, 3).Draw(t, "key") == 0 {
				search.Keys = append(search.Keys, s.Key)
			}
		}
		want := f.lookAtEach(search)
		var got []int64
		for pages := 0; ; pages++ {
			list, next, err := f.db.SearchMessages(f.ctx, search)
			f.must(err)
			if len(list) > search.Limit || pages > 100 {
				t.Fatalf("%d messages on page %d", len(list), pages)
			}
			for _, m := range list {
				got = append(got, m.ID)
			}
			if next == (sms.MessageCursor{}) {
				break
			}
			search.Before = next
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%+v (-each +search):\n%s", search, d)
		}
	})
}

func (f *fixture) lookAtEach(s sms.MessageSearch) (ids []int64) {
	f.t.Helper()
	for _, id := range column[int64](f, "select id from campaign where account_id = $1 order by id desc", f.account.ID) {
		c := f.campaign(id)
		if !c.Started() || c.StartedAt < max(s.Since, s.From, 1) || s.To > 0 && c.StartedAt >= s.To {
			continue
		}
		messages := f.messages(id)
		slices.Reverse(messages)
		for _, m := range messages {
			if (s.Number == "" || m.Number == s.Number) && (s.Ends == "" || strings.HasSuffix(m.Number, s.Ends)) &&
				(len(s.Keys) == 0 || slices.Contains(s.Keys, m.Standing().Key)) {
				ids = append(ids, m.ID)
			}
		}
	}
	return ids
}

// TestExportTellsWhatThePagesTell: the quick way of reading gives what the plain
// one does, whatever stands in a text.
func TestExportTellsWhatThePagesTell(t *testing.T) {
	base := newFixture(t)
	_, err := base.db.writer.ExecContext(base.ctx, "drop trigger message_transition; drop trigger campaign_transition")
	base.must(err)
	rapid.Check(t, func(t *rapid.T) {
		f := *base
		f.t = t
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"plain", "", "a\x1fb", "a\x1eb", strings.Repeat("\x1f", 20),
			"1\x1e1\x1f2\x1f3", "ọ😀", "\"',\r\n"}), 1, 9).Draw(t, "texts")
		messages := make([]sms.Message, len(texts))
		for i, text := range texts {
			messages[i] = sms.Message{Number: numbers(len(texts))[i], Text: text, Parts: 1}
		}
		c := f.set(f.draftOf(sms.Campaign{}, messages).ID, sms.CampaignRunning)
		f.scatter(t, c.ID)
		filter := sms.MessageFilter{CampaignID: c.ID, Limit: 1000}
		if rapid.Bool().Draw(t, "narrow") {
			filter.Keys = []string{"delivered", "undelivered", "queued", "doubt", "late"}
		}
		want, _, err := f.db.Messages(f.ctx, filter)
		f.must(err)
		var got []sms.Message
		for m, err := range f.db.EachMessage(f.ctx, filter) {
			f.must(err)
			got = append(got, m)
		}
		if len(got) != len(want) {
			t.Fatalf("%d messages, want %d", len(got), len(want))
		}
		for i, w := range want {
			g := got[i]
			if g.ID != w.ID || g.Row != w.Row || g.Number != w.Number || g.Text != w.Text || g.State != w.State ||
				g.Delivery.Status != w.Delivery.Status || g.Delivery.Late != w.Delivery.Late ||
				g.ChangedAt != w.ChangedAt || g.Parts != w.Parts {
				t.Fatalf("%+v, want %+v", g, w)
			}
		}
	})
}

// TestExportGoesOnAfterAPlainPage: a page that is read in the plain way is not
// the last one.
func TestExportGoesOnAfterAPlainPage(t *testing.T) {
	f := newFixture(t)
	messages := make([]sms.Message, 2*exportPage+1)
	for i := range messages {
		messages[i] = sms.Message{Number: numbers(len(messages))[i], Text: "plain", Parts: 1}
	}
	messages[7].Text = "a" + fieldEnd + "b"
	c := f.draftOf(sms.Campaign{}, messages)
	n := 0
	for m, err := range f.db.EachMessage(f.ctx, sms.MessageFilter{CampaignID: c.ID}) {
		f.must(err)
		if m.Text != messages[n].Text {
			t.Fatalf("message %d is %+v", n, m)
		}
		n++
	}
	if n != len(messages) {
		t.Fatalf("%d of %d messages", n, len(messages))
	}
}
