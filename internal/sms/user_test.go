package sms

import "testing"

func TestRolesStandInOrder(t *testing.T) {
	want := []string{"viewer", "sender", "approver", "manager", "administrator"}
	if len(Roles()) != len(want) {
		t.Fatalf("%d roles", len(Roles()))
	}
	for i, r := range Roles() {
		if string(r) != want[i] {
			t.Errorf("role %d is %s, want %s", i, r, want[i])
		}
		for j, least := range Roles() {
			if r.AtLeast(least) != (i >= j) {
				t.Errorf("%s.AtLeast(%s) = %v", r, least, i < j)
			}
		}
	}
	for _, nobody := range []Role{"", "root", "Administrator", "viewer "} {
		for _, least := range append(Roles(), "", nobody) {
			if nobody.AtLeast(least) {
				t.Errorf("%q may do what %q may", nobody, least)
			}
		}
	}
	for raw, want := range map[string]Role{"Manager": Manager, " sender\n": Sender, "ADMINISTRATOR": Administrator} {
		if r, ok := ParseRole(raw); !ok || r != want {
			t.Errorf("ParseRole(%q) = %q, %v", raw, r, ok)
		}
	}
	for _, raw := range []string{"", "root", "view er"} {
		if _, ok := ParseRole(raw); ok {
			t.Errorf("ParseRole(%q) found a role", raw)
		}
	}
	if Administrator.Title() != "Administrator" || Role("").Title() != "" {
		t.Error("titles")
	}
}

// TestAPageWithoutARoleIsForNobody: a missing entry in a table of roles must
// not open a page.
func TestAPageWithoutARoleIsForNobody(t *testing.T) {
	for _, r := range Roles() {
		for _, least := range []Role{"", "root"} {
			if r.AtLeast(least) {
				t.Errorf("%s may do what nobody named (%q) may", r, least)
			}
		}
	}
}
