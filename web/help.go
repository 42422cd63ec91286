package web

import (
	"net/http"

	"smsdesk/views"
	"smsdesk/web/page"
)

func (s *door) help(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.Render(w, r, http.StatusOK, views.Help(v.Frame("Help", "help")))
}
