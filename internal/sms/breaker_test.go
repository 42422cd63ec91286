package sms

import (
	"strings"
	"testing"
)

// ended repeats a finished attempt.
func ended(n int, f Finished) []Finished {
	list := make([]Finished, n)
	for i := range list {
		list[i] = f
	}
	return list
}

func history(runs ...[]Finished) (list []Finished) {
	for _, r := range runs {
		list = append(list, r...)
	}
	return list
}

var (
	fine    = Finished{Class: ClassAnswered, Accepted: 100}
	doubt   = Finished{Class: ClassDoubt}
	tooFast = Finished{Class: ClassRate}
	trial   = Finished{Class: ClassAnswered, Canary: true}
)

func TestBreaker(t *testing.T) {
	for _, c := range []struct {
		name   string
		recent []Finished // newest first
		pause  bool
	}{
		{"one doubt", history(ended(1, doubt), ended(9, fine)), false},
		{"two doubts", history(ended(2, doubt), ended(9, fine)), false},
		{"three in a row", history(ended(3, doubt), ended(9, fine)), true},
		{"three in a row and nothing else", ended(3, doubt), true},
		{"two, an answer, one", history(ended(1, doubt), ended(1, fine), ended(2, doubt)), false},
		{"five of fifty", spread(5, 50), false},
		{"six of fifty", spread(6, 50), true},
		{"six, the sixth being the fiftieth", history(spread(5, 49), ended(1, doubt)), true},
		{"six of fifty-one", history(spread(5, 50), ended(1, doubt)), false},
		{"nineteen times too fast", ended(19, tooFast), false},
		{"twenty times too fast", ended(20, tooFast), true},
		{"twenty times too fast with an answer between", history(ended(10, tooFast), ended(1, fine), ended(10, tooFast)), false},
		{"two trials refused", ended(2, trial), false},
		{"three trials refused", ended(3, trial), true},
		{"three calls refused that are no trials", ended(3, Finished{Class: ClassAnswered}), false},
		{"nothing left, ten times", ended(10, Finished{Class: ClassNothingLeft}), false},
		{"all well", ended(50, fine), false},
	} {
		v := Judge(Outcome{Class: c.recent[0].Class}, CanaryPassed, c.recent)
		if v.PauseCampaign != c.pause || v.PauseAccount {
			t.Errorf("%s: campaign %v, account %v, want %v and never the account", c.name, v.PauseCampaign, v.PauseAccount,
				c.pause)
		}
		if v.PauseCampaign && (v.Sentence == "" || v.Canary != CanaryPending) {
			t.Errorf("%s: paused without words or without a new trial: %+v", c.name, v)
		}
	}
}

// spread puts doubts among fine calls, never two together, the newest a doubt.
func spread(doubts, of int) []Finished {
	list := ended(of, fine)
	for i := range doubts {
		list[i*2] = doubt
	}
	return list
}

func TestAnAnswerAfterDoubtsPausesNothing(t *testing.T) {
	if v := Judge(Outcome{Class: ClassAnswered}, CanaryPassed, history(ended(1, fine), ended(9, doubt))); v.PauseCampaign {
		t.Errorf("%+v", v)
	}
}

func TestCanaryRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		before Canary
		last   Finished
		want   Canary
	}{
		{"accepted", CanaryFlying, Finished{Class: ClassAnswered, Accepted: 5, Canary: true}, CanaryPassed},
		{"partly accepted", CanaryFlying, Finished{Class: ClassAnswered, Accepted: 1, Canary: true}, CanaryPassed},
		{"refused", CanaryFlying, Finished{Class: ClassAnswered, Canary: true}, CanaryPending},
		{"in doubt", CanaryFlying, Finished{Class: ClassDoubt, Canary: true}, CanaryPending},
		{"too fast", CanaryFlying, Finished{Class: ClassRate, Canary: true}, CanaryPending},
		{"nothing left", CanaryFlying, Finished{Class: ClassNothingLeft, Canary: true}, CanaryPending},
		{"an old call after a new start", CanaryPending, Finished{Class: ClassAnswered, Accepted: 9}, CanaryPending},
		{"an ordinary call", CanaryPassed, Finished{Class: ClassDoubt}, CanaryPassed},
		{"an ordinary call refused", CanaryPassed, Finished{Class: ClassAnswered}, CanaryPassed},
	} {
		if v := Judge(Outcome{Class: c.last.Class}, c.before, []Finished{c.last}); v.Canary != c.want || v.PauseCampaign {
			t.Errorf("%s: %+v, want canary %s", c.name, v, c.want)
		}
	}
	if v := Judge(Outcome{Class: ClassNothingLeft}, CanaryPending, nil); v != (Verdict{Canary: CanaryPending}) {
		t.Errorf("without a history: %+v", v)
	}
}

func TestAFaultStopsTheAccountOrTheCampaign(t *testing.T) {
	for fault, account := range map[Fault]bool{FaultCredentials: true, FaultAccount: true, FaultSender: false, "": false} {
		v := Judge(Outcome{Class: ClassListed, Code: "007", Fault: fault, Reason: "No."}, CanaryFlying,
			[]Finished{{Class: ClassListed, Canary: true}})
		if v.PauseAccount != account || v.PauseCampaign == account || v.Sentence != "No." || v.Code != "007" ||
			v.Canary != CanaryPending {
			t.Errorf("%q: %+v", fault, v)
		}
	}
}

func TestHeldCallsPauseTheCampaignWithTheProvidersWords(t *testing.T) {
	const reason = "The provider answered “no” (code 021)."
	v := Judge(Outcome{Class: ClassHold, Code: "021", Reason: reason}, CanaryPassed, []Finished{{Class: ClassHold}})
	if !v.PauseCampaign || v.PauseAccount || v.Sentence != reason || v.Code != "021" || v.Canary != CanaryPending {
		t.Errorf("%+v", v)
	}
}

func TestSentencesOfTheBreakerAreForPeople(t *testing.T) {
	for name, recent := range map[string][]Finished{"lost": ended(3, doubt), "20 times": ended(20, tooFast),
		"refused every message": ended(3, trial)} {
		if v := Judge(Outcome{Class: recent[0].Class}, CanaryPassed, recent); !strings.Contains(v.Sentence, name) {
			t.Errorf("%q does not say %q", v.Sentence, name)
		}
	}
}
