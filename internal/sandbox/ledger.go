package sandbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/google/uuid"
)

const companyID = 1

// text is one text to one number that the service has executed. Times are unix milliseconds.
type text struct {
	number, text, sender string
	id                   uuid.UUID
	call                 int64
	at, due, scheduled   int64 // due: the first report; scheduled: 0 where it was sent at once
	fate                 outcome
}

// Executed is one line of the ledger at /_sandbox/ledger: a text the service has accepted and charged, whatever
// the caller was told. Call is the number of the API call, At is in unix milliseconds.
type Executed struct {
	Number    string `json:"number"`
	Text      string `json:"text"`
	SenderID  string `json:"senderId"`
	MessageID string `json:"messageId"`
	Call      int64  `json:"call"`
	At        int64  `json:"at"`
}

// Ledger lists what was executed, in order of acceptance.
func (s *Sandbox) Ledger() []Executed {
	s.mu.Lock()
	texts := s.texts // elements never change, so the copy needs no lock
	s.mu.Unlock()
	out := make([]Executed, len(texts))
	for i, t := range texts {
		out[i] = Executed{t.number, t.text, t.sender, t.id.String(), t.call, t.at}
	}
	return out
}

// entry is one line of the state file: one change, whole or not at all. The state is what all lines make.
type entry struct {
	Send         *sendEntry       `json:"send,omitempty"`
	Settled      *settledEntry    `json:"settled,omitempty"`
	Throttled    []string         `json:"throttled,omitempty"`
	Credit       *int64           `json:"credit,omitempty"`
	Sender       *senderID        `json:"sender,omitempty"`
	SenderGone   int64            `json:"senderGone,omitempty"`
	Template     *messageTemplate `json:"template,omitempty"`
	TemplateGone int64            `json:"templateGone,omitempty"`
	Group        *group           `json:"group,omitempty"`
	GroupGone    int64            `json:"groupGone,omitempty"`
}

// sendEntry is what one call has executed. Text is the text of every row that has none of its own.
type sendEntry struct {
	Call      int64     `json:"call"`
	At        int64     `json:"at"`
	Scheduled int64     `json:"scheduled,omitempty"`
	Sender    string    `json:"sender"`
	Text      string    `json:"text"`
	Cost      int64     `json:"cost"`
	Rows      []sendRow `json:"rows"`
}

type sendRow struct {
	Number string    `json:"n"`
	Text   string    `json:"t,omitempty"`
	ID     uuid.UUID `json:"id"`
	Due    int64     `json:"due"`
}

// settledEntry says how many of a text's reports have been sent or discarded.
type settledEntry struct {
	ID      uuid.UUID `json:"id"`
	Reports uint8     `json:"reports"`
}

// commit writes the entry to the state file, where there is one, and then applies it. It writes once and
// unbuffered, so that killing the process loses nothing that was answered. The caller holds mu.
func (s *Sandbox) commit(e entry) error {
	if s.cfg.State != "" {
		if s.file == nil {
			return errors.New("store a change: the sandbox is closed")
		}
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("store a change: %w", err)
		}
		if _, err := s.file.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("store a change: %w", err)
		}
	}
	s.apply(e)
	return nil
}

// change commits one change of a record and answers with data.
func (s *Sandbox) change(e entry, data string) answer {
	if err := s.commit(e); err != nil {
		return s.broken(err)
	}
	return success(data)
}

func (s *Sandbox) apply(e entry) {
	switch {
	case e.Send != nil:
		s.applySend(*e.Send)
	case e.Settled != nil:
		if i, ok := s.byID[e.Settled.ID]; ok {
			s.reported[i] = e.Settled.Reports
		}
	case e.Throttled != nil:
		for _, number := range e.Throttled {
			s.throttled[number] = true
		}
	case e.Credit != nil:
		s.credit = *e.Credit
	case e.Sender != nil:
		s.senders = upsert(s.senders, *e.Sender, func(x senderID) int64 { return x.ID })
		s.lastID = max(s.lastID, e.Sender.ID)
	case e.Template != nil:
		s.templates = upsert(s.templates, *e.Template, func(t messageTemplate) int64 { return t.ID })
		s.lastID = max(s.lastID, e.Template.ID)
	case e.Group != nil:
		s.groups = upsert(s.groups, *e.Group, func(g group) int64 { return g.ID })
		s.lastID = max(s.lastID, e.Group.ID)
	case e.SenderGone != 0:
		s.senders = slices.DeleteFunc(s.senders, func(x senderID) bool { return x.ID == e.SenderGone })
	case e.TemplateGone != 0:
		s.templates = slices.DeleteFunc(s.templates, func(t messageTemplate) bool { return t.ID == e.TemplateGone })
	case e.GroupGone != 0:
		s.removeGroup(e.GroupGone)
	}
}

