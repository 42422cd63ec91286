// Package views is what a person sees: components in templ, one file per noun,
// upon the shared pieces in layout, ui, field and live. A component is a pure
// function of the values it is given; a fragment that is refetched is the same
// component as on the full page. It must never know a request, a session, the
// storage or the clock: it cannot query and it cannot act.
//
// Pages write no class names and no htmx attributes of their own: the pieces
// here carry them, so that the look and the live contract have one home.
package views
