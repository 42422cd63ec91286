//go:build !forgetful_limiter

package storage

// forgetful is what the negative control of the rate's test sets: it must find
// a build out whose limiter begins anew at each start.
const forgetful = false
