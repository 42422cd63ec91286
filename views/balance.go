package views

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// BalancePage is what is left on an account, what was used, and what it cost.
type BalancePage struct {
	RecordPage
	Live        Refresh // of what the last reading says
	AccountRow  sms.Account
	Balances    []sms.Balance
	Alarms      []sms.Alarm
	Settings    sms.RecordSettings
	Administers bool
	Mails       bool // this desk can send mail

	History []sms.BalanceSpan // of the balance for messages
	Days    int               // how far back

	Month  string // 2006-01
	By     string // one of UsageBys
	Usage  []sms.UsageRow
	Costs  []sms.Cost
	Prices []sms.LearntPrice // the first is over all networks

	WarnBelow, Floor, MailTo string // as typed
	XML                      *BalanceXML
}

// BalanceXML is the balance as it came in the other format.
type BalanceXML struct {
	Raw  string
	List []sms.Balance
}

// UsageBys are the headings that usage can be summed under, with their words.
func UsageBys() []Tab {
	return []Tab{{Text: "Day", Href: "day"}, {Text: "Month", Href: "month"}, {Text: "Sender ID", Href: "sender"},
		{Text: "Team member", Href: "person"}, {Text: "Network", Href: "network"}}
}

func (p BalancePage) usageTabs() []Tab {
	tabs := UsageBys()
	for i, t := range tabs {
		tabs[i].Current = t.Href == p.By
		tabs[i].Href = p.usagePath(p.Month, t.Href)
	}
	return tabs
}

func (p BalancePage) usagePath(month, by string) string {
	return With(With(BalancePath, "month", month), "by", by) + "#usage"
}

func (p BalancePage) monthName() string {
	t, err := time.Parse("2006-01", p.Month)
	if err != nil {
		return p.Month
	}
	return t.Format("January 2006")
}

func (p BalancePage) otherMonth(by int) string {
	t, err := time.Parse("2006-01", p.Month)
	if err != nil {
		return ""
	}
	t = t.AddDate(0, by, 0)
	if t.After(p.Now) {
		return ""
	}
	return p.usagePath(t.Format("2006-01"), p.By)
}

func (p BalancePage) usageTitle() string {
	if p.By == "month" {
		return "Usage by month"
	}
	return "Usage in " + p.monthName()
}

func (p BalancePage) usageCaption() string {
	for _, t := range UsageBys() {
		if t.Href == p.By {
			return "Messages by " + strings.ToLower(t.Text[:1]) + t.Text[1:]
		}
	}
	return "Sent"
}

func (p BalancePage) usageName(name string) string {
	switch p.By {
	case "day":
		if words, err := timeOfDay(name, p.Now); err == nil {
			return words
		}
	case "month":
		if t, err := time.Parse("2006-01", name); err == nil {
			return t.Format("January 2006")
		}
	case "network":
		return networkName(name)
	}
	if name == "" {
		return "unknown"
	}
	return name
}

func networkName(name string) string {
	if name == "" {
		return "Unknown network"
	}
	return name
}

func (p BalancePage) total() (u sms.Usage) {
	for _, r := range p.Usage {
		u.Messages, u.Parts = u.Messages+r.Messages, u.Parts+r.Parts
	}
	return u
}

// estimate is what parts cost by the account's own price, "–" without one.
func (p BalancePage) estimate(parts int64) string {
	if p.AccountRow.PricePerPart <= 0 {
		return "–"
	}
	return amount(p.AccountRow.Currency, new(big.Rat).Mul(big.NewRat(p.AccountRow.PricePerPart, 100),
		big.NewRat(parts, 1)))
}

// failed is the sentence for a balance that could not be read just now.
func (p BalancePage) failed() string {
	b := sms.ForMessages(p.Balances)
	if b == nil {
		return "The balance has not been read yet."
	}
	return "Last known " + b.Credits + ", " + p.When(b.ReadAt) + "."
}

// LowBalance is the sentence of the band below the warning level.
func LowBalance(a sms.Account, b sms.Balance, warnBelow int64) string {
	return "The balance is low: " + b.Credits + ". Your alert level is " + Money(a.Currency, warnBelow) + ". Top up soon."
}

func (p BalancePage) alarmWords(a sms.Alarm) string { return withStop(a.Sentence(p.Now.Location())) }

func (p BalancePage) lastAlarm() int64 {
	last := int64(0)
	for _, a := range p.Alarms {
		last = max(last, a.ID)
	}
	return last
}

// balancePoint is a reading of the balance in a chart.
type balancePoint struct {
	At      int64
	Credits string
	Value   *big.Rat
}

// balancePoints is the most points of a chart: more cannot be told apart.
const balancePoints = 120

// points are the changes of the balance, the last of each stretch of time where
// there are many. A balance that is no amount gives none.
func (p BalancePage) points() []balancePoint {
	var list []balancePoint
	for _, s := range p.History {
		v, ok := s.Amount()
		if !ok {
			continue
		}
		list = append(list, balancePoint{s.Since, s.Credits, v})
		if s.ReadAt > s.Since {
			list = append(list, balancePoint{s.ReadAt, s.Credits, v})
		}
	}
	if len(list) <= balancePoints {
		return list
	}
	first, span := list[0].At, list[len(list)-1].At-list[0].At+1
	var few []balancePoint
	last := int64(-1)
	for _, x := range list {
		bucket := (x.At - first) * balancePoints / span
		if bucket == last {
			few[len(few)-1] = x
		} else {
			few = append(few, x)
		}
		last = bucket
	}
	return few
}

