package gateway

import (
	"fmt"

	"smsdesk/internal/sms"
)

// listedError is what a code of §7 that means "nothing was executed" blames,
// and what to do about it.
type listedError struct {
	fault    sms.Fault
	sentence string
}

// listed finds one of the codes that mean "nothing was executed" on a send
// call. ok is false for every other code.
func listed(code string) (e listedError, ok bool) {
	e, ok = map[string]listedError{
		"001": {sms.FaultCredentials,
			"The provider did not receive the API key and client ID. Enter them in Settings, Connection"},
		"003": {sms.FaultSender, "Choose a sender ID"},
		"007": {sms.FaultCredentials,
			"The provider says the API key or client ID is wrong. Copy both again from the provider dashboard"},
		"008": {sms.FaultAccount, "The provider says the account is not active. Contact the provider"},
		"010": {sms.FaultAccount, "API access is turned off for this account. Ask the provider to turn it on"},
	}[code]
	return e, ok
}

// unlisted is what people are told of a code that nobody documented.
func unlisted(code, description string) string {
	return fmt.Sprintf(
		"The provider answered %q (code %s). We do not recognise this code, so the messages may or may not "+
			"have been sent. Review them and decide", description, code)
}
