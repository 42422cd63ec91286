package campaign

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

const (
	// examplesShown is how many values of a column stand beside its name, and
	// how many rows of the file the page draws.
	examplesShown = 3
	// drawnColumns is how many columns of them.
	drawnColumns = 8
)

func (s *uploads) ListMessageForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	if busy(l) || l.State == sms.ListMade || l.Purpose == sms.ForContacts {
		return page.Redirect(w, r, views.ListNext(l))
	}
	p, profile, err := s.listMessagePage(r, v, l, a)
	if err != nil {
		return s.unreadable(w, r, v, l, a, err)
	}
	typed, err := s.Typed(r, v)
	if err != nil {
		return err
	}
	if len(typed) == 0 {
		w, err := readForm(r.Context(), s.store, v.User.ID, a.ID, ofList(l))
		if err != nil {
			return err
		}
		typed = w.form
	}
	if len(typed) > 0 {
		if typed.Has("phone") {
			typeInto(&p, typed)
		} else { // it was written before there was a list
			typeText(&p, typed)
			if p.Order.Text != "" {
				p.Order.Message = -1
			}
			matchMarks(&p, nil)
		}
	}
	return s.showListMessage(w, r, v, p, a, profile, http.StatusOK)
}

// listMessagePage is the form as the desk proposes it.
func (s *uploads) listMessagePage(r *http.Request, v *page.Visit, l sms.List,
	a sms.Account) (views.ListMessagePage, lists.Profile, error) {
	ctx := r.Context()
	p := views.ListMessagePage{Formatter: s.Formatter(v, a), List: l, Order: l.Order, MaxParts: max(a.MaxParts, 1)}
	_, profile, err := s.lists.ListProfile(ctx, v.User, l.UID)
	if err != nil {
		return p, profile, err
	}
	if v.User.Role.AtLeast(sms.Administrator) {
		p.Settings = views.Link{Text: "Check the connection settings", Href: views.SectionPath(a.ID, views.SectionConnection)}
	}
	if p.SenderIDs, err = s.UsableSenders(v, a); err != nil {
		return p, profile, err
	}
	if !page.Contains(p.SenderIDs, p.Order.SenderID) {
		p.Order.SenderID = ""
	}
	if p.Order.SenderID == "" {
		if p.Order.SenderID, err = s.usualSender(ctx, v, a, p.SenderIDs); err != nil {
			return p, profile, err
		}
	}
	if p.Templates, err = s.UsableTemplates(ctx, a); err != nil {
		return p, profile, err
	}
	for _, t := range p.Templates {
		if t.Name == p.Order.Template && t.Name != "" {
			p.Template = strconv.FormatInt(t.ID, 10)
			p.TemplateIn = p.Template
		}
	}
	if p.Audiences, err = s.store.Audiences(ctx, a.ID, audiencesOffered); err != nil {
		return p, profile, err
	}
	if p.Groups, err = s.base.store.Groups(ctx, a.ID); err != nil {
		return p, profile, err
	}
	if p.Upload, err = s.uploadFile(ctx, a.ID, ""); err != nil {
		return p, profile, err
	}
	p.Numbers = lists.Typed(l)
	drawFile(&p, profile)
	matchMarks(&p, nil)
	p.Question = profile.Question()
	return p, profile, nil
}

// drawFile puts what the file looks like on the page.
func drawFile(p *views.ListMessagePage, profile lists.Profile) {
	for i, name := range profile.Columns {
		c := views.ListColumn{Name: name}
		for _, row := range profile.Sample {
			if i >= len(row.Cells) || len(c.Examples) == examplesShown {
				continue
			}
			if value := strings.TrimSpace(row.Cells[i]); value != "" && !page.Contains(c.Examples, value) {
				c.Examples = append(c.Examples, value)
			}
		}
		p.Columns = append(p.Columns, c)
	}
	for _, t := range profile.Sheets {
		p.Sheets = append(p.Sheets, views.ListSheet{Name: t.Name, Rows: t.Rows, Hidden: t.Hidden})
	}
	p.Encodings = lists.Encodings()
	p.First = append(p.First, views.ListFirst{Cells: profile.Columns[:min(len(profile.Columns), drawnColumns)]})
	if profile.Header != nil {
		p.First[0].Row = profile.Options.HeaderRow
	}
	for _, row := range profile.Sample[:min(len(profile.Sample), examplesShown)] {
		p.First = append(p.First, views.ListFirst{Row: row.Number, Cells: row.Cells[:min(len(row.Cells), drawnColumns)]})
	}
	p.Notices = profile.Notices()
}

