// Package radar looks for recipients who got nearly the same text lately. It
// must never know files, forms, roles or how anything is stored: rows and
// earlier sends come to it, and what it finds is a count and a time for each row.
package radar

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"smsdesk/internal/sms"
)

// Store is what is asked about earlier sends.
type Store interface {
	// SimilarCampaigns lists the account's campaigns started from a time on whose
	// key is this one or stands for no single text, the newest first. With
	// KeyEach it lists all of them. Tests of a text are not among them.
	SimilarCampaigns(ctx context.Context, account, since, key int64) ([]Campaign, error)
	// EachSent gives the messages of a campaign that count, a bounded piece at a
	// time; read is told after each piece how many messages there were so far.
	EachSent(ctx context.Context, c Campaign, do func(Sent), read func(messages int64) error) error
	// SentTo lists the newest messages to one number that count.
	SentTo(ctx context.Context, account, number, since int64) ([]Sent, error)
}

// Campaign is one whose messages may have nearly the same text as others.
type Campaign struct {
	ID         int64
	Key        int64
	Recipients int64
	StartedAt  int64
	GroupID    string
	Series     int64 // of which it is a run, 0: none
	Name       string
	ByName     string
}

// Sent is a message that its recipient got, may have got, or is about to get.
type Sent struct {
	Campaign Campaign
	Number   int64  // 0: a group's, or removed
	Text     string // only where the campaign's key does not stand for it
	At       int64  // when it left, 0 while it waits (ms)
	How      How
}

// How is what is known of a Sent.
type How int

// What is known.
const (
	Arrived How = iota
	Awaiting
	Doubtful
	Waiting
)

// Search says whose sends are looked through.
type Search struct {
	Account int64
	Key     int64   // of all rows; where it stands for none, that of each row's text
	Since   int64   // ms
	Except  []int64 // campaigns that do not count
	Series  int64   // of which no run counts, 0: none
	Rows    int64   // about so many
	// Progress is told now and then how many of how many messages were looked at.
	Progress func(done, total int64) error
}

// passes says that an earlier campaign does not count: earlier runs of a series
// got the same text on purpose.
func (s Search) passes(c Campaign) bool {
	return slices.Contains(s.Except, c.ID) || s.Series > 0 && c.Series == s.Series
}

// Row is a message that is to be sent.
type Row struct {
	Number int64
	Text   string
}

const (
	// fewRows is up to how many rows each number is looked up by itself, and
	// lookupCost how many messages could be read in the time of one such lookup.
	fewRows, lookupCost = 1000, 20
)

// Look finds out who of the rows got nearly the same text. It is nil where
// nobody did.
func Look(ctx context.Context, store Store, s Search, rows iter.Seq2[Row, error]) (*Found, error) {
	f := &Found{search: s, places: map[uint64]uint32{}, campaigns: map[int64]uint32{}}
	similar, few, err := f.similar(ctx, store)
	if err != nil || !few && len(similar) == 0 {
		return nil, err
	}
	if !few {
		err = f.byCampaign(ctx, store, similar, rows)
	} else {
		err = f.byNumber(ctx, store, rows)
	}
	if err != nil || len(f.from) == 0 {
		return nil, err
	}
	return f, nil
}

// similar are the campaigns to be read, unless fewer messages are read by
// looking up each number.
func (f *Found) similar(ctx context.Context, store Store) (list []Campaign, few bool, err error) {
	s := f.search
	if s.Rows <= fewRows {
		return nil, true, nil
	}
	if list, err = store.SimilarCampaigns(ctx, s.Account, s.Since, f.common()); err != nil {
		return nil, false, err
	}
	list = slices.DeleteFunc(list, func(c Campaign) bool { return c.GroupID != "" || s.passes(c) })
	return list, messagesOf(list) > lookupCost*s.Rows, nil
}

func messagesOf(list []Campaign) (n int64) {
	for _, c := range list {
		n += c.Recipients
	}
	return n
}

// Found is who got nearly the same text.
type Found struct {
	search    Search
	places    map[uint64]uint32 // of a recipient in hits
	hits      []hit
	from      []Campaign
	campaigns map[int64]uint32 // places in from
}

// hit is a recipient, with the newest send to it.
type hit struct {
	at   int64 // 0: none
	rows uint32
	from uint32 // place in Found.from
	how  How
}

// common is the key of all rows, or KeyEach.
func (f *Found) common() int64 {
	if f.search.Key == KeyUnknown {
		return KeyEach
	}
	return f.search.Key
}

// recipient is a number where the text is that of all rows, else a number and a
// text in one.
func (f *Found) recipient(number, key int64) uint64 {
	if key == f.common() {
		return uint64(number)
	}
	return (uint64(number)*0x9e3779b97f4a7c15 ^ uint64(key)) | 1<<63
}

