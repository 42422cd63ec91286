package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
	"smsdesk/storage/query"
)

// menuStore keeps the USSD menus with their sessions.
type menuStore struct{ *core }

// CreateMenu stores a new menu that nobody can dial yet. secret signs what its
// webhooks are asked.
func (db menuStore) CreateMenu(ctx context.Context, account int64, m ussd.Menu, secret string,
	now int64) (id int64, err error) {
	body, err := json.Marshal(m)
	if err != nil {
		return 0, fmt.Errorf("write menu: %w", err)
	}
	err = db.update(ctx, "create menu", func(t *tx) error {
		id, err = t.InsertUSSDMenu(ctx, query.InsertUSSDMenuParams{AccountID: account, Draft: string(body), ChangedAt: now,
			Secret: db.seal.seal(secret, menuPlace(account))})
		return err
	})
	return id, err
}

func menuPlace(account int64) string {
	return "ussd_menu:" + strconv.FormatInt(account, 10) + ":secret"
}

func (db menuStore) draft(r query.UssdMenu) (ussd.Draft, error) {
	d := ussd.Draft{ID: r.ID, AccountID: r.AccountID, Changed: r.ChangedAt, Revision: r.Revision,
		Published: int(r.Published)}
	if err := json.Unmarshal([]byte(r.Draft), &d.Menu); err != nil {
		return d, fmt.Errorf("read menu %d: %w", r.ID, err)
	}
	var err error
	d.Secret, err = db.seal.open(r.Secret, menuPlace(r.AccountID))
	return d, err
}

// Menus lists the menus of an account.
func (db menuStore) Menus(ctx context.Context, account int64) ([]ussd.Draft, error) {
	rows, err := db.read().USSDMenus(ctx, account)
	return readAll(rows, err, db.draft, "list menus")
}

// MenuDraft finds a menu by id.
func (db menuStore) MenuDraft(ctx context.Context, id int64) (ussd.Draft, error) {
	row, err := db.read().USSDMenu(ctx, id)
	return readOne(row, err, db.draft, "read menu")
}

// SaveMenu stores the draft of a menu; ErrConflict where it has changed since
// the revision was read.
func (db menuStore) SaveMenu(ctx context.Context, id, revision int64, m ussd.Menu, now int64) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write menu: %w", err)
	}
	return db.update(ctx, "save menu", func(t *tx) error {
		n, err := t.SaveUSSDMenu(ctx, query.SaveUSSDMenuParams{ID: id, Revision: revision, Draft: string(body),
			ChangedAt: now})
		if err == nil && n == 0 {
			err = errUnexpected
		}
		return err
	})
}

// PublishMenu makes the draft of that revision the version that callers walk
// through. Of another menu of the account that allow refuses nothing is stored.
func (db menuStore) PublishMenu(ctx context.Context, id, revision, now int64, by sms.User,
	allow func(d ussd.Draft, others []ussd.Published) error) (no int, err error) {
	err = db.update(ctx, "publish menu", func(t *tx) error {
		row, err := t.USSDMenu(ctx, id)
		if err != nil {
			return err
		}
		d, err := db.draft(row)
		if err != nil {
			return err
		}
		if row.Revision != revision {
			return errUnexpected
		}
		others, err := db.published(ctx, t.Queries)
		if err != nil {
			return err
		}
		if err := allow(d, others); err != nil {
			return err
		}
		last, err := t.LastUSSDVersion(ctx, id)
		if err != nil {
			return err
		}
		no = int(last) + 1
		if err := t.InsertUSSDVersion(ctx, query.InsertUSSDVersionParams{MenuID: id, No: int64(no), Body: row.Draft, At: now,
			ByID: by.ID, ByName: by.Name}); err != nil {
			return err
		}
		return t.PublishUSSDMenu(ctx, id, int64(no))
	})
	return no, err
}

// WithdrawMenu leaves callers without the menu; its versions stay.
func (db menuStore) WithdrawMenu(ctx context.Context, id int64) error {
	return db.update(ctx, "withdraw menu", func(t *tx) error { return t.PublishUSSDMenu(ctx, id, 0) })
}

