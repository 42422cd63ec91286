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

// fieldMost bounds one field of a form, fieldsOfForm how many there may be.
const (
	fieldMost    = 64 << 10
	fieldsOfForm = 100
)

// readForm reads a form part by part; the file goes into the spool, and every other
// field to set, which says whether it knows it. A file over the limit is cut off
// there. name is the file's, as given.
func readForm(r *http.Request, to *tempFile, most int64,
	set func(name string, read fieldReader) (known bool, err error)) (name string, err error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return "", newProblem(http.StatusBadRequest, "Malformed form: "+err.Error())
	}
	found := false
	for range fieldsOfForm {
		part, err := parts.NextPart()
		if err == io.EOF {
			if !found {
				return "", wrongField(http.StatusUnprocessableEntity, "file", "file must be a file")
			}
			return name, nil
		}
		if err != nil {
			return "", formFault(err)
		}
		switch {
		case part.FormName() != "file":
			err = readField(part, set)
		case found:
			err = wrongField(http.StatusUnprocessableEntity, "file", "Given twice")
		default:
			found, name = true, part.FileName()
			// One byte more than allowed is enough to refuse it.
			_, err = io.Copy(to, io.LimitReader(part, most+1))
		}
		if err != nil {
			return "", formFault(err)
		}
		if to.size > most {
			return name, nil
		}
	}
	return "", newProblem(http.StatusBadRequest, "Too many form fields")
}

// readFormOrder reads the order of a campaign with its list.
func readFormOrder(r *http.Request, to *tempFile, most int64) (o campaignOrder, file string, err error) {
	file, err = readForm(r, to, most, o.set)
	switch {
	case err != nil || to.size > most:
		return o, file, err
	case o.Group != "":
		return o, file, wrongField(http.StatusUnprocessableEntity, "group", "Give either a file or group, not both")
	case o.Audience != "":
		return o, file, wrongField(http.StatusUnprocessableEntity, "audience", "Give either a file or audience, not both")
	}
	return o, file, o.check()
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

// readField reads one field of a form.
func readField(part *multipart.Part, set func(name string, read fieldReader) (known bool, err error)) error {
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
	parsed := func(to any, sentence string) error {
		var text string
		if err := value(&text); err != nil || text == "" {
			return err
		}
		if json.Unmarshal([]byte(text), to) != nil {
			return wrongField(http.StatusUnprocessableEntity, name, sentence)
		}
		return nil
	}
	known, err := set(name, fieldReader{value, yes,
		func(to *map[string]string) error {
			return parsed(to, `Give a JSON object of texts, such as {"Amount": "0"}`)
		},
		func(to *[]string) error { return parsed(to, `Give a JSON array of texts, such as ["Town"]`) }})
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