// matchMarks finds columns for the marks of the text of which the form says
// nothing.
func matchMarks(p *views.ListMessagePage, form url.Values) {
	fields, fixed := maps.Clone(p.Order.Fields), maps.Clone(p.Order.Fixed)
	if fields == nil {
		fields = map[string]int{}
	}
	if fixed == nil {
		fixed = map[string]string{}
	}
	names := make([]string, len(p.Columns))
	for i, c := range p.Columns {
		names[i] = c.Name
	}
	marks := sms.Placeholders(p.Order.Text)
	guessed := lists.MatchMarks(marks, names)
	for _, m := range marks {
		key := sms.PlaceholderKey(m)
		column, known := fields[key]
		_, all := fixed[key]
		switch chosen := form.Get(views.MarkName(m)); {
		case form.Has(views.MarkName(m)):
			delete(fields, key)
			delete(fixed, key)
			if n, err := strconv.Atoi(chosen); err == nil && n >= 0 && n < len(names) {
				fields[key] = n
			} else if chosen == views.FixedText {
				fixed[key] = page.Lines(form.Get(views.FixedName(m)))
			}
		case all || known && column < len(names):
		default:
			delete(fields, key)
			if column, ok := guessed[m]; ok {
				fields[key] = column
			}
		}
	}
	p.Order.Fields, p.Order.Fixed = fields, fixed
}

// typeInto puts what a person filled in into the page.
func typeInto(p *views.ListMessagePage, form url.Values) {
	typeText(p, form)
	p.Order.Phone, p.Order.Message = columnOf(form.Get("phone"), len(p.Columns)),
		columnOf(form.Get("message"), len(p.Columns))
	matchMarks(p, form)
}

// typeText is typeInto without what depends on the columns.
func typeText(p *views.ListMessagePage, form url.Values) {
	o := &p.Order
	if form.Has("numbers") {
		p.Numbers = page.Lines(form.Get("numbers"))
	}
	o.Text, o.Name, o.Flash = strings.ReplaceAll(page.Lines(form.Get("text")), "\x00", ""), form.Get("name"),
		form.Get("flash") != ""
	if form.Has("sender_id") {
		o.SenderID = form.Get("sender_id")
	}
	p.Template, o.Template = form.Get("template"), ""
	p.TemplateIn, p.Own = form.Get("template_in"), page.Lines(form.Get("own"))
	for _, t := range p.Templates {
		if strconv.FormatInt(t.ID, 10) == p.Template && page.Lines(t.Text) == o.Text {
			o.Template = t.Name
		}
	}
}

// columnOf reads the value of a select of columns; -1 is none of them.
func columnOf(value string, columns int) int {
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < columns {
		return n
	}
	return -1
}

func (s *uploads) showListMessage(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.ListMessagePage,
	a sms.Account, profile lists.Profile, status int) error {
	if err := s.fill(r, v, a, &p, profile); err != nil {
		return err
	}
	f := page.About(v.Frame("New message", "new"), v, a)
	f.Path = views.ListPath(p.List.UID, "/message")
	f.Error = len(p.Errors) > 0
	return s.Render(w, r, status, views.ListMessage(f, p))
}

