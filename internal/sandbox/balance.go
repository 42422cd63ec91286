package sandbox

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/dustin/go-humanize"
)

// balanceEntry is §2.2.
type balanceEntry struct {
	PluginType string
	Credits    string
}

// balance is §4.1.
func (s *Sandbox) balance(*call) answer {
	return success([]balanceEntry{{PluginType: "SMS", Credits: s.credits()}})
}

// wantsXML reads the header Type or, where that is missing, Content-Type. The element names of the XML are the
// JSON names, which is a guess.
func wantsXML(h http.Header) bool {
	if kind := strings.TrimSpace(h.Get("Type")); kind != "" {
		return strings.EqualFold(kind, "xml")
	}
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/xml")
}

// credits is the credit as text, such as ₦57,524.50.
func (s *Sandbox) credits() string {
	return fmt.Sprintf("%s%s.%02d", s.cfg.Currency, humanize.Comma(s.credit/100), s.credit%100)
}
