package views

import (
	"strings"
	"testing"
)

func TestOptOutNoAddress(t *testing.T) {
	shown := func(p OptOutNoAddressProps) string {
		var b strings.Builder
		if err := OptOutNoAddress(p).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := shown(OptOutNoAddressProps{CanSet: true}); got != "" {
		t.Errorf("it warns of nothing: %s", got)
	}
	if got := shown(OptOutNoAddressProps{Shown: true}); !strings.Contains(got, "Ask an administrator") ||
		strings.Contains(got, "--public-url") {
		t.Errorf("for staff: %s", got)
	}
	if got := shown(OptOutNoAddressProps{Shown: true, CanSet: true}); !strings.Contains(got, "--public-url") {
		t.Errorf("for administrators: %s", got)
	}
}
