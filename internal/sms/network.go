package sms

import (
	"sync"

	"github.com/nyaruka/phonenumbers"
)

// NetworkNote is what must stand beside every network found by Network.
const NetworkNote = "by prefix; moved numbers show the old network"

// Network names the mobile network that a number's prefix was given to, "" for
// none known. Numbers that have moved keep their prefix, and no report tells
// the network (§2.6), so it is a guess.
func Network(number string) string {
	if Removed(number) {
		return removedNetwork(number)
	}
	p, err := phonenumbers.Parse("+"+number, "")
	if err != nil {
		return ""
	}
	name, err := phonenumbers.GetCarrierForNumber(p, "en")
	if err != nil {
		return ""
	}
	return name
}

// Networks remembers the networks of prefixes: every report that is counted
// asks for one. The zero value is ready, for use by many goroutines.
type Networks struct {
	mu sync.Mutex
	of map[string]string
}

const (
	// subscriberDigits at the end of a number never tell the network.
	subscriberDigits = 4
	// networksMost bounds what is remembered.
	networksMost = 100_000
)

// Of is Network.
func (n *Networks) Of(number string) string {
	if Removed(number) {
		return removedNetwork(number)
	}
	if len(number) <= subscriberDigits {
		return ""
	}
	// The length is part of the key: with another one it may be no number.
	key := number[:len(number)-subscriberDigits]
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.of[key]
	if !ok {
		if n.of == nil || len(n.of) >= networksMost {
			n.of = map[string]string{}
		}
		name = Network(number)
		n.of[key] = name
	}
	return name
}
