package sms

import (
	"errors"
	"sort"
	"strings"
)

var (
	// ErrNotFound: the thing asked for does not exist, or not for this account.
	ErrNotFound = errors.New("not found")
	// ErrConflict: somebody else changed it first, or its state does not allow the order.
	ErrConflict = errors.New("conflict")
	// ErrTooLarge: what was sent is larger than allowed.
	ErrTooLarge = errors.New("too large")
	// ErrGone: the provider has no such record any more (028, §7).
	ErrGone = errors.New("gone at the provider")
	// ErrTaken: the provider has such a record already (027, §7).
	ErrTaken = errors.New("taken at the provider")
	// ErrUncertain: a change left and no valid answer was read. It may have been made.
	ErrUncertain = errors.New("the change may or may not have been made")
	// ErrForbidden: this person's role does not allow the order.
	ErrForbidden = errors.New("forbidden")
)

// Invalid maps a form field to the sentence that says what is wrong with it
// and what to do. The sentences are shown to people as they are.
type Invalid map[string]string

// Error lists the sentences in the order of the field names.
func (e Invalid) Error() string {
	fields := make([]string, 0, len(e))
	for f := range e {
		fields = append(fields, f)
	}
	sort.Strings(fields)
	for i, f := range fields {
		fields[i] = f + ": " + e[f]
	}
	return strings.Join(fields, "; ")
}

// Or returns e as an error, or nil when it holds nothing.
func (e Invalid) Or() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Sentence is what err says about one field, else all it says.
func Sentence(err error, field string) string {
	if bad, ok := errors.AsType[Invalid](err); ok && bad[field] != "" {
		return bad[field]
	}
	return err.Error()
}
