package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Faults says how the service misbehaves. The zero value is a service that behaves. Numbers are probabilities
// from 0 to 1, drawn for every call below /v2, for every row of a send (MissingRows) or for every report
// (Duplicates). "Before" is before the call was executed, "after" is after it.
type Faults struct {
	Latency                 time.Duration // half of it before the execution, half after
	TooMany                 float64       // 429 although the rate was kept
	ErrorBefore, ErrorAfter float64       // ErrorStatus instead of an answer
	ErrorStatus             int           // 0 stands for 503
	CutBefore, CutAfter     float64       // the connection is reset
	HTMLBefore, HTMLAfter   float64       // a page of HTML with status 200
	MissingRows             float64       // a row of Data is left out
	EarlyReports            float64       // the reports of a call come before its answer
	Duplicates              float64       // a report comes twice
	HoldReports             bool          // reports that are due wait until this is off
	Inactive, Unauthorized  bool          // every call is answered 008, or 010
	// CodeForm is how ErrorCode is written: number (the default), text007, text7, bare007, point (7.0).
	CodeForm string
	// NumberForm is how numbers stand in answers and reports: asked (as they were given, the default), plus
	// (+234…), zero (0…).
	NumberForm string
	// RowForm is what stands in the rows of a send: plain (the default), coded (with MessageErrorCode and
	// MessageErrorDescription), unnumbered (no MobileNumber), masked (234803****001), object (one row without a
	// list around it).
	RowForm string
	// NameForm is how the names of an answer are spelled: specified (the default) or lower.
	NameForm string
	// ReportForm is how reports come: get (the default, §6.1), postForm, postJSON, or postQuery with the
	// parameters in the URL of a POST.
	ReportForm string
	// ReportID is how a report writes its messageId: given (the default) or upper.
	ReportID string
}

var (
	numberForms = []string{"asked", "plus", "zero"}
	rowForms    = []string{"plain", "coded", "unnumbered", "masked", "object"}
	nameForms   = []string{"specified", "lower"}
	reportForms = []string{"get", "postForm", "postJSON", "postQuery"}
	reportIDs   = []string{"given", "upper"}
)

// setting is one fault under the name it has on the control page, in JSON and on a command line.
type setting struct {
	Name, Help  string
	Probability *float64
	Switch      *bool
	Choice      *string
	Choices     []string
	Status      *int
	Duration    *time.Duration
}

func (f *Faults) settings() []setting {
	return []setting{
		{Name: "latency", Help: "response delay, for example 300ms", Duration: &f.Latency},
		{Name: "tooMany", Help: "429 despite the rate being respected", Probability: &f.TooMany},
		{Name: "errorBefore", Help: "HTTP error before acceptance", Probability: &f.ErrorBefore},
		{Name: "errorAfter", Help: "HTTP error after acceptance", Probability: &f.ErrorAfter},
		{Name: "errorStatus", Help: "status of these errors, 500 to 599", Status: &f.ErrorStatus},
		{Name: "cutBefore", Help: "connection dropped before acceptance", Probability: &f.CutBefore},
		{Name: "cutAfter", Help: "connection dropped after acceptance", Probability: &f.CutAfter},
		{Name: "htmlBefore", Help: "HTML with status 200 before acceptance", Probability: &f.HTMLBefore},
		{Name: "htmlAfter", Help: "HTML with status 200 after acceptance", Probability: &f.HTMLAfter},
		{Name: "missingRows", Help: "missing row in Data", Probability: &f.MissingRows},
		{Name: "earlyReports", Help: "reports before the answer", Probability: &f.EarlyReports},
		{Name: "duplicates", Help: "a report sent twice", Probability: &f.Duplicates},
		{Name: "holdReports", Help: "hold reports while on", Switch: &f.HoldReports},
		{Name: "inactive", Help: "008 Account inactive", Switch: &f.Inactive},
		{Name: "unauthorized", Help: "010 Unauthorized API access", Switch: &f.Unauthorized},
		{Name: "codeForm", Help: "how ErrorCode is written", Choice: &f.CodeForm, Choices: codeForms},
		{Name: "numberForm", Help: "numbers in answers and reports", Choice: &f.NumberForm, Choices: numberForms},
		{Name: "rowForm", Help: "rows of a send", Choice: &f.RowForm, Choices: rowForms},
		{Name: "nameForm", Help: "names in answers", Choice: &f.NameForm, Choices: nameForms},
		{Name: "reportForm", Help: "how reports come", Choice: &f.ReportForm, Choices: reportForms},
		{Name: "reportId", Help: "messageId in reports", Choice: &f.ReportID, Choices: reportIDs},
	}
}

// Text is the setting's value as set reads it.
func (s setting) Text() string {
	switch {
	case s.Probability != nil:
		return strconv.FormatFloat(*s.Probability, 'g', -1, 64)
	case s.Switch != nil:
		return strconv.FormatBool(*s.Switch)
	case s.Choice != nil:
		return cmp.Or(*s.Choice, s.Choices[0])
	case s.Status != nil:
		return strconv.Itoa(cmp.Or(*s.Status, http.StatusServiceUnavailable))
	}
	return s.Duration.String()
}

func (s setting) set(text string) (err error) {
	switch {
	case s.Probability != nil:
		*s.Probability, err = strconv.ParseFloat(text, 64)
	case s.Switch != nil:
		*s.Switch, err = strconv.ParseBool(text)
	case s.Choice != nil:
		*s.Choice = text
	case s.Status != nil:
		*s.Status, err = strconv.Atoi(text)
	default:
		*s.Duration, err = time.ParseDuration(text)
	}
	if err != nil {
		return fmt.Errorf("fault %s: %q cannot be read", s.Name, text)
	}
	return nil
}

