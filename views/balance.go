package views

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/picture"
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

	Month   string // 2006-01
	By      string // one of UsageBys
	Usage   []sms.UsageRow
	Costs   []sms.Cost
	Prices  []sms.LearntPrice // the first is over all networks
	Price   Price             // that costs are estimated with
	Outlook Outlook

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

// estimate is what parts cost by the price that is reckoned with, "–" without one.
func (p BalancePage) estimate(parts int64) string {
	if !p.Price.Known() {
		return "–"
	}
	return amount(p.currency(), p.Price.of(parts))
}

// usageSum is what was used under all headings together.
func (p BalancePage) usageSum() string {
	if len(p.Usage) == 0 {
		return p.usageTitle()
	}
	sum := Plural(int(p.total().Parts), "part", "parts")
	if p.Price.Known() {
		sum = p.estimate(p.total().Parts) + " for " + sum
	}
	return p.usageTitle() + ": " + sum
}

// days are the columns of a month, each of which leads to its day's campaigns: the
// cost, or the parts where no price is known.
func (p BalancePage) days() DayColumnsProps {
	c := DayColumnsProps{ID: "usage-days", Name: "Estimated cost by day", Plain: true,
		Series: []ChartSeries{{"Estimated cost", ToneInfo}},
		Show:   func(n int64) string { return strings.TrimSuffix(reckoned(p.currency(), big.NewRat(n, 100)), ".00") }}
	if !p.Price.Known() {
		c.Name, c.Series, c.Show, c.Noun = "Parts by day", []ChartSeries{{"Parts", ToneInfo}}, count, [2]string{"part", "parts"}
	}
	parts := map[string]int64{}
	for _, u := range p.Usage {
		parts[u.Name] += u.Parts
	}
	first, err := time.ParseInLocation("2006-01", p.Month, p.Now.Location())
	if err != nil {
		return c
	}
	for day := first; day.Month() == first.Month() && !day.After(p.Now); day = day.AddDate(0, 0, 1) {
		name := day.Format(time.DateOnly)
		value := parts[name]
		if p.Price.Known() {
			value = rounded(new(big.Rat).Mul(p.Price.of(value), big.NewRat(100, 1)))
		}
		c.Today = name == p.Now.Format(time.DateOnly)
		c.Days = append(c.Days, ColumnDay{Day: day, Values: []int64{value},
			Href: With(With(CampaignsPath, "from", name), "to", name)})
	}
	c.Says = "Together " + p.usageSum() + "."
	return c
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
	for _, s := range thin(p.History) {
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

// thin is the last reading of each stretch of time where there are many, so that
// the others are not read as amounts.
func thin(history []sms.BalanceSpan) []sms.BalanceSpan {
	if len(history) <= balancePoints {
		return history
	}
	var few []sms.BalanceSpan
	first, last := history[0].Since, int64(-1)
	span := history[len(history)-1].Since - first + 1
	for _, s := range history {
		bucket := (s.Since - first) * balancePoints / span
		if bucket == last {
			few[len(few)-1] = s
		} else {
			few = append(few, s)
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

// course is the picture of the balance, with where it goes.
func (p BalancePage) course(points []balancePoint) CourseProps {
	low, high := extremes(points)
	first, last := points[0], points[len(points)-1]
	lasts, _ := p.Outlook.words()
	var drawn []picture.Level
	for _, x := range points {
		value, _ := x.Value.Float64()
		drawn = append(drawn, picture.Level{At: x.At, Value: value})
	}
	return CourseProps{ID: "balance-line", Outlook: p.Outlook, Levels: drawn, Warn: p.Settings.WarnBelow, High: 160,
		Says: withStop(fmt.Sprintf("From %s to %s: highest %s, lowest %s, latest %s. %s", p.When(first.At), p.When(last.At),
			high.Credits, low.Credits, last.Credits, lasts))}
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

// expected is what a campaign was estimated to cost.
func (p BalancePage) expected(c sms.Cost) *big.Rat { return p.Price.of(c.Parts()) }

// off is how far the actual cost is from the estimate: in words, and as a share of
// it; ok is false where that cannot be told.
func (p BalancePage) off(c sms.Cost) (words string, share float64, ok bool) {
	fall, told := c.Fell()
	if !told || !p.Price.Known() || p.expected(c).Sign() <= 0 {
		return "–", 0, false
	}
	diff := new(big.Rat).Sub(fall, p.expected(c))
	share, _ = new(big.Rat).Quo(diff, p.expected(c)).Float64()
	switch diff.Sign() {
	case 0:
		return "as estimated", 0, true
	case 1:
		return amount(c.After.Currency(), diff) + " more", share, true
	}
	return amount(c.After.Currency(), diff.Neg(diff)) + " less", share, true
}

// A dot beside the estimate stands at most offMost away, and is amber from offCare.
const (
	offMost = 0.125
	offCare = 0.03
)

// offDot is where the actual cost stands on an axis around the estimate.
type offDot struct{ x, text, textX, anchor, class string }

func (p BalancePage) offDot(c sms.Cost) (d offDot, ok bool) {
	_, share, ok := p.off(c)
	at := 50 + 50*min(max(share/offMost, -1), 1)*0.6
	d = offDot{x: percent(at), class: "info", textX: percent(at + 3), anchor: "start"}
	if share < 0 {
		d.textX, d.anchor = percent(at-3), "end"
	}
	if share >= offCare {
		d.class = "warn"
	}
	switch {
	case share > 1:
		d.text = "> +100%"
	case share != 0:
		d.text = strings.Replace(fmt.Sprintf("%+.1f%%", 100*share), "-", "−", 1)
	}
	return d, ok
}

// priceSpan is where the prices of a network stand on the scale of all.
type priceSpan struct{ from, long, dot string }

// priceEnds are the ends of that scale.
func (p BalancePage) priceEnds() (low, high *big.Rat) {
	low, high = p.Prices[0].Low, p.Prices[0].High
	for _, l := range p.Prices {
		if l.Low.Cmp(low) < 0 {
			low = l.Low
		}
		if l.High.Cmp(high) > 0 {
			high = l.High
		}
	}
	return low, high
}

func (p BalancePage) priceSpan(l sms.LearntPrice) priceSpan {
	low, high := p.priceEnds()
	wide := new(big.Rat).Sub(high, low)
	at := func(x *big.Rat) float64 {
		if wide.Sign() == 0 {
			return 50
		}
		v, _ := new(big.Rat).Quo(new(big.Rat).Sub(x, low), wide).Float64()
		return 5 + 90*v
	}
	return priceSpan{from: percent(at(l.Low)), long: percent(max(at(l.High)-at(l.Low), 0.5)), dot: percent(at(l.Middle))}
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
	if p.Price.Known() {
		return " Costs are estimated at " + p.Price.each(p.currency()) + ", " + p.Price.source() + "."
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

// messageBalance says that messages are paid from a balance.
func (p BalancePage) messageBalance(b sms.Balance) bool {
	paid := sms.ForMessages(p.Balances)
	return paid != nil && paid.PluginType == b.PluginType
}

// extremeWords are the highest and the lowest of the readings.
func (p BalancePage) extremeWords(points []balancePoint) string {
	low, high := extremes(points)
	words := "Highest " + high.Credits + ". Lowest " + low.Credits + "."
	course := p.course(points)
	if _, shown := course.warnAt(course.course()); shown {
		words += " Dotted line: your alert level, " + Money(p.AccountRow.Currency, p.Settings.WarnBelow) + "."
	}
	return words
}
