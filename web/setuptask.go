package web

import (
	"net/http"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// setupTasks is what is left to do until this desk can send for real.
// It listens for the first delivery report.
func (s *accounts) setupTasks(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	tasks, account, err := s.tasks(v)
	if err != nil {
		return err
	}
	list := views.TaskList{Tasks: tasks, Renew: views.Refresh{ID: "tasks"}}
	for _, t := range tasks {
		if t.Optional {
			continue
		}
		if t.Tone == views.ToneOK {
			list.Done++
		} else if list.Next.Href == "" {
			list.Next = views.Link{Text: t.Text, Href: t.Href}
		}
	}
	if account.ID != 0 {
		list.Renew.URL, list.Renew.On = views.SetupTasksPath, []string{feed.Reports(account.ID), feed.Account(account.ID)}
	}
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.SetUpTaskList(list))
	}
	f := v.LiveFrame("Set-up checklist", "settings", list.Renew.On...)
	return s.Render(w, r, http.StatusOK, views.SetUpTasks(f, list))
}

// tasks tells where each task stands for the first real account.
func (s *accounts) tasks(v *page.Visit) (list []views.Task, account sms.Account, err error) {
	ctx := v.R.Context()
	administrators, err := s.store.Administrators(ctx)
	if err != nil {
		return nil, account, err
	}
	for _, a := range v.Accounts {
		if !a.Test {
			account = a
			break
		}
	}
	list = []views.Task{{Text: "Create the first administrator", Href: views.TeamPath, Status: "Done", Tone: views.ToneOK}}
	if account.ID == 0 {
		list = append(list, notConnected()...)
	} else {
		connected, err := s.connectedTasks(v, account)
		if err != nil {
			return nil, account, err
		}
		list = append(list, connected...)
	}
	second := views.Task{Text: "Add a second administrator", Hint: "So that you are not locked out if one of you is away.",
		Href: views.TeamPath, Status: "Not started"}
	if administrators > 1 {
		second.Status, second.Tone = "Done", views.ToneOK
	}
	menus, err := s.ussdTask(v, account)
	return append(list, second, menus), account, err
}

// ussdTask is done once callers of the account can reach a menu.
func (s *accounts) ussdTask(v *page.Visit, a sms.Account) (views.Task, error) {
	t := views.Task{Text: "Answer USSD codes", Href: views.USSDPath, Status: "Optional", Optional: true,
		Hint: "Publish a menu, then give the provider the USSD URL in Settings, Delivery reports."}
	answers, err := s.store.AnswersUSSD(v.R.Context(), a.ID)
	if answers {
		t.Status, t.Tone = "Published", views.ToneOK
	}
	return t, err
}

const (
	taskConnect = "Connect to the provider"
	taskReports = "Turn on delivery reports"
	taskSender  = "Choose the default sender ID"
	taskPrice   = "Set the price, currency, country and time zone"
)

func notConnected() []views.Task {
	const add = views.NewAccountPath
	return []views.Task{
		{Text: taskConnect, Hint: "Until then, use the built-in test account.", Href: add, Status: "Not started"},
		{Text: taskReports, Hint: "Connect to the provider first.", Href: add, Status: "Not started"},
		{Text: taskSender, Hint: "Connect to the provider first.", Href: add, Status: "Not started"},
		{Text: taskPrice, Hint: "Part of the connection.", Href: add, Status: "Not started"},
	}
}

func (s *accounts) connectedTasks(v *page.Visit, a sms.Account) ([]views.Task, error) {
	reportAt, err := s.store.LastReportAt(v.R.Context(), a.ID)
	if err != nil {
		return nil, err
	}
	senders, err := s.UsableSenders(v, a)
	if err != nil {
		return nil, err
	}
	connect := views.Task{Text: taskConnect, Hint: a.Name, Href: views.SectionPath(a.ID, views.SectionConnection), Status: "Connected",
		Tone: views.ToneOK}
	if a.Failure != "" || a.ReachedAt == 0 {
		connect.Hint, connect.Status, connect.Tone = a.Failure, "Not connected", views.ToneBad
	}
	reports := views.Task{Text: taskReports, Href: views.CallbackPath(a.ID), Status: "Waiting for the first report",
		Tone: views.ToneWarn}
	if reportAt > 0 {
		reports.Status, reports.Tone = "Receiving reports", views.ToneOK
	}
	sender := views.Task{Text: taskSender, Href: views.SectionPath(a.ID, views.SectionConnection) + "#default_sender", Status: "Not started"}
	switch {
	case a.DefaultSender != "" && page.Contains(senders, a.DefaultSender):
		sender.Hint, sender.Status, sender.Tone = a.DefaultSender, "Done", views.ToneOK
	case a.ReachedAt == 0:
		sender.Hint = "Connect to the provider first."
	case len(senders) == 0:
		sender.Hint = "No approved sender ID yet. Ask the provider to approve one."
	}
	price := views.Task{Text: taskPrice, Href: views.SectionPath(a.ID, views.SectionMoney), Status: "Not started"}
	if a.PricePerPart > 0 {
		price.Status, price.Tone = "Done", views.ToneOK
	}
	return []views.Task{connect, reports, sender, price}, nil
}
