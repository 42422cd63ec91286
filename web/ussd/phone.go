package ussd

import (
	"net/http"
	"slices"
	"strings"

	"smsdesk/internal/desk"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
	"smsdesk/views"
	"smsdesk/web/page"
)

// simulatorNumber is the phone's number until somebody types another.
const simulatorNumber = "0803 000 0101"

// Simulator shows the phone; draft lets it walk through a menu's draft.
func (s *menus) Simulator(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p := s.phonePage(v, r.URL.Query().Get("draft"))
	if p.Draft > 0 {
		d, err := s.store.MenuDraft(r.Context(), p.Draft)
		if err != nil {
			return err
		}
		p.Name, p.Dialled = d.Menu.Name, "*"+d.Menu.Code+"#"
		return s.showPhone(w, r, v, p)
	}
	list, err := s.store.Menus(r.Context(), v.Account.ID)
	if err != nil {
		return err
	}
	for _, d := range list {
		if d.Published > 0 && p.Dialled == "" {
			p.Dialled = "*" + d.Menu.Code + "#"
		}
	}
	return s.showPhone(w, r, v, p)
}

func (s *menus) phonePage(v *page.Visit, draft string) views.SimulatorPage {
	return views.SimulatorPage{Formatter: s.Formatter(v, v.Account), NoAccount: v.Account.ID == 0, Network: "mtn",
		Number: simulatorNumber, Draft: page.Number(draft)}
}

func (s *menus) showPhone(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.SimulatorPage) error {
	f := v.Frame("Simulator", "ussd")
	f.Error = len(p.Bad) > 0
	return s.Render(w, r, page.Status(r, p.Bad), views.Simulator(f, p))
}

// SimulatorPress dials, answers or hangs up: a request goes to the account's
// USSD address as one of the network's would.
func (s *menus) SimulatorPress(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p := s.phonePage(v, r.PostForm.Get("draft"))
	if p.NoAccount {
		return sms.ErrNotFound
	}
	p.Dialled, p.Network, p.Number, p.Session = page.TypedNumber(r, "dialled"), r.PostForm.Get("network"),
		page.TypedNumber(r, "number"), r.PostForm.Get("session")
	var d ussd.Draft
	if p.Draft > 0 {
		var err error
		if d, err = s.store.MenuDraft(r.Context(), p.Draft); err != nil {
			return err
		}
		p.Name = d.Menu.Name
	}
	press, bad := s.pressOf(v, r, &p)
	if p.Bad = bad; len(bad) > 0 {
		return s.showPhone(w, r, v, p)
	}
	if p.Draft > 0 && press.Stage == ussd.Begin {
		s.try(press.Session, d)
	}
	heard, err := s.press(r.Context(), v.Account.ID, press)
	if err != nil {
		heard.Problem = strings.ToUpper(err.Error()[:1]) + err.Error()[1:]
	}
	p.Heard, p.Session = &heard, press.Session
	if heard.End || err != nil || heard.Answer == "" {
		p.Session = ""
	}
	return s.showPhone(w, r, v, p)
}

// pressOf reads which key was pressed.
func (s *menus) pressOf(v *page.Visit, r *http.Request, p *views.SimulatorPage) (ussd.PhoneInput, sms.Invalid) {
	bad := sms.Invalid{}
	if !slices.Contains(ussd.Networks(), p.Network) {
		p.Network = ussd.Networks()[0]
	}
	phone, err := phone.Parse(p.Number, v.Account.Country, true)
	if err != nil {
		bad["number"] = "Enter a mobile number, for example " + simulatorNumber
	}
	code, _, _ := strings.Cut(strings.Trim(p.Dialled, "*# "), "*")
	press := ussd.PhoneInput{Number: phone.Number, Network: p.Network, Code: code, Text: p.Dialled, Session: p.Session,
		Stage: ussd.Begin}
	switch do := r.PostForm.Get("do"); {
	case p.Session == "":
		press.Session = ussd.TrialPrefix + desk.NewToken()[:32]
		if strings.Trim(p.Dialled, "0123456789*#") != "" || code == "" {
			bad["dialled"] = "Enter a code, for example *347#"
		}
	case do == "hangup":
		press.Stage, press.Text = ussd.End, ""
	default:
		press.Stage, press.Text = ussd.Continue, page.FirstLetters(r.PostForm.Get("input"), 200)
		if strings.TrimSpace(press.Text) == "" {
			bad["input"] = "Type your answer"
		}
	}
	return press, bad
}
