package views

import (
	"slices"
	"sort"

	"smsdesk/internal/sms"
)

// Summary lists what is wrong with a form in the order of its fields; what
// belongs to none of them stands last.
func Summary(bad sms.Invalid, fields ...string) []FieldError {
	var list []FieldError
	for _, name := range fields {
		if bad[name] != "" {
			list = append(list, FieldError{ID: name, Text: bad[name]})
		}
	}
	var rest []string
	for name := range bad {
		if !slices.Contains(fields, name) {
			rest = append(rest, name)
		}
	}
	sort.Strings(rest)
	for _, name := range rest {
		list = append(list, FieldError{Text: bad[name]})
	}
	return list
}
