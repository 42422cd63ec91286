package sms

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strings"
	"time"
)

// Usage counts what the service accepted for sending.
type Usage struct {
	Messages int64
	Parts    int64
}

// UsageDay is what one person sent on one day with one sender ID to one network.
type UsageDay struct {
	Day      string // 2006-01-02 in the account's zone
	SenderID string
	UserID   int64 // 0: a program or the command line
	UserName string
	Network  string // by prefix (NetworkNote), "" for none known
	Usage
}

// NetworkUsage is what of a campaign went to one network.
type NetworkUsage struct {
	Network string
	Usage
}

// UsageRow is a sum of usage under one heading.
type UsageRow struct {
	Name string
	Usage
}

// SumUsage adds days up under the heading that name gives each of them. The
// rows are in the order of their headings where byName is set, else the most
// parts come first.
func SumUsage(days []UsageDay, byName bool, name func(UsageDay) string) []UsageRow {
	sums := map[string]Usage{}
	for _, d := range days {
		s := sums[name(d)]
		sums[name(d)] = Usage{s.Messages + d.Messages, s.Parts + d.Parts}
	}
	rows := make([]UsageRow, 0, len(sums))
	for n, u := range sums {
		rows = append(rows, UsageRow{n, u})
	}
	sort.Slice(rows, func(i, j int) bool {
		if !byName && rows[i].Parts != rows[j].Parts {
			return rows[i].Parts > rows[j].Parts
		}
		return rows[i].Name < rows[j].Name
	})
	return rows
}

// BalanceSpan is a stretch of time in which readings of the balance found the
// same credit.
type BalanceSpan struct {
	Balance
	Since int64 // the first such reading (ms); ReadAt is the last
}

// Fall is how much the balance fell from before to after; ok is false where one
// of them cannot be read or is of another currency. It is negative after a top-up.
func Fall(before, after Balance) (fall *big.Rat, ok bool) {
	b, fine := before.Amount()
	a, also := after.Amount()
	if !fine || !also || before.Currency() != after.Currency() {
		return nil, false
	}
	return new(big.Rat).Sub(b, a), true
}

// Currency is what stands before the digits of Credits, such as "₦"; a minus is
// no part of it.
func (b Balance) Currency() string {
	s := strings.TrimSpace(b.Credits)
	if i := strings.IndexAny(s, "0123456789"); i >= 0 {
		s = s[:i]
	}
	return strings.Trim(s, "-− ")
}

// Below says that the balance can be read and is lower than an amount in
// hundredths; 0 is no amount.
func (b Balance) Below(hundredths int64) bool {
	have, ok := b.Amount()
	return ok && hundredths > 0 && have.Cmp(big.NewRat(hundredths, 100)) < 0
}

// Cost is what a campaign took off the balance beside what was expected of it.
type Cost struct {
	Campaign Campaign
	Networks []NetworkUsage
	Before   Balance // the last reading before its first call
	After    Balance // the first one after its end
	Known    bool    // both readings are there and can be compared
	Alone    bool    // nothing else was sent between the two
}

// Parts are those that the service accepted.
func (c Cost) Parts() (n int64) {
	for _, u := range c.Networks {
		n += u.Parts
	}
	return n
}

// Fell is what the balance fell, for a campaign that ran alone.
func (c Cost) Fell() (*big.Rat, bool) {
	if !c.Known || !c.Alone {
		return nil, false
	}
	fall, ok := Fall(c.Before, c.After)
	return fall, ok && fall.Sign() >= 0
}

// PriceSample is one campaign that ran alone: its parts by network, and what
// the balance fell.
type PriceSample struct {
	Parts map[string]int64
	Fell  *big.Rat
}

// PriceSamples are those of the campaigns that tell what a part costs.
func PriceSamples(costs []Cost) (list []PriceSample) {
	for _, c := range costs {
		if fell, ok := c.Fell(); ok {
			sample := PriceSample{Parts: map[string]int64{}, Fell: fell}
			for _, n := range c.Networks {
				sample.Parts[n.Network] += n.Parts
			}
			list = append(list, sample)
		}
	}
	return list
}

// LearntPrice is what a part cost to a network in the campaigns that tell.
type LearntPrice struct {
	Network           string // "" is a network that is not known
	Samples           int
	Low, Middle, High *big.Rat // of one part; Middle is the median
}

