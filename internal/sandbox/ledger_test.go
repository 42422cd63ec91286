package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestStateSurvivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	keep := func(c *Config) { c.State, c.Credit = file, 1_000_00 }
	// Ordinary texts would be reported at once; these wait for the second process.
	later := func(c *Config) { keep(c); c.ReportMin, c.ReportMax = time.Hour, time.Hour }
	v := start(t, later)
	sent := v.rows(v.sendTo("2348031234567,2348030000007,2348030000006", "Hello"))
	v.rows(v.get("/v2/SendBulkSMS?" + creds +
		"&SenderId=CLINIC&MobileNumber_Message=2348031234567%5Eone~2348031234568%5Etwo"))
	v.sendTo("2348030000011", "throttled once")
	v.says(v.post("/v2/Group", `{`+jsonCreds+`,"GroupName":"Kept"}`), "success#New Group added successfully.")
	v.says(v.do("DELETE", "/v2/Group?id=108&"+creds, ""), "Group deleted successfully.")
	v.says(v.do("DELETE", "/v2/Template?id=105&"+creds, ""), "Template deleted Successfully.")
	v.says(v.do("PUT", "/v2/SenderId?id=101", `{`+jsonCreds+`,"SenderId":"CLINIC","Purpose":"Kept"}`),
		"SenderId updated Successfully.")
	pages := []string{"/_sandbox/ledger", "/v2/Balance?" + creds, "/v2/Group?" + creds, "/v2/Template?" + creds,
		"/v2/SenderId?" + creds}
	var before []string
	for _, page := range pages {
		before = append(before, v.get(page).body)
	}
	v.stop()

	again := start(t, keep)
	again.get("/v2/Nothing")
	last := again.ledger()[4]["call"].(float64)
	if next := again.list("/_sandbox/calls")[0]["seq"]; next != last+1 {
		t.Errorf("the call after %v is %v", last, next)
	}
	for i, page := range pages {
		if got := again.get(page).body; got != before[i] {
			t.Errorf("%s\nbefore %s\nafter  %s", page, before[i], got)
		}
	}
	if got := again.status(sent[0]["MessageId"].(string))["Status"]; got != "SUBMITTED" {
		t.Errorf("status %v", got)
	}
	if rows := again.rows(again.sendTo("2348030000011", "passes now")); len(rows) != 1 || len(again.ledger()) != 6 {
		t.Errorf("rows %v, ledger %v", rows, again.ledger())
	}
	again.says(again.post("/v2/Group", `{`+jsonCreds+`,"GroupName":"Another"}`), "success#New Group added successfully.")
	if id := again.groupID("Another"); id <= again.groupID("Kept") {
		t.Errorf("id %s was given twice", id)
	}
}

func TestReportsOwedSurviveARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	v := start(t, func(c *Config) { c.State, c.DLRURL = file, "" })
	v.rows(v.sendTo("2348031234567,2348030000002,2348030000007", "Hello"))
	v.stop()

	again := start(t, func(c *Config) { c.State = file })
	var got []string
	for _, r := range again.dlr.wait(t, 5) {
		got = append(got, r.Get("mobile")[6:]+r.Get("status"))
	}
	again.settled(t)
	slices.Sort(got)
	if want := []string{"0000002UNDELIV", "0000007ACCEPTD", "0000007DELIVRD", "0000007DELIVRD",
		"1234567DELIVRD"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	again.stop()

	third := start(t, func(c *Config) { c.State = file })
	time.Sleep(30 * time.Millisecond)
	if got := third.dlr.all(); len(got) != 0 || third.s.State().ReportsOwed != 0 {
		t.Errorf("reported once more: %v", got)
	}
}

func TestATornLastLineIsCutOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	v := start(t, func(c *Config) { c.State = file })
	v.rows(v.sendTo("2348031234567", "whole"))
	v.settled(t)
	v.stop()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{`{"send":{"call":2,"at":17`, `{`, `garbage`} {
		if err := os.WriteFile(file, append(slices.Clone(whole), tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		again := start(t, func(c *Config) { c.State = file })
		again.rows(again.sendTo("2348031234567", "next"))
		again.settled(t)
		again.stop()
		third := start(t, func(c *Config) { c.State = file })
		if l := third.ledger(); len(l) != 2 || l[1]["text"] != "next" {
			t.Errorf("after %s: %v", tail, l)
		}
		third.stop()
	}
	if err := os.WriteFile(file, append([]byte("not ours\n"), whole...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{APIKey: "a", ClientID: "b", State: file}); err == nil ||
		!strings.Contains(err.Error(), "line 1") {
		t.Errorf("a foreign file: %v", err)
	}
	if got, _ := os.ReadFile(file); !strings.HasPrefix(string(got), "not ours\n{") {
		t.Error("a foreign file was changed")
	}
}

func TestNothingIsExecutedThatCannotBeStored(t *testing.T) {
	v := start(t, func(c *Config) { c.State = filepath.Join(t.TempDir(), "state") })
	if err := v.s.Close(); err != nil {
		t.Fatal(err)
	}
	if r := v.sendTo("2348031234567", "x"); r.status != 500 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := v.post("/v2/Group", `{`+jsonCreds+`,"GroupName":"x"}`); r.status != 500 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if n := len(v.ledger()); n != 0 {
		t.Errorf("%d texts executed", n)
	}
}

func TestOneCallIsOneWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	v := start(t, func(c *Config) { c.State, c.DLRURL = file, "" })
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	numbers := make([]string, 100)
	for i := range numbers {
		numbers[i] = fmt.Sprintf("2348031234%03d", i)
	}
	call := func() int64 {
		before := size()
		v.rows(v.sendTo(strings.Join(numbers, ","), strings.Repeat("long text ", 50)))
		return size() - before
	}
	first := call()
	for range 20 {
		if n := call(); n > first+100 {
			t.Fatalf("a call wrote %d bytes, the first %d: the file must grow by what is new", n, first)
		}
	}
	if first > 15_000 {
		t.Errorf("a call of 100 wrote %d bytes", first)
	}
}
