package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnAdministratorBacksUp: the desk makes the first backup by itself, the next when asked; one that fails is said
// without a reload, and on the overview. Every state of the page fits and is accessible.
func TestAnAdministratorBacksUp(t *testing.T) {
	beside(t)
	parent := filepath.Join(t.TempDir(), strings.Repeat("one_very_long_folder_name_without_any_place_to_break_it", 2))
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(parent, "backups")
	o := openOffice(t, "--backup", to)
	p := newTab(t, newBrowser(t), o.base).withAxe()
	p.open("/signin")
	p.firstRun(o)
	p.open("/settings/backup")
	p.sees("by smsdesk")
	p.sees("The backup is on the same disk as the data")
	p.isAccessible("/settings/backup")
	p.press("Back up now")
	p.sees("by Ada Obi")
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.press("Back up now")
	p.sees("The last good one is")
	p.isAccessible("/settings/backup?failed")
	p.open("/")
	p.sees("Open the Backup page")
	p.isAccessible("/?failed")
	if out, code := command(t, binary(t, ""), "--data", o.data, "doctor"); code != 1 ||
		!strings.Contains(out, "the backup of ") {
		t.Errorf("doctor: exit %d\n%s", code, out)
	}
}
