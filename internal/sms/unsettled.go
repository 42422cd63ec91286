package sms

// Unsettled is the outcome of a request that is not stored yet.
type Unsettled struct {
	UID     string // of the attempt
	Country string // of the account
	At      int64  // when the request ended, in milliseconds since 1970 UTC
	Outcome Outcome
}
