package views

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"smsdesk/internal/sms"
)

// ConfirmPage is a draft shown for the last time before it is sent.
type ConfirmPage struct {
	Outlook
	Campaign sms.Campaign
	Account  sms.Account
	Numbers  []string     // the first recipients
	Repeated int          // numbers left out because they stood there before
	LeftOut  int64        // messages to blocked numbers, which are not sent
	Balance  *sms.Balance // nil while it is not known
	// Same was sent in the last 24 hours; nil when there is none.
	Same  *sms.Campaign
	Again bool // the person wants to send it again all the same
	Mine  bool // the person's own draft, which "Back" may change
	// MaySetPrice says that the person may open the account's settings.
	MaySetPrice bool
	Later       SchedulePage
	Errors      sms.Invalid
}

func campaignPath(id int64) string { return "/campaigns/" + strconv.FormatInt(id, 10) }

// sent is how many messages the button sends.
func (p ConfirmPage) sent() int64 { return p.Campaign.Recipients - p.LeftOut }

func (p ConfirmPage) button() string {
	if p.Campaign.GroupID != "" {
		return "Send to the group " + Shorten(p.Campaign.GroupName, 40) + " now"
	}
	return "Send " + Plural(int(p.sent()), "message", "messages") + " now"
}

func (p ConfirmPage) back() string {
	id := strconv.FormatInt(p.Campaign.ID, 10)
	if p.Mine {
		return "/new?draft=" + id
	}
	return "/new?again=" + id
}

func (p ConfirmPage) partsEach() string {
	if p.sent() == 0 {
		return "–"
	}
	return Number(int(p.Campaign.Parts / p.sent()))
}

func (p ConfirmPage) recipients() string {
	if p.Campaign.GroupID != "" {
		return "Group " + p.Campaign.GroupName
	}
	return Number(int(p.sent()))
}

func (p ConfirmPage) to() string {
	if p.Campaign.GroupID != "" {
		return "the group " + p.Campaign.GroupName
	}
	var shown []string
	for _, n := range p.Numbers {
		shown = append(shown, p.Phone(n))
	}
	if rest := p.sent() - int64(len(shown)); rest > 0 && len(shown) > 0 {
		shown = append(shown, Plural(int(rest), "other", "others"))
	}
	return and(shown)
}

func (p ConfirmPage) cost() (*big.Rat, bool) {
	if p.Account.PricePerPart <= 0 || p.Campaign.GroupID != "" {
		return nil, false
	}
	cost := new(big.Rat).SetInt64(p.Campaign.Parts)
	return cost.Mul(cost, big.NewRat(p.Account.PricePerPart, 100)), true
}

// Short says that the balance is known and less than the estimated cost.
func (p ConfirmPage) short() (string, bool) {
	cost, known := p.cost()
	if !known || p.Balance == nil {
		return "", false
	}
	have, readable := p.Balance.Amount()
	if !readable || have.Cmp(cost) >= 0 {
		return "", false
	}
	return "The estimated cost is " + amount(p.Account.Currency, cost) + " but the balance is " + p.Balance.Credits + ". Send fewer messages or top up.", true
}

// sums are the lines of the cost card. What is not known is said or left out,
// never guessed.
func (p ConfirmPage) sums() []Term {
	terms := []Term{{Name: "Recipients", Text: p.recipients(), Number: true}}
	if p.Campaign.GroupID == "" {
		terms = append(terms,
			Term{Name: "Parts each", Text: p.partsEach(), Number: true},
			Term{Name: "Parts in total", Text: Number(int(p.Campaign.Parts)), Number: true})
	} else {
		terms = append(terms, Term{Name: "Parts each", Text: Number(int(p.Campaign.Parts)), Number: true})
	}
	cost, known := p.cost()
	switch {
	case known:
		terms = append(terms,
			Term{Name: "Price of a part", Text: Money(p.Account.Currency, p.Account.PricePerPart), Number: true},
			Term{Name: "Estimated cost", View: strong(amount(p.Account.Currency, cost)), Number: true})
	case p.Campaign.GroupID != "":
		terms = append(terms, Term{Name: "Cost", Text: "Not known: the provider keeps the group's numbers", Number: true})
	default:
		terms = append(terms, Term{Name: "Cost", View: unknownCost(p), Number: true})
	}
	if p.Balance == nil {
		return terms
	}
	terms = append(terms, Term{Name: "Balance now", Text: p.Balance.Credits, Number: true})
	if have, readable := p.Balance.Amount(); readable && known {
		sign := strings.Trim(p.Balance.Credits[:strings.IndexFunc(p.Balance.Credits, unicode.IsDigit)], "-− ")
		terms = append(terms, Term{Name: "Balance after", Text: amount(sign, new(big.Rat).Sub(have, cost)), Number: true})
	}
	return terms
}

// StopPage says what stopping a campaign does before it is done.
type StopPage struct {
	Campaign sms.Campaign
	Tally    sms.Tally
}

func (p StopPage) sentence() string {
	kept := p.Tally["queued"] + p.Tally["draft"]
	gone := p.Tally.Total() - kept - p.Tally.Tile(sms.TileNotSent)
	out := ""
	switch {
	case gone == 1:
		out = "1 message is already with the provider and cannot be called back. "
	case gone > 1:
		out = Number(int(gone)) + " messages are already with the provider and cannot be called back. "
	}
	return out + Number(int(kept)) + " will be kept back."
}

func (p ConfirmPage) under() string {
	return Plural(sms.CountSegments(p.Campaign.Text, false).Parts, "part", "parts")
}