// DeleteMenu deletes a menu with its versions. What callers did in it stays.
func (db menuStore) DeleteMenu(ctx context.Context, id int64) error {
	return db.update(ctx, "delete menu", func(t *tx) error {
		if err := t.DeleteUSSDVersions(ctx, id); err != nil {
			return err
		}
		return t.DeleteUSSDMenu(ctx, id)
	})
}

// MenuVersions lists the published versions of a menu, the newest first, at
// most 200.
func (db menuStore) MenuVersions(ctx context.Context, id int64) ([]ussd.Version, error) {
	rows, err := db.read().USSDVersions(ctx, id)
	return readAll(rows, err, version, "list versions of a menu")
}

// MenuVersion finds one version of a menu.
func (db menuStore) MenuVersion(ctx context.Context, id int64, no int) (ussd.Version, error) {
	row, err := db.read().USSDVersion(ctx, id, int64(no))
	return readOne(row, err, version, "read version of a menu")
}

func version(r query.UssdVersion) (ussd.Version, error) {
	v := ussd.Version{MenuID: r.MenuID, No: int(r.No), At: r.At, ByName: r.ByName}
	if err := json.Unmarshal([]byte(r.Body), &v.Menu); err != nil {
		return v, fmt.Errorf("read version %d of menu %d: %w", r.No, r.MenuID, err)
	}
	return v, nil
}

// AnswersUSSD says that callers can reach a menu of the account.
func (db menuStore) AnswersUSSD(ctx context.Context, account int64) (bool, error) {
	list, err := db.PublishedMenus(ctx)
	return slices.ContainsFunc(list, func(m ussd.Published) bool { return m.AccountID == account }), err
}

// PublishedMenus are what callers of all accounts walk through.
func (db menuStore) PublishedMenus(ctx context.Context) ([]ussd.Published, error) {
	return db.published(ctx, db.read())
}

