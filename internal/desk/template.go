package desk

import (
	"fmt"
	"strings"

	"smsdesk/internal/sms"
)

// filled is the text of an order as everybody gets it. A mark that nothing is
// given for would reach people as it is written, so it goes into bad.
func filled(o Order, bad sms.Invalid) string {
	text, missing := sms.Fill(plain(o.Text), func(name string) (string, bool) {
		value := strings.TrimSpace(plain(o.Fixed[sms.MarkKey(name)]))
		return value, value != ""
	})
	for _, name := range missing {
		bad["field:"+sms.MarkKey(name)] = fmt.Sprintf("Enter what stands in the place of ##%s## for everybody, or upload a list with a column for it", name)
	}
	return strings.TrimSpace(text)
}

// plain undoes what forms and strange programs do to a text.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
}
