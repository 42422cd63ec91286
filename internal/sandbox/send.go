package sandbox

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"smsdesk/internal/sms"
)

// recipient is one text to one number as a call asks for it.
type recipient struct{ number, text string }

// resultRow is §2.1.
type resultRow struct {
	MobileNumber string `json:"MobileNumber,omitempty"`
	MessageID    string `json:"MessageId"`
}

// codedRow is a recipient's own result inside a successful answer, as recorded from the live service, which
// refuses recipients so.
type codedRow struct {
	MobileNumber            string `json:"MobileNumber,omitempty"`
	MessageID               string `json:"MessageId"`
	MessageErrorCode        int    `json:"MessageErrorCode"`
	MessageErrorDescription string `json:"MessageErrorDescription"`
	Custom                  string `json:"Custom"`
}

type refusal struct {
	code int
	text string
}

var (
	refusedSender = refusal{401, "Message refused: source_address filter mismatch"}
	refusedByFate = refusal{401, "Message refused: destination_address filter mismatch"}
	refusedNumber = refusal{13, "Invalid mobile number"}
)

// sendSMS is §4.2 and §4.3: one text to numbers, to the contacts of a group, or to both.
func (s *Sandbox) sendSMS(c *call) answer {
	message := c.value("message")
	numbers, groupID := c.value("mobilenumbers", "mobilenumber"), c.value("groupid")
	switch {
	case c.value("senderid") == "":
		return failure(codeNoSenderID)
	case message == "":
		return failure(codeNoMessage)
	}
	var to []recipient
	for number := range strings.SplitSeq(numbers, ",") {
		if number = strings.TrimSpace(number); number != "" {
			to = append(to, recipient{number, message})
		}
	}
	if groupID != "" {
		i := s.groupIndex(groupID)
		if i < 0 {
			return failure(codeBadGroup)
		}
		for _, number := range s.groups[i].Contacts {
			to = append(to, recipient{number, message})
		}
	} else if len(to) == 0 {
		return failure(codeBlank)
	}
	return s.send(c, to)
}

// sendPairs is §4.4: pairs joined by ~, each split at its first ^. There is no way to escape either.
func (s *Sandbox) sendPairs(c *call) answer {
	var to []recipient
	for pair := range strings.SplitSeq(c.value("mobilenumber_message"), "~") {
		number, text, _ := strings.Cut(pair, "^")
		to = append(to, recipient{strings.TrimSpace(number), text})
	}
	return s.sendEach(c, to)
}

// sendParameters is the POST form of SendBulkSMS that some resellers have; it is not in the specification.
func (s *Sandbox) sendParameters(c *call) answer { return s.sendEach(c, c.pairs) }

func (s *Sandbox) sendEach(c *call, to []recipient) answer {
	if c.value("senderid") == "" {
		return failure(codeNoSenderID)
	}
	for _, r := range to {
		if r.number == "" || strings.TrimSpace(r.text) == "" {
			return failure(codeBlank)
		}
	}
	if len(to) == 0 {
		return failure(codeBlank)
	}
	return s.send(c, to)
}

// send executes a call: nothing of it, or everything but the rows it refuses.
func (s *Sandbox) send(c *call, to []recipient) answer {
	scheduled, ok := s.schedule(c)
	if !ok {
		return failure(codeBadSchedule)
	}
	if first, err := s.throttle(to); err != nil {
		return s.broken(err)
	} else if first {
		return answer{status: http.StatusTooManyRequests}
	}
	e := sendEntry{Call: c.seq, At: s.now().UnixMilli(), Scheduled: scheduled, Sender: c.value("senderid")}
	e.Text = firstText(to)
	rows := make([]any, 0, len(to))
	var counted recipient
	var parts int
	var lost bool
	for _, r := range to {
		if why := s.refuses(r.number, e.Sender); why != nil {
			rows = append(rows, codedRow{s.rowNumber(r.number), "", why.code, why.text, ""})
			continue
		}
		if parts == 0 || counted.text != r.text {
			counted, parts = r, sms.CountSegments(r.text, c.flag("is_unicode")).Parts
		}
		e.Cost += int64(parts) * s.cfg.PricePerPart
		row := sendRow{Number: r.number, ID: uuid.New(), Due: s.dueDate(c, r.number, e)}
		if r.text != e.Text {
			row.Text = r.text
		}
		e.Rows = append(e.Rows, row)
		rows = append(rows, s.acceptedRow(r.number, row.ID))
		lost = lost || s.fateOf(r.number) == fateCut
	}
	if e.Cost > s.credit {
		return failure(codeNoCredit)
	}
	a := success(s.rowData(s.thin(rows)))
	a.cut = lost
	if len(e.Rows) == 0 {
		return a
	}
	first := len(s.texts)
	if err := s.commit(entry{Send: &e}); err != nil {
		return s.broken(err)
	}
	a.early = s.plan(c, first)
	return a
}