func (s *Sandbox) applySend(e sendEntry) {
	for _, row := range e.Rows {
		t := text{
			number: row.Number, text: row.Text, sender: e.Sender, id: row.ID,
			call: e.Call, at: e.At, due: row.Due, scheduled: e.Scheduled, fate: s.fateOf(row.Number),
		}
		if t.text == "" {
			t.text = e.Text
		}
		s.byID[t.id] = len(s.texts)
		s.texts = append(s.texts, t)
		s.reported = append(s.reported, 0)
	}
	s.credit -= e.Cost
	s.calls.atLeast(e.Call)
}

func upsert[T any](list []T, x T, id func(T) int64) []T {
	if i := slices.IndexFunc(list, func(y T) bool { return id(y) == id(x) }); i >= 0 {
		list[i] = x
		return list
	}
	return append(list, x)
}

func (s *Sandbox) nextID() int64 { return s.lastID + 1 }

// open reads the state file and queues the reports still owed; a state without a line gets the first records.
func (s *Sandbox) open() error {
	fresh := true
	if s.cfg.State != "" {
		file, err := os.OpenFile(s.cfg.State, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		lines, err := s.replay(file)
		if err != nil {
			return errors.Join(err, file.Close())
		}
		s.file, fresh = file, lines == 0
	}
	if fresh {
		if err := s.seed(); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	for i := range s.texts {
		s.enqueue(i, s.texts[i].due)
	}
	return nil
}

// replay applies every whole line. A last line without its end was being written when the process died, so its
// call was never answered; it is cut off.
func (s *Sandbox) replay(file *os.File) (lines int, err error) {
	r := bufio.NewReaderSize(file, 1<<20)
	var good int64
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return lines, err
		}
		var e entry
		if err := json.Unmarshal(bytes.TrimSpace(line), &e); err != nil {
			return lines, fmt.Errorf("line %d of %s is not a line of the sandbox: %w", lines+1, s.cfg.State, err)
		}
		s.apply(e)
		lines++
		good += int64(len(line))
	}
	return lines, file.Truncate(good)
}

func (s *Sandbox) seed() error {
	const created, approvedOn = "Mar 19, 2018", "Mar 21, 2018"
	parents := make([]string, 12)
	for i := range parents {
		parents[i] = fmt.Sprintf("2348031%06d", 234501+i)
	}
	staff := []string{"2348052345601", "2348052345602", "2348052345603", "2348052345604"}
	senders := []senderID{
		{Text: "CLINIC", Purpose: "Appointments", IsActive: true, CreatedDate: created, ApproveStatus: approved, ApprovedDate: approvedOn},
		{Text: "SCHOOL", Purpose: "Notices to parents", IsActive: true, CreatedDate: created, ApproveStatus: approved, ApprovedDate: approvedOn},
		{Text: "PENDING1", Purpose: "Waiting for approval", IsActive: true, CreatedDate: created, ApproveStatus: pending},
		{Text: "OLDNAME", Purpose: "No longer used", CreatedDate: created, ApproveStatus: approved, ApprovedDate: approvedOn},
	}
	templates := []messageTemplate{
		{Name: "Appointment", Text: "Dear ##Name##, your appointment is on ##Date##.", IsApproved: true, IsActive: true,
			CreatedDate: created, ApprovedDate: approvedOn},
		{Name: "Fees", Text: "Dear ##Name##, school fees of ##Amount## are due.", IsActive: true, CreatedDate: created, ApprovedDate: approvedOn},
	}
	for _, text := range s.cfg.SenderIDs {
		senders = append(senders, senderID{Text: text, Purpose: "As asked", IsActive: true, CreatedDate: created,
			ApproveStatus: approved, ApprovedDate: approvedOn})
	}
	entries := []entry{{Credit: &s.cfg.Credit}}
	id := int64(100)
	for i := range senders {
		id++
		senders[i].ID, senders[i].CompanyID = id, companyID
		entries = append(entries, entry{Sender: &senders[i]})
	}
	for i := range templates {
		id++
		templates[i].ID, templates[i].CompanyID = id, companyID
		entries = append(entries, entry{Template: &templates[i]})
	}
	entries = append(entries,
		entry{Group: &group{ID: id + 1, Name: "Parents", Contacts: parents}},
		entry{Group: &group{ID: id + 2, Name: "Staff", Contacts: staff}},
		entry{Template: &messageTemplate{ID: id + 3, CompanyID: companyID, Name: "Holiday",
			Text:       "We are closed on public holidays. In an emergency call 0700 000 0000.",
			IsApproved: true, IsActive: true, CreatedDate: created, ApprovedDate: approvedOn}},
		entry{Template: &messageTemplate{ID: id + 4, CompanyID: companyID, Name: "Results ready",
			Text:       "Dear ##Name##, your results are ready. Come to ##Place## between 8:00 and 16:00 before ##Date##.",
			IsApproved: true, IsActive: true, CreatedDate: created, ApprovedDate: approvedOn}},
		entry{Template: &messageTemplate{ID: id + 5, CompanyID: companyID, Name: "Old price list",
			Text:       "A visit costs ##Amount## from ##Date##.",
			IsApproved: true, CreatedDate: created, ApprovedDate: approvedOn}})
	for _, e := range entries {
		if err := s.commit(e); err != nil {
			return err
		}
	}
	return nil
}
