package campaign

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// drafts is the page on which a message is written.
type drafts struct {
	*base
	store draftQuestions
	desk  draftOrders
	lists audienceOrders
}

// audienceOrders make lists of audiences.
type audienceOrders interface {
	ListAudience(ctx context.Context, by sms.User, account, id int64, token string) (sms.List, error)
}

// draftQuestions are what drafts ask of the storage.
type draftQuestions interface {
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	Audiences(ctx context.Context, account int64, limit int) ([]sms.Audience, error)
	Campaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignRow, more bool, err error)
	Groups(ctx context.Context, account int64) ([]sms.Group, error)
	List(ctx context.Context, uid string) (sms.List, error)
	Messages(ctx context.Context, f sms.MessageFilter) (list []sms.Message, more bool, err error)
	writtenQuestions
	WrittenKeys(ctx context.Context, user, account int64, limit int) ([]string, error)
	page.Priced
}

// writtenQuestions are what was typed; sms.ErrNotFound where that is nothing.
type writtenQuestions interface {
	Written(ctx context.Context, user, account int64, key string) (form string, savedAt int64, err error)
}

// writtenOrders save what is typed; "" forgets it.
type writtenOrders interface {
	SaveWritten(ctx context.Context, by sms.User, account int64, key, form string) error
}

// draftOrders are what people do on these pages.
type draftOrders interface {
	CreateCampaign(ctx context.Context, by sms.User, o desk.Order) (sms.Campaign, error)
	writtenOrders
}

const (
	// typedMost is the most numbers that the form takes (desk.CreateCampaign).
	typedMost = 1000
	// forgotten is how long an unsent message of the same person is offered.
	forgotten = 24 * time.Hour
)

func (s *drafts) Form(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.composePage(r, v)
	if err != nil {
		return err
	}
	p.Token = desk.NewToken()
	q := r.URL.Query()
	typed, err := s.Typed(r, v)
	if err != nil {
		return err
	}
	p.Writing = newWriting()
	written, err := s.unsentForms(r, v)
	if err != nil {
		return err
	}
	if q.Get("go") == "on" && len(typed) == 0 {
		typed = goOn(written, q.Get("form"))
	}
	if len(typed) > 0 {
		return s.showTyped(w, r, v, typed)
	}
	if id := q.Get("group"); id != "" {
		if p.Group, err = s.groupFor(r, v, id); err != nil {
			return err
		}
		return s.Render(w, r, http.StatusOK, views.Compose(v.Frame("New message", "new"), p))
	}
	draft, again := page.Number(q.Get("draft")), page.Number(q.Get("again"))
	switch {
	case draft > 0:
		err = s.prefill(r, v, &p, draft, true)
	case again > 0:
		err = s.prefill(r, v, &p, again, false)
	default:
		err = s.showUnsentDraft(r, v, &p)
		for _, w := range written {
			p.Unsent = append(p.Unsent, views.Unsent{
				Name: cmp.Or(sms.NameFromText(page.Lines(w.form.Get("text"))), "no text yet"), When: v.When(w.at),
				Href: views.With(views.With(views.NewPath, "go", "on"), "form", w.key)})
		}
	}
	if err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.Compose(v.Frame("New message", "new"), p))
}

