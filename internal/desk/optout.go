package desk

import (
	"context"
	"fmt"

	"smsdesk/internal/sms"
)

// BlockByUSSD puts the number of a person onto the account's list who asked for
// it in a USSD menu. msisdn is the number as the callback gives it (§7.1); one
// that cannot be read is sms.Invalid with the field number. proof says for
// staff how it was asked for, such as "pressed 3 in *384*55# on MTN": at most
// 200 characters are kept. fresh is false where the number was blocked already.
func (d *Desk) BlockByUSSD(ctx context.Context, account int64, msisdn, proof string) (fresh bool, err error) {
	a, err := d.store.Account(ctx, account)
	if err != nil {
		return false, err
	}
	phone, err := sms.ParsePhone(msisdn, a.Country, true)
	if err != nil {
		return false, sms.Invalid{"number": sms.Sentence(err, "phone")}
	}
	return d.optOut(ctx, sms.Blocked{AccountID: account, Number: phone.Number, Kind: sms.BlockedByUSSD, Proof: proof})
}

// optOut blocks a number for the person who has it.
func (d *Desk) optOut(ctx context.Context, b sms.Blocked) (fresh bool, err error) {
	b.Since = d.ms()
	if b.Proof, _ = checkNote(b.Proof); len([]rune(b.Proof)) > noteMost {
		b.Proof = string([]rune(b.Proof)[:noteMost])
	}
	n, err := d.store.Block(ctx, []sms.Blocked{b})
	if err != nil {
		return false, err
	}
	if n > 0 {
		d.audit(ctx, sms.User{Name: "the person with the number"}, "number.block", AccountName(b.AccountID), fmt.Sprintf("%s, %s: %s", b.Number, b.Reason(), b.Proof))
		d.feed.Tell(BlockedName(b.AccountID))
	}
	return n > 0, nil
}
