package main

import "net/http"

// pages is temporary until web exists.
func (s *server) pages(callbacks http.Handler) http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		if err := s.db.Ready(r.Context()); err != nil {
			http.Error(w, "", 503)
		}
	})
	if callbacks != nil {
		m.Handle("/dlr/", callbacks)
		m.Handle("/ussd/", callbacks)
	}
	return m
}
