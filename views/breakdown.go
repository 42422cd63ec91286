package views

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"

	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
)

// BreakdownPage is a campaign cut by network, reason and time.
type BreakdownPage struct {
	CampaignPage
	ByNetwork []sms.Breakdown
	ByReason  []sms.Breakdown
	Usual     []picture.Wait // of the account's campaigns of the last 14 days
	Earlier   *Earlier       // nil: none has the same name
	Audit     []sms.Audit    // what was done to the campaign
	TooFast   int64          // when the provider last said that requests come too fast
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

// axis is a time on an axis: with the day where there are several.
func (o Formatter) axis(ms int64, days bool) string {
	at := o.at(ms)
	if days {
		return at.Format("2 Jan 15:04")
	}
	return Clock(at)
}
