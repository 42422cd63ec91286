package page

import (
	"errors"
	"net/http"

	"smsdesk/internal/sms"
)

// Form shows a page with a form, again where bad says what is wrong with what was
// sent.
type Form func(w http.ResponseWriter, r *http.Request, v *Visit, bad sms.Invalid) error

// Show is the page before anything was sent.
func (f Form) Show(w http.ResponseWriter, r *http.Request, v *Visit) error { return f(w, r, v, nil) }

// Done ends an order that the form gave: it leads on, or shows what is wrong. What
// else went wrong is the caller's.
func (f Form) Done(w http.ResponseWriter, r *http.Request, v *Visit, err error, to string) error {
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return f(w, r, v, bad)
	}
	if err != nil {
		return err
	}
	return Redirect(w, r, to)
}

// Changed is Done for a change of a record at the provider: it leads back to a
// list, with the word of what was done or of the record being gone there.
func (f Form) Changed(w http.ResponseWriter, r *http.Request, v *Visit, err error, back, done, gone string) error {
	if errors.Is(err, sms.ErrGone) {
		err, done = nil, gone
	}
	return f.Done(w, r, v, err, WithDone(back, done))
}
