package phone

import (
	"sync"

	"github.com/nyaruka/phonenumbers"
)

// NetworkNote is what must stand beside every network found by Network.
const NetworkNote = "Network is worked out from the number's prefix. Ported numbers show their original network."

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
	of map[networkKey]string
}

type networkKey struct {
	prefix string
	length int
}

const (
	// subscriberDigits at the end of a number never tell the network, unless
	// they begin within prefixDigits, the most that a network's prefix has.
	subscriberDigits = 4
	prefixDigits     = 8
	// maxRemembered bounds what is remembered.
	maxRemembered = 100_000
)

// Of is Network.
func (n *Networks) Of(number string) string {
	if Removed(number) {
		return removedNetwork(number)
	}
	// The length is part of the key: with another one it may be no number.
	key := networkKey{number[:max(len(number)-subscriberDigits, min(len(number), prefixDigits))], len(number)}
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.of[key]
	if !ok {
		if n.of == nil || len(n.of) >= maxRemembered {
			n.of = map[networkKey]string{}
		}
		name = Network(number)
		n.of[key] = name
	}
	return name
}
