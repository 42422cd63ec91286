package sms

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// What became of accepted messages is counted by when they left, in slots of
// ten minutes by network and sender ID, and in quarters of an hour without.
const (
	TrafficSlot    = 10 * time.Minute
	TrafficQuarter = 15 * time.Minute
)

// Traffic is a number of accepted messages of one standing that left in one
// slot or quarter. Network and SenderID are empty in a quarter.
type Traffic struct {
	At       int64 // its beginning
	Network  string
	SenderID string
	Key      string // a standing's key
	N        int64
}

// CutKind is a way to cut a campaign's messages or reports into parts.
type CutKind string

// The kinds of cuts.
const (
	CutNetwork CutKind = "network" // accepted messages by network and standing
	CutReason  CutKind = "reason"  // those not delivered, and refused ones, by error code and standing
	CutMinute  CutKind = "minute"  // first arrivals of reports by minute and kind
)

// Breakdown is one part.
type Breakdown struct {
	Kind CutKind
	Name string // network, error code, or the minute's beginning in milliseconds
	Key  string // a standing's key; for minutes one of ReportDelivered and the others
	N    int64
}

// The kinds of reports in a CutMinute.
const (
	ReportDelivered = "delivered"
	ReportFailed    = "failed"
	ReportOther     = "other" // interim, unknown, or a status that §3.2 does not list
)

// ReportKey tells which of them a reported status is.
func ReportKey(status string) string {
	s, _ := ParseStatus(status)
	switch {
	case s == Delivrd:
		return ReportDelivered
	case s.Final():
		return ReportFailed
	}
	return ReportOther
}

// reasonLength bounds an error code that is counted: it is somebody else's.
const reasonLength = 40

// ReasonCode is an error code as it is counted.
func ReasonCode(code string) string {
	letters := []rune(code)
	return string(letters[:min(len(letters), reasonLength)])
}

// FailureCode is the error code under which a message is counted as not delivered,
// not known to be, or refused; ok is false for every other message.
func (m Message) FailureCode() (code string, ok bool) {
	switch s := m.Standing(); {
	case m.State == Refused:
		return ReasonCode(m.Code), true
	case s.Tile == TileFailed || s.Tile == TileUnknown:
		return ReasonCode(m.Delivery.ErrorCode), true
	}
	return "", false
}

// NetworkSeries is the traffic of one network and sender ID, oldest first.
type NetworkSeries struct {
	Network, SenderID string
	Points            []LaneSlot
}

// LaneSlot is what became of the messages of one slot. Numbers on a block list
// say nothing about the network and are not among the failed ones.
type LaneSlot struct {
	At                      int64
	Sent, Delivered, Failed int64
}

// Lanes puts traffic into lanes, the busiest first.
func Lanes(list []Traffic) []NetworkSeries {
	type name struct{ network, sender string }
	lanes, slots := map[name]*NetworkSeries{}, map[name]map[int64]*LaneSlot{}
	for _, t := range list {
		n := name{t.Network, t.SenderID}
		if lanes[n] == nil {
			lanes[n], slots[n] = &NetworkSeries{Network: t.Network, SenderID: t.SenderID}, map[int64]*LaneSlot{}
		}
		if slots[n][t.At] == nil {
			slots[n][t.At] = &LaneSlot{At: t.At}
		}
		s, _ := StandingByKey(t.Key)
		slot := slots[n][t.At]
		slot.Sent += t.N
		switch {
		case s.Tile == TileDelivered:
			slot.Delivered += t.N
		case s.Tile == TileFailed && t.Key != "blocked":
			slot.Failed += t.N
		}
	}
	out := make([]NetworkSeries, 0, len(lanes))
	for n, l := range lanes {
		for _, s := range slots[n] {
			l.Points = append(l.Points, *s)
		}
		slices.SortFunc(l.Points, func(a, b LaneSlot) int { return cmp.Compare(a.At, b.At) })
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b NetworkSeries) int {
		return cmp.Or(cmp.Compare(b.Total().Sent, a.Total().Sent), cmp.Compare(a.Network, b.Network),
			cmp.Compare(a.SenderID, b.SenderID))
	})
	return out
}

// Total adds the slots up; its At is that of the first.
func (l NetworkSeries) Total() (sum LaneSlot) {
	for i, s := range l.Points {
		if i == 0 {
			sum.At = s.At
		}
		sum.Sent, sum.Delivered, sum.Failed = sum.Sent+s.Sent, sum.Delivered+s.Delivered, sum.Failed+s.Failed
	}
	return sum
}

// Failing says that a lane has become clearly worse and still is.
type Failing struct {
	Since  int64 // the slot in which it began
	Failed int64 // messages since then that were not delivered,
	Ended  int64 // of those whose fate is known
	Before float64
	After  float64 // shares that were not delivered
}

// What it takes to call a lane failing: enough messages on both sides, a share
// that matters, and a difference that chance does not make in years, although
// every slot of every lane is tried.
const (
	failingBefore = 30
	failingAfter  = 20
	failingLast   = 10
	failingShare  = 0.4
	failingWorse  = 0.2
	failingProof  = 25 // of the likelihood ratio, twice its logarithm
)

// Failing finds the slot since which more messages fail than before: the one
// that parts the lane's fates best. Messages whose fate is open count on
// neither side.
func (l NetworkSeries) Failing() (f Failing, ok bool) {
	all := l.Total()
	best, failed, ended := float64(failingProof), int64(0), int64(0)
	for i, s := range l.Points {
		was := Failing{Since: s.At, Failed: all.Failed - failed, Ended: all.Delivered + all.Failed - ended,
			Before: part(failed, ended)}
		was.After = part(was.Failed, was.Ended)
		if i > 0 && s.Delivered+s.Failed > 0 && ended >= failingBefore && was.Ended >= failingAfter &&
			was.After >= failingShare && was.After-was.Before >= failingWorse {
			if proof := 2 * (likely(failed, ended) + likely(was.Failed, was.Ended) - likely(all.Failed,
				all.Delivered+all.Failed)); proof > best {
				best, f, ok = proof, was, true
			}
		}
		failed, ended = failed+s.Failed, ended+s.Delivered+s.Failed
	}
	return f, ok && l.lately() >= (f.Before+f.After)/2
}

// lately is the share that failed in the last slots in which enough ended.
func (l NetworkSeries) lately() float64 {
	failed, ended := int64(0), int64(0)
	for i := len(l.Points) - 1; i >= 0 && ended < failingLast; i-- {
		failed, ended = failed+l.Points[i].Failed, ended+l.Points[i].Delivered+l.Points[i].Failed
	}
	return part(failed, ended)
}

func part(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// likely is the logarithm of how likely this outcome is, where its own share
// is the truth.
func likely(failed, ended int64) float64 {
	if failed <= 0 || failed >= ended {
		return 0
	}
	share := part(failed, ended)
	return float64(failed)*math.Log(share) + float64(ended-failed)*math.Log(1-share)
}