func (db menuStore) published(ctx context.Context, q *query.Queries) ([]ussd.Published, error) {
	rows, err := q.PublishedUSSDMenus(ctx)
	if err != nil {
		return nil, fmt.Errorf("list published menus: %w", err)
	}
	list := make([]ussd.Published, len(rows))
	for i, r := range rows {
		list[i] = ussd.Published{AccountID: r.AccountID, MenuID: r.ID, Version: int(r.Published)}
		if err := json.Unmarshal([]byte(r.Body), &list[i].Menu); err != nil {
			return nil, fmt.Errorf("read menu %d: %w", r.ID, err)
		}
		if list[i].Secret, err = db.seal.open(r.Secret, menuPlace(r.AccountID)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// PutUSSDSessions stores what sessions left behind, all of it or nothing. The
// same again changes nothing, and what comes late does not take the place of
// what is newer: a spool may be read again after a crash.
func (db menuStore) PutUSSDSessions(ctx context.Context, b ussd.Batch) error {
	return db.update(ctx, "store USSD sessions", func(t *tx) error {
		for _, s := range b.Sessions {
			if err := t.PutUSSDSession(ctx, sessionRow(s)); err != nil {
				return err
			}
		}
		for _, s := range b.Steps {
			if err := t.PutUSSDStep(ctx, query.PutUSSDStepParams{SessionID: s.SessionID, No: int64(s.No), At: s.At,
				Screen: s.Screen, Input: s.Input, Text: s.Text, Took: s.Took, Ends: s.End}); err != nil {
				return err
			}
		}
		for _, s := range b.Saved {
			if err := t.PutUSSDSaved(ctx, query.PutUSSDSavedParams{SessionID: s.SessionID, AccountID: s.AccountID,
				MenuID: s.MenuID, Number: s.Number, Name: s.Name, Text: s.Text, At: s.At}); err != nil {
				return err
			}
		}
		for _, j := range b.Joined {
			if err := t.PutUSSDJoined(ctx, query.PutUSSDJoinedParams{AccountID: j.AccountID, List: j.List, Number: j.Number,
				At: j.At}); err != nil {
				return err
			}
		}
		return nil
	})
}

func sessionRow(s ussd.Session) query.PutUSSDSessionParams {
	return query.PutUSSDSessionParams{ID: s.ID, AccountID: s.AccountID, MenuID: s.MenuID, Version: int64(s.Version),
		Number: s.Number, Network: s.Network, Code: s.Code,
		BegunAt: s.BegunAt, LastAt: s.LastAt, EndedAt: s.EndedAt, Ended: s.Ended, Steps: int64(s.Steps), Slowest: s.Slowest,
		Screen: s.Screen, Trial: s.Test,
		ServiceID: s.ServiceID, UssdID: s.USSDID, Status: s.Status, Body: s.Body}
}

func sessionOf(r query.UssdSession) ussd.Session {
	return ussd.Session{ID: r.ID, AccountID: r.AccountID, MenuID: r.MenuID, Version: int(r.Version), Number: r.Number,
		Network: r.Network, Code: r.Code,
		BegunAt: r.BegunAt, LastAt: r.LastAt, EndedAt: r.EndedAt, Ended: r.Ended, Steps: int(r.Steps), Slowest: r.Slowest,
		Screen: r.Screen, Test: r.Trial,
		ServiceID: r.ServiceID, USSDID: r.UssdID, Status: r.Status, Body: r.Body}
}

// EndOpenUSSDSessions closes the sessions that an earlier process left open.
func (db menuStore) EndOpenUSSDSessions(ctx context.Context, account int64, why string) error {
	return db.update(ctx, "end USSD sessions", func(t *tx) error { return t.EndOpenUSSDSessions(ctx, account, why) })
}

// USSDSessions lists sessions, newest first; more says that there are further ones.
func (db menuStore) USSDSessions(ctx context.Context,
	f ussd.SessionFilter) (list []ussd.Session, more bool, err error) {
	before := f.Before
	if before == 0 {
		before = math.MaxInt64
	}
	var rows []query.UssdSession
	switch limit := int32(f.Limit + 1); {
	case f.Open:
		rows, err = db.read().OpenUSSDSessions(ctx, f.AccountID, before, limit)
	case f.MenuID > 0:
		rows, err = db.read().USSDSessionsOf(ctx, f.MenuID, before, limit)
	default:
		rows, err = db.read().USSDSessions(ctx, f.AccountID, before, limit)
	}
	if err != nil {
		return nil, false, fmt.Errorf("list USSD sessions: %w", err)
	}
	if more = len(rows) > f.Limit; more {
		rows = rows[:f.Limit]
	}
	return sessionsOf(rows), more, nil
}

func sessionsOf(rows []query.UssdSession) []ussd.Session {
	list := make([]ussd.Session, len(rows))
	for i, r := range rows {
		list[i] = sessionOf(r)
	}
	return list
}

// SlowestUSSDSessions lists the sessions with the slowest of our answers, of those
// that took longer than least microseconds.
func (db menuStore) SlowestUSSDSessions(ctx context.Context, account, least int64, limit int) ([]ussd.Session, error) {
	rows, err := db.read().SlowestUSSDSessions(ctx, account, least, int32(limit))
	return wrapNotFound(sessionsOf(rows), err, "list slow USSD sessions")
}

// CountOpenUSSDSessions counts the sessions under way.
func (db menuStore) CountOpenUSSDSessions(ctx context.Context, account int64) (int64, error) {
	n, err := db.read().CountOpenUSSDSessions(ctx, account)
	return wrapNotFound(n, err, "count USSD sessions")
}

// USSDSession finds a session with its steps and answers.
func (db menuStore) USSDSession(ctx context.Context,
	id int64) (s ussd.Session, steps []ussd.Step, saved []ussd.SavedAnswer, err error) {
	row, err := db.read().USSDSession(ctx, id)
	if _, err := wrapNotFound(row, err, "read USSD session"); err != nil {
		return s, nil, nil, err
	}
	rows, err := db.read().USSDSteps(ctx, id)
	if err != nil {
		return s, nil, nil, fmt.Errorf("read USSD steps: %w", err)
	}
	for _, r := range rows {
		steps = append(steps, ussd.Step{SessionID: r.SessionID, No: int(r.No), At: r.At, Screen: r.Screen, Input: r.Input,
			Text: r.Text, Took: r.Took, End: r.Ends})
	}
	answers, err := db.read().USSDSavedOf(ctx, id)
	if err != nil {
		return s, nil, nil, fmt.Errorf("read USSD answers: %w", err)
	}
	return sessionOf(row), steps, savedOf(answers), nil
}

func savedOf(rows []query.UssdSaved) (list []ussd.SavedAnswer) {
	for _, r := range rows {
		list = append(list, ussd.SavedAnswer{SessionID: r.SessionID, AccountID: r.AccountID, MenuID: r.MenuID,
			Number: r.Number,
			Name:   r.Name, Text: r.Text, At: r.At})
	}
	return list
}

// Drops tells for each screen of a menu how many of its last 10,000 sessions
// saw it, and in how many the caller left there.
func (db menuStore) Drops(ctx context.Context, menu int64) ([]ussd.Drop, error) {
	rows, err := db.read().USSDDrops(ctx, menu)
	return foundAll(rows, err, func(r query.USSDDropsRow) ussd.Drop {
		return ussd.Drop{Screen: r.Screen, Seen: r.Seen, Ended: r.Ended}
	}, "count USSD screens")
}

// Moves tells how many of the last 10,000 sessions of a menu went from each screen
// to each other.
func (db menuStore) Moves(ctx context.Context, menu int64) ([]ussd.Move, error) {
	rows, err := db.read().USSDMoves(ctx, menu)
	return foundAll(rows, err, func(r query.USSDMovesRow) ussd.Move {
		return ussd.Move{From: r.Screen, To: r.Next, Callers: r.Callers}
	}, "count the ways of USSD callers")
}

// AnswerCounts tells how often each answer was given in the last 10,000 sessions
// of a menu, by name and the most frequent first.
func (db menuStore) AnswerCounts(ctx context.Context, menu int64) ([]ussd.AnswerCount, error) {
	rows, err := db.read().USSDAnswerCounts(ctx, menu)
	return foundAll(rows, err, func(r query.USSDAnswerCountsRow) ussd.AnswerCount {
		return ussd.AnswerCount{Name: r.Name, Text: r.Text, Callers: r.Callers}
	}, "count USSD answers")
}

// EachAnswers gives what callers answered in a menu, session by session, the
// newest first, until do says false.
func (db menuStore) EachAnswers(ctx context.Context, menu, before int64,
	do func(answers []ussd.SavedAnswer) bool) error {
	if before == 0 {
		before = math.MaxInt64
	}
	for {
		ids, err := db.read().SavedUSSDSessions(ctx, menu, before, 200)
		if err != nil || len(ids) == 0 {
			return wrap(err, "list USSD answers")
		}
		for _, id := range ids {
			rows, err := db.read().SavedInUSSDSession(ctx, menu, id)
			if err != nil {
				return wrap(err, "read USSD answers")
			}
			if !do(savedOf(rows)) {
				return nil
			}
			before = id
		}
	}
}

func wrap(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// JoinedLists counts the people on each list that callers joined.
func (db menuStore) JoinedLists(ctx context.Context, account int64) (map[string]int64, error) {
	rows, err := db.read().JoinedUSSDLists(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("list USSD lists: %w", err)
	}
	lists := map[string]int64{}
	for _, r := range rows {
		lists[r.List] = r.People
	}
	return lists, nil
}

// EachJoined gives the callers on a list, in the order of their numbers.
func (db menuStore) EachJoined(ctx context.Context, account int64, list string, do func(j ussd.SignUp) error) error {
	for after := ""; ; {
		rows, err := db.read().JoinedUSSD(ctx, query.JoinedUSSDParams{AccountID: account, List: list, Number: after,
			Limit: 500})
		if err != nil || len(rows) == 0 {
			return wrap(err, "read USSD list")
		}
		for _, r := range rows {
			if err := do(ussd.SignUp{AccountID: account, List: list, Number: r.Number, At: r.At}); err != nil {
				return err
			}
			after = r.Number
		}
	}
}

// PurgeUSSDSessions deletes sessions with lower ids, with what was said in them;
// more says that some are left.
func (db menuStore) PurgeUSSDSessions(ctx context.Context, before int64) (gone int, err error) {
	err = db.update(ctx, "forget USSD sessions", func(t *tx) error {
		ids, err := t.OldUSSDSessions(ctx, before)
		gone = len(ids)
		for _, id := range ids {
			if err == nil {
				err = t.DeleteUSSDSteps(ctx, id)
			}
			if err == nil {
				err = t.DeleteUSSDSaved(ctx, id)
			}
			if err == nil {
				err = t.DeleteUSSDSession(ctx, id)
			}
		}
		return err
	})
	return gone, err
}
