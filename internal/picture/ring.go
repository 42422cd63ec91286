package picture

import "math"

// What a part of a ring or a band of a flow stands for.
const (
	Delivered = "delivered"
	Failed    = "failed"
	Unsure    = "unsure"
	Open      = "open"
)

// Arc is one part of a ring whose length is 1,000, clockwise from the top.
type Arc struct {
	Kind  string
	N     int64
	Start string
	Long  string // drawn; the rest of its length is the gap behind it
}

const (
	around = 1000.0
	least  = 8.0 // a part that is there can be seen
	gap    = 5.0
)

// Ring divides a ring among the parts of all messages; the rest of it stays empty.
func Ring(m Moment, all int64) (list []Arc) {
	parts := []Arc{{Kind: Delivered, N: m.Delivered}, {Kind: Failed, N: m.Failed}, {Kind: Unsure, N: m.Unsure},
		{Kind: Open, N: m.Open()}}
	long, longest, sum := make([]float64, len(parts)), 0, 0.0
	for i, p := range parts {
		if p.N > 0 && all > 0 {
			long[i] = max(around*float64(p.N)/float64(all), least)
		}
		if sum += long[i]; long[i] > long[longest] {
			longest = i
		}
	}
	long[longest] -= max(sum-around, 0)
	at := 0.0
	for i, p := range parts {
		if long[i] <= 0 {
			continue
		}
		drawn := long[i] - gap
		if long[i] >= around {
			drawn = around
		}
		p.Start, p.Long = Unit(-at), Unit(math.Max(drawn, 1))
		list, at = append(list, p), at+long[i]
	}
	return list
}
