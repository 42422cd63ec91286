package api

import (
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
)

// formOrder is an order with a file, as a form.
type formOrder struct {
	campaignOrder
	file string // its name as given
}

// fieldMost bounds one field of the form, fieldsOfForm how many there may be.
const (
	fieldMost    = 64 << 10
	fieldsOfForm = 100
)

// readFormOrder reads a form part by part; the file goes into the spool.
func readFormOrder(r *http.Request, to *tempFile, most int64) (formOrder, error) {
	var o formOrder
	parts, err := r.MultipartReader()
	if err != nil {
		return o, newProblem(http.StatusBadRequest, "Malformed form: "+err.Error())
	}
	found := false
	for range fieldsOfForm {
		part, err := parts.NextPart()
		if err == io.EOF {
			if !found {
				return o, wrongField(http.StatusUnprocessableEntity, "file", "file must be a file")
			}
			if o.Group != "" {
				return o, wrongField(http.StatusUnprocessableEntity, "group", "Give either a file or group, not both")
			}
			if o.Audience != "" {
				return o, wrongField(http.StatusUnprocessableEntity, "audience", "Give either a file or audience, not both")
			}
			return o, o.check()
		}
		if err != nil {
			return o, formFault(err)
		}
		switch {
		case part.FormName() != "file":
			err = o.field(part)
		case found:
			err = wrongField(http.StatusUnprocessableEntity, "file", "Given twice")
		default:
			found, o.file = true, part.FileName()
			// One byte more than allowed is enough to refuse it.
			_, err = io.Copy(to, io.LimitReader(part, most+1))
		}
		if err != nil {
			return o, formFault(err)
		}
		if to.size > most {
			return o, nil
		}
	}
	return o, newProblem(http.StatusBadRequest, "Too many form fields")
}

// formFault tells what the program sent wrong from what failed here.
func formFault(err error) error {
	var p *Problem
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &p) || errors.As(err, &large) || errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, multipart.ErrMessageTooLarge) ||
		strings.HasPrefix(err.Error(), "multipart:") || strings.HasPrefix(err.Error(), "malformed"):
		return newProblem(http.StatusBadRequest, "Malformed form")
	}
	return err
}

func (o *formOrder) field(part *multipart.Part) error {
	name := part.FormName()
	value := func(to *string) error {
		b, err := io.ReadAll(io.LimitReader(part, fieldMost+1))
		if err != nil {
			return err
		}
		if len(b) > fieldMost {
			return wrongField(http.StatusUnprocessableEntity, name, "Too long")
		}
		*to = string(b)
		return nil
	}
	yes := func(to *bool) error {
		var text string
		if err := value(&text); err != nil || text == "" {
			return err
		}
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return wrongField(http.StatusUnprocessableEntity, name, "Give true or false")
		}
		*to = yes
		return nil
	}
	texts := func(to *map[string]string) error {
		var text string
		if err := value(&text); err != nil || text == "" {
			return err
		}
		if json.Unmarshal([]byte(text), to) != nil {
			return wrongField(http.StatusUnprocessableEntity, name, `Give a JSON object of texts, such as {"Amount": "0"}`)
		}
		return nil
	}
	known, err := o.set(name, fieldReader{value, yes, texts})
	if !known && err == nil {
		err = unknownField(name)
	}
	return err
}

// uploadLimit is the largest file that a list may have here.
func (s *API) uploadLimit(r *http.Request) (int64, error) {
	set, err := s.store.ReadSetting(r.Context(), sms.SettingMaxList)
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(set, 10, 64); err == nil && n > 0 {
		return n, nil
	}
	return sms.MaxListBytes, nil
}
