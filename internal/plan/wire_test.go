package plan_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"smsdesk/internal/gateway"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

// What is counted is what the real client sends, and what the service reads is
// what was planned.
func TestPlanMatchesTheRealClient(t *testing.T) {
	var urls []string
	var read []said
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			urls = append(urls, "http://"+r.Host+r.RequestURI)
			q := r.URL.Query()
			read = append(read, readPairs(q.Get("MobileNumber_Message"), q.Get("Is_Unicode") == "true")...)
		} else {
			var b struct {
				Message, MobileNumbers string
				Unicode                bool `json:"Is_Unicode"`
			}
			if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
				t.Errorf("body: %v", err)
			}
			for _, number := range strings.Split(b.MobileNumbers, ",") {
				read = append(read, said{number, b.Message, b.Unicode})
			}
		}
		fmt.Fprint(w, `{"ErrorCode":0,"ErrorDescription":"Success","Data":[]}`)
	}))
	defer server.Close()
	client, err := gateway.Open(gateway.Config{BaseURL: server.URL + "/v2", PerMinute: 1_000_000,
		Credentials: sms.Credentials{ClientID: "client id+1", APIKey: "a/b+c=="}})
	if err != nil {
		t.Fatal(err)
	}
	send := func(c sms.Call) {
		t.Helper()
		if o := client.Send(t.Context(), c, func() error { return nil }); o.Class == sms.ClassNothingLeft {
			t.Fatal(o.Reason)
		}
	}
	send(sms.Call{Kind: sms.CallPairs, SenderID: "Clinic", Recipients: []sms.Recipient{{Number: "1", Text: ""}}})
	l := bounds{CallLimit: 40, URLBudget: 1200, Overhead: len(urls[0]) - len("1%5E")}
	urls, read = nil, nil

	rng := rand.New(rand.NewPCG(3, 4))
	alphabet := []rune("abcdefgh XYZ019 .,;:!?'\"()/%&=+#@$-_*<>[]{}|\\€£éñ\n\r\tọẹṣ₦“”😀")
	var rows []plan.Row
	for i := range 400 {
		text := make([]rune, rng.IntN(160))
		for k := range text {
			text[k] = alphabet[rng.IntN(len(alphabet))]
		}
		r := plan.Row{ID: int64(i), Number: fmt.Sprint(2348030000000 + rng.IntN(350)), Text: string(text),
			Unicode: rng.IntN(2) == 0}
		switch rng.IntN(10) {
		case 0:
			r.Text += "~2348099999999^hello"
		case 1, 2:
			r.Text = "shared"
		}
		rows = append(rows, r)
	}
	p := planOf(t, l, rows)
	longest := 0
	for i, c := range callsOf(rows, p) {
		before := len(urls)
		send(c)
		if c.Kind == sms.CallText {
			continue
		}
		size := l.Overhead - len("~")
		if c.Unicode {
			size--
		}
		for _, r := range c.Recipients {
			n, _ := gateway.PairSize(r.Number, r.Text)
			size += n
		}
		if len(urls) != before+1 || len(urls[before]) != size || size > l.URLBudget {
			t.Errorf("call %d: URL of %d bytes, counted %d", i, len(urls[len(urls)-1]), size)
		}
		longest = max(longest, size)
	}
	got := map[said]int{}
	for _, m := range read {
		got[m]++
	}
	if d := gocmp.Diff(wanted(rows), got); d != "" {
		t.Error(d)
	}
	if p.ByKind[sms.CallPairs] == 0 || p.ByKind[sms.CallText] == 0 || longest < l.URLBudget-5 {
		t.Errorf("by kind %v, longest URL %d: the test does not test", p.ByKind, longest)
	}
}

// FuzzBulkPairs: any two texts for three numbers arrive as they are, at these
// numbers and nowhere else, whatever stands in them.
func FuzzBulkPairs(f *testing.F) {
	for _, s := range [][2]string{{"hello", "hi"}, {"hi~2348099999999^text", "x"}, {"^", "~"},
		{"a b+c%7E%5E", "&Is_Unicode=true"}, {"ọ€😀\x00\n", ""}, {"same", "same"}} {
		f.Add(s[0], s[1], 400, false)
		f.Add(s[0], s[1], 60, true)
	}
	f.Fuzz(func(t *testing.T, a, b string, room int, unicode bool) {
		l := bounds{CallLimit: 3, URLBudget: overhead + max(min(room, 1<<20), 0), Overhead: overhead}
		p := plan.New(l.limits(), 0)
		var rows []plan.Row
		for i, text := range []string{a, b, a} {
			r := plan.Row{ID: int64(i), Number: fmt.Sprint(2348030000101 + i), Text: text, Unicode: unicode}
			if err := p.Add(r); err == nil {
				rows = append(rows, r)
			} else if strings.ToValidUTF8(text, "") == text {
				t.Fatalf("%q refused: %v", text, err)
			}
		}
		checkPlan(t, l, rows, p.Plan())
	})
}
