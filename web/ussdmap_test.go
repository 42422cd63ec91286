package web

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
	"smsdesk/views"
)

// TestTheMapsFiguresAreTheCounts: what stands on the map of a menu, in its tables
// and on the bars, is what the sessions left behind, however callers walked.
func TestTheMapsFiguresAreTheCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(14, 6))
	for round := range 6 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			s := newSite(t)
			a := s.clinic()
			menu := s.menuMade(a, 2)
			m := ussd.Examples()[2]
			walks := s.walks(a, menu, m, random, 40)
			seen, left, moved := map[string]int{}, map[string]int{}, map[string]int{}
			for _, w := range walks {
				for i, key := range w.screens {
					if !slices.Contains(w.screens[:i], key) {
						seen[key]++
					}
				}
				if w.left {
					left[w.screens[len(w.screens)-1]]++
				}
				for move := range w.moves() {
					moved[move]++
				}
			}
			page := s.as(s.boss).get(views.MenuPath(menu) + "/answers").is(200)
			boxes := map[string]string{}
			page.page().Find(".flowmap svg a").Each(func(_ int, e *goquery.Selection) {
				key := strings.SplitN(e.AttrOr("href", "")+"=", "=", 3)[1]
				boxes[key] = e.Find(".seen").Text()
			})
			stubs := page.page().Find(".flowmap .ill").Map(func(_ int, e *goquery.Selection) string { return e.Text() })
			for _, x := range m.Screens {
				want := fmt.Sprintf("%d saw it", seen[x.Key])
				if x.Kind == ussd.Finish {
					want = fmt.Sprintf("Ended here: %d", seen[x.Key])
				}
				if boxes[x.Key] != want {
					t.Errorf("the box of %s says %q, want %q", x.Key, boxes[x.Key], want)
				}
				stub := fmt.Sprintf("%d left, ", left[x.Key])
				is := slices.ContainsFunc(stubs, func(s string) bool { return strings.HasPrefix(s, stub) })
				if left[x.Key] > 0 && !is {
					t.Errorf("%d left at %s, and the map says %q", left[x.Key], x.Key, stubs)
				}
			}
			titles := map[string]string{}
			for _, x := range m.Screens {
				titles[x.Key] = x.Title
			}
			inTable, labels := map[string]int64{}, page.page().Find(".flowmap .at")
			page.page().Find("#moves tbody tr").Each(func(i int, row *goquery.Selection) {
				cells := row.Find("td")
				n := figure(t, cells.Eq(1).Text())
				inTable[row.Find("th").Text()+">"+cells.Eq(0).Text()] = n
				if words := labels.Eq(i).Text(); words != fmt.Sprint(n) && !strings.HasSuffix(words, fmt.Sprintf(" %d", n)) {
					t.Errorf("the way's label is %q, the table says %d", words, n)
				}
			})
			for move, n := range moved {
				from, to, _ := strings.Cut(move, ">")
				if got := inTable[titles[from]+">"+titles[to]]; got != int64(n) {
					t.Errorf("%s: %d, want %d of %v", move, got, n, inTable)
				}
			}
			bars := int64(0)
			page.page().Find(".answers b").Each(func(_ int, e *goquery.Selection) { bars += figure(t, e.Text()) })
			if int(bars) != len(walks) {
				t.Errorf("the bars count %d answers, want %d", bars, len(walks))
			}
		})
	}
}

// walk is how a caller went through a menu; left says that they hung up before an
// end.
type walk struct {
	screens []string
	left    bool
}

func (w walk) moves() map[string]bool {
	all := map[string]bool{}
	for i := 1; i < len(w.screens); i++ {
		if w.screens[i] != w.screens[i-1] {
			all[w.screens[i-1]+">"+w.screens[i]] = true
		}
	}
	return all
}

