package views

import (
	"slices"
	"strings"

	"smsdesk/internal/sms"
)

// Records is what is kept of an account's records at the provider.
type Records struct {
	SenderIDs, UsableSenderIDs int
	Templates, UsableTemplates int
	ReadAt                     string // when, in words; "" for never
	Creates                    bool   // the account may make records at the provider
	Failure                    string // why the templates could not be read the last time
}

// recordsAction is where the account's settings of records are saved, beside
// the address that reads them again.
func recordsAction(refresh string) string {
	return strings.TrimSuffix(refresh, "/refresh") + "/records"
}

func (r Records) readAt() string {
	if r.ReadAt == "" {
		return "Not refreshed yet."
	}
	return "Refreshed " + r.ReadAt + "."
}

func ofWhich(all, usable int) string {
	switch {
	case all == 0:
		return "None"
	case usable == all:
		return Number(all)
	}
	return Number(all) + " (" + Number(usable) + " usable)"
}

// marksShown is the most marks that get a field; a text with more is not a
// message to a few numbers.
const marksShown = 20

// MarkName is the name of the form's field for a mark.
func MarkName(mark string) string { return "field:" + sms.PlaceholderKey(mark) }

func (p ComposePage) marks() []string {
	marks := slices.DeleteFunc(sms.Placeholders(p.Text), sms.IsStopMark)
	return marks[:min(len(marks), marksShown)]
}

func (p ComposePage) markField(mark string) Field {
	return Field{Name: MarkName(mark), Label: "Value for ##" + mark + "##", Value: p.Fixed[sms.PlaceholderKey(mark)],
		Error: p.Errors[MarkName(mark)]}
}

// errorFields are the fields in the order of the form.
func (p ComposePage) errorFields() []string {
	fields := []string{"numbers", "file", "audience", "sender_id", "template", "text"}
	for _, m := range p.marks() {
		fields = append(fields, MarkName(m))
	}
	return append(fields, "name")
}

// filled is the text with what stands in the place of its marks so far.
func (p ComposePage) filled() string {
	text, _ := sms.Fill(p.Text, func(mark string) (string, bool) {
		value := p.Fixed[sms.PlaceholderKey(mark)]
		return value, value != ""
	})
	return text
}
