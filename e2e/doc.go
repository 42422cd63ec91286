// Package e2e is the proof: it builds the binary and drives it from outside,
// with a browser, over HTTP and with kill -9. It holds tests only and looks
// into the data folder only to seed it and to compare what was remembered
// with what the sandbox's ledger says was executed.
package e2e
