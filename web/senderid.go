package web

import (
	"net/http"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

func senderID(s sms.SenderID) int64 { return s.ID }

// showSenders shows the sender IDs as they were last read, with what is wrong
// with a new one.
func (s *records) showSenders(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p := views.SendersPage{Default: v.Account.DefaultSender}
	var err error
	if p.RecordPage, err = s.RecordPage(v, sms.RecordSenders, bad); err != nil {
		return err
	}
	if p.Rows, err = s.store.SenderIDs(r.Context(), v.Account.ID); err != nil {
		return err
	}
	if p.Last, err = s.store.LastSentDays(r.Context(), v.Account.ID); err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		p.Text, p.Purpose = r.PostForm.Get("text"), r.PostForm.Get("purpose")
	}
	return s.Render(w, r, page.Status(r, bad), views.Senders(s.recordFrame(v, "Sender IDs", bad), p))
}

func (s *records) senderCreate(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	_, err := s.desk.CreateSenderID(r.Context(), v.User, v.Account.ID, r.PostForm.Get("text"), r.PostForm.Get("purpose"))
	return page.Form(s.showSenders).Changed(w, r, v, err, views.SendersPath, "sendermade", "sendergone")
}

// sender is the page of the sender ID in the address.
func (s *records) sender(r *http.Request, v *page.Visit, bad sms.Invalid) (p views.SenderPage, err error) {
	if p.RecordPage, err = s.RecordPage(v, sms.RecordSenders, bad); err != nil {
		return p, err
	}
	all, err := s.store.SenderIDs(r.Context(), v.Account.ID)
	if err != nil {
		return p, err
	}
	if p.Sender, err = among(r, all, senderID); err != nil {
		return p, err
	}
	p.Purpose, p.Default = p.Sender.Purpose, p.Sender.Text == v.Account.DefaultSender
	if p.Waiting, err = s.store.CountScheduledBySender(r.Context(), v.Account.ID, p.Sender.Text); err != nil {
		return p, err
	}
	days, err := s.store.LastSentDays(r.Context(), v.Account.ID)
	p.Last = days[p.Sender.Text]
	return p, err
}

func senderCrumbs() views.Link { return views.Link{Text: "Sender IDs", Href: views.SendersPath} }

func (s *records) showSenderForm(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p, err := s.sender(r, v, bad)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		p.Purpose = r.PostForm.Get("purpose")
	}
	return s.Render(w, r, page.Status(r, bad), views.SenderEdit(s.recordFrame(v, "Sender ID "+p.Sender.Text, bad,
		senderCrumbs()), p))
}

func (s *records) senderSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	_, err := s.desk.UpdatePurpose(r.Context(), v.User, v.Account.ID, id, r.PostForm.Get("seen"),
		r.PostForm.Get("purpose"))
	return page.Form(s.showSenderForm).Changed(w, r, v, err, views.SendersPath, "sendersaved", "sendergone")
}

func (s *records) showSenderDelete(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p, err := s.sender(r, v, bad)
	if err != nil {
		return err
	}
	return s.Render(w, r, page.Status(r, bad), views.SenderDelete(s.recordFrame(v, "Delete a sender ID?", bad,
		senderCrumbs()), p))
}

func (s *records) senderDelete(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	_, err := s.desk.DeleteSenderID(r.Context(), v.User, v.Account.ID, id)
	return page.Form(s.showSenderDelete).Changed(w, r, v, err, views.SendersPath, "senderdeleted", "sendergone")
}

func (s *records) senderDefault(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	err := s.desk.ChooseDefaultSender(r.Context(), v.User, v.Account.ID, id)
	return page.Form(s.showSenders).Changed(w, r, v, err, views.SendersPath, "senderdefault", "sendergone")
}
