package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// reportQueries are the reports of a call, each as the query string that a GET
// would have had: usually one. Where it says no it has answered.
func (c *Callback) reportQueries(w http.ResponseWriter, r *http.Request, accountID int64,
	token string) (queries []string, ok bool) {
	if len(r.URL.RawQuery) > maxReport {
		w.WriteHeader(http.StatusRequestURITooLong)
		return nil, false
	}
	if r.Method == http.MethodGet {
		return []string{r.URL.RawQuery}, true
	}
	if !c.cfg.Reports.TakesPosts(sha256.Sum256([]byte(token))) {
		c.cfg.Reports.Posted(accountID)
		w.Header().Set("Allow", http.MethodGet)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil, false
	}
	// A listener without deadlines has limits of its own.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(c.reportStop))
	body, err := io.ReadAll(io.LimitReader(r.Body, maxReport+1))
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return nil, false
	case len(body) <= maxReport:
		queries = postedReports(r.URL.RawQuery, body)
	}
	if queries == nil || slices.ContainsFunc(queries, func(q string) bool { return len(q) > maxReport }) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return nil, false
	}
	return queries, true
}

// postedReports are the reports of a POST: its own query, with a body that is a
// form behind it, or with the fields of a JSON object, or of each object of a
// JSON array. A body that is none of these is kept as it is, for people to read.
func postedReports(query string, body []byte) []string {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	join := func(more string) string { return strings.Trim(query+"&"+more, "&") }
	if len(body) == 0 || body[0] != '{' && body[0] != '[' {
		return []string{join(plainForm(body))}
	}
	var list []map[string]json.RawMessage
	if body[0] == '{' {
		list = make([]map[string]json.RawMessage, 1)
		if json.Unmarshal(body, &list[0]) != nil {
			list = nil
		}
	} else if json.Unmarshal(body, &list) != nil {
		list = nil
	}
	if len(list) == 0 {
		return []string{join("body=" + url.QueryEscape(string(body)))}
	}
	queries := make([]string, len(list))
	for i, fields := range list {
		queries[i] = join(formOf(fields))
	}
	return queries
}

// plainForm is a form as a URL could carry it: what is no UTF-8, or ends a line
// of a log, is escaped.
func plainForm(body []byte) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(string(body), "\uFFFD") {
		if r <= ' ' || r == 0x7f {
			fmt.Fprintf(&b, "%%%02X", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// formOf writes the fields of an object as a form, in the order of their names:
// a repetition is then the same to the byte.
func formOf(fields map[string]json.RawMessage) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		raw := bytes.TrimSpace(fields[name])
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(text))
	}
	return strings.Join(pairs, "&")
}