func (f *Faults) check() error {
	var wrong []error
	for _, s := range f.settings() {
		bad := s.Probability != nil && !(*s.Probability >= 0 && *s.Probability <= 1) ||
			s.Choice != nil && *s.Choice != "" && !slices.Contains(s.Choices, *s.Choice) ||
			s.Status != nil && *s.Status != 0 && (*s.Status < 500 || *s.Status > 599) ||
			s.Duration != nil && (*s.Duration < 0 || *s.Duration > time.Minute)
		if bad {
			wrong = append(wrong, fmt.Errorf("fault %s: %s is out of range", s.Name, s.Text()))
		}
	}
	return errors.Join(wrong...)
}

// ParseFaults reads name=value pairs separated by commas, such as "latency=300ms,cutAfter=0.05,inactive=true".
// The names are those of the control page. Everything wrong is reported at once.
func ParseFaults(text string) (Faults, error) {
	values := map[string]string{}
	var wrong []error
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			wrong = append(wrong, fmt.Errorf("fault %q has no value", pair))
			continue
		}
		values[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	f, err := faultsFrom(values)
	return f, errors.Join(append(wrong, err)...)
}

func faultsFrom(values map[string]string) (Faults, error) {
	var f Faults
	var wrong []error
	for _, s := range f.settings() {
		if text, ok := values[s.Name]; ok && text != "" {
			wrong = append(wrong, s.set(text))
		}
		delete(values, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		wrong = append(wrong, fmt.Errorf("there is no fault %q", name))
	}
	return f, errors.Join(append(wrong, f.check())...)
}

// MarshalJSON writes every fault under its name.
func (f Faults) MarshalJSON() ([]byte, error) {
	out := map[string]any{}
	for _, s := range f.settings() {
		switch {
		case s.Probability != nil:
			out[s.Name] = *s.Probability
		case s.Switch != nil:
			out[s.Name] = *s.Switch
		case s.Status != nil:
			out[s.Name] = cmp.Or(*s.Status, http.StatusServiceUnavailable)
		default:
			out[s.Name] = s.Text()
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON sets every fault; what is not named is switched off.
func (f *Faults) UnmarshalJSON(raw []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return fmt.Errorf("faults are a JSON object: %w", err)
	}
	values := map[string]string{}
	for name, v := range fields {
		text, ok := scalar(v)
		if !ok {
			return fmt.Errorf("fault %s has no plain value", name)
		}
		values[name] = text
	}
	set, err := faultsFrom(values)
	if err != nil {
		return err
	}
	*f = set
	return nil
}

// luck is the source of every random choice.
type luck struct {
	mu     sync.Mutex
	rng    *rand.Rand
	faults Faults
}

func newLuck(seed uint64, f Faults) *luck {
	return &luck{rng: rand.New(rand.NewPCG(seed, 0x5eed)), faults: f}
}

func (l *luck) setFaults(f Faults) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = f
}

func (l *luck) current() Faults {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.faults
}

// strikes draws one fault. The caller names the field, so that it is read under the lock.
func (l *luck) strikes(probability func(Faults) float64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.roll(probability(l.faults))
}

func (l *luck) roll(p float64) bool { return p > 0 && l.rng.Float64() < p }

// between draws a duration of at least low and at most high.
func (l *luck) between(low, high time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return low + time.Duration(l.rng.Int64N(int64(high-low)+1))
}

// draw is what chance has in store for one call.
type draw struct {
	faults                  Faults
	latency                 time.Duration
	tooMany                 bool
	cutBefore, cutAfter     bool
	errorBefore, errorAfter bool
	htmlBefore, htmlAfter   bool
	early                   bool
}

func (l *luck) draw() draw {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.faults
	return draw{
		faults: f, latency: f.Latency,
		tooMany:   l.roll(f.TooMany),
		cutBefore: l.roll(f.CutBefore), cutAfter: l.roll(f.CutAfter),
		errorBefore: l.roll(f.ErrorBefore), errorAfter: l.roll(f.ErrorAfter),
		htmlBefore: l.roll(f.HTMLBefore), htmlAfter: l.roll(f.HTMLAfter),
		early: l.roll(f.EarlyReports),
	}
}

// before is the answer that takes the place of the execution, if there is one.
func (d draw) before() (a answer, hit bool) {
	if d.tooMany {
		return answer{status: http.StatusTooManyRequests}, true
	}
	return d.instead(d.cutBefore, d.errorBefore, d.htmlBefore)
}

// after puts a fault in the place of an answer already earned; a call the rate limit refused was not executed.
func (d draw) after(a answer) answer {
	if a.cut || a.status != 0 {
		return a
	}
	if b, hit := d.instead(d.cutAfter, d.errorAfter, d.htmlAfter); hit {
		return b
	}
	a.form, a.lower = d.faults.CodeForm, d.faults.NameForm == "lower"
	return a
}

func (d draw) instead(cut, failed, html bool) (a answer, hit bool) {
	switch {
	case cut:
		return answer{cut: true}, true
	case failed:
		return answer{status: cmp.Or(d.faults.ErrorStatus, http.StatusServiceUnavailable)}, true
	case html:
		return answer{html: true}, true
	}
	return answer{}, false
}
