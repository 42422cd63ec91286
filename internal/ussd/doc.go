// Package ussd holds the nouns of a USSD session: so far the wire form of the
// session callback (§6.2). Everything here is pure. It must never know how a
// request arrives, where menus and sessions are kept or who pays for them: no
// net/http, no database/sql, no clock.
//
// Section signs (§) refer to the service's interface specification.
package ussd
