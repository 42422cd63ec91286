package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// hookMost is how long the owner's webhook may take: the caller waits.
const hookMost = time.Second

// deeds does what the screens of one request ask for.
type deeds struct {
	s      *Sessions
	ctx    context.Context
	c      *call
	saved  []ussd.SavedAnswer
	joined []ussd.SignUp
}

// Record keeps an answer; it is stored before the caller is answered.
func (d *deeds) Record(name, text string) bool {
	a := &d.c.about
	d.saved = append(d.saved, ussd.SavedAnswer{SessionID: a.ID, AccountID: a.AccountID, MenuID: a.MenuID, Number: a.Number,
		Name: name, Text: clean(text, 1000), At: d.s.now().UnixMilli()})
	return true
}

// Do does a deed. What concerns a number needs one that can be read.
func (d *deeds) Do(a ussd.Action, state *ussd.State) (into string, ok bool) {
	if a.Kind != ussd.Call && !d.c.readable {
		return "", false
	}
	var err error
	switch a.Kind {
	case ussd.Block:
		ok, err = d.block()
	case ussd.Unblock:
		ok, err = d.unblock()
	case ussd.Join:
		d.joined, ok = append(d.joined, ussd.SignUp{AccountID: d.c.about.AccountID, List: a.List, Number: d.c.about.Number,
			At: d.s.now().UnixMilli()}), true
	case ussd.Status:
		into, ok, err = d.status()
	case ussd.Call:
		into, err = d.call(a, state)
		ok = err == nil
	}
	if err != nil {
		d.s.log.Warn("a screen could not do what it should", "deed", string(a.Kind), "menu", d.c.about.MenuID, "error", err)
	}
	return into, ok && err == nil
}

func (d *deeds) block() (bool, error) {
	_, err := d.s.blocks.BlockByUSSD(d.ctx, d.c.about.AccountID, "+"+d.c.about.Number, d.proof())
	return err == nil, err
}

// proof says for staff where the caller asked for something.
func (d *deeds) proof() string {
	return fmt.Sprintf("asked in *%s# on %s, session %d", d.c.menu.Menu.Code, d.c.about.Network, d.c.about.ID)
}

// unblock is done too where the number was not blocked.
func (d *deeds) unblock() (bool, error) {
	account, number := d.c.about.AccountID, d.c.about.Number
	done, err := d.s.blocks.UnblockByUSSD(d.ctx, account, number, d.proof())
	if err != nil || done {
		return done, err
	}
	left, err := d.s.store.BlockedAmong(d.ctx, account, []string{number})
	return err == nil && len(left) == 0, err
}

// status says what became of the last message, and nothing of what it said.
func (d *deeds) status() (string, bool, error) {
	list, _, err := d.s.store.SearchMessages(d.ctx,
		sms.MessageSearch{AccountID: d.c.about.AccountID, Number: d.c.about.Number, Limit: 1})
	if err != nil {
		return "not available right now", false, err
	}
	if len(list) == 0 {
		return "none", true, nil
	}
	m := list[0].Message
	words := strings.ToLower(m.Standing().Words)
	switch m.Standing().Tile {
	case sms.TileDecision:
		words = "unknown" // that staff must decide is not the caller's business
	case sms.TileWaiting:
		words = "on its way"
	}
	at := time.UnixMilli(m.ChangedAt).In(d.s.known.Load().accounts[m.AccountID].Location())
	return words + ", on " + at.Format("2 January"), true, nil
}

// call asks the owner's webhook. It is told what the caller has entered.
func (d *deeds) call(a ussd.Action, state *ussd.State) (string, error) {
	ctx, cancel := context.WithTimeout(d.ctx, hookMost)
	defer cancel()
	about := &d.c.about
	body := ussd.QuestionBody{Menu: d.c.menu.Menu.Name, Screen: d.c.program.Key(state),
		Session: strconv.FormatInt(about.ID, 10), Number: about.Number,
		Network: about.Network, Code: d.c.menu.Menu.Code, Values: map[string]string{}}
	for _, v := range state.Values {
		body.Values[v.Name] = v.Text
	}
	return d.s.hook(ctx, ussd.Question{URL: a.URL, Secret: d.c.menu.Secret, At: d.s.now().UnixMilli(), Body: body})
}
