package main

import "smsdesk/internal/workers"

// listenToBalance lets accounts send only after their balance was read once.
func (s *server) listenToBalance() {
	s.witness = workers.NewWitness(s.db, s.desk, s.feed, s.log, wall)
	s.dispatcher.After(s.witness.Await)
}
