package sms

import "fmt"

// Verdict is what the end of an attempt means for its campaign and account.
type Verdict struct {
	PauseCampaign bool
	PauseAccount  bool
	Sentence      string // why, in plain words
	Code          string
	Canary        Canary // the campaign's canary from now on
}

// Limits of the breaker (internal/workers/README.md, The breaker).
const (
	doubtsInARow  = 3
	doubtsOfLast  = 5 // more than these of breakerWindow
	breakerWindow = 50
	rateInARow    = 20
	refusedInARow = 3 // canaries of which every message was refused
)

// Finished is an ended attempt as the breaker sees it.
type Finished struct {
	Class    Class
	Accepted int64
	Canary   bool
}

// Judge decides after an attempt of a campaign has ended. recent holds the
// ended attempts since the campaign was started or continued, newest first,
// with the one just ended in front. A crash is not in it: it proves nothing
// about the provider and must not pause a campaign.
func Judge(o Outcome, canary Canary, recent []Finished) Verdict {
	v := Verdict{Canary: canary}
	if len(recent) > 0 && recent[0].Canary {
		v.Canary = CanaryPending
		if recent[0].Accepted > 0 {
			v.Canary = CanaryPassed
		}
	}
	switch {
	case o.Class == ClassListed:
		v.PauseAccount, v.PauseCampaign = o.Fault.StopsAccount(), !o.Fault.StopsAccount()
		v.Sentence, v.Code = o.Reason, o.Code
	case o.Class == ClassHold:
		v.PauseCampaign, v.Code = true, o.Code
		v.Sentence = o.Reason
	case o.Class == ClassDoubt && inDoubtTooOften(recent):
		v.PauseCampaign = true
		v.Sentence = "We lost several requests in a row and paused so that no more messages end up in doubt. Check that " +
			"the provider is working, then continue"
	case o.Class == ClassRate && run(recent, func(f Finished) bool { return f.Class == ClassRate }) >= rateInARow:
		v.PauseCampaign = true
		v.Sentence = fmt.Sprintf(
			"The provider told us %d times in a row that we are sending too fast. Check the account's requests per minute, then continue", rateInARow)
	case run(recent, func(f Finished) bool {
		return f.Canary && f.Class == ClassAnswered && f.Accepted == 0
	}) >= refusedInARow:
		v.PauseCampaign = true
		v.Sentence = "The provider has refused every message so far. Check the reasons, then continue"
	}
	if v.PauseCampaign {
		v.Canary = CanaryPending
	}
	return v
}

func inDoubtTooOften(recent []Finished) bool {
	doubt := func(f Finished) bool { return f.Class == ClassDoubt }
	if run(recent, doubt) >= doubtsInARow {
		return true
	}
	n := 0
	for i, f := range recent {
		if i < breakerWindow && doubt(f) {
			n++
		}
	}
	return n > doubtsOfLast
}

func run(recent []Finished, is func(Finished) bool) (n int) {
	for _, f := range recent {
		if !is(f) {
			break
		}
		n++
	}
	return n
}
