package views

import (
	"math/big"
	"strings"
	"time"

	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
)

// RehearsalsPath takes the order for a rehearsal with made-up recipients.
const RehearsalsPath = "/rehearsals"

// RehearsalPath is one rehearsal.
func RehearsalPath(r int64) string { return RehearsalsPath + "/" + id(r) }

// RehearsalOffer stands on the page before a campaign is sent: it can be rehearsed
// first, or was. The zero value offers nothing.
type RehearsalOffer struct {
	Formatter
	Campaign sms.Campaign
	Latest   *rehearsal.Rehearsal // nil: none yet
	Messages int64                // that would leave now
	Error    string
	Shown    bool
}

// stale says that the list is not as it was rehearsed.
func (o RehearsalOffer) stale() bool { return o.Latest != nil && o.Latest.All != o.Messages }

func (o RehearsalOffer) finished() bool { return o.Latest != nil && o.Latest.State == rehearsal.Done }

func (o RehearsalOffer) title() string {
	r := o.Latest
	switch {
	case r == nil:
		return "Rehearse first"
	case r.Open():
		return "A rehearsal is running"
	case r.State != rehearsal.Done:
		return "The rehearsal did not finish"
	case o.stale():
		return "Rehearsed before the last change"
	case r.Kind == rehearsal.Bad:
		return "Rehearsed on a bad day at " + Clock(o.at(r.EndedAt))
	case r.Foretells():
		return "Rehearsed at " + Clock(o.at(r.EndedAt)) + ": " + arrives(*r)
	}
	return "Rehearsed at " + Clock(o.at(r.EndedAt))
}

func (o RehearsalOffer) words() string {
	if o.Latest == nil || !o.finished() {
		return "This list goes through a simulated provider. Nothing is sent and nothing is charged."
	}
	return exactness(*o.Latest)
}

// arrives is the forecast that a rehearsal is for.
func arrives(r rehearsal.Rehearsal) string {
	return Number(int(r.Whole(r.Result.Tally.Tile(sms.TileDelivered)))) + " of " + Number(int(r.All)) + " would arrive"
}

// exactness says that nothing was lost or sent twice; anything else would be a
// mistake of ours, and is said too.
func exactness(r rehearsal.Rehearsal) string {
	if n := r.Result.Twice + r.Result.Missing; n > 0 {
		return Plural(int(n), "message was", "messages were") +
			" lost or sent twice in the rehearsal. Do not send, and tell whoever looks after smsdesk."
	}
	words := "Nothing was sent twice and no message was lost"
	var although []string
	if n := r.Result.Lost; n > 0 {
		although = append(although, Plural(int(n), "answer was", "answers were")+" lost")
	}
	if n := r.Result.Unreached; n > 0 {
		although = append(although, Plural(int(n), "connection", "connections")+" failed")
	}
	if len(although) > 0 {
		words += ", although " + strings.Join(although, " and ")
	}
	return words + "."
}

// RehearsalPage is one rehearsal, while it is played and afterwards.
type RehearsalPage struct {
	Formatter
	Rehearsal rehearsal.Rehearsal
	Account   sms.Account
	Draft     bool // the campaign can still be sent
	Gone      bool // it was deleted or replaced by another draft
	Live      Refresh
}

func (p RehearsalPage) title() string {
	if p.Rehearsal.Kind == rehearsal.Watch {
		return "A rehearsal with 200 made-up recipients"
	}
	return "Rehearsal of " + Shorten(p.Rehearsal.Name, 60)
}

func (p RehearsalPage) sub() string {
	r := p.Rehearsal
	words := "Nothing is sent and nothing is charged."
	switch {
	case r.Kind == rehearsal.Bad:
		words = "A bad day. " + words
	case r.Kind == rehearsal.Watch:
		words = "They meet everything that can happen to a message. " + words
	}
	return words
}

// kept says until when it can be looked at.
func (p RehearsalPage) kept() string {
	words := ""
	if n := p.Rehearsal.Result.Speed; n > 1 {
		words = "Rehearsed " + Number(n) + " times as fast as in life. "
	}
	return words + "This page will be deleted on " + p.at(p.Rehearsal.CreatedAt).Add(rehearsal.Keep).Format("2 January") +
		". The rehearsal counts in no limit, total or report."
}

// played is how far it is, in words.
func (p RehearsalPage) played() string {
	r := p.Rehearsal
	if r.State == rehearsal.Waiting {
		return "Waits for another rehearsal to finish"
	}
	if r.Rows == 0 {
		return "Preparing the rehearsal"
	}
	return "Rehearsing: " + Number(int(r.Done)) + " of " + Plural(int(r.Rows), "message", "messages")
}

// ended says why there is no result.
func (p RehearsalPage) ended() string {
	switch p.Rehearsal.State {
	case rehearsal.Stopped:
		return "Someone stopped this rehearsal. Nothing was sent."
	case rehearsal.Interrupted:
		return "smsdesk was restarted in the middle of this rehearsal, so there is no result. Nothing was sent. Start it again."
	}
	return "This rehearsal could not be finished. Nothing was sent. Start it again; the reason is in the log of smsdesk."
}