// LearnPrices finds what a part costs. overall takes every sample as a whole;
// its Samples are 0 when there is none. networks are told by campaigns that
// went to one network only, and then by those of which all networks but one are
// known. The order of the samples makes no difference. Samples without parts,
// and those of which the balance rose, tell nothing.
func LearnPrices(samples []PriceSample) (overall LearntPrice, networks []LearntPrice) {
	var whole []*big.Rat
	open := []PriceSample{}
	for _, s := range samples {
		n := int64(0)
		for _, parts := range s.Parts {
			n += parts
		}
		if n > 0 && s.Fell != nil && s.Fell.Sign() >= 0 {
			whole, open = append(whole, each(s.Fell, n)), append(open, s)
		}
	}
	overall = pricesOf("", whole)
	known := map[string]LearntPrice{}
	for {
		found := map[string][]*big.Rat{}
		var left []PriceSample
		for _, s := range open {
			if network, price, ok := unknownOf(s, known); ok {
				found[network] = append(found[network], price)
			} else {
				left = append(left, s)
			}
		}
		if len(found) == 0 {
			break
		}
		open = left
		for network, prices := range found {
			if _, ok := known[network]; !ok {
				known[network] = pricesOf(network, prices)
			}
		}
	}
	for _, p := range known {
		networks = append(networks, p)
	}
	slices.SortFunc(networks, func(a, b LearntPrice) int { return strings.Compare(a.Network, b.Network) })
	return overall, networks
}

// unknownOf finds the price of the one network of a sample that is not known.
func unknownOf(s PriceSample, known map[string]LearntPrice) (network string, price *big.Rat, ok bool) {
	left, missing := new(big.Rat).Set(s.Fell), 0
	for n, parts := range s.Parts {
		if parts <= 0 {
			continue
		}
		if p, is := known[n]; is {
			left.Sub(left, new(big.Rat).Mul(p.Middle, big.NewRat(parts, 1)))
			continue
		}
		network, missing = n, missing+1
	}
	if missing != 1 || left.Sign() < 0 {
		return "", nil, false
	}
	return network, each(left, s.Parts[network]), true
}

func each(sum *big.Rat, n int64) *big.Rat { return new(big.Rat).Quo(sum, big.NewRat(n, 1)) }

func pricesOf(network string, prices []*big.Rat) LearntPrice {
	if len(prices) == 0 {
		return LearntPrice{Network: network}
	}
	slices.SortFunc(prices, func(a, b *big.Rat) int { return a.Cmp(b) })
	return LearntPrice{Network: network, Samples: len(prices), Low: prices[0], Middle: prices[(len(prices)-1)/2],
		High: prices[len(prices)-1]}
}

// AlarmKind is what an alarm about the balance is about.
type AlarmKind string

// The kinds of alarm.
const (
	AlarmLow   AlarmKind = "low"   // the balance went below the warning level
	AlarmFall  AlarmKind = "fall"  // it fell while nothing was sent
	AlarmFloor AlarmKind = "floor" // it reached the floor: sending was paused
	// AlarmUnspent: it fell by more than was spent from here until a start.
	AlarmUnspent AlarmKind = "unspent"
)

// Alarm is something about a balance that a person should know.
type Alarm struct {
	ID         int64
	AccountID  int64
	Kind       AlarmKind
	PluginType string
	At         int64  // the reading that showed it (ms)
	From       int64  // the reading before it
	Before     string // Credits of the two readings, as given
	After      string
}

// Sentence says what the alarm is about, in the account's zone.
func (a Alarm) Sentence(zone *time.Location) string {
	at := time.UnixMilli(a.At).In(zone).Format("2 January 2006 at 15:04")
	before, after := Balance{Credits: a.Before}, Balance{Credits: a.After}
	switch a.Kind {
	case AlarmFall:
		fell := "from " + a.Before + " to " + a.After
		if fall, ok := Fall(before, after); ok {
			fell = after.Currency() + thousands(fall.FloatString(2)) + ", " + fell
		}
		from := time.UnixMilli(a.From).In(zone).Format("2 January 2006 at 15:04")
		return fmt.Sprintf(
			"The %s balance fell %s between %s and %s, although smsdesk sent nothing. Someone else may be using the "+
				"account: ask the provider", a.PluginType, fell, from, at)
	case AlarmUnspent:
		return fmt.Sprintf(
			"The %s balance fell from %s to %s before smsdesk was started, on %s at the latest, by more than it spent. Campaigns are paused. %s",
			a.PluginType, a.Before, a.After, at, unspentQuestion)
	case AlarmFloor:
		return fmt.Sprintf(
			"Sending was paused on %s because the balance (%s) reached your minimum. Top up or lower the minimum, then continue the campaigns", at, a.After)
	}
	return fmt.Sprintf("The %s balance is low: %s. It fell below your alert level on %s", a.PluginType, a.After, at)
}

// thousands writes commas into a decimal number.
func thousands(number string) string {
	whole, rest, _ := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + "." + rest
}

// FloorSentence says why a campaign pauses at a balance.
func FloorSentence(b Balance) string {
	return "The balance is " + b.Credits +
		", at or below the account's minimum. Top up or lower the minimum on the Balance page, then continue"
}

// ForMessages is the balance that messages are paid from: that for SMS, or the
// only one there is. Nil where that cannot be told.
func ForMessages(list []Balance) *Balance {
	for i, b := range list {
		if b.PluginType == "SMS" || len(list) == 1 {
			return &list[i]
		}
	}
	return nil
}
