package desk

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// BlockOrder is what a person wants to be put onto an account's list of
// blocked numbers.
type BlockOrder struct {
	AccountID int64
	Numbers   string // as typed or pasted
	File      []byte // a text or CSV file of numbers, nil for none
	FileName  string // as given; it is the proof
	Note      string // why; may be empty
}

const (
	maxNote        = 200 // characters
	maxBlockedFile = 1 << 20
)

// BlockNumbers puts numbers onto the list. Those that are there already keep
// their day and reason; added counts the new ones among all. One entry that is
// no number refuses the whole order. The fields of its Invalid are numbers,
// file and note.
func (d *People) BlockNumbers(ctx context.Context, by sms.User, o BlockOrder) (added, all int, err error) {
	if err := by.May(sms.Sender, "block numbers"); err != nil {
		return 0, 0, err
	}
	account, err := d.store.Account(ctx, o.AccountID)
	if err != nil {
		return 0, 0, err
	}
	list, bad := readBlocked(account, o)
	note, sentence := checkNote(o.Note)
	if sentence != "" {
		bad["note"] = sentence
	}
	if err := bad.Or(); err != nil {
		return 0, 0, err
	}
	for i := range list {
		list[i].Note, list[i].ByID, list[i].ByName, list[i].Since = note, by.ID, by.Name, d.ms()
		list[i].Proof = staffProof(list[i].Kind, o.FileName)
	}
	n, err := d.store.Block(ctx, list)
	if err != nil {
		return 0, 0, err
	}
	detail := fmt.Sprintf("%d new of %d numbers", n, len(list))
	if len(list) == 1 {
		detail = list[0].Number + ", " + detail
	}
	d.audit(ctx, by, "number.block", feed.Account(account.ID), withNote(detail, note))
	d.feed.Publish(feed.Blocked(account.ID))
	return int(n), len(list), nil
}

func staffProof(kind sms.BlockKind, file string) string {
	if kind == sms.BlockedByFile {
		return "From the file " + sms.ShownFileName(file)
	}
	return "Entered by hand"
}

func withNote(detail, note string) string {
	if note == "" {
		return detail
	}
	return detail + ": " + note
}

func checkNote(raw string) (note, sentence string) {
	note = strings.Join(strings.Fields(strings.ToValidUTF8(raw, "�")), " ")
	if utf8.RuneCountInString(note) > maxNote {
		return note, fmt.Sprintf("Note must be %d characters or fewer", maxNote)
	}
	return note, ""
}

func readBlocked(account sms.Account, o BlockOrder) ([]sms.Blocked, sms.Invalid) {
	bad := sms.Invalid{}
	typed := phone.ReadAll(strings.ToValidUTF8(o.Numbers, "�"), account.Country, account.Abroad)
	if len(typed.Bad) > 0 {
		bad["numbers"] = numbersProblem(typed)
	}
	file, sentence := readNumberFile(o.File, account.Country, account.Abroad)
	if sentence != "" {
		bad["file"] = sentence
	}
	if len(typed.Good)+len(file.Good) == 0 && len(bad) == 0 {
		bad["numbers"] = "Enter at least one phone number, or choose a file"
	}
	var list []sms.Blocked
	seen := map[string]bool{}
	add := func(numbers []string, kind sms.BlockKind) {
		for _, n := range numbers {
			if !seen[n] {
				seen[n] = true
				list = append(list, sms.Blocked{AccountID: account.ID, Number: n, Kind: kind})
			}
		}
	}
	add(typed.Good, sms.BlockedByStaff)
	add(file.Good, sms.BlockedByFile)
	return list, bad
}

// readNumberFile reads the numbers of a text or CSV file. Cells without any
// digit are its headings and names.
func readNumberFile(file []byte, country string, abroad bool) (read phone.Numbers, sentence string) {
	switch {
	case len(file) == 0:
		return read, ""
	case len(file) > maxBlockedFile:
		return read, "The selected file must be smaller than 1MB. Split it and upload the parts"
	case !utf8.Valid(file) || strings.ContainsRune(string(file), 0):
		return read, "The selected file must be plain text or CSV. Save it as CSV UTF-8 and choose it again"
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(file), "\ufeff"), `"`, "")
	read = phone.ReadAll(text, country, abroad)
	var wrong []phone.Bad
	for _, b := range read.Bad {
		if strings.ContainsFunc(b.Raw, unicode.IsDigit) {
			wrong = append(wrong, b)
		}
	}
	read.Bad = wrong
	switch {
	case len(wrong) > 0:
		return read, numbersProblem(read)
	case len(read.Good) == 0:
		return read, "The selected file has no phone numbers"
	}
	return read, ""
}