// composePage is the empty form for the chosen account.
func (s *drafts) composePage(r *http.Request, v *page.Visit) (views.ComposePage, error) {
	a := v.Account
	p := views.ComposePage{Account: strconv.FormatInt(a.ID, 10), TestHint: a.Test, MaxParts: max(a.MaxParts, 1),
		NoAccount: a.ID == 0, Currency: a.Currency}
	if v.User.Role.AtLeast(sms.Administrator) {
		p.Settings = views.Link{Text: "Check the connection settings", Href: views.SectionPath(a.ID, views.SectionConnection)}
		if p.NoAccount {
			p.Settings = views.Link{Text: "Connect an account", Href: views.NewAccountPath}
		}
	}
	var err error
	if p.Templates, err = s.UsableTemplates(r.Context(), a); err != nil {
		return p, err
	}
	if p.Upload, err = s.uploadFile(r.Context(), a.ID, ""); err != nil {
		return p, err
	}
	p.Upload.GoesOn = true
	if p.Groups, err = s.store.Groups(r.Context(), a.ID); err != nil {
		return p, err
	}
	if p.Audiences, err = s.store.Audiences(r.Context(), a.ID, audiencesOffered); err != nil {
		return p, err
	}
	if p.SenderIDs, err = s.UsableSenders(v, a); err != nil {
		return p, err
	}
	if p.SenderID, err = s.usualSender(r.Context(), v, a, p.SenderIDs); err != nil {
		return p, err
	}
	p.Price, err = page.PriceOf(r.Context(), s.store, a, s.Now())
	return p, err
}

// audiencesOffered is how many audiences one can choose from while writing.
const audiencesOffered = 50

// usualSender is the sender ID that a form begins with: the account's default,
// else the one that this person used last, else the first.
func (s *base) usualSender(ctx context.Context, v *page.Visit, a sms.Account, usable []string) (string, error) {
	if len(usable) == 0 || page.Contains(usable, a.DefaultSender) {
		return a.DefaultSender, nil
	}
	rows, _, err := s.store.Campaigns(ctx, sms.CampaignFilter{AccountID: a.ID, Person: v.User.ID, Limit: 1})
	if len(rows) > 0 && page.Contains(usable, rows[0].Campaign.SenderID) {
		return rows[0].Campaign.SenderID, err
	}
	return usable[0], err
}

// prefill fills the form from a campaign: a draft of the same person is
// changed, anything else is only the pattern for a new one.
func (s *drafts) prefill(r *http.Request, v *page.Visit, p *views.ComposePage, id int64, replace bool) error {
	c, err := s.store.Campaign(r.Context(), id)
	if errors.Is(err, sms.ErrNotFound) || err == nil && c.AccountID != v.Account.ID {
		p.Gone = true
		return nil
	}
	if err != nil {
		return err
	}
	messages, _, err := s.store.Messages(r.Context(), sms.MessageFilter{CampaignID: id, Limit: typedMost})
	if err != nil {
		return err
	}
	var lines []string
	for _, m := range messages {
		if m.Number != "" {
			lines = append(lines, phone.Show(m.Number, v.Account.Country))
		}
	}
	p.Numbers, p.Text, p.Flash, p.SenderID = strings.Join(lines, "\n"), c.Text, c.Flash, c.SenderID
	if !page.Contains(p.SenderIDs, c.SenderID) {
		if p.SenderID, err = s.usualSender(r.Context(), v, v.Account, p.SenderIDs); err != nil {
			return err
		}
	}
	if c.Name != sms.NameFromText(c.Text) {
		p.Name = c.Name
	}
	if replace && c.State == sms.CampaignDraft && c.CreatedBy == v.User.ID {
		p.Replaces = strconv.FormatInt(id, 10)
	}
	if c.GroupID != "" {
		p.Group, err = s.groupFor(r, v, c.GroupID)
		if errors.Is(err, sms.ErrNotFound) {
			p.Gone, err = true, nil
		}
		return err
	}
	read := phone.ReadAll(p.Numbers, v.Account.Country, v.Account.Abroad)
	p.Count = &read
	return nil
}

// showUnsentDraft finds what this person wrote and did not send: the browser's own
// way back does not keep a form.
func (s *drafts) showUnsentDraft(r *http.Request, v *page.Visit, p *views.ComposePage) error {
	rows, _, err := s.store.Campaigns(r.Context(),
		sms.CampaignFilter{AccountID: v.Account.ID, States: []sms.CampaignState{sms.CampaignDraft}, Limit: 10})
	for _, row := range rows {
		c := row.Campaign
		if c.CreatedBy == v.User.ID && s.Now().UnixMilli()-c.CreatedAt < forgotten.Milliseconds() {
			p.Unsent = []views.Unsent{{Name: c.Name, When: v.When(c.CreatedAt), Href: views.NewPath + "?draft=" +
				strconv.FormatInt(c.ID, 10)}}
			return nil
		}
	}
	return err
}

