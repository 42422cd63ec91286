package main

import (
	"smsdesk/internal/desk"
	"smsdesk/internal/gateway"
	"smsdesk/internal/workers"
)

// listenToBalance lets accounts send only after their balance was read once.
func (s *server) listenToBalance() {
	balances := desk.NewReadings(s.db, gateway.See(s.accounts, forOrders), wall)
	s.witness = workers.NewWitness(s.db, balances, s.feed, s.log, wall)
	s.dispatcher.After(s.witness.Await)
}