// readWords is when a balance was read, and whether it is low.
func (p BalancePage) readWords(b sms.Balance) string {
	words := "Read " + p.When(b.ReadAt) + "."
	if sms.ForMessages([]sms.Balance{b}) != nil && b.Below(p.Settings.WarnBelow) {
		words += " Below your alert level of " + Money(p.AccountRow.Currency, p.Settings.WarnBelow) + "."
	}
	return words
}

// balanceChart is a line over time, 720 by 160, with a little air above. It
// stands on nothing left, so that a small fall looks small.
type balanceChart struct {
	Line, Area  string
	High, Low   string
	From, Until string
	Words       string
}

// extremes are the lowest and the highest of some points.
func extremes(points []balancePoint) (low, high balancePoint) {
	low, high = points[0], points[0]
	for _, x := range points {
		if x.Value.Cmp(low.Value) < 0 {
			low = x
		}
		if x.Value.Cmp(high.Value) > 0 {
			high = x
		}
	}
	return low, high
}

func (p BalancePage) chart(points []balancePoint) balanceChart {
	low, high := extremes(points)
	first, last := points[0], points[len(points)-1]
	least, _ := low.Value.Float64()
	top, _ := high.Value.Float64()
	bottom := min(least, 0)
	place := func(x balancePoint) (float64, float64) {
		v, _ := x.Value.Float64()
		across, up := 1.0, 0.0
		if last.At > first.At {
			across = float64(x.At-first.At) / float64(last.At-first.At)
		}
		if top > bottom {
			up = (v - bottom) / (top - bottom)
		}
		return across * 720, 158 - up*148
	}
	var line strings.Builder
	for i, x := range points {
		across, up := place(x)
		switch {
		case first.At == last.At:
			line.Reset()
			fmt.Fprintf(&line, "M0 %.1fH720", up)
		case i == 0:
			fmt.Fprintf(&line, "M%.1f %.1f", across, up)
		default:
			// The balance stood until it changed.
			fmt.Fprintf(&line, "H%.1fV%.1f", across, up)
		}
	}
	return balanceChart{Line: line.String(), Area: line.String() + "V160H0Z", High: high.Credits, Low: low.Credits,
		From: p.When(first.At), Until: p.When(last.At),
		Words: fmt.Sprintf("From %s to %s: highest %s, lowest %s, latest %s.", p.When(first.At), p.When(last.At),
			high.Credits, low.Credits, last.Credits)}
}

func (p BalancePage) historyTabs() []Tab {
	var tabs []Tab
	for _, days := range []int{7, 30, 90} {
		tabs = append(tabs, Tab{Text: strconv.Itoa(days) + " days", Href: With(BalancePath, "days", strconv.Itoa(days)),
			Current: days == p.Days})
	}
	return tabs
}

func (p BalancePage) fell(c sms.Cost) string {
	fall, ok := c.Fell()
	switch {
	case ok:
		return amount(c.After.Currency(), fall)
	case !c.Known:
		return "balance not recorded"
	case !c.Alone:
		return "other campaigns were sending"
	}
	return "balance rose"
}

// off is how far the fact is from the estimate.
func (p BalancePage) off(c sms.Cost) string {
	fall, ok := c.Fell()
	if !ok || p.AccountRow.PricePerPart <= 0 {
		return "–"
	}
	expected := new(big.Rat).Mul(big.NewRat(p.AccountRow.PricePerPart, 100), big.NewRat(c.Parts(), 1))
	diff := new(big.Rat).Sub(fall, expected)
	if diff.Sign() == 0 {
		return "none"
	}
	if diff.Sign() > 0 {
		return amount(c.After.Currency(), diff) + " more"
	}
	return amount(c.After.Currency(), diff.Neg(diff)) + " less"
}

func (p BalancePage) price(r *big.Rat) string { return amount(p.currency(), r) }

func (p BalancePage) currency() string {
	if b := sms.ForMessages(p.Balances); b != nil {
		return b.Currency()
	}
	return p.AccountRow.Currency
}

// noPrice says how to come to estimates.
func (p BalancePage) noPrice() string {
	if p.AccountRow.PricePerPart > 0 {
		return ""
	}
	return " To see estimated costs, ask an administrator to set the price per part in Settings."
}

func (p BalancePage) spread(l sms.LearntPrice) string {
	if l.Samples == 1 {
		return "one campaign"
	}
	if l.Low.Cmp(l.High) == 0 {
		return "same every time"
	}
	return p.price(l.Low) + " to " + p.price(l.High)
}

func priceName(i int, l sms.LearntPrice) string {
	if i == 0 {
		return "All networks"
	}
	return networkName(l.Network)
}

func (p BalancePage) noUsage() string {
	if p.By == "month" {
		return "No usage in the last 12 months."
	}
	return "No usage in " + p.monthName() + "."
}

func (p BalancePage) usageHead() string {
	for _, t := range UsageBys() {
		if t.Href == p.By {
			return t.Text
		}
	}
	return "Name"
}

func (p BalancePage) mailHint() string {
	if !p.Mails {
		return "Email addresses, separated by commas. smsdesk was started without a mail server (--smtp), so no email is sent yet."
	}
	return "Email addresses, separated by commas."
}
