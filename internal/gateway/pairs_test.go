package gateway_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/gateway"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// oddText draws letters that a query, a list of pairs or a form treats in its
// own way, but no "~" and no "^".
func oddText(rng *rand.Rand, most int) string {
	letters := []rune("aZ09 .,;:!?'\"()/%&=+#@$-_*<>[]{}|\\`€£éñ\n\r\tọẹṣ₦“”😀\u0000\u00a0")
	text := []rune{'x'}
	for range rng.IntN(most) {
		text = append(text, letters[rng.IntN(len(letters))])
	}
	return string(text)
}

func pairsCall(rng *rand.Rand, n int) sms.Call {
	call := sms.Call{Kind: sms.CallPairs, SenderID: "SANDBOX", Unicode: rng.IntN(2) == 0, Flash: rng.IntN(2) == 0}
	for range n {
		call.Recipients = append(call.Recipients, sms.Recipient{Number: fmt.Sprint(
			2348031000000 + rng.IntN(1_000_000)*7 + len(call.Recipients)*7_000_000), Text: oddText(rng, 60)})
	}
	return call
}

// TestPairRoomIsExact: with the bytes of a real URL as the budget there is room
// for its pairs and nothing more.
func TestPairRoomIsExact(t *testing.T) {
	var url string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		url = "http://" + r.Host + r.RequestURI
		fmt.Fprint(w, `{"ErrorCode":0,"ErrorDescription":"Success","Data":[]}`)
	}))
	defer server.Close()
	lagos := time.FixedZone("Africa/Lagos", 3600)
	for _, secrets := range []sms.Credentials{{ClientID: "c", APIKey: "k"},
		{ClientID: "client id+1~", APIKey: "a/b+c==&é"}} {
		client, err := gateway.Open(gateway.Config{BaseURL: server.URL + "/v2/", PerMinute: 1_000_000, Credentials: secrets,
			Location: lagos})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		for i := range 200 {
			call := pairsCall(rng, 1+rng.IntN(12))
			call.SenderID = []string{"CLINIC", "A B&C", "ÉCOLE"}[rng.IntN(3)]
			if i%4 == 0 {
				call.SchedTime = time.Date(2031, 3, 1, 9, 5, 0, 0, lagos)
			}
			if o := client.Send(t.Context(), call, func() error { return nil }); o.Class == sms.ClassNothingLeft {
				t.Fatal(o.Reason)
			}
			pairs := 0
			for _, r := range call.Recipients {
				n, ok := gateway.PairSize(r.Number, r.Text)
				if !ok {
					t.Fatalf("%q cannot stand in a list of pairs", r.Text)
				}
				pairs += n
			}
			if room := client.PairRoom(call, len(url)); room != pairs {
				t.Fatalf("a URL of %d bytes has room for %d of pairs and held %d: %s", len(url), room, pairs, url)
			}
		}
	}
}

// TestBothReadPairsAlike: what the client writes by §4.4 is what the sandbox,
// written from the same section by itself, reads.
func TestBothReadPairsAlike(t *testing.T) {
	s := newStand(t, func(c *sandbox.Config) { c.PricePerPart, c.Currency = 1, "₦" })
	rng := rand.New(rand.NewPCG(7, 8))
	want, got := map[string]string{}, map[string]string{}
	for range 40 {
		call := s.sender(t, pairsCall(rng, 1+rng.IntN(15)))
		for i, r := range call.Recipients {
			r.Number = fmt.Sprint(2348031200000 + len(want))
			call.Recipients[i] = r
			want[r.Number] = r.Text
		}
		o := s.client.Send(t.Context(), call, licensed)
		if settled := sms.Settle(call.Recipients, o, "NG"); settled.State != sms.AttemptAccepted {
			t.Fatalf("%+v", o)
		}
	}
	for _, e := range s.box.Ledger() {
		got[e.Number] = e.Text
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