// fill writes the message for the row that is looked at, and says what all rows
// take. The signs around each mark come back around the words that took its
// place, and a cell has none of them.
func (s *uploads) fill(r *http.Request, v *page.Visit, a sms.Account, p *views.ListMessagePage,
	profile lists.Profile) error {
	_, p.Plain = inStandard(p.Order.Text)
	p.NoAddress = s.noAddress(v, a, p.Order.Text)
	if len(profile.Sample) == 0 {
		return nil
	}
	look, err := s.survey(r, v, a, p)
	if err != nil {
		return err
	}
	if look.Row == 0 {
		look.Row, look.Cells = int64(profile.Sample[0].Number), profile.Sample[0].Cells
	}
	const sign = "\x00"
	o := p.Order
	o.Text, _ = sms.Fill(o.Text, func(name string) (string, bool) { return sign + "##" + name + "##" + sign, true })
	text, missing := s.lists.PreviewRow(o, look.Cells)
	p.Filled = views.ListFilled{Row: look.Row, Text: strings.ReplaceAll(text, sign, ""), Missing: missing}
	for i, run := range strings.Split(text, sign) {
		if run != "" {
			p.Filled.Runs = append(p.Filled.Runs, views.TextSpan{Text: run, Filled: i%2 == 1})
		}
	}
	return nil
}

// survey says what the rows take, and gives the one that is looked at; its number
// is 0 for the first.
func (s *uploads) survey(r *http.Request, v *page.Visit, a sms.Account,
	p *views.ListMessagePage) (look lists.SurveyRow, err error) {
	p.See, p.Currency = r.PostForm.Get("see"), a.Currency
	if see, is := strings.CutPrefix(r.PostForm.Get("do"), "see:"); is {
		p.See = see
	}
	if p.Price, err = page.PriceOf(r.Context(), s.store, a, s.Now()); err != nil {
		return look, err
	}
	found, err := s.lists.Survey(r.Context(), v.User, p.List.UID, p.Order, p.Numbers)
	if err != nil {
		return look, err
	}
	p.Survey = views.ListSurvey{Ready: found.Ready, Numbers: found.Numbers, ToFix: found.ToFix, Typed: found.Typed,
		Twice: found.Twice, Parts: found.Parts, Special: found.Unicode, Extra: found.Extra, Rows: found.Rows,
		Whole: found.Whole, HasLongest: found.Texts > 1 && found.Longest.Row > 0,
		HasOther: found.Texts > 1 && found.Special.Row > 0}
	switch {
	case p.See == views.SeeLongest && p.Survey.HasLongest:
		return found.Longest, nil
	case p.See == views.SeeSpecial && p.Survey.HasOther:
		return found.Special, nil
	}
	p.See = ""
	return look, nil
}

// ListPreview shows the first row's message while a person types.
func (s *uploads) ListPreview(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if !counting(w, v) {
		return nil
	}
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	p, profile, err := s.listMessagePage(r, v, l, a)
	if err != nil {
		return err
	}
	form := r.PostForm
	if form.Get("version") == strconv.FormatInt(l.Version, 10) {
		s.saveForm(r, v, s.desk, a.ID, ofList(l))
	}
	if text := form.Get("text"); len(text) > countedMost {
		form.Set("text", strings.ToValidUTF8(text[:countedMost], "\uFFFD"))
	}
	typeInto(&p, form)
	if err := s.fill(r, v, a, &p, profile); err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.ListMessageParts(p))
}

