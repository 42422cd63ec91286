package page

import (
	"mime"
	"net/http"
	"strings"
	"time"

	"smsdesk/internal/sheet"
)

const (
	KindCSV  = "text/csv; charset=utf-8"
	KindXLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	KindZIP  = "application/zip"
)

// Attach makes the answer a file to be saved.
func Attach(w http.ResponseWriter, name string) {
	kind := "text/csv; charset=utf-8"
	if strings.HasSuffix(name, ".xlsx") {
		kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// CSVAnswer begins a file that is written row by row.
func CSVAnswer(w http.ResponseWriter, name string) *sheet.RecordWriter {
	w.Header().Set("Content-Type", KindCSV)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	// A long download is not a slow page.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	return sheet.NewRecordWriter(w)
}

// Finish ends a download; where it is not whole, breaking off is all that can
// be said.
func (s *Site) Finish(out *sheet.RecordWriter, err error) error {
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		s.Log.Error("a download was cut off", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
