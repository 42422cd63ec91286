package views

import "smsdesk/internal/sms"

// roleMeaning says what a role adds to the one before it.
func roleMeaning(r sms.Role) string {
	return map[sms.Role]string{
		sms.Viewer:        "Sees campaigns and their figures. Changes nothing.",
		sms.Sender:        "Also writes and sends campaigns.",
		sms.Approver:      "The same as a sender at present.",
		sms.Manager:       "Also lets sending go on after the provider has stopped it.",
		sms.Administrator: "Also connects to the provider and decides who may do what.",
	}[r]
}

func roleOptions() []Option {
	var list []Option
	for _, r := range sms.Roles() {
		list = append(list, Option{Value: string(r), Label: r.Title(), Hint: roleMeaning(r)})
	}
	return list
}