// ListMessage answers every button of the form.
func (s *uploads) ListMessage(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	if busy(l) || l.State == sms.ListMade || l.Purpose == sms.ForContacts {
		return s.redirectToList(w, r, l)
	}
	p, profile, err := s.listMessagePage(r, v, l, a)
	if err != nil {
		return s.unreadable(w, r, v, l, a, err)
	}
	if column := r.PostForm.Get("put"); column != "" {
		r.PostForm.Set("text", r.PostForm.Get("text")+"##"+column+"##")
		r.PostForm.Set("do", "preview")
	}
	typeInto(&p, r.PostForm)
	if next, changed, err := s.listSources(r, v, &p); err != nil {
		return err
	} else if changed {
		return s.toList(w, r, v, s.desk, next, views.ListStart(next))
	}
	if strings.HasPrefix(r.PostForm.Get("do"), "see:") || len(p.Errors) > 0 {
		return s.showListMessage(w, r, v, p, a, profile, http.StatusOK)
	}
	switch r.PostForm.Get("do") {
	case "preview":
		return s.showListMessage(w, r, v, p, a, profile, http.StatusOK)
	case "template", "own", "plain":
		return s.listText(w, r, v, p, a, profile)
	case "read":
		return s.listRead(w, r, v, p, a, profile)
	}
	if p.Template != p.TemplateIn && !readyWith(&p) {
		p.Errors = notApplied(p.Templates, &p.Template, &p.TemplateIn, &p.Own, &p.Order.Text)
		p.Order.Message = -1
		matchMarks(&p, r.PostForm)
		return s.showListMessage(w, r, v, p, a, profile, http.StatusUnprocessableEntity)
	}
	l, err = s.checkWith(r, v, l, p)
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad):
		p.Errors = bad
		if p.Question != "" && bad["phone"] != "" {
			bad["phone"] = p.Question
		}
		return s.showListMessage(w, r, v, p, a, profile, http.StatusUnprocessableEntity)
	case errors.Is(err, sms.ErrConflict) && !busy(l) && l.State != sms.ListMade:
		p.List, p.Errors = l, sms.Invalid{"list": "You changed this list in another window. Review it, then check it again"}
		return s.showListMessage(w, r, v, p, a, profile, http.StatusConflict)
	case err != nil && !errors.Is(err, sms.ErrConflict):
		return err
	}
	if err := s.desk.SaveWritten(r.Context(), v.User, a.ID, ofList(l), ""); err != nil {
		return err
	}
	return s.redirectToList(w, r, l)
}

// readyWith puts the chosen template into a message in which nothing was written,
// and says whether the columns fill all of it.
func readyWith(p *views.ListMessagePage) bool {
	if !applyWhereBlank(p.Templates, &p.Template, &p.TemplateIn, &p.Own, &p.Order.Text) {
		return false
	}
	typeText(p, url.Values{"text": {p.Order.Text}, "template": {p.Template}, "template_in": {p.TemplateIn},
		"own": {p.Own}, "name": {p.Order.Name}, "flash": flashOf(p.Order)})
	p.Order.Message = -1
	matchMarks(p, nil)
	return allMatched(p.Order)
}

// flashOf is the tick box of a form, as it is sent.
func flashOf(o sms.ListOrder) []string {
	if o.Flash {
		return []string{"on"}
	}
	return nil
}

// allMatched says that something fills every mark of the text.
func allMatched(o sms.ListOrder) bool {
	for _, m := range sms.Placeholders(o.Text) {
		key := sms.PlaceholderKey(m)
		_, column := o.Fields[key]
		if !column && o.Fixed[key] == "" && !sms.IsStopMark(m) {
			return false
		}
	}
	return true
}

// straight has a list checked that came together with its message, where nothing
// about the two is left to ask.
func (s *uploads) straight(r *http.Request, v *page.Visit, f uploadForm, l sms.List) (after sms.List, done bool, err error) {
	if l.State != sms.ListUploaded {
		return l, false, nil
	}
	p, profile, err := s.listMessagePage(r, v, l, v.Account)
	if err != nil {
		return l, false, err
	}
	typeText(&p, f.typed)
	p.Order.Message = -1
	matchMarks(&p, nil)
	if p.Template != p.TemplateIn && !readyWith(&p) || strings.TrimSpace(p.Order.Text) == "" || !allMatched(p.Order) ||
		p.Question != "" || len(profile.Notices()) > 0 {
		return l, false, nil
	}
	r.PostForm = f.typed
	r.PostForm.Set("version", strconv.FormatInt(l.Version, 10))
	after, err = s.checkWith(r, v, l, p)
	if _, bad := errors.AsType[sms.Invalid](err); bad || errors.Is(err, sms.ErrConflict) {
		return l, false, nil
	}
	return after, err == nil, err
}

