package web

import (
	"mime"
	"net/http"
	"strings"
	"time"

	"smsdesk/internal/sheet"
)

const (
	kindCSV  = "text/csv; charset=utf-8"
	kindXLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	kindZIP  = "application/zip"
)

// attach makes the answer a file to be saved.
func attach(w http.ResponseWriter, name string) {
	kind := "text/csv; charset=utf-8"
	if strings.HasSuffix(name, ".xlsx") {
		kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

func csvAnswer(w http.ResponseWriter, name string) *sheet.RecordWriter {
	w.Header().Set("Content-Type", kindCSV)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	// A long download is not a slow page.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	return sheet.NewRecordWriter(w)
}

// finish ends a download; where it is not whole, breaking off is all that can
// be said.
func (s *Site) finish(out *sheet.RecordWriter, err error) error {
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		s.log.Error("a download was cut off", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
