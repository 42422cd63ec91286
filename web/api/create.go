package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
)

const (
	// uploadTime is how long a body may take to arrive, makeTime how long a
	// campaign may take to be made of it.
	uploadTime = 10 * time.Minute
	makeTime   = 10 * time.Minute
	// keyWait is how long a repeat waits for the first request.
	keyWait = 2 * time.Minute
	// uploadsAtOnce is how many lists programs may send at one moment; others
	// wait.
	uploadsAtOnce = 4
	// badRowsMost is how many bad rows are named.
	badRowsMost = 1000
	// apiFileName is what the list of an order in JSON is called.
	apiFileName = "API.csv"
	// fillMost is the most characters that fill a placeholder, as of a cell.
	fillMost = 4000
)

// createRequest is an order as it came: what is asked for, and the list.
type createRequest struct {
	order campaignOrder
	list  io.Reader
	size  int64
	file  string
	rows  *rowWriter // nil for a file and for an audience
	key   string     // Idempotency-Key, "" without
	sum   [32]byte   // tells this request from others
}

// listField is the field that a fault of the list belongs to.
func (c createRequest) listField() string {
	switch {
	case c.order.Audience != "":
		return "audience"
	case c.rows == nil:
		return "file"
	}
	return "rows"
}

// Create makes a campaign of a list. It is answered when the campaign is
// there; the list goes the way of one that a person uploads.
func (s *API) Create(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	if err := s.uploads.enter(r.Context()); err != nil {
		return err
	}
	got, done, err := s.receive(w, r)
	s.uploads.leave()
	defer done()
	if err != nil {
		return err
	}
	got.key = key
	// The campaign is made even if the program goes away meanwhile: when it
	// asks again, it is there.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), makeTime)
	defer cancel()
	id, err := s.createOnce(ctx, p, got)
	if err != nil {
		return err
	}
	c, a, err := s.countCampaign(ctx, id)
	if err != nil {
		return err
	}
	var answer createdCampaign
	if answer.Campaign, err = s.one(ctx, c, a); err != nil {
		return err
	}
	if answer.LeftOut, err = s.leftOut(ctx, c.Campaign.ListID); err != nil {
		return err
	}
	if got.listField() == "file" {
		if answer.Warnings, err = s.warnings(ctx, p, c.Campaign.ListID); err != nil {
			return err
		}
	}
	w.Header().Set("Location", Path+"/campaigns/"+strconv.FormatInt(id, 10))
	return writeJSON(w, http.StatusCreated, answer)
}

// createdCampaign is the answer to an order to make a campaign.
type createdCampaign struct {
	Campaign
	Warnings []string `json:"warnings,omitempty"` // what of the file is not in it
	LeftOut  *leftOut `json:"leftOut,omitempty"`  // nil where every row is in it
}

// leftOut counts the rows that are not in a campaign, by why.
type leftOut struct {
	Duplicates int64 `json:"duplicates"` // same number and text as an earlier row
	SameNumber int64 `json:"sameNumber"` // same number as an earlier row, with keepFirst
	Blocked    int64 `json:"blocked"`
	Limit      int64 `json:"limit"` // the recipient got as many messages as the account allows
	Bad        int64 `json:"bad"`
	Already    int64 `json:"alreadySent"` // they got nearly the same text lately
}

func (s *API) leftOut(ctx context.Context, list int64) (*leftOut, error) {
	l, err := s.store.ListByID(ctx, list)
	if errors.Is(err, sms.ErrNotFound) {
		return nil, nil
	}
	k := l.Tally.Kinds
	out := leftOut{Duplicates: k[sms.RowRepeat], SameNumber: k[sms.RowSecond], Blocked: k[sms.RowBlocked],
		Limit: k[sms.RowOften], Bad: l.Tally.Bad(),
		Already: k[sms.RowAlready]}
	if err != nil || out == (leftOut{}) {
		return nil, err
	}
	return &out, nil
}

// warnings are those about the file that a campaign was made of. A file that is
// not kept any more has none.
func (s *API) warnings(ctx context.Context, p apiCaller, list int64) ([]string, error) {
	l, err := s.store.ListByID(ctx, list)
	var all []string
	if err == nil {
		all, err = s.lists.Warnings(ctx, p.user, l.UID)
	}
	bad, _ := errors.AsType[sms.Invalid](err)
	if errors.Is(err, sms.ErrNotFound) || bad["file"] != "" {
		return nil, nil
	}
	return all, err
}

