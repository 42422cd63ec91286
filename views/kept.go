package views

import "net/http"

// OfferPage says what was sent after the session had ended and was not done.
type OfferPage struct {
	Key  string
	File string // its name, "" where the form has none
}

// Title is the page's.
func (p OfferPage) Title() string {
	if p.File != "" {
		return "Your file has not been uploaded yet"
	}
	return "Your changes have not been saved yet"
}

func (p OfferPage) text() string {
	if p.File != "" {
		return "You were signed out before we could take it. We kept it for you: nothing was sent to anyone."
	}
	return "You were signed out before we could save them. We kept what you filled in: nothing was changed."
}

func (p OfferPage) button() (text, busy string) {
	if p.File != "" {
		return "Upload it now", "Uploading…"
	}
	return "Save them now", "Saving…"
}

// NotKept is for what was kept and is not any more.
func NotKept() Problem {
	return Problem{
		Status: http.StatusNotFound,
		Title:  "This is no longer kept",
		Text: "What you sent before you signed in again is kept for 1 hour and can be used once. If you have just used it, " +
			"it was done. If not, open the page and start over.",
		Link: Link{Text: "Go to the overview", Href: "/"},
	}
}