func (f *Found) rowKey(r Row) int64 {
	if common := f.common(); common != KeyEach {
		return common
	}
	return Key(r.Text)
}

func sentKey(m Sent) int64 {
	if key := m.Campaign.Key; key != KeyUnknown && key != KeyEach {
		return key
	}
	return Key(m.Text)
}

// place gives a row its recipient; isNew says that it is the first one.
func (f *Found) place(r Row) (at uint32, isNew bool) {
	who := f.recipient(r.Number, f.rowKey(r))
	at, is := f.places[who]
	if !is {
		at = uint32(len(f.hits))
		f.places[who], f.hits = at, append(f.hits, hit{})
	}
	f.hits[at].rows++
	return at, !is
}

// byCampaign remembers all rows and reads the campaigns one after the other.
func (f *Found) byCampaign(ctx context.Context, store Store, similar []Campaign,
	rows iter.Seq2[Row, error]) error {
	f.places, f.hits = make(map[uint64]uint32, f.search.Rows), make([]hit, 0, f.search.Rows)
	for r, err := range rows {
		if err != nil {
			return err
		}
		f.place(r)
	}
	done, total := int64(0), messagesOf(similar)
	for _, c := range similar {
		err := store.EachSent(ctx, c, func(m Sent) {
			if at, is := f.places[f.recipient(m.Number, sentKey(m))]; is {
				f.meet(at, m)
			}
		}, func(read int64) error { return f.progress(done+read, total) })
		if err != nil {
			return err
		}
		done += c.Recipients
	}
	return nil
}

// byNumber looks up the numbers one after the other.
func (f *Found) byNumber(ctx context.Context, store Store, rows iter.Seq2[Row, error]) error {
	done := int64(0)
	for r, err := range rows {
		if err != nil {
			return err
		}
		if done++; done%fewRows == 0 {
			if err := f.progress(done, f.search.Rows); err != nil {
				return err
			}
		}
		at, isNew := f.place(r)
		if !isNew {
			continue
		}
		sent, err := store.SentTo(ctx, f.search.Account, r.Number, f.search.Since)
		if err != nil {
			return err
		}
		key := f.rowKey(r)
		for _, m := range sent {
			if !f.search.passes(m.Campaign) && sentKey(m) == key {
				f.meet(at, m)
			}
		}
	}
	return nil
}

func (f *Found) progress(done, total int64) error {
	if f.search.Progress == nil {
		return nil
	}
	return f.search.Progress(min(done, total), total)
}

// meet keeps the newest send to a recipient.
func (f *Found) meet(at uint32, m Sent) {
	when := m.At
	if when == 0 {
		when = m.Campaign.StartedAt
	}
	if h := &f.hits[at]; when > h.at {
		h.at, h.from, h.how = when, f.campaign(m.Campaign), m.How
	}
}

func (f *Found) campaign(c Campaign) uint32 {
	place, is := f.campaigns[c.ID]
	if !is {
		place = uint32(len(f.from))
		f.campaigns[c.ID], f.from = place, append(f.from, c)
	}
	return place
}

// At says when the recipient of a row got nearly the same text (ms).
func (f *Found) At(r Row) (at int64, got bool) {
	if f == nil {
		return 0, false
	}
	place, is := f.places[f.recipient(r.Number, f.rowKey(r))]
	if !is {
		return 0, false
	}
	return f.hits[place].at, f.hits[place].at > 0
}

// Already counts the rows whose recipients got nearly the same text; nil where
// there are none.
func (f *Found) Already() *sms.AlreadySent {
	if f == nil {
		return nil
	}
	a, from := &sms.AlreadySent{}, make([]int64, len(f.from))
	for _, h := range f.hits {
		n := int64(h.rows)
		if a.Of += n; h.at == 0 {
			continue
		}
		a.Recipients += n
		a.LastAt = max(a.LastAt, h.at)
		from[h.from] += n
		switch h.how {
		case Awaiting:
			a.Awaiting += n
		case Doubtful:
			a.Doubt += n
		case Waiting:
			a.Waiting += n
		}
	}
	most := -1
	for i, n := range from {
		if n > 0 {
			a.Campaigns++
		}
		if n > 0 && (most < 0 || cmp.Or(cmp.Compare(n, from[most]), cmp.Compare(f.from[i].StartedAt, f.from[most].StartedAt)) > 0) {
			most = i
		}
	}
	if most < 0 {
		return nil
	}
	a.CampaignID, a.Name, a.ByName = f.from[most].ID, f.from[most].Name, f.from[most].ByName
	return a
}
