package views

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"smsdesk/internal/sms"
)

// BreakdownPage is a campaign cut by network and reason, and its reports over
// time.
type BreakdownPage struct {
	CampaignPage
	ByNetwork []sms.Breakdown
	ByReason  []sms.Breakdown
	ByMinute  []sms.Breakdown
}

// networkShare is one network's messages.
type networkShare struct {
	name  string
	tally sms.Tally
}

func (p BreakdownPage) networks() (list []networkShare) {
	for _, c := range p.ByNetwork {
		if len(list) == 0 || list[len(list)-1].name != c.Name {
			list = append(list, networkShare{c.Name, sms.Tally{}})
		}
		list[len(list)-1].tally[c.Key] += c.N
	}
	slices.SortStableFunc(list, func(a, b networkShare) int { return cmp.Compare(b.tally.Total(), a.tally.Total()) })
	return list
}

func (n networkShare) words() string { return networkWords(n.name) }

func (n networkShare) filter() string {
	if n.name == "" {
		return sms.NoNetwork
	}
	return n.name
}

func networkWords(name string) string {
	if name == "" || name == sms.NoNetwork {
		return "Not known"
	}
	return name
}

// reason is one answer of networks or of the provider, with its messages.
type reason struct {
	standing sms.DisplayStatus
	code     string
	n        int64
}

// reasonsShown bounds the list: the codes are somebody else's.
const reasonsShown = 30

func (p BreakdownPage) reasons() (list []reason) {
	for _, c := range p.ByReason {
		if s, ok := sms.StandingByKey(c.Key); ok {
			list = append(list, reason{s, c.Name, c.N})
		}
	}
	slices.SortStableFunc(list, func(a, b reason) int { return cmp.Compare(b.n, a.n) })
	return list[:min(len(list), reasonsShown)]
}

// id names the reason on the page; codes may hold anything.
func (r reason) id() string { return "reason-" + r.standing.Key + "-" + hashed(r.code) }

// hashed makes a word of any text that an id can hold.
func hashed(text string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

func (n networkShare) id() string { return "network-" + hashed(n.name) }

// raw are the other side's own words for it.
func (r reason) raw() string {
	words := string(statusOf(r.standing.Key))
	if r.code != "" {
		if words != "" {
			words += ", "
		}
		words += "code " + r.code
	}
	return words
}

// statusOf is the status that a standing stands for, "" for none.
func statusOf(key string) sms.Status {
	for _, s := range sms.Statuses() {
		if s != sms.Acceptd && sms.StandingKey(sms.Accepted, s, false) == key {
			return s
		}
	}
	return ""
}

func (r reason) help() string {
	if r.standing.Key == "refused" {
		return "The provider did not accept these messages. Its own wording is shown next to each."
	}
	return r.standing.Help
}

// chartMost is how many points a chart over time has at most.
const chartMost = 60

// chartSteps are the lengths of time that one point may stand for, in minutes.
var chartSteps = []int64{1, 2, 5, 10, 15, 30, 60, 2 * 60, 4 * 60, 8 * 60, 24 * 60}

// reports puts the reports into a chart. Reports trickle in for days: the
// steps grow with the time from the first to the last.
func (p BreakdownPage) reports() ChartProps {
	minutes := map[int64][3]int64{}
	first, last := int64(0), int64(0)
	for _, c := range p.ByMinute {
		at, err := strconv.ParseInt(c.Name, 10, 64)
		if err != nil {
			continue
		}
		if at /= 60_000; first == 0 || at < first {
			first = at
		}
		last = max(last, at)
		if i := slices.Index(reportKeys[:], c.Key); i >= 0 {
			row := minutes[at]
			row[i] += c.N
			minutes[at] = row
		}
	}
	step := chartSteps[len(chartSteps)-1]
	for _, s := range slices.Backward(chartSteps) {
		if (last-first)/s < chartMost {
			step = s
		}
	}
	chart := ChartProps{ID: "reports", Name: reportsPer(step), Head: "From",
		Series: []ChartSeries{{"Delivered", ToneOK}, {"Not delivered", ToneBad}, {"Others", ToneMute}}}
	if len(minutes) == 0 {
		return chart
	}
	for at := first - first%step; at <= last && len(chart.Points) < 500; at += step {
		point := ChartPoint{Values: make([]int, len(reportKeys))}
		for m := at; m < at+step; m++ {
			for i, n := range minutes[m] {
				point.Values[i] += int(n)
			}
		}
		ms := at * 60_000
		point.Label, point.Short = p.When(ms), p.axis(ms, last-first >= 24*60)
		chart.Points = append(chart.Points, point)
	}
	chart.Says = chart.reportsSay()
	return chart
}

// reportKeys are the series of the chart, in their order.
var reportKeys = [...]string{sms.ReportDelivered, sms.ReportFailed, sms.ReportOther}

func reportsPer(minutes int64) string {
	switch {
	case minutes == 1:
		return "Reports per minute"
	case minutes < 60:
		return "Reports per " + strconv.FormatInt(minutes, 10) + " minutes"
	case minutes == 60:
		return "Reports per hour"
	case minutes == 24*60:
		return "Reports per day"
	}
	return "Reports per " + strconv.FormatInt(minutes/60, 10) + " hours"
}

// axis is a time on an axis: with the day where there are several.
func (o Formatter) axis(ms int64, days bool) string {
	at := o.at(ms)
	if days {
		return at.Format("2 Jan 15:04")
	}
	return Clock(at)
}

func (p ChartProps) reportsSay() string {
	busiest, most := 0, 0
	for i, at := range p.Points {
		if sum := at.Values[0] + at.Values[1] + at.Values[2]; sum > most {
			busiest, most = i, sum
		}
	}
	return "From " + p.Points[0].Label + " to " + p.Points[len(p.Points)-1].Label + ": " + Number(p.total(0)) +
		" delivered, " + Number(p.total(1)) +
		" not delivered, " + Number(int(p.total(2))) + " other. Peak at " + p.Points[busiest].Label + ": " + Number(most) + "."
}

// lastReport says when the last report came.
func (p BreakdownPage) lastReport() string {
	if len(p.ByMinute) == 0 {
		return ""
	}
	at, err := strconv.ParseInt(p.ByMinute[len(p.ByMinute)-1].Name, 10, 64)
	if err != nil || p.Now.Sub(time.UnixMilli(at)) < 2*time.Minute {
		return ""
	}
	return "Last report received " + p.When(at) + "."
}