// composeTyped is the form as it was sent.
func (s *drafts) composeTyped(r *http.Request, v *page.Visit) (views.ComposePage, error) {
	p, err := s.composePage(r, v)
	f := r.PostForm
	p.Token, p.Replaces, p.Writing = f.Get("token"), f.Get("replaces"), f.Get("writing")
	p.Numbers, p.SenderID, p.Text, p.Name = f.Get("numbers"), f.Get("sender_id"), page.Lines(f.Get("text")), f.Get("name")
	p.Template, p.Fixed, p.Flash = f.Get("template"), fixedTexts(p.Text, f), f.Get("flash") != ""
	p.TemplateIn, p.Own, p.Way = f.Get("template_in"), page.Lines(f.Get("own")), f.Get("way")
	_, p.Plain = inStandard(p.Text)
	p.NoAddress = s.noAddress(v, v.Account, p.Text)
	if id := f.Get("group"); id != "" && err == nil {
		if p.Group, err = s.groupFor(r, v, id); errors.Is(err, sms.ErrNotFound) {
			err = sms.Invalid{"numbers": "This group no longer exists. Choose another group"}
		}
	}
	if uid := f.Get("list"); uid != "" && p.Group != nil && err == nil {
		var l sms.List
		l, err = s.asideList(r, v, uid)
		p.List, p.ListName = l.UID, l.FileName
	}
	return p, err
}

func (s *drafts) Check(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.composeTyped(r, v)
	if err != nil {
		return err
	}
	if column := r.PostForm.Get("put"); column != "" {
		p.Text = page.Lines(r.PostForm.Get("text")) + "##" + column + "##"
		return s.composeWith(w, r, v, p, nil)
	}
	if applyWhereBlank(p.Templates, &p.Template, &p.TemplateIn, &p.Own, &p.Text) {
		p.Fixed = fixedTexts(p.Text, r.PostForm)
	}
	if p.Template != p.TemplateIn {
		bad := notApplied(p.Templates, &p.Template, &p.TemplateIn, &p.Own, &p.Text)
		return s.composeAgain(w, r, v, p, bad)
	}
	if r.PostForm.Get("file") != "" {
		return s.composeAgain(w, r, v, p,
			sms.Invalid{"file": "The file has not been uploaded yet. Press Upload, or remove it"})
	}
	if typedFor := r.PostForm.Get("account"); typedFor != p.Account {
		return s.composeAgain(w, r, v, p, sms.Invalid{"account": "You have switched to another account, " +
			v.Account.Name + ". Check the sender ID, then check the message again"})
	}
	o := desk.Order{AccountID: v.Account.ID, Name: p.Name, SenderID: p.SenderID, Numbers: p.Numbers,
		Text: p.Text, Template: templateOf(p), Fixed: p.Fixed, Flash: p.Flash, Token: tokenFor(p),
		Replaces: page.Number(p.Replaces)}
	if p.Group != nil {
		o.GroupID, o.GroupName, o.Numbers = strconv.FormatInt(p.Group.ID, 10), p.Group.Name, ""
	}
	c, err := s.desk.CreateCampaign(r.Context(), v.User, o)
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.composeAgain(w, r, v, p, bad)
	}
	if err != nil {
		return err
	}
	if err := s.forgetWritten(r, v); err != nil {
		return err
	}
	if !c.MayStart() {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	to := views.ConfirmPath(c.ID)
	if read := phone.ReadAll(p.Numbers, v.Account.Country, v.Account.Abroad); read.Repeated > 0 {
		to = views.With(to, "repeated", strconv.Itoa(read.Repeated))
	}
	return page.Redirect(w, r, to)
}

