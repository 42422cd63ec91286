// Package health is how the desk itself is: how the database and the dispatch
// journal stand to each other, backups, the computer's clock, trouble with the
// disk, counts that disagree. Everything here is pure. It must never know a
// message, a campaign or an account but by its id.
package health
