package views

import "smsdesk/internal/sms"

// roleMeaning says what a role adds to the one before it.
func roleMeaning(r sms.Role) string {
	return map[sms.Role]string{
		sms.Viewer:   "Can see campaigns and results. Cannot change anything.",
		sms.Sender:   "Can also create and send campaigns.",
		sms.Approver: "Can also approve campaigns that other team members created.",
		sms.Manager: "Can also decide about messages in doubt, unblock numbers, continue paused accounts, and " +
			"manage templates, sender IDs, groups and USSD menus.",
		sms.Administrator: "Can also manage provider accounts, settings and team members.",
	}[r]
}

func roleOptions() []Option {
	var list []Option
	for _, r := range sms.Roles() {
		list = append(list, Option{Value: string(r), Label: r.Title(), Hint: roleMeaning(r)})
	}
	return list
}
