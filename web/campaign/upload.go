package campaign

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// uploads are the pages of uploaded lists, of recipients and of contacts.
type uploads struct {
	*base
	store       uploadQuestions
	lists       uploadOrders
	corrections correctOrders
	desk        writtenOrders
}

// uploadQuestions are what uploads ask of the storage.
type uploadQuestions interface {
	page.Priced
	Account(ctx context.Context, id int64) (sms.Account, error)
	Audiences(ctx context.Context, account int64, limit int) ([]sms.Audience, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	Corrections(ctx context.Context, list int64) ([]sms.Correction, error)
	List(ctx context.Context, uid string) (sms.List, error)
	writtenQuestions
	ListNotes(ctx context.Context, uid string, f sms.RowFilter) ([]sms.RowNote, bool, error)
	Lists(ctx context.Context, account, user int64, limit int) ([]sms.List, error)
}

// correctOrders are how people mend a checked list.
type correctOrders interface {
	Correct(ctx context.Context, by sms.User, uid string, cells []lists.Cell) (sms.List, error)
	FillEmpty(ctx context.Context, by sms.User, uid string, version int64, mark, value string) (sms.List, error)
	KeepFirst(ctx context.Context, by sms.User, uid string, version int64, only bool) (sms.List, error)
	Split(ctx context.Context, by sms.User, uid string, rows []int64) (sms.List, error)
	Unsplit(ctx context.Context, by sms.User, uid string, rows []int64) (sms.List, error)
}

// sourceOrders are how people say who else gets the message of a list.
type sourceOrders interface {
	AddAudience(ctx context.Context, by sms.User, uid string, id int64) (sms.List, error)
	RemoveAudience(ctx context.Context, by sms.User, uid string, id int64) (sms.List, error)
	SetNumbers(ctx context.Context, by sms.User, uid, typed string) (sms.List, error)
	TakeSources(ctx context.Context, by sms.User, uid, from string) (sms.List, error)
	WithoutFile(ctx context.Context, by sms.User, uid, token string) (sms.List, error)
}

// uploadOrders are what people do on these pages.
type uploadOrders interface {
	CheckList(ctx context.Context, by sms.User, uid string, version int64, o sms.ListOrder) (sms.List, error)
	DropList(ctx context.Context, by sms.User, uid string) error
	LeaveOutAlready(ctx context.Context, by sms.User, uid string, version int64,
		leaveOut, again bool) (sms.List, error)
	ListProfile(ctx context.Context, by sms.User, uid string) (sms.List, lists.Profile, error)
	MakeCampaign(ctx context.Context, by sms.User, uid string, version int64, m lists.MakeOrder) (sms.List, error)
	PreviewRow(o sms.ListOrder, cells []string) (text string, missing []string)
	ReadList(ctx context.Context, by sms.User, uid string, r sms.ListReading) (sms.List, error)
	Remake(ctx context.Context, by sms.User, uid string, c sms.Campaign, leaveOut bool) (sms.List, error)
	RejectedRows(ctx context.Context, by sms.User, uid string) (lists.Rejected, error)
	Survey(ctx context.Context, by sms.User, uid string, o sms.ListOrder, typed string) (lists.Survey, error)
	sourceOrders
	UploadList(ctx context.Context, by sms.User, o lists.UploadOrder, body io.Reader) (sms.List, error)
}

const (
	ListsPath       = "/lists/{uid}"
	ListMessagePath = ListsPath + "/message"
	listsShown      = 20
	// settleMost is how long an answer waits for the Importer, so that a small
	// list needs no page that says so.
	settleMost = 1500 * time.Millisecond
)

// listOf is the list of the address, for its own person only.
func (s *uploads) listOf(r *http.Request, v *page.Visit) (sms.List, sms.Account, error) {
	l, err := s.store.List(r.Context(), r.PathValue("uid"))
	if err == nil && l.CreatedBy != v.User.ID {
		err = fmt.Errorf("list of somebody else: %w", sms.ErrNotFound)
	}
	if err != nil {
		return l, sms.Account{}, err
	}
	a, err := s.store.Account(r.Context(), l.AccountID)
	return l, a, err
}

func busy(l sms.List) bool { return l.State == sms.ListChecking || l.State == sms.ListMaking }

// settled waits a moment until a list needs a person or has its campaign.
func (s *uploads) settled(ctx context.Context, l sms.List) (sms.List, error) {
	news := s.Feed.Subscribe(feed.List(l.UID))
	defer news.Close()
	patience := time.NewTimer(settleMost)
	defer patience.Stop()
	for {
		var err error
		if l, err = s.store.List(ctx, l.UID); err != nil || !busy(l) {
			return l, err
		}
		select {
		case <-news.C():
			news.Take()
		case <-patience.C:
			return l, nil
		case <-ctx.Done():
			return l, ctx.Err()
		}
	}
}

// redirectToList leads to where a list is once the Importer had its moment.
func (s *uploads) redirectToList(w http.ResponseWriter, r *http.Request, l sms.List) error {
	l, err := s.settled(r.Context(), l)
	if err != nil {
		return err
	}
	return page.Redirect(w, r, views.ListNext(l))
}

func (s *uploads) UploadForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showUpload(w, r, v, r.URL.Query().Get("replaces"), http.StatusOK, nil)
}

