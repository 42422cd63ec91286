package plan_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"smsdesk/internal/gateway"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

// TestFillKeepsThePlan: what the planner put into one call is one call.
func TestFillKeepsThePlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		l := bounds{CallLimit: 1 + rng.IntN(30), URLBudget: 300 + rng.IntN(1500), Overhead: 200}
		p := plan.New(l.limits(), 0)
		var rows []plan.Row
		for i := range 300 {
			text := fmt.Sprintf("%0*d", 1+rng.IntN(120), rng.IntN(3))
			if rng.IntN(9) == 0 {
				text += "~"
			}
			rows = append(rows, plan.Row{Number: fmt.Sprint(2348030000000 + rng.IntN(280)), Text: text, Unicode: i%4 == 0})
			if err := p.Add(rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		divided := p.Plan()
		calls := make([][]sms.Recipient, divided.Calls)
		for i, c := range divided.Assign {
			calls[c] = append(calls[c], sms.Recipient{MessageID: int64(i), Number: rows[i].Number, Text: rows[i].Text})
		}
		for i, call := range calls {
			room := l.limits().Room(rows[call[0].MessageID].Unicode)
			if kind, taken := gateway.Fill(call, l.CallLimit, room); kind != divided.Kind(int32(i)) || len(taken) != len(call) {
				t.Fatalf("call %d of %d messages as %s became %d as %s", i, len(call), divided.Kind(int32(i)), len(taken), kind)
			}
		}
	}
}
