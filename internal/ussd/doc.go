// Package ussd holds the nouns of a USSD session: the wire form of the session
// callback (§6.2), the menus that staff write, what a caller sees of them, and
// what is remembered of a session. Everything here is pure. It must never know
// how a request arrives, where menus and sessions are kept or who pays for
// them: no net/http, no database/sql, no clock. What a screen does beyond
// showing words is done by whoever walks the menu (Doer).
//
// Section signs (§) refer to the service's interface specification.
package ussd
