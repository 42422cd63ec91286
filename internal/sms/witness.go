package sms

import (
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MostSpent is the most that requests can have cost, by the parts that they may
// have been charged for in each network: at the highest price that campaigns
// have taught or that was set, a hundredth of the account's currency a unit, and
// a quarter more, since prices are learnt from few campaigns. ok is false where
// the price of one of the networks is not known: then nothing may be concluded.
func MostSpent(parts map[string]int64, set int64, learnt []LearntPrice) (most *big.Rat, ok bool) {
	most = new(big.Rat)
	for network, n := range parts {
		price := big.NewRat(set, 100)
		for _, l := range learnt {
			if l.Network == network && l.High.Cmp(price) > 0 {
				price = l.High
			}
		}
		if n > 0 && price.Sign() <= 0 {
			return nil, false
		}
		most.Add(most, new(big.Rat).Mul(price, big.NewRat(n, 1)))
	}
	return most.Mul(most, big.NewRat(5, 4)), true
}

const unspentQuestion = "Was this smsdesk restored from a copy? Does anyone else send from this account?"

// UnspentSentence says why campaigns are paused whose account's balance fell by
// an amount that requests from here do not explain.
func UnspentSentence(after Balance, unspent *big.Rat) string {
	return "The balance fell by " + after.inCurrency(unspent) + " that this desk did not spend. " + unspentQuestion +
		" If it was restored, stop it and run smsdesk restore --here. If others send from the account, say so on the Balance page. Otherwise continue"
}

// inCurrency writes an amount with the currency of the balance.
func (b Balance) inCurrency(amount *big.Rat) string {
	sign := b.Currency()
	if last, _ := utf8.DecodeLastRuneInString(sign); unicode.IsLetter(last) {
		sign += " "
	}
	return sign + strings.TrimSuffix(thousands(amount.FloatString(2)), ".00")
}

// ReportedSentence says why a campaign is paused of which a report says that a
// message was sent by a request that is not known here.
const ReportedSentence = "A delivery report says that a message of this campaign, which was not sent yet as far as this desk knows, has been sent. " +
	"That message is in doubt now. Was this desk put back from a copy? If it was, stop it and run smsdesk restore --here. Otherwise continue"

// ReportedReason says why such a message is in doubt.
const ReportedReason = "A delivery report has come for this number and text, and this desk knows of no request " +
	"that sent it. It may have been sent before an older copy was put back."
