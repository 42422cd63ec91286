package sms

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// CheckText says why a text cannot be sent, or "". maxParts is the account's
// limit of parts a message.
func CheckText(text string, s Segments, maxParts int) string {
	if strings.TrimSpace(text) == "" {
		return "Enter the message"
	}
	limit := TextLimit(s.Unicode, maxParts)
	if over := s.Units - limit; over > 0 || s.Parts > maxParts {
		return fmt.Sprintf("Message must be %d characters or fewer. Yours is %d over", limit, max(over, 1))
	}
	return ""
}

// TextLimit is the most units of a text of at most maxParts parts.
func TextLimit(unicode bool, maxParts int) int {
	single, several := 160, 153
	if unicode {
		single, several = 70, 67
	}
	if maxParts <= 1 {
		return single
	}
	return several * maxParts
}

// SameText says whether a report's text is one of the given texts: compared in
// Unicode's NFC and with white space folded. An empty text is nobody's.
func SameText(reported string, texts []string) bool {
	folded := foldText(reported)
	if folded == "" {
		return false
	}
	for _, t := range texts {
		if foldText(t) == folded {
			return true
		}
	}
	return false
}

func foldText(s string) string { return strings.Join(strings.Fields(norm.NFC.String(s)), " ") }