// templateOf is the name of the template whose text stands in the form, "" for
// own text or one that was changed.
func templateOf(p views.ComposePage) string {
	for _, t := range p.Templates {
		if strconv.FormatInt(t.ID, 10) == p.Template && strings.TrimSpace(page.Lines(t.Text)) == strings.TrimSpace(p.Text) {
			return t.Name
		}
	}
	return ""
}

// tokenFor makes the form's token good for one message: the same form sent
// twice is one campaign, the same form with another text is another one.
func tokenFor(p views.ComposePage) string {
	if p.Token == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %q %t %q", p.Token, p.SenderID, p.Numbers, p.Text, p.Name, p.Flash, p.Fixed)
	if p.Group != nil {
		fmt.Fprintf(h, " group %d", p.Group.ID)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// composeAgain shows the form with what is wrong and everything that was typed.
func (s *drafts) composeAgain(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.ComposePage,
	bad sms.Invalid) error {
	_, p.Plain = inStandard(p.Text)
	p.NoAddress = s.noAddress(v, v.Account, p.Text)
	p.Upload.Error = bad["file"]
	read := phone.ReadAll(p.Numbers, v.Account.Country, v.Account.Abroad)
	p.Count, p.Errors = &read, bad
	f := v.Frame("New message", "new")
	f.Error = true
	return s.Render(w, r, http.StatusUnprocessableEntity, views.Compose(f, p))
}

// Parts counts the parts while a person types.
func (s *drafts) Parts(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if !counting(w, v) {
		return nil
	}
	s.saveWritten(r, v)
	text := countedText(r)
	p := views.ComposePage{Text: text, SenderID: r.PostForm.Get("sender_id"), Fixed: fixedTexts(text, r.PostForm),
		MaxParts: max(v.Account.MaxParts, 1), TemplateIn: r.PostForm.Get("template_in"),
		Own: page.Lines(r.PostForm.Get("own"))}
	_, p.Plain = inStandard(text)
	p.NoAddress = s.noAddress(v, v.Account, text)
	var err error
	if p.Templates, err = s.UsableTemplates(r.Context(), v.Account); err != nil {
		return err
	}
	if err := s.runs(r, v, &p); err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.ComposeParts(p))
}

// Numbers counts the numbers while a person types.
func (s *drafts) Numbers(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if !counting(w, v) {
		return nil
	}
	s.saveWritten(r, v)
	if len(r.PostForm.Get("numbers")) > countedMost {
		return s.Render(w, r, http.StatusOK, views.ComposeNumbers(views.NumberCount{TooMany: true}))
	}
	text := countedText(r)
	p := views.ComposePage{Text: text, Fixed: fixedTexts(text, r.PostForm)}
	if err := s.runs(r, v, &p); err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.ComposeCount(views.NumberCount{Numbers: *p.Count}, p))
}

// countedText is as much of the message as is counted while a person types.
func countedText(r *http.Request) string {
	text := page.Lines(r.PostForm.Get("text"))
	return strings.ToValidUTF8(text[:min(len(text), countedMost)], "\uFFFD")
}

// runs puts in for how many the message is and what a part costs.
func (s *drafts) runs(r *http.Request, v *page.Visit, p *views.ComposePage) (err error) {
	if id := r.PostForm.Get("group"); id != "" {
		if p.Group, err = s.groupFor(r, v, id); err != nil && !errors.Is(err, sms.ErrNotFound) {
			return err
		}
	}
	read := phone.Numbers{}
	if text := r.PostForm.Get("numbers"); len(text) <= countedMost {
		read = phone.ReadAll(text, v.Account.Country, v.Account.Abroad)
	}
	p.Count, p.Currency = &read, v.Account.Currency
	p.Price, err = page.PriceOf(r.Context(), s.store, v.Account, s.Now())
	return err
}
