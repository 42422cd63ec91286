package views

import (
	"slices"

	"smsdesk/internal/sms"
)

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
