package desk

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// OptOutNoAddress says that a text has an opt-out link which recipients could
// not open: nothing is set where they reach this desk, or an address that only
// this computer or its network knows.
func OptOutNoAddress(text, publicURL string) bool {
	if !slices.ContainsFunc(sms.Placeholders(text), sms.IsStopMark) {
		return false
	}
	u, err := url.Parse(publicURL)
	if err != nil || u.Hostname() == "" || sms.Loopback(u.Hostname()) {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && (ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified())
}

// BlockByUSSD puts the number of a person onto the account's list who asked for
// it in a USSD menu. msisdn is the number as the callback gives it (§6.2); one
// that cannot be read is sms.Invalid with the field number. proof says for
// staff how it was asked for, such as "pressed 3 in *384*55# on MTN": at most
// 200 characters are kept. fresh is false where the number was blocked already.
func (d *People) BlockByUSSD(ctx context.Context, account int64, msisdn, proof string) (fresh bool, err error) {
	a, err := d.store.Account(ctx, account)
	if err != nil {
		return false, err
	}
	phone, err := phone.Parse(msisdn, a.Country, true)
	if err != nil {
		return false, sms.Invalid{"number": err.Error()}
	}
	return d.optOut(ctx, sms.Blocked{AccountID: account, Number: phone.Number, Kind: sms.BlockedByUSSD, Proof: proof})
}

// UnblockByUSSD takes back what BlockByUSSD did and nothing else: the number is
// what the network says and no proof of who is calling, so what staff or
// a report blocked stays blocked. number is an MSISDN; proof is as with
// BlockByUSSD. done is false where a menu has not blocked the number.
func (d *People) UnblockByUSSD(ctx context.Context, account int64, number, proof string) (done bool, err error) {
	end := sms.Unblocking{At: d.ms(), Kind: sms.BlockedByUSSD, Note: tidyProof(proof)}
	gone, done, err := d.store.EndOwnBlock(ctx, account, number, sms.BlockedByUSSD, end)
	if done {
		d.unblocked(ctx, person(), gone, end.Note)
	}
	return done, err
}

// person stands in the audit log for whoever has a number.
func person() sms.User { return sms.User{Name: "the recipient"} }

func tidyProof(raw string) string {
	proof, _ := checkNote(raw)
	if long := []rune(proof); len(long) > maxNote {
		proof = string(long[:maxNote])
	}
	return proof
}

// optOut blocks a number for the person who has it.
func (d *People) optOut(ctx context.Context, b sms.Blocked) (fresh bool, err error) {
	b.Since, b.Proof = d.ms(), tidyProof(b.Proof)
	n, err := d.store.Block(ctx, []sms.Blocked{b})
	if err != nil {
		return false, err
	}
	if n > 0 {
		d.audit(ctx, person(), "number.block", feed.Account(b.AccountID),
			fmt.Sprintf("%s, %s: %s", b.Number, b.Reason(), b.Proof))
		d.feed.Publish(feed.Blocked(b.AccountID))
	}
	return n > 0, nil
}

// UseStopLinks lets texts hold the mark for a link with which people stop
// messages. Without it the mark is refused. It is called before anything else
// is asked of the desk.
func (d *People) UseStopLinks(l *sms.StopLinks) { d.stops = l }

// StopRequest is what stands behind a link.
type StopRequest struct {
	Account  sms.Account
	Number   string // MSISDN
	SenderID string // from whom the newest message came
	Message  int64  // that message, 0 where it is gone
	Done     bool   // the number is blocked already
}

// ReadStop reads the last part of a link; sms.ErrNotFound for any other text.
func (d *People) ReadStop(ctx context.Context, token string) (q StopRequest, err error) {
	if d.stops == nil {
		return q, sms.ErrNotFound
	}
	account, number, ok := d.stops.Read(token)
	if !ok {
		return q, fmt.Errorf("read a link: %w", sms.ErrNotFound)
	}
	q.Number = number
	if q.Account, err = d.store.Account(ctx, account); err != nil {
		return q, err
	}
	known, err := d.store.BlockedAmong(ctx, account, []string{number})
	if err != nil {
		return q, err
	}
	_, q.Done = known[number]
	found, _, err := d.store.SearchMessages(ctx, sms.MessageSearch{AccountID: account, Number: number, Limit: 1})
	if err != nil {
		return q, err
	}
	if q.SenderID = q.Account.DefaultSender; len(found) > 0 {
		q.SenderID, q.Message = found[0].Campaign.SenderID, found[0].ID
	}
	if q.SenderID == "" {
		q.SenderID = q.Account.Name
	}
	return q, nil
}

// StopByLink blocks the number of a link for whoever opened it. ip is where
// they came from; it is part of the proof.
func (d *People) StopByLink(ctx context.Context, token, ip string) (StopRequest, error) {
	q, err := d.ReadStop(ctx, token)
	if err != nil || q.Done {
		return q, err
	}
	proof := "Used the opt-out link"
	if q.SenderID != "" {
		proof += ", messages from " + q.SenderID
	}
	if ip != "" {
		proof += ", IP address " + ip
	}
	_, err = d.optOut(ctx, sms.Blocked{AccountID: q.Account.ID, Number: q.Number, Kind: sms.BlockedByLink, Proof: proof,
		MessageID: q.Message})
	q.Done = err == nil
	return q, err
}
