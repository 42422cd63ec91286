//go:build naive_retry

package sms

// The negative control of the kill tests: doubt is taken for "nothing left",
// as a client that retries on errors does. Never ship this build.
const (
	ClassDoubt Class = ClassNothingLeft
	ClassCrash Class = ClassNothingLeft
)
