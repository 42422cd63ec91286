package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"smsdesk/storage"
)

// TestWiderModesAreTakenBackAndTold: what others could read of a desk is private
// behind the next command, the log says so once, and nothing else is touched.
func TestWiderModesAreTakenBackAndTold(t *testing.T) {
	data := newDesk(t)
	must(t, os.MkdirAll(filepath.Join(data, "lists", "a"), 0o755))
	must(t, os.Chmod(filepath.Join(data, "lists"), 0o755))
	must(t, os.WriteFile(filepath.Join(data, "lists", "a", "upload"), nil, 0o640))
	others := filepath.Join(data, "website.html")
	must(t, os.WriteFile(others, nil, 0o644))
	target := filepath.Join(t.TempDir(), "linked")
	must(t, os.WriteFile(target, nil, 0o644))
	must(t, os.Symlink(target, filepath.Join(data, "lists", "link")))
	for _, name := range []string{"smsdesk.db", "smsdesk.key", "dispatch.journal"} {
		must(t, os.Chmod(filepath.Join(data, name), 0o664))
	}
	if wide, err := openToOthers(env{storage: storage.Config{Data: data}}.private()...); err != nil || len(wide) != 6 {
		t.Fatalf("%v %v", wide, err)
	}
	var out bytes.Buffer
	if code := run([]string{"--data", data, "user", "list"}, &out, &out); code != exitOK ||
		!strings.Contains(out.String(), "others could read or write parts of the data folder") {
		t.Errorf("exit %d\n%s", code, &out)
	}
	if wide, err := openToOthers(env{storage: storage.Config{Data: data}}.private()...); err != nil || len(wide) != 0 {
		t.Errorf("%v %v", wide, err)
	}
	for _, path := range []string{others, target} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	out.Reset()
	if code := run([]string{"--data", data, "user", "list"}, &out, &out); code != exitOK ||
		strings.Contains(out.String(), "others could") {
		t.Errorf("told again: exit %d\n%s", code, &out)
	}
}
