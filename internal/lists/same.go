package lists

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"smsdesk/internal/sms"
)

const (
	// sameShare is the share of numbers, and among those of texts, from which
	// on a list looks like an earlier campaign.
	sameShare = 0.9
	// sameGuess is how alike two sketches must be for the campaign to be read.
	sameGuess = 0.75
	// sameRead is how many campaigns are read at most.
	sameRead = 3
)

// same finds an earlier campaign of the account, of whoever, with nearly the
// same numbers and the same texts. Sketches say which campaigns are worth
// reading; what is told are exact counts.
func (im *Importer) same(ctx context.Context, l sms.List, c *checker) (*sms.SameList, error) {
	type near struct {
		campaign int64
		alike    float64
	}
	var list []near
	after := im.lists.now().Add(-sms.SameWithin).UnixMilli()
	err := im.store.EachSketch(ctx, l.AccountID, after, func(campaign int64, s *sms.Sketch) {
		if alike := c.sketch.Alike(s); alike >= sameGuess {
			list = append(list, near{campaign, alike})
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.alike, a.alike), cmp.Compare(b.campaign, a.campaign))
	})
	for _, n := range list[:min(len(list), sameRead)] {
		same, err := im.compare(ctx, n.campaign, c)
		if err != nil || same != nil {
			return same, err
		}
	}
	return nil, nil
}

// compare counts what a campaign and a checked list share, and is nil where
// that is too little.
func (im *Importer) compare(ctx context.Context, campaign int64, c *checker) (*sms.SameList, error) {
	earlier, err := im.lists.store.Campaign(ctx, campaign)
	if errors.Is(err, sms.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all, numbers, texts int64
	err = im.store.EachRecipient(ctx, campaign, func(number, text string) {
		all++
		in, same := c.seen.has(numberOf(number), c.seen.hash(text))
		if in {
			numbers++
		}
		if same {
			texts++
		}
	})
	of := c.seen.numbers()
	numbers = min(numbers, of)
	if err != nil || float64(numbers) < sameShare*float64(max(of, all)) || float64(texts) < sameShare*float64(numbers) {
		return nil, err
	}
	return &sms.SameList{CampaignID: campaign, Name: earlier.Name, ByName: earlier.StartedName,
		StartedAt: earlier.StartedAt, SameText: true,
		Numbers: numbers, Of: of}, nil
}