// sampled says that not every row was played.
func (p RehearsalPage) sampled() string {
	r := p.Rehearsal
	if !r.Sampled() {
		return ""
	}
	return "A sample of " + Number(int(r.Rows)) + " of " + Number(int(r.All)) +
		" messages was rehearsed, spread evenly over the list. Figures are scaled to the whole list."
}

func (p RehearsalPage) facts() []Fact {
	r := p.Rehearsal
	out := r.Result
	requests := Fact{ID: "fact-requests", Label: "Requests", Figure: p.about() + Number(int(r.Whole(out.Requests))),
		Words: Number(p.Account.PerMinute) + " a minute at most"}
	if out.TooFast > 0 {
		requests.Words = Number(int(r.Whole(out.TooFast))) + " came too fast for the provider and were repeated"
	}
	took := Fact{ID: "fact-time", Label: "Time to send", Figure: spent(r.Takes()),
		Words: "Without pauses for sending hours or other campaigns"}
	parts := Fact{ID: "fact-parts", Label: "Parts", Figure: p.about() + Number(int(out.Parts))}
	cost := Fact{ID: "fact-cost", Label: "Estimated cost", Figure: "not known yet",
		Words: "No price per part was known when this was rehearsed"}
	if out.CostMiddle > 0 {
		cost.Figure, cost.Words = "about "+p.money(out.CostMiddle), ""
		if out.CostLow != out.CostHigh {
			cost.Words = p.money(out.CostLow) + " to " + p.money(out.CostHigh)
		}
	}
	return []Fact{requests, took, parts, cost}
}

// about stands before figures of a sample.
func (p RehearsalPage) about() string {
	if p.Rehearsal.Sampled() {
		return "about "
	}
	return ""
}

func (p RehearsalPage) money(hundredths int64) string {
	return reckoned(p.Account.Currency, big.NewRat(hundredths, 100))
}

// spent writes a duration to the second below an hour: "1 min 58 s".
func spent(d time.Duration) string {
	if d < time.Second {
		return "under 1 s"
	}
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return Number(int(d/time.Second)) + " s"
	case d < time.Hour:
		return Number(int(d/time.Minute)) + " min " + Number(int(d%time.Minute/time.Second)) + " s"
	}
	return Number(int(d/time.Hour)) + " h " + Number(int(d%time.Hour/time.Minute)) + " min"
}

// basis says on what the shares rest, or why there are none.
func (p RehearsalPage) basis() string {
	r := p.Rehearsal
	days := Number(int(rehearsal.Reach / (24 * time.Hour)))
	switch {
	case r.Kind == rehearsal.Bad:
		return "A bad day is made up, so it foretells no figures: a third of the messages do not arrive, and 1 request in 16 loses its answer."
	case r.Foretells():
		return "A forecast from this account's " + Number(int(r.Result.Reports)) + " delivery reports of the last " + days +
			" days, network by network. It is not a promise."
	}
	return "We do not say how many would arrive: this account has " +
		Plural(int(r.Result.Reports), "delivery report", "delivery reports") + " of the last " + days + " days, and " +
		Number(rehearsal.MinReports) + " are needed. The messages met a few made-up faults instead."
}

// doubt says what a doubt would look like.
func (p RehearsalPage) doubt() string {
	d := p.Rehearsal.Result.Doubt
	if d == nil {
		return "No answer was lost in this rehearsal. If one is lost, the messages of that request are in doubt: they may or " +
			"may not have been sent. Nothing is sent again unless someone decides so."
	}
	words := "The answer to " + Plural(int(p.Rehearsal.Result.Lost), "request", "requests") + " was lost, so " +
		Plural(int(d.Messages), "message was", "messages were") + " in doubt. "
	switch left := d.Messages - d.Settled; {
	case left == 0:
		words += "Delivery reports proved that all of them were sent. No one had to decide."
	case d.Settled == 0:
		words += "No delivery report settled them: someone would have to decide. Nothing is sent again unless someone does."
	default:
		words += "Delivery reports proved that " + Number(int(d.Settled)) + " were sent. Someone would have to decide about the other " +
			Number(int(left)) + ". Nothing is sent again unless someone does."
	}
	return words
}

// paused says why the campaign would have waited for somebody.
func (p RehearsalPage) paused() string {
	why := p.Rehearsal.Result.Pauses
	if len(why) == 0 {
		return ""
	}
	return "It paused " + Plural(len(why), "time", "times") + " and asked someone to look: “" + withStop(why[0]) +
		"” In the rehearsal we continued it."
}

// networks are those worth a line.
func (p RehearsalPage) networks() []rehearsal.Network {
	if !p.Rehearsal.Foretells() {
		return nil
	}
	return p.Rehearsal.Result.Networks
}