func (s *uploads) showUpload(w http.ResponseWriter, r *http.Request, v *page.Visit, replaces string, status int,
	bad sms.Invalid) error {
	ctx, a := r.Context(), v.Account
	p := views.UploadPage{Formatter: s.Formatter(v, a), NoAccount: a.ID == 0, For: replaces, Errors: bad,
		Example: lists.ExampleRows([]string{"name", "date"})}
	if p.NoAccount && v.User.Role.AtLeast(sms.Administrator) {
		p.Settings = views.Link{Text: "Connect an account", Href: views.NewAccountPath}
	}
	if replaces != "" {
		old, err := s.store.List(ctx, replaces)
		if err == nil && old.CreatedBy != v.User.ID {
			err = fmt.Errorf("list of somebody else: %w", sms.ErrNotFound)
		}
		if err != nil {
			return err
		}
		p.Replaces, p.Example = &old, lists.ExampleRows(sms.Placeholders(old.Order.Text))
	}
	var err error
	if p.Form, err = s.uploadFile(ctx, a.ID, replaces); err != nil {
		return err
	}
	p.Form.Error = bad["file"]
	if p.Lists, err = s.store.Lists(ctx, a.ID, v.User.ID, listsShown); err != nil {
		return err
	}
	f := v.Frame("Upload a list", "new")
	f.Error = len(bad) > 0
	return s.Render(w, r, status, views.Upload(f, p))
}

// uploadForm is what a form with a file brings; the file itself is still to be
// read.
type uploadForm struct {
	token, account, replaces string
	writing                  string // key of what was typed
	join                     string // UID of the list whose other recipients come along
	goOn                     bool   // a button was pressed, and the message is written
	purpose                  sms.ListPurpose
	size                     int64 // as the page's script measured it, 0: not known
	name                     string
	file                     *fileReader // nil: no file was chosen
	parts                    *multipart.Reader
	typed                    url.Values // what stands in the form beside, of a message that is being written
}

// fileReader keeps apart a browser that went away and a disk that is full.
type fileReader struct {
	io.Reader
	broken error
}

func (f *fileReader) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if err != nil && err != io.EOF {
		f.broken = err
	}
	return n, err
}

const (
	parcelParts = 200
	parcelField = 64 << 10
	// parcelFrame is about what a form weighs around its file.
	parcelFrame = 2 << 10
)

// openParcel reads a form up to its file. The small fields stand before it.
func openParcel(r *http.Request) (uploadForm, error) {
	var p uploadForm
	reader, err := r.MultipartReader()
	if errors.Is(err, http.ErrNotMultipart) {
		return p, nil
	}
	if err != nil {
		return p, page.ErrUnreadable
	}
	p.parts, p.typed = reader, url.Values{}
	return p, p.readOn()
}

