package web

import (
	"net/http"

	"smsdesk/views"
)

func (s *door) help(w http.ResponseWriter, r *http.Request, v *visit) error {
	return s.render(w, r, http.StatusOK, views.Help(v.frame("Help", "help")))
}
