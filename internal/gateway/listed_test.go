package gateway

import (
	"testing"

	"smsdesk/internal/sms"
)

// TestListedCodes is §7: what each code blames, with the sentences that staff
// read.
func TestListedCodes(t *testing.T) {
	for _, want := range []struct {
		code     string
		fault    sms.Fault
		sentence string
	}{
		{"001", sms.FaultCredentials,
			"The provider did not receive the API key and client ID. Enter them in Settings, Connection"},
		{"003", sms.FaultSender, "Choose a sender ID"},
		{"007", sms.FaultCredentials,
			"The provider says the API key or client ID is wrong. Copy both again from the provider dashboard"},
		{"008", sms.FaultAccount, "The provider says the account is not active. Contact the provider"},
		{"010", sms.FaultAccount, "API access is turned off for this account. Ask the provider to turn it on"},
	} {
		body := []byte(`{"ErrorCode":"` + want.code + `","ErrorDescription":"No"}`)
		e, err := parseEnvelope(body)
		if err != nil {
			t.Fatal(err)
		}
		o := judgeEnvelope(textCall("1"), e)
		if o.Class != sms.ClassListed || o.Fault != want.fault || o.Reason != want.sentence || o.Code != want.code {
			t.Errorf("%s: %+v", want.code, o)
		}
		if err := (&Client{}).codeError(e, 200, subject{}); sms.FaultOf(err) != want.fault || err.Error() != want.sentence {
			t.Errorf("%s: %v blames %q", want.code, err, sms.FaultOf(err))
		}
	}
	for _, code := range []string{"", "0", "000", "7", "027", "028", "021", "429"} {
		if _, ok := listed(code); ok {
			t.Errorf("%q counts as proof that nothing was executed", code)
		}
	}
	reason := unlisted("021", "insufficient credits")
	if want := `The provider answered "insufficient credits" (code 021). We do not recognise this code, ` +
		`so the messages may or may not have been sent. Review them and decide`; reason != want {
		t.Errorf("%q, want %q", reason, want)
	}
}
