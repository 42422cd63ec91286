package sms

import "errors"

// Fault is what the provider blames when it refuses a request as a whole, in
// no provider's code; "" where it blames nothing that we know.
type Fault string

// The faults.
const (
	FaultCredentials Fault = "credentials" // the API key or the client ID
	FaultAccount     Fault = "account"     // not active, or without access
	FaultSender      Fault = "sender"      // there is no sender ID
)

// StopsAccount tells a fault that every request of the account would meet from
// one of this campaign.
func (f Fault) StopsAccount() bool { return f == FaultCredentials || f == FaultAccount }

// FaultOf is the fault that an error of the gateway names, "" for none.
func FaultOf(err error) Fault {
	if e, ok := errors.AsType[interface {
		error
		Blames() Fault
	}](err); ok {
		return e.Blames()
	}
	return ""
}
