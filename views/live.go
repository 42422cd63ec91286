package views

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"
)

// Refresh says how a fragment renews itself: when one of the topics On is
// named in the page's stream, the page gets URL and morphs the answer into the
// element with this ID. The answer is that same element again, whole, with the
// same ID. The zero value is an element at rest.
type Refresh struct {
	ID  string
	URL string
	On  []string
}

// LiveAttrs are the attributes of an element that renews itself; LiveRegion is
// the usual such element, this is for a row, a list or a table body.
func LiveAttrs(r Refresh) templ.Attributer {
	if r.URL == "" || len(r.On) == 0 {
		return templ.OrderedAttributes{{Key: "id", Value: r.ID}}
	}
	triggers := make([]string, len(r.On))
	for i, topic := range r.On {
		triggers[i] = topic + " from:body"
	}
	return templ.OrderedAttributes{
		{Key: "id", Value: r.ID},
		{Key: "hx-get", Value: r.URL},
		{Key: "hx-trigger", Value: strings.Join(triggers, ", ")},
		{Key: "hx-swap", Value: "outerMorph"},
	}
}

// Watch says where an input's form is posted while a person types, and the id
// of the element that the answer replaces. The zero value watches nothing.
type Watch struct {
	URL, Target string
}

func watchAttrs(w Watch) templ.Attributer {
	if w.URL == "" {
		return templ.OrderedAttributes{}
	}
	return templ.OrderedAttributes{
		{Key: "hx-post", Value: w.URL},
		{Key: "hx-trigger", Value: "input delay:300ms"},
		{Key: "hx-target", Value: "#" + w.Target},
		{Key: "hx-swap", Value: "outerMorph"},
		{Key: "hx-sync", Value: "this:replace"},
	}
}

// partAttrs let a link or a form fetch url and put the answer into the place
// of the element with this id. Without script the page is loaded.
func partAttrs(url, id string) templ.Attributer {
	if id == "" {
		return templ.OrderedAttributes{}
	}
	return templ.OrderedAttributes{
		{Key: "hx-get", Value: url},
		{Key: "hx-target", Value: "#" + id},
		{Key: "hx-swap", Value: "outerMorph"},
	}
}

// appliedAttrs let a select post its form to url once another of its options is
// chosen, and take the part of the answered page.
func appliedAttrs(url, part string) templ.Attributer {
	return templ.OrderedAttributes{
		{Key: "hx-post", Value: url},
		{Key: "hx-trigger", Value: "change"},
		{Key: "hx-vals", Value: `{"do":"template"}`},
		{Key: "hx-target", Value: "#" + part},
		{Key: "hx-select", Value: "#" + part},
		{Key: "hx-swap", Value: "outerHTML"},
	}
}

// savedAttrs let an input post its form to url once it was changed; only the
// parts that the answer names are renewed.
func savedAttrs(url string) templ.Attributer {
	return templ.OrderedAttributes{
		{Key: "hx-post", Value: url},
		{Key: "hx-trigger", Value: "change"},
		{Key: "hx-swap", Value: "none"},
	}
}

// renewAttrs let a button of a form post it to url and put the part of the
// answered page that has this id in the place of its own. It is not morphed: a
// morph leaves alone what was typed, and the answer is to take its place.
func renewAttrs(url, part string) templ.Attributer {
	return templ.OrderedAttributes{
		{Key: "hx-post", Value: url},
		{Key: "hx-target", Value: "#" + part},
		{Key: "hx-select", Value: "#" + part},
		{Key: "hx-swap", Value: "outerHTML"},
	}
}

// Opening a stream is tried on load, when a tab that was opened in the
// background is shown, and every 5 s while there is none; all three do nothing
// while one is open. The swap is none because an answer that is not a stream
// would be swapped in. The cache is left out, as a browser's own event source
// does: two tabs on one page ask for the same address, for ever.
func streamAttrs(topics []string) templ.Attributer {
	return streamAt("/live?" + url.Values{"t": topics}.Encode())
}

// streamAt listens at an address.
func streamAt(address string) templ.Attributer {
	return templ.OrderedAttributes{
		{Key: "hx-sse:connect", Value: address},
		{Key: "hx-trigger", Value: "load, every 5s, visibilitychange from:document"},
		{Key: "hx-swap", Value: "none"},
		{Key: "hx-config", Value: "cache:no-store"},
	}
}

// No history: pages with personal data stay out of the browser's reach. An
// answer of 4xx or 5xx leaves the page as it is. A stream comes back within 2 s
// of the server.
const htmxConfig = `{"mode":"same-origin","includeIndicatorCSS":false,"history":false,` +
	`"noSwap":[204,304,"4xx","5xx"],"extensions":"sse,desk","defaultTimeout":15000,` +
	`"sse":{"reconnectDelay":500,"reconnectMaxDelay":1500}}`

// LiveMarkProps says whether the figures move. Path is the page's own address,
// ReadAt the time of day its figures are from.
type LiveMarkProps struct {
	Path   string
	Paused bool
	ReadAt string
}

// mendAttrs let a field post its form to url once it was changed; the page is
// renewed where it differs, and what is being typed elsewhere stays.
func mendAttrs(url string) templ.Attributer {
	return templ.OrderedAttributes{
		{Key: "hx-post", Value: url},
		{Key: "hx-trigger", Value: "change"},
		{Key: "hx-target", Value: "#main"},
		{Key: "hx-select", Value: "#main"},
		{Key: "hx-swap", Value: "outerMorph"},
	}
}