// resultTitle is the forecast, or that there is none.
func (p RehearsalPage) resultTitle() string {
	if p.Rehearsal.Foretells() {
		return arrives(p.Rehearsal)
	}
	return "How it went"
}

// rehearsalStep is one stop of a rehearsal that is watched, as its card shows it.
type rehearsalStep struct {
	ID, At, Title, Text string
	Tally               sms.Tally
}

func (p RehearsalPage) steps() (list []rehearsalStep) {
	for _, s := range p.Rehearsal.Result.Steps {
		card := rehearsalStep{ID: "step-" + s.Name, Tally: s.Tally}
		kept := int(s.Tally["queued"])
		switch s.Name {
		case rehearsal.StepStop:
			card.At, card.Title = "After "+Number(int(s.Tally.Total())-kept)+" messages", "Stop"
			card.Text = "Someone pressed Stop sending. What is with the provider cannot be recalled; the other " +
				Number(kept) + " wait until someone presses Continue, which we did."
		case rehearsal.StepDoubt:
			card.At, card.Title = "After all were sent", "Doubt"
			card.Text = "The answer to one request was lost: " + Plural(int(s.Doubted), "message", "messages") +
				" may or may not have been sent. Delivery reports proved that " + Number(int(s.Settled)) +
				" were. Someone decides about the other " + Number(int(s.Doubted-s.Settled)) +
				"; nothing is sent again automatically."
		case rehearsal.StepAgain:
			card.At, card.Title = "At the end", "Send again"
			card.Text = Number(int(s.Again)) + " of " + Number(int(s.Again+s.NotAgain)) +
				" that did not arrive can be sent again, as a new campaign with its own cost. The others are left out: the network " +
				"refused them or their numbers are on a block list."
		}
		list = append(list, card)
	}
	return list
}

// RehearsedRow is one figure, as it was foretold and as it came.
type RehearsedRow struct{ Name, Foretold, Actual string }

// Rehearsed is what was foretold of a campaign, beside what came. The zero value
// shows nothing.
type Rehearsed struct {
	Formatter
	Rehearsal rehearsal.Rehearsal
	Account   sms.Account
	Campaign  sms.Campaign
	Tally     sms.Tally
	Requests  int64
	Parts     int64    // accepted by the provider
	Spent     *big.Rat // what the balance fell, nil where nobody knows
}

// Shown says that there is something to compare.
func (r Rehearsed) Shown() bool { return r.Rehearsal.ID > 0 && r.Campaign.Started() }

func (r Rehearsed) summary() string {
	words := "Rehearsal: predicted and actual"
	if r.Rehearsal.Foretells() {
		words += ". " + arrives(r.Rehearsal) + ", " + Number(int(r.Tally.Tile(sms.TileDelivered))) + " have"
	}
	return words
}

func (r Rehearsed) rows() []RehearsedRow {
	out, whole := r.Rehearsal.Result, r.Rehearsal.Whole
	count := func(name string, foretold, actual int64) RehearsedRow {
		return RehearsedRow{name, Number(int(foretold)), Number(int(actual))}
	}
	list := []RehearsedRow{count("Requests", whole(out.Requests), r.Requests),
		{"Time to send", spent(r.Rehearsal.Takes()), r.took()}, count("Parts", out.Parts, r.Parts), r.cost()}
	if r.Rehearsal.Foretells() {
		for _, t := range []sms.Tile{sms.TileDelivered, sms.TileFailed, sms.TileUnknown} {
			list = append(list, count(t.Words(), whole(out.Tally.Tile(t)), r.Tally.Tile(t)))
		}
		list = append(list, count("Refused by the provider", whole(out.Tally["refused"]), r.Tally["refused"]),
			count("Need your decision", whole(out.Tally.Tile(sms.TileDecision)), r.Tally.Tile(sms.TileDecision)))
	}
	return list
}

func (r Rehearsed) took() string {
	if r.Campaign.FinishedAt == 0 {
		return "not finished"
	}
	return spent(time.Duration(r.Campaign.FinishedAt-r.Campaign.StartedAt) * time.Millisecond)
}

func (r Rehearsed) cost() RehearsedRow {
	row := RehearsedRow{"Cost", "not known", "not known"}
	if n := r.Rehearsal.Result.CostMiddle; n > 0 {
		row.Foretold = "about " + reckoned(r.Account.Currency, big.NewRat(n, 100))
	}
	if r.Spent != nil {
		row.Actual = amount(r.Account.Currency, r.Spent)
	}
	return row
}

// note says what the comparison rests on.
func (r Rehearsed) note() string {
	words := "Rehearsed " + r.When(r.Rehearsal.EndedAt) + "."
	if r.Rehearsal.Sampled() {
		words += " A sample of " + Number(int(r.Rehearsal.Rows)) + " messages was scaled to the whole list."
	}
	if !r.Rehearsal.Foretells() {
		words += " It foretold no results, because the account had too few delivery reports."
	}
	return strings.TrimSpace(words)
}
