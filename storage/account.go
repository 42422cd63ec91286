package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// accountStore keeps the provider accounts with what the provider keeps for them: sender IDs,
// templates, groups, balance, rate.
type accountStore struct{ *core }

// overlap is how long a replaced callback address still works.
const overlap = 7 * 24 * time.Hour

// CreateAccount stores a new account with its sealed credentials and fresh
// callback addresses. A name in use gives sms.ErrConflict.
func (db accountStore) CreateAccount(ctx context.Context, a sms.Account, c sms.Credentials,
	now int64) (sms.Account, error) {
	uid := randomHex(16)
	err := db.update(ctx, "create account", func(t *tx) error {
		id, err := t.InsertAccount(ctx, query.InsertAccountParams{
			Uid: uid, Name: a.Name, BaseUrl: a.BaseURL, ClientID: db.seal.seal(c.ClientID, "account:"+uid+":client_id"),
			ApiKey: db.seal.seal(c.APIKey, "account:"+uid+":api_key"), KeyHint: keyHint(c.APIKey), Test: a.Test,
			PerMinute: int64(a.PerMinute), CallLimit: int64(a.CallLimit), UrlBudget: int64(a.URLBudget),
			MaxParts:     int64(a.MaxParts),
			PricePerPart: a.PricePerPart, Country: a.Country, Timezone: a.Timezone, Currency: a.Currency,
			DefaultSender: a.DefaultSender,
			LateAfter:     a.LateAfter.Milliseconds(), HoldOn429: a.HoldOn429, CreatedAt: now,
			Abroad: a.Abroad, HoursFrom: int64(a.Hours.From), HoursTo: int64(a.Hours.To), TypeAbove: a.ConfirmCountAbove,
			HoursWeek:   hoursWeek(a.Hours),
			CapMessages: a.Limits.CapMessages, CapDays: a.Limits.CapDays, DayMost: a.Limits.MaxPerDay,
			PersonMost: a.Limits.MaxPerCampaign, PersonDayMost: a.Limits.MaxPerUserDay,
		})
		if err != nil {
			return err
		}
		a.ID = id
		if err := errors.Join(t.SetApproveAbove(ctx, id, a.ApproveAbove), t.SetWire(ctx, id, a.SendByGet, a.TakePosts)); err != nil {
			return err
		}
		for _, kind := range []string{sms.CallbackDLR, sms.CallbackUSSD} {
			if err := db.newToken(ctx, t, id, kind, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return sms.Account{}, err
	}
	return db.Account(ctx, a.ID)
}

func (db accountStore) newToken(ctx context.Context, t *tx, account int64, kind string, now int64) error {
	token := randomHex(32)
	hash := sha256.Sum256([]byte(token))
	return t.InsertCallbackToken(ctx, query.InsertCallbackTokenParams{
		Hash: hash[:], AccountID: account, Kind: kind, Sealed: db.seal.seal(token, tokenPlace(hash[:])), CreatedAt: now,
	})
}

func tokenPlace(hash []byte) string { return "callback_token:" + hex.EncodeToString(hash) + ":sealed" }

// UpdateAccount changes an account and, where the closure fills them in, its
// credentials; empty credentials keep the stored ones.
func (db accountStore) UpdateAccount(ctx context.Context, id, now int64,
	change func(*sms.Account, *sms.Credentials) error) (sms.Account, error) {
	err := db.update(ctx, "save account", func(t *tx) error {
		row, err := t.AccountByID(ctx, id)
		if err != nil {
			return err
		}
		a, c := account(row), sms.Credentials{}
		if err := change(&a, &c); err != nil {
			return err
		}
		if c.ClientID != "" {
			row.ClientID = db.seal.seal(c.ClientID, "account:"+row.Uid+":client_id")
		}
		if c.APIKey != "" {
			row.ApiKey, a.KeyHint = db.seal.seal(c.APIKey, "account:"+row.Uid+":api_key"), keyHint(c.APIKey)
		}
		_, err = t.Queries.UpdateAccount(ctx, query.UpdateAccountParams{
			ID: id, Name: a.Name, BaseUrl: a.BaseURL, ClientID: row.ClientID, ApiKey: row.ApiKey, KeyHint: a.KeyHint,
			PerMinute: int64(a.PerMinute), CallLimit: int64(a.CallLimit), UrlBudget: int64(a.URLBudget),
			MaxParts:     int64(a.MaxParts),
			PricePerPart: a.PricePerPart, Country: a.Country, Timezone: a.Timezone, Currency: a.Currency,
			DefaultSender: a.DefaultSender,
			LateAfter:     a.LateAfter.Milliseconds(), HoldOn429: a.HoldOn429, ChangedAt: now,
			Abroad: a.Abroad, HoursFrom: int64(a.Hours.From), HoursTo: int64(a.Hours.To), TypeAbove: a.ConfirmCountAbove,
			HoursWeek:   hoursWeek(a.Hours),
			CapMessages: a.Limits.CapMessages, CapDays: a.Limits.CapDays, DayMost: a.Limits.MaxPerDay,
			PersonMost: a.Limits.MaxPerCampaign, PersonDayMost: a.Limits.MaxPerUserDay,
		})
		if err != nil {
			return err
		}
		return errors.Join(t.SetApproveAbove(ctx, id, a.ApproveAbove), t.SetWire(ctx, id, a.SendByGet, a.TakePosts))
	})
	if err != nil {
		return sms.Account{}, err
	}
	return db.Account(ctx, id)
}

// Account finds an account by id.
func (db accountStore) Account(ctx context.Context, id int64) (sms.Account, error) {
	row, err := db.read().AccountByID(ctx, id)
	return foundOne(row, err, account, "read account")
}

// AccountNamed finds an account by its name.
func (db accountStore) AccountNamed(ctx context.Context, name string) (sms.Account, error) {
	row, err := db.read().AccountByName(ctx, name)
	return foundOne(row, err, account, "read account")
}

// Accounts lists all accounts, the test one last.
func (db accountStore) Accounts(ctx context.Context) ([]sms.Account, error) {
	rows, err := db.read().Accounts(ctx)
	return foundAll(rows, err, account, "list accounts")
}

// Credentials opens the two secrets of an account.
func (db accountStore) Credentials(ctx context.Context, id int64) (sms.Credentials, error) {
	row, err := db.read().AccountByID(ctx, id)
	if _, err := wrapNotFound(row, err, "read credentials"); err != nil {
		return sms.Credentials{}, err
	}
	var c sms.Credentials
	if c.ClientID, err = db.seal.open(row.ClientID, "account:"+row.Uid+":client_id"); err != nil {
		return sms.Credentials{}, err
	}
	if c.APIKey, err = db.seal.open(row.ApiKey, "account:"+row.Uid+":api_key"); err != nil {
		return sms.Credentials{}, err
	}
	return c, nil
}

// ResumeAccount ends a pause; false when there was none.
func (db accountStore) ResumeAccount(ctx context.Context, id int64) (resumed bool, err error) {
	err = db.update(ctx, "resume account", func(t *tx) error {
		n, err := t.Queries.ResumeAccount(ctx, id)
		resumed = n == 1
		return err
	})
	return resumed, err
}

// MarkAccount remembers that the provider answered (failure "") or why it
// could not be reached.
func (db accountStore) MarkAccount(ctx context.Context, id int64, failure string, now int64) error {
	return db.update(ctx, "mark account", func(t *tx) error {
		if failure == "" {
			return t.MarkReached(ctx, id, now)
		}
		return t.MarkFailed(ctx, id, now, failure)
	})
}

// TakeLease makes the caller the one that may send for the account: licences
// of every earlier epoch are void from now on.
func (db accountStore) TakeLease(ctx context.Context, id int64) (epoch int64, err error) {
	err = db.update(ctx, "take the account's lease", func(t *tx) error {
		epoch, err = t.Queries.TakeLease(ctx, id)
		return err
	})
	return epoch, err
}

// CallbackTokens lists every token that is valid at the moment, without the
// secrets themselves.
func (db accountStore) CallbackTokens(ctx context.Context, now int64) ([]sms.CallbackToken, error) {
	rows, err := db.read().CallbackTokens(ctx, now)
	if err != nil {
		return nil, fmt.Errorf("list callback addresses: %w", err)
	}
	list := make([]sms.CallbackToken, len(rows))
	for i, r := range rows {
		list[i] = sms.CallbackToken{AccountID: r.AccountID, Kind: r.Kind, Hash: [32]byte(r.Hash), CreatedAt: r.CreatedAt,
			ValidUntil: r.ValidUntil, Posts: r.TakePosts}
	}
	return list, nil
}

// CallbackAddresses lists an account's valid tokens of one kind with their
// secrets, the current one first.
func (db accountStore) CallbackAddresses(ctx context.Context, account int64, kind string,
	now int64) ([]sms.CallbackToken, error) {
	rows, err := db.read().CallbackTokens(ctx, now)
	if err != nil {
		return nil, fmt.Errorf("list callback addresses: %w", err)
	}
	var list []sms.CallbackToken
	for _, r := range rows {
		if r.AccountID != account || r.Kind != kind {
			continue
		}
		token, err := db.seal.open(r.Sealed, tokenPlace(r.Hash))
		if err != nil {
			return nil, err
		}
		list = append(list, sms.CallbackToken{AccountID: account, Kind: kind, Hash: [32]byte(r.Hash), Token: token,
			CreatedAt: r.CreatedAt, ValidUntil: r.ValidUntil})
	}
	return list, nil
}

// RotateCallback makes a new address; the old one works for seven more days.
func (db accountStore) RotateCallback(ctx context.Context, account int64, kind string, now int64) error {
	return db.update(ctx, "make a new callback address", func(t *tx) error {
		if err := t.ExpireCallbackTokens(ctx, account, kind, now+overlap.Milliseconds()); err != nil {
			return err
		}
		return db.newToken(ctx, t, account, kind, now)
	})
}

func account(r query.Account) sms.Account {
	return sms.Account{
		ID: r.ID, Name: r.Name, BaseURL: r.BaseUrl, KeyHint: r.KeyHint, Test: r.Test, PerMinute: int(r.PerMinute),
		CallLimit: int(r.CallLimit),
		URLBudget: int(r.UrlBudget), MaxParts: int(r.MaxParts), PricePerPart: r.PricePerPart, Country: r.Country,
		Timezone: r.Timezone,
		Currency: r.Currency, DefaultSender: r.DefaultSender, LateAfter: time.Duration(r.LateAfter) * time.Millisecond,
		HoldOn429: r.HoldOn429, Doubt429: r.Doubt429,
		Pause: r.Pause, PauseCode: r.PauseCode, ReachedAt: r.ReachedAt, FailedAt: r.FailedAt, Failure: r.Failure,
		CreatedAt: r.CreatedAt, ChangedAt: r.ChangedAt, Abroad: r.Abroad, Hours: hoursOf(r), ConfirmCountAbove: r.TypeAbove,
		ApproveAbove: r.ApproveAbove, SendByGet: r.SendByGet, TakePosts: r.TakePosts,
		Limits: sms.Limits{CapMessages: r.CapMessages, CapDays: r.CapDays, MaxPerDay: r.DayMost, MaxPerCampaign: r.PersonMost,
			MaxPerUserDay: r.PersonDayMost},
	}
}

func keyHint(key string) string {
	r := []rune(key)
	if len(r) < 12 {
		return ""
	}
	return string(r[len(r)-4:])
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// weekHours is what of sending hours stands in one column.
type weekHours struct {
	Own  [7]sms.DayHours `json:"own"`
	Zone string          `json:"zone,omitempty"`
}

func hoursWeek(h sms.Hours) string {
	w := weekHours{Own: h.Own, Zone: h.Zone}
	if w == (weekHours{}) {
		return ""
	}
	text, err := json.Marshal(w)
	if err != nil {
		return ""
	}
	return string(text)
}

// hoursOf reads sending hours.
func hoursOf(r query.Account) sms.Hours {
	h := sms.Hours{From: int(r.HoursFrom), To: int(r.HoursTo)}
	if r.HoursWeek == "" {
		return h
	}
	var w weekHours
	if err := json.Unmarshal([]byte(r.HoursWeek), &w); err != nil {
		return h
	}
	h.Own, h.Zone = w.Own, w.Zone
	return h
}

// accountTx changes what an account has, and its team's passwords, within a transaction.
type accountTx struct{ *tx }
