package rehearsal

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"

	"smsdesk/internal/sms"
)

// NoReport is the fate of a message that is sent and of which no report comes.
const NoReport = "late"

// minNetwork is how many reports of a network its own shares need; with fewer
// those of all networks count.
const minNetwork = 30

// minRequests is how many requests the shares of lost ones need.
const minRequests = 100

// share is how many of the messages met a fate.
type share struct {
	key string // a standing's
	n   int64
}

// Day is how the provider and the networks behave.
type Day struct {
	Reports  int64 // that it rests on; 0: it was made up
	networks map[string][]share
	all      []share
	// Of every request: TooMany are answered 429, Unreached find no connection,
	// Lost are carried out and their answer is lost, Broken are carried out and
	// answered with an error.
	TooMany, Unreached, Lost, Broken float64
}

// Past is what an account's last messages tell.
type Past struct {
	Traffic  []sms.Traffic
	Refused  int64 // recipients that the provider refused
	Requests map[sms.Class]int64
}

// Plain is a day with a little of everything, for an account that has too few
// reports to tell.
func Plain() Day {
	return Day{all: []share{{"delivered", 920}, {"undelivered", 30}, {"expired", 20}, {NoReport, 15}, {"unknown", 10},
		{"refused", 5}}, TooMany: .001, Unreached: .005, Lost: .002}
}

// BadDay is a day on which much goes wrong.
func BadDay() Day {
	return Day{all: []share{{"delivered", 680}, {"undelivered", 120}, {"expired", 80}, {NoReport, 60}, {"unknown", 30},
		{"rejected", 20}, {"refused", 10}}, TooMany: .01, Unreached: .05, Lost: .04, Broken: .02}
}

// Learn is the day that an account's past tells, or a plain one where that has
// fewer than MinReports reports.
func Learn(p Past) Day {
	day := Plain()
	by, sum, reports := map[string]map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, t := range p.Traffic {
		s, known := sms.StandingByKey(t.Key)
		if !known || s.Tile == sms.TileNetwork {
			continue
		}
		if by[t.Network] == nil {
			by[t.Network] = map[string]int64{}
		}
		by[t.Network][t.Key] += t.N
		sum[t.Key] += t.N
		if t.Key != NoReport {
			reports[t.Network] += t.N
			day.Reports += t.N
		}
	}
	if day.Reports >= MinReports {
		sum["refused"] += p.Refused
		day.all, day.networks = shares(sum), map[string][]share{}
		for name, keys := range by {
			if reports[name] >= minNetwork {
				// Of refused recipients the network is not counted: each has its part of them.
				keys["refused"] += p.Refused * total(keys) / max(total(sum)-p.Refused, 1)
				day.networks[name] = shares(keys)
			}
		}
	}
	day.requests(p.Requests)
	return day
}

// requests learns what became of requests, where there were enough. Of those that
// found no connection nothing is remembered that could be counted.
func (d *Day) requests(ends map[sms.Class]int64) {
	n := float64(ends[sms.ClassAnswered] + ends[sms.ClassRate] + ends[sms.ClassDoubt])
	if n < minRequests {
		return
	}
	d.TooMany, d.Unreached, d.Lost = float64(ends[sms.ClassRate])/n, 0, float64(ends[sms.ClassDoubt])/n
}

func total(keys map[string]int64) (n int64) {
	for _, some := range keys {
		n += some
	}
	return n
}

// shares puts the most frequent first, so that the same past is the same day.
func shares(keys map[string]int64) (list []share) {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if keys[key] > 0 {
			list = append(list, share{key, keys[key]})
		}
	}
	slices.SortStableFunc(list, func(a, b share) int { return cmp.Compare(b.n, a.n) })
	return list
}

// Fate is the standing's key that a message to the number comes to on this day.
// The same seed gives the same fate.
func (d Day) Fate(seed uint64, network, number string) string {
	list, own := d.networks[network]
	if !own {
		list = d.all
	}
	sum := int64(0)
	for _, s := range list {
		sum += s.n
	}
	at := int64(chance(seed, number) * float64(sum))
	for _, s := range list {
		if at -= s.n; at < 0 {
			return s.key
		}
	}
	return "delivered"
}

// chance is from 0 to below 1, the same for the same seed and number.
func chance(seed uint64, number string) float64 {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, seed)
	_, _ = h.Write([]byte(number))
	// FNV leaves the upper bits of short words alike: they are mixed once more.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}