// readOn reads a form's fields up to its file, or to its end.
func (p *uploadForm) readOn() error {
	for range parcelParts {
		part, err := p.parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return page.ErrUnreadable
		}
		if part.FormName() == "file" && p.file == nil {
			if p.name = part.FileName(); p.name != "" {
				p.file = &fileReader{Reader: part}
				return nil
			}
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, parcelField))
		if err != nil || len(value) == parcelField {
			return page.ErrUnreadable
		}
		switch part.FormName() {
		case "token":
			p.token = string(value)
		case "account":
			p.account = string(value)
		case "replaces":
			p.replaces = string(value)
		case "join":
			p.join = string(value)
		case "go_on":
			p.goOn = true
		case "writing":
			p.writing = string(value)
		case "size":
			p.size = page.Number(string(value))
		case "text", "sender_id", "template", "template_in", "own", "flash", "name", "numbers":
			p.typed.Add(part.FormName(), string(value))
		}
	}
	return page.ErrUnreadable
}

// key makes the form's token good for one file: pressed twice it is one list,
// with another file it is another.
func (p uploadForm) key(length int64) string {
	if p.token == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %d", p.token, p.name, length)
	return hex.EncodeToString(h.Sum(nil))
}

// Upload stores the file of a form as it comes in.
func (s *uploads) Upload(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.receiveList(w, r, v, sms.ForCampaign)
}

// UploadContacts stores a file of people.
func (s *uploads) UploadContacts(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.receiveList(w, r, v, sms.ForContacts)
}

func (s *uploads) receiveList(w http.ResponseWriter, r *http.Request, v *page.Visit, purpose sms.ListPurpose) error {
	p, err := openParcel(r)
	if err != nil {
		return err
	}
	p.purpose = purpose
	if p.size == 0 && r.ContentLength > parcelFrame {
		p.size = r.ContentLength - parcelFrame
	}
	l, err := s.takeIn(r, v, p)
	var bad sms.Invalid
	switch {
	case p.file != nil && p.file.broken != nil:
		w.Header().Set("Connection", "close")
		return page.ErrUnreadable
	case errors.As(err, &bad):
		status := http.StatusUnprocessableEntity
		if errors.Is(err, sms.ErrTooLarge) {
			// What is left of the body is not worth waiting for.
			w.Header().Set("Connection", "close")
			status = http.StatusRequestEntityTooLarge
		}
		if purpose == sms.ForContacts {
			return s.showImport(w, r, v, status, bad)
		}
		return s.uploadAgain(w, r, v, p.replaces, status, bad)
	case err != nil:
		return err
	}
	if err := p.readOn(); err != nil {
		return err
	}
	return s.afterUpload(w, r, v, p, l)
}

func (s *uploads) takeIn(r *http.Request, v *page.Visit, p uploadForm) (sms.List, error) {
	most, err := s.uploadMost(r.Context())
	if err != nil {
		return sms.List{}, err
	}
	var body io.Reader = p.file
	switch {
	case p.size > most:
		body = http.NoBody
	case p.file == nil:
		return sms.List{}, sms.Invalid{"file": "Select a file to upload"}
	case p.account != strconv.FormatInt(v.Account.ID, 10):
		return sms.List{}, sms.Invalid{"file": "You have switched to another account, " + v.Account.Name +
			". Choose the file again"}
	}
	return s.lists.UploadList(r.Context(), v.User, lists.UploadOrder{AccountID: v.Account.ID, Purpose: p.purpose,
		FileName: p.name, Token: p.key(r.ContentLength), Size: p.size, Replaces: p.replaces, Most: most}, body)
}

// uploadAgain shows the form with what is wrong. A list that is not there any
// more is no reason to keep the sentence from anybody.
func (s *uploads) uploadAgain(w http.ResponseWriter, r *http.Request, v *page.Visit, replaces string, status int,
	bad sms.Invalid) error {
	err := s.showUpload(w, r, v, replaces, status, bad)
	if errors.Is(err, sms.ErrNotFound) {
		err = s.showUpload(w, r, v, "", status, bad)
	}
	return err
}