func idempotencyKey(r *http.Request) (string, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if key == "" || len(key) > 255 || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", wrongField(http.StatusBadRequest, "Idempotency-Key",
			"Idempotency-Key must be 1 to 255 visible ASCII characters")
	}
	return key, nil
}

// receive reads the whole order. done lets go of what it is kept in.
func (s *API) receive(w http.ResponseWriter, r *http.Request) (got createRequest, done func(), err error) {
	done, err = s.spooled(w, r, jsonMost, func(to *tempFile, form bool, limit int64) error {
		read := got.fromJSON
		if form {
			read = func(r *http.Request, to *tempFile) error { return got.fromForm(r, to, limit) }
		}
		if err := read(r, to); err != nil {
			return err
		}
		return got.finish(to)
	})
	return got, done, err
}

// spooled lets a body of any size be read that is JSON of at most so many bytes, or
// a form with a file of at most limit. done lets go of the spool.
func (s *API) spooled(w http.ResponseWriter, r *http.Request, most int64,
	read func(to *tempFile, form bool, limit int64) error) (done func(), err error) {
	done = func() {}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form := kind == "multipart/form-data"
	if !form && kind != "application/json" && !strings.HasSuffix(kind, "+json") && kind != "" {
		return done, newProblem(http.StatusUnsupportedMediaType, "Send application/json or multipart/form-data")
	}
	limit := most
	if form {
		if limit, err = s.uploadLimit(r); err != nil {
			return done, err
		}
		most = limit + bodyMost
	}
	if r.ContentLength > most {
		w.Header().Set("Connection", "close")
		return done, &http.MaxBytesError{Limit: most}
	}
	// Where the connection has no deadline there is none to miss.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(uploadTime))
	r.Body = http.MaxBytesReader(w, r.Body, most)
	to, err := newSpool(s.spool)
	if err != nil {
		return done, err
	}
	return func() { _ = to.Close() }, read(to, form, limit)
}

func (c *createRequest) fromForm(r *http.Request, to *tempFile, limit int64) (err error) {
	c.order, c.file, err = readFormOrder(r, to, limit)
	c.list, c.size = to.body(), to.size
	return err
}

func (c *createRequest) fromJSON(r *http.Request, to *tempFile) (err error) {
	c.rows, c.file = newRowWriter(to), apiFileName
	if c.order, err = readJSONOrder(r.Body, c.rows); err != nil {
		return err
	}
	if c.order.Audience != "" {
		c.rows = nil
		return nil
	}
	c.list, c.size, err = c.rows.finish()
	return err
}

