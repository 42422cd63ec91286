package page

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
)

// Merge adds the sentences of err, if it has any.
func Merge(bad sms.Invalid, err error) {
	if more, ok := errors.AsType[sms.Invalid](err); ok {
		for field, sentence := range more {
			if bad[field] == "" {
				bad[field] = sentence
			}
		}
	}
}

// FormatPrice writes hundredths as a field holds them, "" for none.
func FormatPrice(hundredths int64) string {
	if hundredths == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
}

// uploadMost is a file of 1 MiB and the form around it.
const uploadMost = 1<<20 + 64<<10

// Uploaded reads a file of a form; nil when none was chosen. The body is
// bounded already, so all of it may stay in memory.
func Uploaded(r *http.Request, name string) (file []byte, given string, err error) {
	err = r.ParseMultipartForm(uploadMost)
	if errors.Is(err, http.ErrNotMultipart) {
		return nil, "", nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, "", err
	}
	if err != nil {
		return nil, "", ErrUnreadable
	}
	f, head, err := r.FormFile(name)
	if errors.Is(err, http.ErrMissingFile) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", ErrUnreadable
	}
	defer func() { _ = f.Close() }()
	file, err = io.ReadAll(f)
	return file, head.Filename, err
}

// FirstLetters cuts a text that people typed; a name is no place for more.
func FirstLetters(text string, n int) string {
	if letters := []rune(text); len(letters) > n {
		return strings.TrimSpace(string(letters[:n-1])) + "…"
	}
	return text
}

// Number reads a number above 0 out of an address, else 0.
func Number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// mostNumbers bounds a list of ids in an address.
const mostNumbers = 200

// Numbers reads what joined wrote; anything else in it is left out.
func Numbers(text string) []int64 {
	var list []int64
	for _, part := range strings.SplitN(text, ".", mostNumbers+1) {
		if n := Number(part); n > 0 && len(list) < mostNumbers {
			list = append(list, n)
		}
	}
	return list
}

// Joined writes ids for an address; Numbers reads them.
func Joined(list []int64) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(parts, ".")
}

// Lines undoes what forms do to the ends of lines, which would count as a
// character each.
func Lines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// Status is that of a page with a form: 422 when what was sent is wrong.
func Status(r *http.Request, bad sms.Invalid) int {
	if len(bad) > 0 && r.Method == http.MethodPost {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

const searchTypedMax = 100

// TypedNumber is what a form holds in a field for a number.
func TypedNumber(r *http.Request, field string) string {
	return strings.TrimSpace(FirstLetters(r.PostForm.Get(field), searchTypedMax))
}

const (
	NameMost = 100 // letters of a name that is searched for
)