// afterUpload asks for the message, unless the file takes the place of another
// one and fits its message as it is.
func (s *uploads) afterUpload(w http.ResponseWriter, r *http.Request, v *page.Visit, p uploadForm, l sms.List) error {
	if p.replaces == "" || l.State != sms.ListUploaded {
		if p.join != "" && p.purpose == sms.ForCampaign {
			joined, err := s.lists.TakeSources(r.Context(), v.User, l.UID, p.join)
			if _, bad := errors.AsType[sms.Invalid](err); err != nil && !bad && !errors.Is(err, sms.ErrConflict) {
				return err
			}
			l = joined
		}
		if p.goOn && p.purpose == sms.ForCampaign {
			after, done, err := s.straight(r, v, p, l)
			if err != nil {
				return err
			}
			if done {
				if err := s.desk.SaveWritten(r.Context(), v.User, v.Account.ID, p.writing, ""); err != nil {
					return err
				}
				return s.redirectToList(w, r, after)
			}
		}
		if p.typed.Get("text")+p.typed.Get("template")+p.typed.Get("numbers") != "" && p.purpose == sms.ForCampaign {
			r.PostForm = p.typed
			if err := s.desk.SaveWritten(r.Context(), v.User, v.Account.ID, p.writing, ""); err != nil {
				return err
			}
			return s.toList(w, r, v, s.desk, l, views.ListNext(l))
		}
		return page.Redirect(w, r, views.ListNext(l))
	}
	checked, err := s.lists.CheckList(r.Context(), v.User, l.UID, l.Version, l.Order)
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad) || errors.Is(err, sms.ErrConflict):
		return page.Redirect(w, r, views.ListNext(l))
	case err != nil:
		return err
	}
	return s.redirectToList(w, r, checked)
}

// UploadExample is a file to begin from, with the columns that a text needs.
func (s *uploads) UploadExample(kind string) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
		marks := []string{"name", "date"}
		if uid := r.URL.Query().Get("for"); uid != "" {
			l, err := s.store.List(r.Context(), uid)
			if err == nil && l.CreatedBy == v.User.ID {
				marks = sms.Placeholders(l.Order.Text)
			} else if err != nil && !errors.Is(err, sms.ErrNotFound) {
				return err
			}
		}
		var file bytes.Buffer
		if err := lists.WriteExample(&file, marks, kind == "xlsx"); err != nil {
			return err
		}
		page.Attach(w, "example."+kind)
		_, _ = file.WriteTo(w)
		return nil
	}
}

// Rejected is the download of the rows to fix.
func (s *uploads) Rejected(kind string) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
		l, _, err := s.listOf(r, v)
		if err != nil {
			return err
		}
		rows, err := s.lists.RejectedRows(r.Context(), v.User, l.UID)
		if err != nil {
			return err
		}
		page.Attach(w, strings.TrimSuffix(l.FileName, path.Ext(l.FileName))+" – to fix."+kind)
		if err := rows.Write(w, kind == "xlsx"); err != nil {
			// Half a file must not look like a whole one.
			s.Log.Error("download broken off", "id", page.RequestID(r.Context()), "error", err)
			panic(http.ErrAbortHandler)
		}
		return nil
	}
}

func (s *uploads) ListDeleteForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	f := page.About(v.Frame("Delete this list?", "new"), v, a)
	f.Crumbs = []views.Link{{Text: "Upload a list", Href: views.UploadPath}, {Text: l.FileName}}
	return s.Render(w, r, http.StatusOK, views.DeleteList(f, l))
}

func (s *uploads) ListDelete(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, _, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	if err := s.lists.DropList(r.Context(), v.User, l.UID); err != nil {
		return err
	}
	if err := s.desk.SaveWritten(r.Context(), v.User, l.AccountID, ofList(l), ""); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.UploadPath, "listdeleted"))
}
