package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

func TestAnAccountComesBackAsItWasStored(t *testing.T) {
	f := newFixture(t)
	want := sms.Account{Name: "Everything", BaseURL: "https://x.example/v2", Test: true, PerMinute: 1_000_000,
		CallLimit: 7, URLBudget: 1234, MaxParts: 3,
		PricePerPart: 450, Country: "KE", Timezone: "Africa/Nairobi", Currency: "KSh", DefaultSender: "CLINIC",
		LateAfter: 36 * time.Hour, HoldOn429: true}
	at := f.now()
	got, err := f.db.CreateAccount(f.ctx, want, sms.Credentials{ClientID: "c", APIKey: "0123456789ab"}, at)
	f.must(err)
	want.ID, want.KeyHint, want.CreatedAt, want.ChangedAt = got.ID, "89ab", at, at
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if named, err := f.db.AccountNamed(f.ctx, "Everything"); err != nil || named != got {
		t.Errorf("%+v %v", named, err)
	}
	list, err := f.db.Accounts(f.ctx)
	if err != nil || len(list) != 2 || list[0].ID != f.account.ID || list[1] != got {
		t.Errorf("%+v %v: the test account stands last", list, err)
	}
	if _, err := f.db.CreateAccount(f.ctx, want, sms.Credentials{}, at); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a name in use: %v", err)
	}
	for _, err := range []error{second(f.db.Account(f.ctx, 99)), second(f.db.AccountNamed(f.ctx, "nobody")),
		second(f.db.Credentials(f.ctx, 99))} {
		if !errors.Is(err, sms.ErrNotFound) {
			t.Errorf("%v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestUpdateAccountKeepsCredentialsThatAreNotGiven(t *testing.T) {
	f := newFixture(t)
	id := f.account.ID
	credentials := func() sms.Credentials {
		c, err := f.db.Credentials(f.ctx, id)
		f.must(err)
		return c
	}
	for _, step := range []struct {
		given, want sms.Credentials
		hint        string
	}{
		{sms.Credentials{}, sms.Credentials{ClientID: "client", APIKey: "a-key-of-thirteen"}, "teen"},
		{sms.Credentials{ClientID: "other"}, sms.Credentials{ClientID: "other", APIKey: "a-key-of-thirteen"}, "teen"},
		{sms.Credentials{APIKey: "a-much-longer-key"}, sms.Credentials{ClientID: "other", APIKey: "a-much-longer-key"}, "-key"},
		{sms.Credentials{APIKey: "short"}, sms.Credentials{ClientID: "other", APIKey: "short"}, ""},
	} {
		a, err := f.db.UpdateAccount(f.ctx, id, f.now(), func(a *sms.Account, c *sms.Credentials) error {
			if *c != (sms.Credentials{}) {
				t.Error("the closure was given secrets")
			}
			a.Name, *c = "Clinic two", step.given
			return nil
		})
		f.must(err)
		if a.Name != "Clinic two" || a.KeyHint != step.hint || credentials() != step.want {
			t.Errorf("given %+v: %+v, hint %q", step.given, credentials(), a.KeyHint)
		}
	}
	boom := errors.New("boom")
	if _, err := f.db.UpdateAccount(f.ctx, id, f.now(), func(a *sms.Account, c *sms.Credentials) error {
		a.Name, c.APIKey = "x", "y"
		return boom
	}); !errors.Is(err, boom) || credentials().APIKey != "short" {
		t.Errorf("%v, %+v", err, credentials())
	}
	f.other(t, "Taken")
	if _, err := f.db.UpdateAccount(f.ctx, id, f.now(), func(a *sms.Account, _ *sms.Credentials) error {
		a.Name = "Taken"
		return nil
	}); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a name in use: %v", err)
	}
}

// allBytes reads every file of a folder, with what SQLite has not yet moved
// into the main file.
func allBytes(t *testing.T, folder string) (all []byte) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		all = append(all, raw...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSecretsAreSealedOnDisk looks for canaries in every byte on disk, before
// and after a checkpoint.
func TestSecretsAreSealedOnDisk(t *testing.T) {
	data := t.TempDir()
	db := open(t, data)
	const key, client = "CANARYapikey0123456789", "CANARYclient0123456789"
	a, err := db.CreateAccount(t.Context(), anAccount("Clinic"), sms.Credentials{ClientID: client, APIKey: key}, 1)
	if err != nil {
		t.Fatal(err)
	}
	const newer = "CANARYnewerkey9876543210"
	_, err = db.UpdateAccount(t.Context(), a.ID, 2, func(_ *sms.Account, c *sms.Credentials) error {
		c.APIKey = newer
		return nil
	})
	if err = errors.Join(err, db.RotateCallback(t.Context(), a.ID, sms.CallbackDLR, 3)); err != nil {
		t.Fatal(err)
	}
	secrets := []string{key, client, newer, "CANARY"}
	for _, kind := range []string{sms.CallbackDLR, sms.CallbackUSSD} {
		list, err := db.CallbackAddresses(t.Context(), a.ID, kind, 3)
		if err != nil || len(list) == 0 {
			t.Fatal(err)
		}
		for _, c := range list {
			raw, err := hex.DecodeString(c.Token)
			if err != nil || len(raw) != 32 {
				t.Fatalf("a token of %d bytes, want 256 random bits: %v", len(raw), err)
			}
			secrets = append(secrets, c.Token, string(raw))
		}
	}
	scan := func(when string) {
		t.Helper()
		all := allBytes(t, data)
		if !bytes.Contains(all, []byte("api.example.com")) {
			t.Fatalf("%s: the scan does not see what is stored in clear", when)
		}
		for _, s := range secrets {
			if bytes.Contains(all, []byte(s)) {
				t.Errorf("%s: a secret (%.6s…) is on disk in clear", when, s)
			}
		}
		if !bytes.Contains(all, []byte(newer[len(newer)-4:])) {
			t.Errorf("%s: the key's hint is missing", when)
		}
	}
	scan("before the checkpoint")
	if _, err := db.writer.ExecContext(t.Context(), "pragma wal_checkpoint(truncate)"); err != nil {
		t.Fatal(err)
	}
	scan("after the checkpoint")
	c, err := db.Credentials(t.Context(), a.ID)
	if err != nil || c != (sms.Credentials{ClientID: client, APIKey: newer}) {
		t.Errorf("%v %v", c, err)
	}
}

// TestASealedSecretOpensInItsPlaceOnly: a value copied to another row or
// column is refused.
func TestASealedSecretOpensInItsPlaceOnly(t *testing.T) {
	f := newFixture(t)
	other := f.other(t, "Other")
	_, err := f.db.writer.ExecContext(f.ctx,
		"update account set api_key = (select api_key from account where id = $1) where id = $2", f.account.ID, other.account.ID)
	f.must(err)
	if _, err := f.db.Credentials(f.ctx, other.account.ID); err == nil {
		t.Error("the key of another account was opened")
	}
	_, err = f.db.writer.ExecContext(f.ctx, "update account set client_id = api_key where id = $1", f.account.ID)
	f.must(err)
	if _, err := f.db.Credentials(f.ctx, f.account.ID); err == nil {
		t.Error("the API key was opened as client ID")
	}
}

func TestAnotherKeyFileIsRefused(t *testing.T) {
	f := newFixture(t)
	path := filepath.Join(f.data, "smsdesk.key")
	right, err := os.ReadFile(path)
	f.must(err)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 ||
		len(strings.TrimSpace(string(right))) != 64 {
		t.Errorf("%v %v: the key file is private and holds 64 digits", info.Mode(), err)
	}
	f.must(f.db.Close())
	f.must(os.WriteFile(path, []byte(strings.Repeat("ab", 32)), 0o600))
	if _, err := Open(f.ctx, Config{Data: f.data}); err == nil ||
		!strings.Contains(err.Error(), "is not the key of this database") || strings.Contains(err.Error(), "a-key-of") {
		t.Errorf("%v", err)
	}
	for name, text := range map[string]string{"empty": "", "short": "abcd", "no digits": strings.Repeat("zz", 32),
		"long": strings.Repeat("ab", 33), "half": string(right[:31])} {
		f.must(os.WriteFile(path, []byte(text), 0o600))
		if _, err := Open(f.ctx, Config{Data: f.data}); err == nil ||
			!strings.Contains(err.Error(), "is damaged: it must hold 64 hexadecimal digits. Put back the one from your backup") {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.must(os.WriteFile(path, right, 0o600))
	if _, err := open(t, f.data).Credentials(f.ctx, f.account.ID); err != nil {
		t.Errorf("the right key put back: %v", err)
	}
}

func TestCallbackTokensRotateWithAnOverlapOfSevenDays(t *testing.T) {
	f := newFixture(t)
	const day = 24 * 3600 * 1000
	id, at := f.account.ID, f.now()
	tokens := func(now int64) []sms.CallbackToken {
		list, err := f.db.CallbackAddresses(f.ctx, id, sms.CallbackDLR, now)
		f.must(err)
		return list
	}
	first := tokens(at)
	if len(first) != 1 || first[0].ValidUntil != 0 || first[0].Hash != sha256.Sum256([]byte(first[0].Token)) {
		t.Fatalf("%+v", first)
	}
	// The clock of the machine may have gone back: the newest is still the current one.
	f.must(f.db.RotateCallback(f.ctx, id, sms.CallbackDLR, at-3600_000))
	two := tokens(at)
	if len(two) != 2 || two[0].ValidUntil != 0 || two[0].Token == first[0].Token || two[1].Token != first[0].Token ||
		two[1].ValidUntil != at-3600_000+7*day {
		t.Fatalf("after a rotation: %+v", two)
	}
	f.must(f.db.RotateCallback(f.ctx, id, sms.CallbackDLR, at+day))
	three := tokens(at + day)
	if len(three) != 3 || three[0].ValidUntil != 0 || three[1].Token != two[0].Token || three[1].ValidUntil != at+8*day ||
		three[2].ValidUntil != two[1].ValidUntil {
		t.Fatalf("after two rotations: %+v", three)
	}
	for _, c := range []struct {
		at   int64
		want int
	}{{two[1].ValidUntil - 1, 3}, {two[1].ValidUntil, 2}, {at + 8*day - 1, 2}, {at + 8*day, 1}, {at + 800*day, 1}} {
		if got := tokens(c.at); len(got) != c.want || got[0].Token != three[0].Token {
			t.Errorf("%d days later %d addresses work, want %d", (c.at-at)/day, len(got), c.want)
		}
	}
	all, err := f.db.CallbackTokens(f.ctx, at)
	f.must(err)
	hashes := map[[32]byte]bool{}
	for _, c := range all {
		if c.Token != "" {
			t.Error("a list for look-ups holds a secret")
		}
		hashes[c.Hash] = true
	}
	if len(hashes) != 4 || !slices.ContainsFunc(all, func(c sms.CallbackToken) bool {
		return c.Kind == sms.CallbackUSSD
	}) {
		t.Errorf("%d tokens; three of reports and one of USSD are valid", len(hashes))
	}
	if other := f.other(t, "Other"); len(tokens(at)) != 3 || other.account.ID == id {
		t.Error("another account's tokens are mixed in")
	}
}

func TestTheLeaseCountsUp(t *testing.T) {
	f := newFixture(t)
	before := f.epoch
	f.lease()
	if f.epoch != before+1 {
		t.Errorf("%d after %d", f.epoch, before)
	}
	if _, err := f.db.TakeLease(f.ctx, 99); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestMarkAndResumeAccount(t *testing.T) {
	f := newFixture(t)
	id := f.account.ID
	account := func() sms.Account {
		a, err := f.db.Account(f.ctx, id)
		f.must(err)
		return a
	}
	f.must(f.db.MarkAccount(f.ctx, id, "no route", 10))
	if a := account(); a.Failure != "no route" || a.FailedAt != 10 || a.ReachedAt != 0 {
		t.Errorf("%+v", a)
	}
	f.must(f.db.MarkAccount(f.ctx, id, "", 11))
	if a := account(); a.Failure != "" || a.FailedAt != 10 || a.ReachedAt != 11 {
		t.Errorf("%+v", a)
	}
	if resumed, err := f.db.ResumeAccount(f.ctx, id); err != nil || resumed {
		t.Errorf("resumed without a pause: %v %v", resumed, err)
	}
}

func TestBalancesKeepAShortHistory(t *testing.T) {
	f := newFixture(t)
	id := f.account.ID
	for i, credits := range []string{"₦10", "₦10", "₦9", "₦9", "₦10"} {
		f.must(f.db.PutBalances(f.ctx, id, []sms.Balance{{PluginType: "SMS", Credits: credits},
			{PluginType: "USSD", Credits: "₦1"}}, int64(100+i)))
	}
	got, err := f.db.Balances(f.ctx, id)
	f.must(err)
	want := []sms.Balance{{PluginType: "SMS", Credits: "₦10", ReadAt: 104},
		{PluginType: "USSD", Credits: "₦1", ReadAt: 104}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := one[int](f, "select count(*) from balance where account_id = $1", id); n != 4 {
		t.Errorf("%d rows for four different readings", n)
	}
	if list, err := f.db.Balances(f.ctx, 99); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}

func TestSenderIDsAreReplacedAsAWhole(t *testing.T) {
	f := newFixture(t)
	id := f.account.ID
	f.must(f.db.PutSenderIDs(f.ctx, id, []sms.SenderID{{ID: 1, Text: "OLD"}, {ID: 2, Text: "GONE"}}, 5))
	want := []sms.SenderID{{ID: 3, CompanyID: 9, Text: "CLINIC", Purpose: "p", IsActive: true, ApproveStatus: "Approved",
		CreatedDate: "Mar 19, 2018", ApprovedDate: "x", ReadAt: 6},
		{ID: 1, Text: "NEW", ReadAt: 6}}
	f.must(f.db.PutSenderIDs(f.ctx, id, []sms.SenderID{{ID: 1, Text: "NEW"}, want[0], {ID: 1, Text: "CARELESS"}}, 6))
	got, err := f.db.SenderIDs(f.ctx, id)
	f.must(err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if list, err := f.db.SenderIDs(f.ctx, f.other(t, "Other").account.ID); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
}
