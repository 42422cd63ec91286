package storage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

// rename gives a campaign another name, as the desk does.
func (f *fixture) rename(id int64, name string) {
	f.t.Helper()
	_, err := f.db.UpdateCampaign(f.ctx, id, f.now(), func(c *sms.Campaign) error { c.Name = name; return nil })
	f.must(err)
}

func (f *fixture) campaignsNamed(name string) (ids []int64) {
	f.t.Helper()
	ids, _, err := f.db.campaignIDs(f.ctx, sms.CampaignFilter{AccountID: f.account.ID, Name: name, Limit: 2000})
	f.must(err)
	return ids
}

// TestCampaignsAreFoundByAnyPartOfTheirName compares searches with a plain
// look at every name: of names that were changed, of those of an older version,
// and of parts that more campaigns have than the index is asked for.
func TestCampaignsAreFoundByAnyPartOfTheirName(t *testing.T) {
	f := newFixture(t)
	names := map[int64]string{}
	for i := range gramRare + 20 {
		c := f.newDraft("Hello", numbers(1)...)
		names[c.ID] = fmt.Sprintf("Reminder %d", i)
		f.rename(c.ID, names[c.ID])
	}
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("abAẸẹ %_1")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		ids := make([]int64, 0, len(names))
		for id := range names {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		id := rapid.SampledFrom(ids).Draw(t, "campaign")
		names[id] = "x" + letters.Draw(t, "name")
		f.rename(id, names[id])
		if rapid.Bool().Draw(t, "older version") {
			for _, q := range []string{"update campaign set name_key = '' where id = $1",
				"delete from campaign_gram where campaign_id = $1"} {
				_, err := f.db.writer.ExecContext(f.ctx, q, id)
				f.must(err)
			}
			f.must(f.db.fillNames(f.ctx))
		}
		for _, search := range []string{letters.Draw(t, "search"), "reminder", "MINDER " + letters.Draw(t, "rest"),
			strings.ToUpper(names[id])} {
			if search == "" {
				continue
			}
			var want []int64
			for _, id := range slices.Backward(ids) {
				if strings.Contains(strings.ToLower(names[id]), strings.ToLower(search)) {
					want = append(want, id)
				}
			}
			if got := f.campaignsNamed(search); !slices.Equal(got, want) {
				t.Fatalf("%q is found in %v, want %v", search, got, want)
			}
		}
	})
}

// TestWhatIsRemovedIsNotFoundByName: the grams of a draft go with it.
func TestWhatIsRemovedIsNotFoundByName(t *testing.T) {
	f := newFixture(t)
	c := f.newDraft("Hello", numbers(1)...)
	f.rename(c.ID, "Open day")
	if got := f.campaignsNamed("pen"); !slices.Equal(got, []int64{c.ID}) {
		t.Fatalf("found %v", got)
	}
	f.must(f.db.update(f.ctx, "remove a draft", func(t *tx) error { return t.deleteDraft(f.ctx, f.account.ID, c.ID) }))
	if n := one[int](f, "select count(*) from campaign_gram"); n != 0 {
		t.Fatalf("%d grams of a campaign that is gone", n)
	}
}
