// Package sms is what smsdesk is about: the nouns of bulk messaging and the
// rules that belong to them. Everything here is pure. It must never know how
// the nouns are stored, sent, shown or asked for: no net/http, no database/sql.
//
// One word for one thing, on screen, in URLs and in code:
//
//	campaign              one text, or one list of texts, sent with one sender ID (not: a send, job)
//	message               one text to one number
//	text                  the wording of a message
//	recipient             a number that a campaign writes to (not: person)
//	contact               a person saved in smsdesk
//	team member           somebody who signs in to smsdesk; User in code
//	audience              a saved set of contacts, picked by hand or by a filter
//	list                  an uploaded file of recipients
//	group                 a contact group kept by the provider
//	template              a text kept by the provider; a template draft is kept only here
//	placeholder           ##Name## in a text
//	part                  the unit the provider charges for: 160/153 or 70/67 units (not: segment)
//	special character     one outside the standard SMS alphabet (not: letter)
//	sender ID             the name shown as the sender
//	provider              the company whose API we use; the package is gateway
//	request               one call to the provider's API; Attempt when it was made
//	delivery report       what the network said about a message (not: receipt)
//	status                where a message, campaign, list or menu stands
//	awaiting report       the provider accepted it, and no report has come yet
//	in doubt              it may or may not have been sent (not: lost, unclear)
//	needs your decision   what staff must do about a message in doubt or held
//	held                  refused by the provider for a reason we do not recognise
//	send again            make new messages of old ones; charged again (not: resend)
//	put back in the queue only for held messages
//	left out              a recipient the campaign does not send to, with a reason
//	stop, continue        a person halts a campaign; it can go on
//	paused                smsdesk halted a campaign and says why; it can be continued
//	cancel                the unsent rest is never sent; cannot be undone
//	not sent              certain: no request left, or the provider refused it
//	sending hours         when an account may send
//	blocked number        a number nothing is sent to (not: block list)
//	opt-out link          the link a recipient can use to stop messages: ##stop link##
//	approval              a second team member's consent, given by an approver
//	withdraw              take back a request for approval or a proposal
//	publish, unpublish    put a USSD menu in front of callers, take it away
//	price per part        what one part costs; estimated cost before, actual cost after
//	minimum balance       where sending pauses; a low-balance alert comes before
//	alert                 something we noticed that somebody should see
//	banner, notice        the strip above a page; the coloured box inside it
//	link, URL             for people; for machines and settings
//	account               a provider account in smsdesk (a person's page is Your profile)
//	ported number         a number that moved to another network
//
// Times are int64 milliseconds since 1970 UTC unless a name says otherwise.
// Section signs (§) refer to the service's interface specification.
package sms