// checkWith takes in the numbers that were typed and has the list checked.
func (s *uploads) checkWith(r *http.Request, v *page.Visit, l sms.List, p views.ListMessagePage) (sms.List, error) {
	version := page.Number(r.PostForm.Get("version"))
	if r.PostForm.Has("numbers") && l.Version == version {
		with, err := s.lists.SetNumbers(r.Context(), v.User, l.UID, p.Numbers)
		if err != nil {
			return with, err
		}
		version = with.Version
	}
	return s.lists.CheckList(r.Context(), v.User, l.UID, version, p.Order)
}

// listSources adds recipients or takes some out, as a button of the form says. next
// is the list whose form is shown then.
func (s *uploads) listSources(r *http.Request, v *page.Visit, p *views.ListMessagePage) (next sms.List, changed bool,
	err error) {
	ctx, uid, do := r.Context(), p.List.UID, r.PostForm.Get("do")
	next = p.List
	switch {
	case r.PostForm.Get("audience") != "":
		_, err = s.lists.AddAudience(ctx, v.User, uid, page.Number(r.PostForm.Get("audience")))
	case strings.HasPrefix(do, "remove:"):
		_, err = s.lists.RemoveAudience(ctx, v.User, uid, page.Number(strings.TrimPrefix(do, "remove:")))
	case do == "without":
		var l sms.List
		if l, err = s.lists.WithoutFile(ctx, v.User, uid, r.PostForm.Get("token")); err == nil {
			next = l
		}
	default:
		return next, false, nil
	}
	if bad, is := errors.AsType[sms.Invalid](err); is {
		p.Errors = bad
		return next, false, nil
	}
	r.PostForm.Del("audience")
	if errors.Is(err, sms.ErrConflict) {
		err = nil
	}
	return next, true, err
}

// listText does what the editor's buttons ask for: a template's text, the
// person's own text again, standard characters.
func (s *uploads) listText(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.ListMessagePage,
	a sms.Account, profile lists.Profile) error {
	switch r.PostForm.Get("do") {
	case "plain":
		p.Order.Text, _ = inStandard(p.Order.Text)
		return s.showListMessage(w, r, v, p, a, profile, http.StatusOK)
	case "own":
		p.Template = ""
	}
	p.Errors = templateProblem(applyTemplate(p.Templates, &p.Template, &p.TemplateIn, &p.Own, &p.Order.Text))
	if p.TemplateIn != "" {
		p.Order.Message = -1
	}
	typeText(&p, url.Values{"text": {p.Order.Text}, "template": {p.Template}, "template_in": {p.TemplateIn},
		"own": {p.Own}, "name": {p.Order.Name}, "flash": r.PostForm["flash"]})
	matchMarks(&p, r.PostForm)
	return s.showListMessage(w, r, v, p, a, profile, http.StatusOK)
}

// listRead reads the file another way. The columns are then guessed anew; the
// text stays.
func (s *uploads) listRead(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.ListMessagePage,
	a sms.Account, profile lists.Profile) error {
	form := r.PostForm
	reading := readingFrom(form, p.List.Reading)
	l, err := s.lists.ReadList(r.Context(), v.User, p.List.UID, reading)
	if errors.As(err, &p.Errors) {
		p.List.Reading = reading
		return s.showListMessage(w, r, v, p, a, profile, http.StatusUnprocessableEntity)
	}
	if errors.Is(err, sms.ErrConflict) {
		return s.redirectToList(w, r, l)
	}
	if err == nil { // what was chosen of its columns belongs to those of before
		err = s.desk.SaveWritten(r.Context(), v.User, a.ID, ofList(l), "")
	}
	if err != nil {
		return err
	}
	fresh, profile, err := s.listMessagePage(r, v, l, a)
	if err != nil {
		return err
	}
	typeText(&fresh, form)
	matchMarks(&fresh, nil)
	fresh.Read = true
	return s.showListMessage(w, r, v, fresh, a, profile, http.StatusOK)
}
