// Package sms is what smsdesk is about: the nouns of bulk messaging and the
// rules that belong to them. Everything here is pure. It must never know how
// the nouns are stored, sent, shown or asked for: no net/http, no database/sql.
//
// One word for one thing, on screen, in URLs and in code:
//
//	campaign         one order to send, by one person (not job, blast)
//	message          one text to one number
//	part             what is paid: a segment of 160/153 or 70/67 units
//	attempt          one call to the gateway that may send messages
//	delivery report  what the network says became of a message; DLR (not receipt)
//	list             an uploaded file
//	group            a contact group kept at the gateway
//	contact          a person known to us; an audience is a saved selection of them
//	sender ID        what the phone shows as the origin
//	account          ApiKey + ClientId at one base URL
//	gateway          the bulk-SMS service in code; "the provider" on screen
//	in doubt         a request left and no valid answer was read
//
// Times are int64 milliseconds since 1970 UTC unless a name says otherwise.
// Section signs (§) refer to the service's interface specification.
package sms
