package sms

import "github.com/nyaruka/phonenumbers"

// NetworkNote is what must stand beside every network found by Network.
const NetworkNote = "by prefix; moved numbers show the old network"

// Network names the mobile network that a number's prefix was given to, "" for
// none known. Numbers that have moved keep their prefix, and no report tells
// the network (§2.6), so it is a guess.
func Network(number string) string {
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
