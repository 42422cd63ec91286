//go:build !naive_retry

package sms

// The classes of what cannot be decided by us. A build with the tag
// naive_retry repeats them instead: it exists for one purpose, to prove that
// the kill tests would notice.
const (
	ClassDoubt Class = "D"     // it may or may not have been executed
	ClassCrash Class = "crash" // this process was cut off; the breaker does not count it
)
