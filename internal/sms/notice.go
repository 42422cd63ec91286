package sms

import "fmt"

// ListedError is the sentence for an error code of §7 and whether it stops
// the whole account (the credentials or the account itself are at fault).
type ListedError struct {
	Code     string
	Sentence string
	Account  bool
}

// Listed finds the sentence for one of the codes that mean "nothing was
// executed" on a send call. ok is false for every other code.
func Listed(code string) (e ListedError, ok bool) {
	e, ok = map[string]ListedError{
		"001": {"001", "The provider did not receive the API key and client ID. Enter them in Settings, Connection", true},
		"003": {"003", "Choose a sender ID", false},
		"007": {"007", "The provider says the API key or client ID is wrong. Copy both again from the provider dashboard", true},
		"008": {"008", "The provider says the account is not active. Contact the provider", true},
		"010": {"010", "API access is turned off for this account. Ask the provider to turn it on", true},
	}[code]
	return e, ok
}

// UnlistedSentence is what people are told of a code that nobody documented.
func UnlistedSentence(code, description string) string {
	return fmt.Sprintf(
		"The provider answered %q (code %s). We do not recognise this code, so the messages may or may not have been sent. Review them and decide", description, code)
}