// finish says what exactly is asked for, in one sum.
func (c *createRequest) finish(to *tempFile) error {
	asked, err := json.Marshal(c.order)
	if err != nil {
		return fmt.Errorf("sum up a request: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %x", c.listField(), asked, to.sum.Sum(nil))
	copy(c.sum[:], h.Sum(nil))
	return nil
}

// createOnce makes the campaign, or finds it where the same was asked for
// before under the same key.
func (s *API) createOnce(ctx context.Context, p apiCaller, c createRequest) (int64, error) {
	return s.once(ctx, p, c.key, c.sum, func(token string) (int64, error) {
		if c.order.Group != "" {
			return s.createForGroup(ctx, p, c.order, token)
		}
		return s.create(ctx, p, c, token)
	})
}

// once gives an order and returns the campaign that came of it, or finds that
// where the same was asked for before under the same key. The token is the same
// for the same key, and new without one.
func (s *API) once(ctx context.Context, p apiCaller, key string, sum [32]byte,
	order func(token string) (campaign int64, err error)) (int64, error) {
	if key == "" {
		return order(desk.NewToken())
	}
	name := strconv.FormatInt(p.token.ID, 10) + " " + key
	free, err := s.keys.lock(ctx, name, keyWait)
	if err != nil {
		return 0, err
	}
	defer free()
	first, err := s.tokens.OpenRequest(ctx, p.user, sms.TokenRequest{TokenID: p.token.ID, Key: key, Request: sum})
	switch {
	case errors.Is(err, sms.ErrConflict):
		bad := newProblem(http.StatusUnprocessableEntity,
			"This Idempotency-Key was used with a different request. Use a new key or repeat the original request")
		bad.Type = ProblemKey
		return 0, bad
	case err != nil:
		return 0, err
	case first.CampaignID > 0:
		return first.CampaignID, nil
	}
	id, err := order(listToken(name))
	if first.CampaignID = id; err == nil || refusal(err) {
		err = errors.Join(err, s.tokens.EndRequest(ctx, p.user, first))
	}
	return id, err
}

// listToken is what makes the list of a key one, whatever happened in between.
func listToken(name string) string {
	sum := sha256.Sum256([]byte("list of a program " + name))
	return hex.EncodeToString(sum[:])
}

// refusal says that the program is at fault and nothing was made.
func refusal(err error) bool { return apiProblem(err).Status < http.StatusInternalServerError }

// createForGroup makes a campaign to a group of the provider, whose numbers are
// not known here.
func (s *API) createForGroup(ctx context.Context, p apiCaller, o campaignOrder, token string) (int64, error) {
	account, text, err := s.orderText(ctx, p, o)
	if err != nil {
		return 0, err
	}
	groups, err := s.store.Groups(ctx, account.ID)
	if err != nil {
		return 0, err
	}
	groups = slices.DeleteFunc(groups, func(g sms.Group) bool { return g.Name != o.Group })
	switch len(groups) {
	case 0:
		return 0, wrongField(http.StatusUnprocessableEntity, "group", "No group with this name")
	case 1:
	default:
		return 0, wrongField(http.StatusUnprocessableEntity, "group", "Several groups have this name. Rename them first")
	}
	made, err := s.desk.CreateCampaign(ctx, p.user, desk.Order{AccountID: account.ID, Name: o.Name, SenderID: o.SenderID,
		GroupID: strconv.FormatInt(groups[0].ID, 10), GroupName: o.Group, Text: text, Template: o.Template, Flash: o.Flash,
		Token: token})
	if err != nil {
		return 0, err
	}
	return made.ID, s.startMade(ctx, p, account, o, made.ID)
}

// orderText finds the account and the text of an order, and refuses one that
// could not be sent as it asks.
func (s *API) orderText(ctx context.Context, p apiCaller, o campaignOrder) (a sms.Account, text string, err error) {
	if a, err = s.accountFor(ctx, o.Account); err != nil {
		return a, "", err
	}
	if o.ScheduleAt > 0 {
		if sentence := scheduleFor(o.ScheduleAt, a).Check(s.now()); sentence != "" {
			return a, "", wrongField(http.StatusUnprocessableEntity, "scheduleAt", sentence)
		}
	}
	if err = s.mayRepeatMade(ctx, p, a, o); err != nil {
		return a, "", err
	}
	text, err = s.commonText(ctx, p, a, o)
	return a, text, err
}

// create takes the list through all its steps. Each of them may have been done
// before by a request that was cut off.
func (s *API) create(ctx context.Context, p apiCaller, c createRequest, token string) (int64, error) {
	account, text, err := s.orderText(ctx, p, c.order)
	if err != nil {
		return 0, err
	}
	l, err := s.takeList(ctx, p, account, c, token)
	if err != nil {
		return 0, err
	}
	made, err := s.workOff(ctx, p, l, listWork{field: c.listField(),
		check:  func(l sms.List) error { return s.check(ctx, p, account, c, l, text) },
		decide: func(l sms.List) error { return s.decide(ctx, p, c, l) }})
	if err != nil {
		return 0, err
	}
	if err := s.startMade(ctx, p, account, c.order, made.CampaignID); err != nil {
		return 0, err
	}
	return made.CampaignID, nil
}

// mayRepeatMade refuses an order to send before anything is made of it, where
// some may get the messages twice and the program has not heard of that.
func (s *API) mayRepeatMade(ctx context.Context, p apiCaller, a sms.Account, o campaignOrder) error {
	if !o.Send {
		return nil
	}
	sentence, err := s.desk.RepeatWarningForProgram(ctx, p.user, a, o.MayRepeat, p.token.ID)
	if err == nil && sentence != "" {
		err = mayRepeatProblem(sentence)
	}
	return err
}

func (s *API) accountFor(ctx context.Context, name string) (sms.Account, error) {
	if name == "" {
		return sms.Account{}, wrongField(http.StatusUnprocessableEntity, "account", "account is required")
	}
	a, err := s.store.AccountNamed(ctx, name)
	if errors.Is(err, sms.ErrNotFound) {
		return a, wrongField(http.StatusUnprocessableEntity, "account", "No account with this name")
	}
	return a, err
}

// commonText is the text of the order or of its template.
func (s *API) commonText(ctx context.Context, p apiCaller, a sms.Account, o campaignOrder) (string, error) {
	switch {
	case o.Template == "":
		return o.Text, nil
	case o.Text != "":
		return "", wrongField(http.StatusUnprocessableEntity, "template", "Give either template or text, not both")
	}
	t, err := s.desk.UsableTemplate(ctx, p.user, a.ID, o.Template)
	return t.Text, err
}

func (s *API) takeList(ctx context.Context, p apiCaller, a sms.Account, c createRequest,
	token string) (sms.List, error) {
	if c.order.Audience != "" {
		id, err := s.audienceNamed(ctx, a, c.order.Audience)
		if err != nil {
			return sms.List{}, err
		}
		l, err := s.lists.ListAudience(ctx, p.user, a.ID, id, token)
		return l, c.fault(err)
	}
	o := lists.UploadOrder{AccountID: a.ID, FileName: c.file, Token: token, Size: c.size}
	switch {
	case c.rows != nil:
		o.Reading = c.rows.reading()
	case c.order.Sheet != "" || c.order.Hidden:
		o.Reading = &sms.ListReading{Sheet: c.order.Sheet, Hidden: c.order.Hidden}
	}
	l, err := s.lists.UploadList(ctx, p.user, o, c.list)
	return l, c.fault(err)
}

// audienceNamed finds an audience of an account.
func (s *API) audienceNamed(ctx context.Context, a sms.Account, name string) (int64, error) {
	list, err := s.kept.Audiences(ctx, a.ID, audiencesMost)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(list, func(x sms.Audience) bool { return x.Name == name })
	if at < 0 {
		return 0, wrongField(http.StatusUnprocessableEntity, "audience", "No audience with this name")
	}
	return list[at].ID, nil
}

// fault gives what is wrong with the list the name that it has in the request.
func (c createRequest) fault(err error) error { return listFault(err, c.listField()) }

func listFault(err error, field string) error {
	bad, _ := errors.AsType[sms.Invalid](err)
	if bad["file"] == "" {
		return err
	}
	if errors.Is(err, sms.ErrTooLarge) {
		return wrongField(http.StatusRequestEntityTooLarge, field, bad["file"])
	}
	return wrongField(http.StatusUnprocessableEntity, field, bad["file"])
}

// listWork is what a program decides about a list where a person would.
type listWork struct {
	field  string               // to which a fault of the list belongs
	check  func(sms.List) error // orders an uploaded list to be checked
	decide func(sms.List) error // about a checked one
}

// workOff waits until a list is made into what it is for. Of one that is refused
// nothing is left.
func (s *API) workOff(ctx context.Context, p apiCaller, l sms.List, do listWork) (sms.List, error) {
	made, err := s.followList(ctx, l, do)
	if err != nil && refusal(err) {
		if dropped := s.lists.DropList(ctx, p.user, l.UID); dropped != nil && !errors.Is(dropped, sms.ErrNotFound) &&
			!errors.Is(dropped, sms.ErrConflict) {
			return made, dropped
		}
	}
	return made, err
}

func (s *API) followList(ctx context.Context, l sms.List, do listWork) (sms.List, error) {
	news := s.feed.Subscribe(feed.List(l.UID))
	defer news.Close()
	for {
		news.Take()
		l, err := s.store.List(ctx, l.UID)
		if err != nil {
			return l, err
		}
		switch l.State {
		case sms.ListMade:
			return l, nil
		case sms.ListFailed:
			return l, wrongField(http.StatusUnprocessableEntity, do.field, l.Problem)
		case sms.ListUploaded:
			err = do.check(l)
		case sms.ListChecked:
			err = do.decide(l)
		default:
			err = s.awaitList(ctx, news)
		}
		if err != nil {
			return l, err
		}
	}
}

// awaitList waits for news of a list. Looking by itself now and then costs
// little, and a lost notice nothing.
func (s *API) awaitList(ctx context.Context, news *feed.Listener) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-news.C():
	case <-timer.C:
	case <-s.stopping:
		p := newProblem(http.StatusServiceUnavailable,
			"smsdesk is shutting down. Repeat the request with the same Idempotency-Key")
		p.retryAfter = 5
		return p
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// check orders the list to be checked.
func (s *API) check(ctx context.Context, p apiCaller, a sms.Account, c createRequest, l sms.List, text string) error {
	o, err := s.listOrder(ctx, p, a, c, l, text)
	if err != nil {
		return err
	}
	_, err = s.lists.CheckList(ctx, p.user, l.UID, l.Version, o)
	return err
}

// listOrder says which column is what.
func (s *API) listOrder(ctx context.Context, p apiCaller, a sms.Account, c createRequest, l sms.List,
	text string) (sms.ListOrder, error) {
	o := sms.ListOrder{Name: c.order.Name, SenderID: c.order.SenderID, Template: c.order.Template, Text: text, Phone: -1,
		Message: -1, Flash: c.order.Flash, Fields: map[string]int{}, OnlyNew: c.order.IfAlreadySent == alreadyLeaveOut,
		FirstOnly: c.order.KeepFirst}
	if c.rows != nil {
		c.rows.columns(&o)
		if o.Name == "" {
			o.Name = nameOf(text, s.now().In(a.Location()))
		}
	} else if err := s.fileColumns(ctx, p, l, &o); err != nil {
		return o, err
	}
	if err := c.order.fill(&o); err != nil || c.order.PhoneColumn == "" {
		return o, err
	}
	column, there := o.Fields[sms.PlaceholderKey(c.order.PhoneColumn)]
	if !there {
		return o, wrongField(http.StatusUnprocessableEntity, "phoneColumn", "No column with this name")
	}
	o.Phone = column
	return o, nil
}

// fill says what fills the placeholders of rows that have nothing for them: a
// column that no row has is filled in all of them.
func (o campaignOrder) fill(into *sms.ListOrder) error {
	wanted := map[string]bool{}
	for _, name := range sms.Placeholders(into.Text) {
		wanted[sms.PlaceholderKey(name)] = !sms.IsStopMark(name)
	}
	into.Empty, into.Fixed = map[string]string{}, map[string]string{}
	for name, value := range o.Fill {
		key := sms.PlaceholderKey(name)
		value = strings.TrimSpace(value)
		switch _, column := into.Fields[key]; {
		case !wanted[key]:
			return wrongField(http.StatusUnprocessableEntity, "fill."+shortened(name), "The text has no such placeholder")
		case utf8.RuneCountInString(value) > fillMost:
			return wrongField(http.StatusUnprocessableEntity, "fill."+shortened(name), "Must have 4,000 characters or fewer")
		case value == "":
		case column:
			into.Empty[key] = value
		default:
			into.Fixed[key] = value
		}
	}
	return nil
}

// fileColumns finds the columns of a file by their names and contents alone:
// what a person chose for such files before must not change what a program gets.
func (s *API) fileColumns(ctx context.Context, p apiCaller, l sms.List, o *sms.ListOrder) error {
	_, profile, err := s.lists.ListProfile(ctx, p.user, l.UID)
	if err != nil {
		return err
	}
	if o.Phone = profile.Guess.Phone; o.Text == "" {
		o.Message = profile.Guess.Message
	}
	if l.Purpose == sms.ForAudience {
		// Written here, with the number first.
		o.Phone = 0
	}
	for i, name := range l.Reading.Columns {
		key := sms.PlaceholderKey(name)
		if _, there := o.Fields[key]; !there && key != "" {
			o.Fields[key] = i
		}
	}
	return nil
}

// nameOf proposes a campaign's name.
func nameOf(text string, now time.Time) string {
	if name := sms.NameFromText(text); name != "" {
		return name
	}
	return "API, " + now.Format("2 January 2006 15:04")
}

// decide has a campaign made of a checked list, unless it has bad rows that are
// not to be skipped.
func (s *API) decide(ctx context.Context, p apiCaller, c createRequest, l sms.List) error {
	if bad := l.Tally.Bad(); bad > 0 && !c.order.SkipBad || l.Tally.Good == 0 {
		return s.badRows(ctx, l, bad)
	}
	if n := l.Tally.Kinds[sms.RowRepeat]; n > 0 && c.order.Duplicates == "refuse" {
		return s.badRows(ctx, l, n, sms.RowRepeat)
	}
	if c.order.IfAlreadySent == alreadyRefuse && l.Tally.Already.Asks() {
		return alreadyProblem(l.Tally.Already)
	}
	_, err := s.lists.MakeCampaign(ctx, p.user, l.UID, l.Version, lists.MakeOrder{LeaveOut: true})
	return err
}

// badRows names the rows of these kinds, without any those that cannot be sent.
func (s *API) badRows(ctx context.Context, l sms.List, bad int64, kinds ...sms.RowKind) error {
	detail := "1 row cannot be sent. No campaign was created"
	if bad != 1 {
		detail = strconv.FormatInt(bad, 10) + " rows cannot be sent. No campaign was created"
	}
	if bad == 0 {
		detail = "All rows have blocked numbers. No campaign was created"
	}
	return s.rowsProblem(ctx, l, detail, bad, 0, kinds...)
}

// rowsProblem names rows of a list; above is how many rows of it the program did
// not send.
func (s *API) rowsProblem(ctx context.Context, l sms.List, detail string, bad, above int64, kinds ...sms.RowKind) error {
	notes, _, err := s.store.ListNotes(ctx, l.UID, sms.RowFilter{Kinds: kinds, Limit: badRowsMost})
	if err != nil {
		return err
	}
	problem := newProblem(http.StatusUnprocessableEntity, detail)
	problem.Type, problem.Title, problem.BadRows = ProblemBadRows, "Rows cannot be sent", bad
	if l.Purpose == sms.ForContacts {
		problem.Title = "Rows cannot be contacts"
	}
	for _, n := range notes {
		problem.Rows = append(problem.Rows, rowError{n.Row - above, stopped(n.Text)})
	}
	return problem
}

// startMade gives the orders that came with a campaign. One that is not a draft
// any more has had them.
func (s *API) startMade(ctx context.Context, p apiCaller, a sms.Account, o campaignOrder, id int64) error {
	c, err := s.store.Campaign(ctx, id)
	if err != nil || !c.MayStart() || !o.Send && o.ScheduleAt == 0 {
		return err
	}
	if o.ScheduleAt > 0 && c.SendAt != o.ScheduleAt {
		if c, err = s.desk.ProposeSchedule(ctx, p.user, id, scheduleFor(o.ScheduleAt, a)); err != nil {
			return err
		}
	}
	if o.Send {
		_, err = s.startFor(ctx, p, c, a, sendOrder{MayRepeat: o.MayRepeat, WithProvider: o.WithProvider,
			IfAlreadySent: o.IfAlreadySent})
	}
	return err
}

// keyLock are names that one request at a time may hold.
type keyLock struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when it is free
}

func newKeys() *keyLock { return &keyLock{held: map[string]chan struct{}{}} }

// lock waits until nobody holds the name. free gives it back.
func (k *keyLock) lock(ctx context.Context, name string, most time.Duration) (free func(), err error) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		k.mu.Lock()
		busy, held := k.held[name]
		if !held {
			mine := make(chan struct{})
			k.held[name] = mine
			k.mu.Unlock()
			return func() {
				k.mu.Lock()
				defer k.mu.Unlock()
				delete(k.held, name)
				close(mine)
			}, nil
		}
		k.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			p := newProblem(http.StatusConflict, "The first request with this Idempotency-Key is still in progress. Retry later")
			p.Type, p.retryAfter = ProblemKey, 10
			return nil, p
		}
	}
}

// semaphore bound how many do something at once.
type semaphore chan struct{}

func (s semaphore) enter(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s semaphore) leave() { <-s }