// walks stores sessions of callers who choose by chance, go back and leave.
func (s *site) walks(a sms.Account, menu int64, m ussd.Menu, random *rand.Rand, n int) (all []walk) {
	s.t.Helper()
	var b ussd.Batch
	at := s.clock.now().UnixMilli()
	for i := range n {
		w := walk{screens: []string{m.Screens[0].Key}}
		for len(w.screens) < 12 {
			screen, _ := m.Screen(w.screens[len(w.screens)-1])
			ways := slices.DeleteFunc(screen.Exits(), func(key string) bool { _, is := m.Screen(key); return !is })
			if w.left = len(ways) > 0; !w.left || random.IntN(6) == 0 {
				break
			}
			to := ways[random.IntN(len(ways))]
			if random.IntN(8) == 0 {
				to = w.screens[random.IntN(len(w.screens))]
			}
			w.screens = append(w.screens, to)
		}
		x := ussd.Session{ID: ussd.SessionID(at+int64(i), 1), AccountID: a.ID, MenuID: menu, Version: 1,
			Number: "2348030000101", BegunAt: at, LastAt: at, EndedAt: at, Ended: ussd.EndedByMenu, Steps: len(w.screens)}
		if w.left {
			x.Ended = ussd.EndedByCaller
		}
		b.Sessions = append(b.Sessions, x)
		for no, key := range w.screens {
			b.Steps = append(b.Steps, ussd.Step{SessionID: x.ID, No: no + 1, At: at, Screen: key})
		}
		b.Saved = append(b.Saved, ussd.SavedAnswer{SessionID: x.ID, AccountID: a.ID, MenuID: menu, Number: x.Number,
			Name: "Reason", Text: fmt.Sprint("reason ", random.IntN(9)), At: at})
		all = append(all, w)
	}
	s.must(s.db.PutUSSDSessions(s.t.Context(), b))
	return all
}

// A menu without callers, with choices that lead nowhere and screens to which
// nothing leads, has a page all the same.
func TestAMapOfAnUnfinishedMenu(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	m := ussd.Menu{Name: "Half", Languages: []ussd.Language{{Code: "en", Name: "English"}}, Screens: []ussd.Screen{
		{Key: "a", Title: "Begin", Kind: ussd.Choose, Text: ussd.Words{"en": "Hello"}, Choices: []ussd.Choice{
			{Text: ussd.Words{"en": "Later"}}, {Text: ussd.Words{"en": "Yes"}, Next: "b"}}},
		{Key: "b", Title: "End", Kind: ussd.Finish, Text: ussd.Words{"en": "Bye"}},
		{Key: "c", Title: "Lost", Kind: ussd.Finish, Text: ussd.Words{"en": "?"}}}}
	id, err := s.desk.CreateMenu(t.Context(), s.boss, a.ID, m)
	s.must(err)
	page := s.as(s.boss).get(views.MenuPath(id) + "/answers").is(200).has("No calls yet")
	page.count(".flowmap", 0)
	at := s.clock.now().UnixMilli()
	x := ussd.Session{ID: ussd.SessionID(at, 1), AccountID: a.ID, MenuID: id, BegunAt: at, LastAt: at, Steps: 1}
	s.must(s.db.PutUSSDSessions(t.Context(), ussd.Batch{Sessions: []ussd.Session{x},
		Steps: []ussd.Step{{SessionID: x.ID, No: 1, At: at, Screen: "a"}}}))
	page = s.as(s.boss).get(views.MenuPath(id)+"/answers").is(200).has("Leads nowhere", "1 Later", "2 Yes 0", "3. Lost")
	page.count(".flowmap .lost", 1)
	if got := page.attr(".flowmap", "aria-label"); got != "Map of the menu, scrolls horizontally" {
		t.Errorf("%q", got)
	}
	// Who may not edit sees the same map without ways into the editor.
	viewer := s.as(s.hire("v@example.com", sms.Viewer)).get(views.MenuPath(id) + "/answers").is(200)
	viewer.count(".flowmap a", 0)
	viewer.count(".flowmap .box", 4)
}
