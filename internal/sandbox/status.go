package sandbox

import "github.com/google/uuid"

// statusRecord is the answer of MessageStatus as the notes on the service show it; the specification does not.
type statusRecord struct {
	MobileNumber string `json:"MobileNumber"`
	SenderID     string `json:"SenderId"`
	Message      string `json:"Message"`
	SubmitDate   string `json:"SubmitDate"`
	DoneDate     string `json:"DoneDate"`
	MessageID    string `json:"MessageId"`
	Status       string `json:"Status"`
	ErrorCode    string `json:"ErrorCode"`
}

// messageStatus is §4.8: one object. Until its report is due a text is SUBMITTED, or SCHEDULED before its time.
func (s *Sandbox) messageStatus(c *call) answer {
	asked := c.value("messageid")
	if asked == "" {
		return failure(codeMissing)
	}
	id, err := uuid.Parse(asked)
	if err != nil {
		return failure(codeNoReport)
	}
	i, ok := s.byID[id]
	if !ok {
		return failure(codeNoReport)
	}
	t := s.texts[i]
	r := statusRecord{
		MobileNumber: s.form(t.number), SenderID: t.sender, Message: t.text,
		SubmitDate: s.date(t.at), MessageID: t.id.String(), Status: "SUBMITTED", ErrorCode: "000",
	}
	switch now := s.now().UnixMilli(); {
	case now < t.scheduled:
		r.Status = "SCHEDULED"
	case now >= t.due:
		r.Status = reportSequences[t.fate].final
		r.DoneDate = s.date(t.due)
		r.ErrorCode = statusErrors[r.Status]
	}
	return success(r)
}
