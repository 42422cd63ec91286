package main

import (
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

// endure lets the desk outlive a database that cannot be written: outcomes go to
// the reserve, and the pages say why nothing is sent.
func (s *server) endure() {
	reserve := storage.NewReserve(s.storage.Data, s.Spool)
	s.closers = append(s.closers, reserve.Close)
	s.outage = workers.NewOutage(s.log, wall)
	s.dispatcher.Endure(reserve, s.outage)
	s.pulse.Watch(s.outage)
	s.desk.Watch(s.outage)
}