func firstText(to []recipient) string {
	if len(to) == 0 {
		return ""
	}
	return to[0].text
}

// schedule is the time the caller asks for in unix milliseconds, 0 for at once, and false where it cannot be
// read. A time that has passed is at once.
func (s *Sandbox) schedule(c *call) (unixMilli int64, ok bool) {
	asked := strings.TrimSpace(c.value("schedtime", "scheduletime"))
	if asked == "" {
		return 0, true
	}
	t, err := time.ParseInLocation("2006-01-02 15:04", asked, s.cfg.Location)
	if err != nil {
		return 0, false
	}
	if !t.After(s.now()) {
		return 0, true
	}
	return t.UnixMilli(), true
}

// throttle tells whether the call holds a number of ending 11 for the first time, and remembers that.
func (s *Sandbox) throttle(to []recipient) (first bool, err error) {
	var fresh []string
	for _, r := range to {
		if s.fateOf(r.number) == fateThrottled && !s.throttled[r.number] {
			fresh = append(fresh, r.number)
		}
	}
	if fresh == nil {
		return false, nil
	}
	return true, s.commit(entry{Throttled: fresh})
}

// refuses is nil where the recipient is accepted. A number has its country code, no + and no leading zero.
func (s *Sandbox) refuses(number, sender string) *refusal {
	switch {
	case !s.maySend(sender):
		return &refusedSender
	case !wellFormed(number):
		return &refusedNumber
	case s.fateOf(number) == fateRefused:
		return &refusedByFate
	}
	return nil
}

func wellFormed(number string) bool {
	return len(number) >= 7 && len(number) <= 15 && number[0] != '0' && strings.Trim(number, "0123456789") == ""
}

// dueDate is when the first report leaves: at once where it comes before the answer.
func (s *Sandbox) dueDate(c *call, number string, e sendEntry) int64 {
	switch {
	case e.Scheduled != 0:
		return e.Scheduled + s.reportDelay().Milliseconds()
	case s.isEarly(c, number):
		return e.At
	}
	return e.At + s.reportDelay().Milliseconds()
}

func (s *Sandbox) isEarly(c *call, number string) bool {
	return c.early || s.fateOf(number) == fateEarly
}

// plan queues the reports of the texts from index first on, and returns those to be delivered before the answer.
func (s *Sandbox) plan(c *call, first int) (early []report) {
	for i := first; i < len(s.texts); i++ {
		t := s.texts[i]
		if t.scheduled == 0 && s.isEarly(c, t.number) && s.dlr.Load() != nil && len(reportSequences[t.fate].reports) > 0 {
			early = append(early, report{due: t.due, text: i})
			s.inFlight++
			continue
		}
		s.enqueue(i, t.due)
	}
	s.nudge()
	return early
}

// thin leaves rows out where that fault is on.
func (s *Sandbox) thin(rows []any) []any {
	kept := make([]any, 0, len(rows))
	for _, row := range rows {
		if !s.luck.strikes(func(f Faults) float64 { return f.MissingRows }) {
			kept = append(kept, row)
		}
	}
	return kept
}

func (s *Sandbox) acceptedRow(number string, id uuid.UUID) any {
	if s.luck.current().RowForm == "coded" {
		return codedRow{s.rowNumber(number), id.String(), 0, "Success", ""}
	}
	return resultRow{s.rowNumber(number), id.String()}
}

// rowNumber is the number of a row as the faults RowForm and NumberForm ask.
func (s *Sandbox) rowNumber(number string) string {
	shown := s.form(number)
	switch s.luck.current().RowForm {
	case "unnumbered":
		return ""
	case "masked":
		if n := len(shown); n > 7 {
			return shown[:n-7] + "****" + shown[n-3:]
		}
	}
	return shown
}

// rowData is Data of a send: a list, or where RowForm asks it the only row itself.
func (s *Sandbox) rowData(rows []any) any {
	if len(rows) == 1 && s.luck.current().RowForm == "object" {
		return rows[0]
	}
	return rows
}

// form writes a number as the fault NumberForm asks: as given, with +, or nationally, taking the first three
// digits for the country code.
func (s *Sandbox) form(number string) string {
	switch s.luck.current().NumberForm {
	case "plus":
		return "+" + number
	case "zero":
		return "0" + number[min(3, len(number)):]
	}
	return number
}
