// Package phone is what a phone number is: how people write one, as which
// MSISDN it is kept, whose network its prefix names, how it is shown, masked
// and removed. Everything here is pure. It must never know what is sent to a
// number, or who has it.
//
// What is done with 260 cells of six countries and why, and where that is not
// what libphonenumber does, stands in testdata/numbers.tsv.
package phone
