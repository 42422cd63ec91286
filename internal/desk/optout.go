package desk

import (
	"context"
	"fmt"

	"smsdesk/internal/sms"
)

// BlockByUSSD puts the number of a person onto the account's list who asked for
// it in a USSD menu. msisdn is the number as the callback gives it (§6.2); one
// that cannot be read is sms.Invalid with the field number. proof says for
// staff how it was asked for; it becomes the note. fresh is false where the
// number was blocked already.
func (d *Desk) BlockByUSSD(ctx context.Context, account int64, msisdn, proof string) (fresh bool, err error) {
	a, err := d.store.Account(ctx, account)
	if err != nil {
		return false, err
	}
	phone, err := sms.ParsePhone(msisdn, a.Country, true)
	if err != nil {
		return false, sms.Invalid{"number": "This is no number that messages can go to"}
	}
	b := sms.Blocked{AccountID: account, Number: phone.Number, Kind: sms.BlockedByUSSD, Note: proof, Since: d.ms()}
	n, err := d.store.Block(ctx, []sms.Blocked{b})
	if err != nil || n == 0 {
		return false, err
	}
	d.audit(ctx, sms.User{Name: "the person with the number"}, "number.block", AccountName(account), fmt.Sprintf("%s, %s: %s", b.Number, b.Reason(), proof))
	d.feed.Tell(BlockedName(account))
	return true, nil
}
