package health

import (
	"fmt"
	"time"
)

// Relation is how the database and the dispatch journal stand to each other
// when smsdesk starts: a row of the table in storage/README.md.
type Relation string

// The relations. The first four let smsdesk send; each of the others is a
// question that an administrator answers first.
const (
	RelationNew      Relation = "R0"  // nothing was ever sent from here
	RelationAgrees   Relation = "R1"  // both end with the same line
	RelationCutOff   Relation = "R2"  // the database is ahead by what a crash leaves
	RelationStarted  Relation = "R3"  // the journal is ahead by starts only
	RelationAhead    Relation = "R4"  // the journal knows requests that the database does not
	RelationDamaged  Relation = "R4x" // the same, and some of it cannot be read
	RelationBehind   Relation = "R5"  // the journal is missing, empty or older
	RelationDiverged Relation = "R6"  // neither is a part of the other
	RelationCopy     Relation = "R7"  // the database says of itself that it is a copy
	RelationForeign  Relation = "I"   // another desk's journal, or another key
)

// MaySend says whether messages may be sent without asking anybody.
func (r Relation) MaySend() bool {
	switch r {
	case RelationNew, RelationAgrees, RelationCutOff, RelationStarted:
		return true
	}
	return false
}

// Names of settings about older states.
const (
	// SettingDesk holds the desk's random id: 32 hexadecimal digits.
	SettingDesk = "desk"
	// SettingQuestion holds a Question as JSON while one is open, else "".
	SettingQuestion = "journal.question"
	// SettingStuck holds why the journal cannot be written, "" while it can.
	SettingStuck = "journal.stuck"
	// SettingJournal holds the folder of the journal, for people to see.
	SettingJournal = "journal.folder"
	// SettingAnswer holds an Answer as JSON that waits for the running desk.
	SettingAnswer = "journal.answer"
	// SettingAnswering is AnswerDoing while an Answer is carried out, else why the
	// last one was not, "" for nothing.
	SettingAnswering = "journal.answering"
	// SettingJournalShared is "yes" while the journal is on the disk of the data.
	SettingJournalShared = "journal.shared"
)

// AnswerDoing says that an Answer was given and is being carried out.
const AnswerDoing = "doing"

// Question is what nobody but a person can answer: whether messages may have
// been sent that this copy of the database does not know. Times are
// milliseconds of the clock at that moment; they are shown and decide nothing.
type Question struct {
	Relation Relation `json:"relation"`
	// Beneath is the relation without a copy's mark.
	Beneath Relation `json:"beneath,omitempty"`
	// CopyAt is when the copy wrote its last line, 0 where it never did.
	CopyAt int64 `json:"copyAt"`
	// KnownUntil is when the journal's last request was made, 0 where the journal
	// knows of none.
	KnownUntil int64 `json:"knownUntil"`
	// Messages are those that the journal knows of and the copy does not.
	Messages int64 `json:"messages"`
	// Unreadable is how many bytes of the journal cannot be read.
	Unreadable int64 `json:"unreadable"`
	// Folder is where the journal was looked for.
	Folder string `json:"folder"`
	// Detail says more of a foreign or a missing journal.
	Detail    string           `json:"detail,omitempty"`
	Campaigns []RememberedSend `json:"campaigns,omitempty"`
	Mark      *Copy            `json:"mark,omitempty"`
}

// RememberedSend is a campaign, or what is left of its name, of which requests
// are known that the database does not know.
type RememberedSend struct {
	UID         string `json:"uid"`
	Name        string `json:"name"` // "" where it is not known any more
	StartedName string `json:"startedName"`
	FirstAt     int64  `json:"firstAt"` // milliseconds
	LastAt      int64  `json:"lastAt"`
	Messages    int64  `json:"messages"`
	// Doubtful are those of them that came into doubt.
	Doubtful int64 `json:"doubtful"`
}

// Answer is an administrator's word that the older state is to be worked with.
type Answer struct {
	By       string   `json:"by"`
	Relation Relation `json:"relation"` // of the question that was answered
}

// Answered is what came of an answer.
type Answered struct {
	Relation   Relation
	Messages   int64 // known to the journal and not to the copy
	Doubtful   int64 // of them, now in doubt
	Campaigns  int64 // paused
	KnownUntil int64 // milliseconds; 0: nothing is known
	CopyAt     int64
}

// Sentence says what came of the answer. It never says that nothing was sent.
func (a Answered) Sentence(zone *time.Location) string {
	paused := fmt.Sprintf("%s paused.", plural(a.Campaigns, "campaign is", "campaigns are"))
	if a.Messages == 0 {
		return fmt.Sprintf("The journal knows of no messages. Whether any were sent after %s is not known. %s",
			Moment(a.CopyAt, zone), paused)
	}
	return fmt.Sprintf("%s in doubt or remembered. %s", plural(a.Messages, "message is", "messages are"), paused)
}

// JournalGap is an accepted question: what may have been sent meanwhile is not known.
type JournalGap struct {
	ID         int64
	Relation   Relation
	Sentence   string // of the question
	CopyAt     int64  // milliseconds
	KnownUntil int64  // milliseconds; 0: nothing is known
	Messages   int64
	Doubtful   int64
	Campaigns  int64
	AcceptedAt int64
	AcceptedBy string
	ClosesAt   int64
	ClosedBy   string // "": it closes by its time
}

