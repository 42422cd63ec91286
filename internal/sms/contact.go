package sms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Contact is a person that an account can write to: one number, a name, and
// what else is known of them. It is ours: the service keeps no contacts (§4.9).
type Contact struct {
	ID          int64
	AccountID   int64
	Number      string // MSISDN as digits with country code, no "+": normalised once, when it came
	Name        string // may be ""
	Fields      map[string]string
	Tags        []string // as written, each once, in the order of the alphabet
	Source      string   // where the person came from first, such as a file's name
	ByID        int64
	ByName      string
	CreatedAt   int64
	ChangedAt   int64
	Version     int64
	BlockedKind BlockKind // "" for who may be written to; only where contacts are listed
}

// ContactColumn is something that is known of contacts, such as a town.
type ContactColumn struct {
	Key  string // PlaceholderKey of the name; Fields of a Contact go by it
	Name string // as it was written first
}

// The keys of what every contact has beside its columns. No column bears one
// of them.
const (
	KeyName = "name"
	KeyTag  = "tag"
)

// The limits of a contact, in runes.
const (
	MaxContactName  = 100
	MaxContactValue = 200
	MaxContactTag   = 40
	MaxContactTags  = 20
	// MaxContactColumns is how many columns the contacts of an account have.
	MaxContactColumns = 40
)

// Reserved says that a column cannot be called so.
func Reserved(key string) bool { return key == KeyName || key == KeyTag }

// Value is what a column holds for a contact, "" for nothing. The tags are one
// value, each on a line.
func (c Contact) Value(key string) string {
	switch key {
	case KeyName:
		return c.Name
	case KeyTag:
		return strings.Join(c.Tags, "\n")
	}
	return c.Fields[key]
}

// TidyValue is a value as it is kept: without control characters, white space
// folded, cut at most runes.
func TidyValue(raw string, most int) string {
	v := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(raw, "�"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if utf8.RuneCountInString(v) > most {
		v = strings.TrimSpace(string([]rune(v)[:most]))
	}
	return v
}

// ReadTags reads tags as people type them, with commas or line breaks between.
// Two that differ in case only are one.
func ReadTags(typed string) []string {
	var tags []string
	for _, t := range strings.FieldsFunc(typed, func(r rune) bool {
		return r == ',' || r == ';' || r == '\n' || r == '\r'
	}) {
		if t = TidyValue(t, MaxContactTag); t != "" {
			tags = append(tags, t)
		}
	}
	return MergeTags(nil, tags)
}

// MergeTags are the tags of both lists, each once, as the first has written it.
func MergeTags(a, b []string) []string {
	all := slices.Clone(a)
	for _, t := range b {
		if !slices.ContainsFunc(all, func(x string) bool { return FoldValue(x) == FoldValue(t) }) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(x, y string) int { return strings.Compare(FoldValue(x), FoldValue(y)) })
	return all
}

// Merge is the contact after a list told more of it: what the list says takes
// the place of what was known, what it leaves empty stays, tags are added.
func (c Contact) Merge(told Contact) Contact {
	if told.Name != "" {
		c.Name = told.Name
	}
	fields := map[string]string{}
	for _, from := range []map[string]string{c.Fields, told.Fields} {
		for k, v := range from {
			if v != "" {
				fields[k] = v
			}
		}
	}
	c.Fields, c.Tags = fields, MergeTags(c.Tags, told.Tags)
	return c
}

// ContactFilter says which contacts of an account are wanted, newest first.
// With Prefix they come in the order of their numbers, and After goes on.
type ContactFilter struct {
	AccountID int64
	Filter    Filter
	Audience  int64  // members of this picked audience only; 0: all
	Prefix    string // first digits of the number with country code
	After     string // numbers behind this, with Prefix
	Before    int64  // ids below this; 0: from the newest
	Limit     int
}

// AudienceKind says how an audience is made up.
type AudienceKind string

// The kinds.
const (
	Picked   AudienceKind = "picked" // by hand
	Filtered AudienceKind = "filter" // whoever fits its filter at the time of use
)

// Audience is a named selection of contacts.
type Audience struct {
	ID        int64
	AccountID int64
	Name      string
	Kind      AudienceKind
	Filter    Filter // of Filtered
	Version   int64
	ByID      int64
	ByName    string
	CreatedAt int64
	ChangedAt int64
}