// UnblockNumber takes a number off the list; why is kept with the block that
// ends and in the record of who did what. The field of its Invalid is note.
func (d *People) UnblockNumber(ctx context.Context, by sms.User, id int64, why string) (sms.Blocked, error) {
	if err := by.May(sms.Manager, "unblock number"); err != nil {
		return sms.Blocked{}, err
	}
	note, sentence := checkNote(why)
	if note == "" {
		sentence = "Enter why this number should be unblocked"
	}
	if sentence != "" {
		return sms.Blocked{}, sms.Invalid{"note": sentence}
	}
	gone, err := d.store.EndBlock(ctx, id, sms.Unblocking{At: d.ms(), Kind: sms.BlockedByStaff, Note: note, ByID: by.ID,
		ByName: by.Name})
	if err == nil {
		d.unblocked(ctx, by, gone, note)
	}
	return gone, err
}

// unblocked writes down that a block ended, and tells whoever looks at it.
func (d *People) unblocked(ctx context.Context, by sms.User, gone sms.Blocked, note string) {
	detail := gone.Number + ", was blocked since " + time.UnixMilli(gone.Since).UTC().Format(time.DateOnly) + " (" +
		gone.Reason() + ")"
	d.audit(ctx, by, "number.unblock", feed.Account(gone.AccountID), withNote(detail, note))
	d.feed.Publish(feed.Blocked(gone.AccountID))
}

// leaveOutBlocked marks the messages to blocked numbers as left out, and says what is
// wrong when nobody else is left.
func (d *People) leaveOutBlocked(ctx context.Context, account sms.Account, c *sms.Campaign,
	messages []sms.Message) (sentence string, err error) {
	var numbers []string
	for _, m := range messages {
		if m.Number != "" {
			numbers = append(numbers, m.Number)
		}
	}
	blocked, err := d.store.BlockedAmong(ctx, account.ID, numbers)
	if err != nil {
		return "", err
	}
	left, now, every := len(messages), d.now().In(account.Location()), true
	for i, m := range messages {
		why, kind := "", sms.RowBlocked
		if b, is := blocked[m.Number]; is {
			why = b.Sentence(now)
		} else if why, err = d.capReason(ctx, account, *c, m.Number); err != nil {
			return "", err
		} else {
			kind = sms.RowOften
		}
		if why == "" {
			continue
		}
		messages[i].State, messages[i].Reason, messages[i].Code = sms.Skipped, why, string(kind)
		c.Parts -= int64(m.Parts)
		left--
		every, sentence = every && kind == sms.RowBlocked, why
	}
	switch {
	case left == 0 && len(messages) > 1 && !every:
		return "None of the " + strconv.Itoa(len(messages)) + " recipients can be sent to. Last reason: " + sentence, nil
	case left > 0:
		return "", nil
	case len(messages) > 1:
		return "All " + strconv.Itoa(len(messages)) + " numbers are blocked", nil
	}
	return sentence, nil
}

// capReason says that a person got as many messages as the account allows, or "".
// A test to oneself is not counted.
func (d *People) capReason(ctx context.Context, account sms.Account, c sms.Campaign, number string) (string, error) {
	l := account.Limits
	if !l.Capped() || number == "" || c.TestOf > 0 {
		return "", nil
	}
	got, err := d.store.GotRecently(ctx, account.ID, number, l.CapSince(d.now()).UnixMilli())
	if err != nil || got < l.CapMessages {
		return "", err
	}
	return l.CapSentence(got), nil
}

// limitProblem says why a person may not start a campaign of this size now, or
// "". A group counts as one: how many are in it is not known here.
func (d *People) limitProblem(ctx context.Context, by sms.User, c sms.Campaign) (string, error) {
	account, err := d.store.Account(ctx, c.AccountID)
	if err != nil || account.Limits.MaxPerCampaign == 0 && account.Limits.MaxPerUserDay == 0 {
		return "", err
	}
	started, err := d.store.StartedSince(ctx, c.AccountID, by.ID,
		sms.DayBegins(d.now().In(account.Location())).UnixMilli())
	return account.Limits.StartProblem(c.Recipients, started), err
}
