package main

import "smsdesk/internal/desk"

// listenToBalance lets accounts send only after their balance was read once.
func (s *server) listenToBalance() {
	s.witness = desk.NewWitness(s.db, s.gateways, s.feed, s.log, wall)
	s.dispatcher.After(s.witness.Await)
}
