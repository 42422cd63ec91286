package session

import (
	"context"
	"fmt"
	"testing"

	"smsdesk/internal/ussd"
)

// BenchmarkUSSD is one request of a caller, without HTTP and the database.
func BenchmarkUSSD(b *testing.B) {
	r := newUSSDRig(b, nil, ussd.Examples()[0])
	stages := []ussd.Stage{ussd.Begin, ussd.Continue, ussd.Continue, ussd.Continue}
	texts := []string{"*347#", "1", "0", "7"}
	b.ReportAllocs()
	for i := range b.N {
		q := r.request(stages[i%4], fmt.Sprintf("234803%07d", i/4%1_000_000), texts[i%4])
		if _, err := r.Answer(context.Background(), 1, q); err != nil {
			b.Fatal(err)
		}
	}
}