// GapOpen is how long new campaigns are asked about an accepted older state.
const GapOpen = 72 * time.Hour

// Open says whether the gap still has to be told before something is sent.
func (g JournalGap) Open(now time.Time) bool { return g.ID > 0 && now.UnixMilli() < g.ClosesAt }

// Warning is said before something is sent while the gap is open: it is the
// word before a message may go out twice.
func (g JournalGap) Warning(recipients int64, zone *time.Location) string {
	return fmt.Sprintf(
		"%s not received this message as far as smsdesk knows. If it sent after %s, some will get it twice.",
		plural(recipients, "recipient has", "recipients have"), Moment(g.since(), zone))
}

// GroupWarning is Warning for a group of the provider, whose recipients are not
// known here.
func (g JournalGap) GroupWarning(group string, zone *time.Location) string {
	return fmt.Sprintf(
		"The group %s has not received this message as far as smsdesk knows. If it sent after %s, some will get it twice.", group, Moment(g.since(), zone))
}

// AnyWarning is Warning for campaigns that are still to be made.
func (g JournalGap) AnyWarning(zone *time.Location) string {
	return fmt.Sprintf(
		"An older copy of the database was put back. If smsdesk sent the same after %s, some will get it twice.", Moment(g.since(), zone))
}

// since is until when it is known what was sent.
func (g JournalGap) since() int64 {
	if g.KnownUntil == 0 {
		return g.CopyAt
	}
	return g.KnownUntil
}

// Answered is what came of the answer that made the gap.
func (g JournalGap) Answered() Answered {
	return Answered{Relation: g.Relation, Messages: g.Messages, Doubtful: g.Doubtful, Campaigns: g.Campaigns,
		KnownUntil: g.KnownUntil, CopyAt: g.CopyAt}
}

// SumSends adds up the messages of several campaigns.
func SumSends(list []RememberedSend) (n int64) {
	for _, r := range list {
		n += r.Messages
	}
	return n
}

// Sentence says what is the matter and that nothing is sent.
func (q Question) Sentence(zone *time.Location) string {
	relation := q.Relation
	copied := ""
	if relation == RelationCopy {
		relation = q.Beneath
		copied = q.ofCopy(zone) + " "
	}
	return copied + q.of(relation, zone)
}

func (q Question) ofCopy(zone *time.Location) string {
	if q.Mark == nil {
		return "This database is a copy."
	}
	if q.Mark.UID == "" {
		return fmt.Sprintf("%s said that this folder was put back from a snapshot.", q.Mark.By)
	}
	return fmt.Sprintf("This is the backup of %s, by %s.", Moment(q.Mark.MadeAt, zone), q.Mark.By)
}

func (q Question) of(relation Relation, zone *time.Location) string {
	switch relation {
	case RelationAhead, RelationDamaged:
		return q.ahead(relation, zone)
	case RelationBehind:
		missing := "The journal is missing"
		if q.KnownUntil > 0 {
			missing = "The journal ends at " + Moment(q.KnownUntil, zone)
		}
		return fmt.Sprintf(
			"%s, and this database has sent until %s. How many messages were sent after this copy is not known.%s", missing, Moment(q.CopyAt, zone), spaced(q.Detail))
	case RelationDiverged:
		return fmt.Sprintf(
			"Journal and database come from two different histories. The journal knows of %s that this copy does not; there "+
				"may be more.", plural(q.Messages, "message", "messages"))
	case RelationForeign:
		return q.Detail + " How many messages were sent after this copy is not known."
	}
	return "How many messages were sent after this copy is not known."
}

func (q Question) ahead(relation Relation, zone *time.Location) string {
	s := fmt.Sprintf("This is a copy from %s. ", Moment(q.CopyAt, zone))
	if q.CopyAt == 0 {
		s = "This is an older copy. "
	}
	least := ""
	if relation == RelationDamaged {
		least = "at least "
	}
	s += fmt.Sprintf("The journal knows of %s%s sent after it", least, plural(q.Messages, "message", "messages"))
	if q.KnownUntil > 0 && q.Messages > 0 {
		s += fmt.Sprintf(", the last at %s", Moment(q.KnownUntil, zone))
	}
	s += "."
	if relation == RelationDamaged && q.Unreadable > 0 {
		s += fmt.Sprintf(" %s of the journal cannot be read: it is not known how many more.", bytesText(q.Unreadable))
	}
	return s + " If smsdesk sent anything later than that, no one can tell from here." + spaced(q.Detail)
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

// Moment writes a time for a sentence about older states.
func Moment(ms int64, zone *time.Location) string {
	if ms == 0 {
		return "an unknown time"
	}
	if zone == nil {
		zone = time.UTC
	}
	return time.UnixMilli(ms).In(zone).Format("2 January 2006, 3:04pm MST")
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return plural(n, "byte", "bytes")
}

// CodeRemembered marks messages that were left out because a request that this
// copy of the database does not know has sent them.
const CodeRemembered = "remembered"

// RememberedReason says why such a message was left out. name is "" where the
// campaign's is not known any more.
func RememberedReason(name string, at time.Time) string {
	by := "a campaign"
	if name != "" {
		by = fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("Sent on %s by %s, which this copy of the database does not know", at.Format("2 January 2006"), by)
}
