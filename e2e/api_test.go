package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// apiClient is another program that knows the desk by its address and a token.
type apiClient struct {
	t     *testing.T
	base  string
	token string
}

// client adds a person and a token, as an operator does.
func (p *pair) client(role string) *apiClient {
	p.t.Helper()
	must(p.t, p.bin, "--data", p.data, "user", "add", "--email", role+"@example.com", "--name", "Program", "--role", role,
		"--password-file", writeFile(p.t, "password", adaPassword))
	words := strings.Fields(must(p.t, p.bin, "--data", p.data, "token", "add", "--name", "Billing", "--user", role+
		"@example.com"))
	return &apiClient{p.t, "http://" + p.listen + "/api/v1", words[len(words)-1]}
}

type apiCampaign struct {
	ID       int64            `json:"id"`
	State    string           `json:"state"`
	Rows     int64            `json:"rows"`
	Counts   map[string]int64 `json:"counts"`
	Delivery map[string]int64 `json:"delivery"`
	Plan     struct {
		Calls, Text, Pairs int64
	} `json:"plan"`
}

func (c apiCampaign) sum() (n int64) {
	for _, of := range c.Counts {
		n += of
	}
	return n
}

// ask sends a request and returns the answer's status and body.
func (a *apiClient) ask(method, path, kind string, body io.Reader, header ...string) (int, []byte, error) {
	r, err := http.NewRequest(method, a.base+path, body)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}

func (a *apiClient) must(status int, method, path, body string, into any) {
	a.t.Helper()
	kind := ""
	if body != "" {
		kind = "application/json"
	}
	got, answer, err := a.ask(method, path, kind, strings.NewReader(body))
	if err != nil || got != status {
		a.t.Fatalf("%s %s: %d %v, want %d: %.600s", method, path, got, err, status, answer)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		a.t.Fatalf("%s %s: %v: %.600s", method, path, err, answer)
	}
}

func (a *apiClient) campaign(id int64) (c apiCampaign) {
	a.t.Helper()
	a.must(200, "GET", fmt.Sprintf("/campaigns/%d", id), "", &c)
	if c.sum() != c.Rows {
		a.t.Errorf("%d messages are counted of %d: %v", c.sum(), c.Rows, c.Counts)
	}
	reported := int64(0)
	for _, n := range c.Delivery {
		reported += n
	}
	if reported != c.Counts["accepted"] {
		a.t.Errorf("%d accepted, %d by status", c.Counts["accepted"], reported)
	}
	return c
}

// until asks for a campaign until it is as wanted; its counts add up each time.
func (a *apiClient) until(id int64, what string, done func(apiCampaign) bool) (c apiCampaign) {
	a.t.Helper()
	waitFor(a.t, longPatience, what, func() bool {
		c = a.campaign(id)
		return done(c)
	})
	return c
}

// rows is the JSON of rows to these numbers, each with its own text.
func rows(numbers []string) string {
	var b strings.Builder
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"phone":"+%s","fields":{"name":"Person %d"}}`, n, i)
	}
	return b.String()
}

func order(numbers []string, rest string) string {
	return `{"account":"Clinic","senderId":"CLINIC","name":"API","text":"Dear ##name##, come at nine"` + rest +
		`,"rows":[` + rows(numbers) + `]}`
}

func executedTimes(t *testing.T, addr string) map[string]int {
	t.Helper()
	times := map[string]int{}
	for _, e := range ledger(t, addr) {
		times[e.Number]++
	}
	return times
}

// TestAnotherProgramSends is the whole life of campaigns over /api/v1, with the
// desk and the service as two processes.
func TestAnotherProgramSends(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 20)
	p.serve()
	a := p.client("sender")

	// Right after the start nobody has read the sender IDs yet.
	var draft apiCampaign
	a.must(201, "POST", "/campaigns", order(numbersFrom(0, 50), ""), &draft)
	if draft.State != "draft" || draft.Rows != 50 || draft.Counts["queued"] != 50 || draft.Plan.Calls == 0 {
		t.Fatalf("%+v", draft)
	}
	a.must(200, "POST", fmt.Sprintf("/campaigns/%d/send", draft.ID), "", nil)
	done := a.until(draft.ID, "every report", func(c apiCampaign) bool {
		return c.State == "finished" && c.Delivery["DELIVRD"] == 50
	})
	t.Logf("50 texts of their own in %d calls planned", done.Plan.Calls)

	var problem struct {
		Status, BadRows int
		Rows            []struct{ Row int }
	}
	bad := `{"account":"Clinic","senderId":"CLINIC","name":"Bad","text":"Hello"%s,"rows":[{"phone":"08031299001"},{"phone":"0803"},{"phone":"08031299003"}]}`
	a.must(422, "POST", "/campaigns", fmt.Sprintf(bad, ""), &problem)
	if problem.BadRows != 1 || len(problem.Rows) != 1 || problem.Rows[0].Row != 2 {
		t.Errorf("%+v", problem)
	}
	var list struct{ Items []apiCampaign }
	if a.must(200, "GET", "/campaigns", "", &list); len(list.Items) != 1 {
		t.Errorf("%d campaigns after a refusal", len(list.Items))
	}
	var skipped apiCampaign
	a.must(201, "POST", "/campaigns", fmt.Sprintf(bad, `,"skipBad":true,"send":true`), &skipped)
	a.until(skipped.ID, "the good rows", func(c apiCampaign) bool {
		return c.State == "finished" && c.Delivery["DELIVRD"] == 2 && c.Counts["skipped"] == 1
	})

	file := a.upload("bills.csv", "Phone;Name\n08031299011;Ada\n08031299012;Obi\n", "account", "Clinic", "senderId",
		"CLINIC", "text", "Dear ##Name##", "send", "true")
	a.until(file.ID, "the file's reports", func(c apiCampaign) bool { return c.Delivery["DELIVRD"] == 2 })
	times := executedTimes(t, p.sandbox)
	for _, n := range append(numbersFrom(0, 50), "2348031299001", "2348031299003", "2348031299011", "2348031299012") {
		if times[n] != 1 {
			t.Errorf("%s was executed %d times", n, times[n])
		}
	}
	if len(times) != 54 {
		t.Errorf("%d numbers in the ledger", len(times))
	}
}

func (a *apiClient) upload(name, file string, fields ...string) (c apiCampaign) {
	a.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, file)
	}
	for i := 0; i+1 < len(fields) && err == nil; i += 2 {
		err = form.WriteField(fields[i], fields[i+1])
	}
	if err != nil || form.Close() != nil {
		a.t.Fatal(err)
	}
	status, answer, err := a.ask("POST", "/campaigns", form.FormDataContentType(), &body)
	if err != nil || status != 201 || json.Unmarshal(answer, &c) != nil {
		a.t.Fatalf("%d %v %s", status, err, answer)
	}
	return c
}

// TestAnotherProgramStopsAndContinues stops a campaign in full run, goes on,
// cancels another, and reads every message once in pages meanwhile.
func TestAnotherProgramStopsAndContinues(t *testing.T) {
	waits(t)
	p := newPair(t, binary(t, ""), 10, "--faults", "latency=50ms")
	p.flags = []string{"--calls-in-flight", "2"}
	p.serve()
	a := p.client("sender")
	const n = 1000
	var c apiCampaign
	a.must(201, "POST", "/campaigns", order(numbersFrom(0, n), `,"send":true`), &c)
	path := fmt.Sprintf("/campaigns/%d", c.ID)
	a.until(c.ID, "the first hundred", func(c apiCampaign) bool { return c.Counts["accepted"] >= 100 })
	// Something is left to stop and to cancel, however slow the machine is.
	setFaults(t, p.sandbox, `{"latency":"1s"}`)
	began := time.Now()
	a.must(200, "POST", path+"/stop", "", nil)
	a.must(200, "POST", path+"/stop", "", nil)
	still := a.until(c.ID, "calls under way to end", func(c apiCampaign) bool {
		return c.State == "stopped" && c.Counts["sending"]+c.Counts["claimed"] == 0
	})
	t.Logf("quiet %s after stop", time.Since(began).Round(time.Millisecond))
	time.Sleep(300 * time.Millisecond)
	if now := a.campaign(c.ID); now.Counts["accepted"] != still.Counts["accepted"] || now.Counts["queued"] == 0 {
		t.Errorf("after the stop %v became %v", still.Counts, now.Counts)
	}
	a.coversEveryRow(c.ID, n)
	setFaults(t, p.sandbox, `{"latency":"50ms"}`)
	a.must(200, "POST", path+"/continue", "", nil)
	a.must(200, "POST", path+"/continue", "{}", nil)
	a.coversEveryRow(c.ID, n)
	a.until(c.ID, "the end", func(c apiCampaign) bool { return c.State == "finished" && c.Counts["accepted"] == n })
	a.must(409, "POST", path+"/stop", "", nil)
	a.must(409, "POST", path+"/cancel", "", nil)
	a.must(200, "POST", path+"/send", "", nil)

	setFaults(t, p.sandbox, `{"latency":"1s"}`)
	var second apiCampaign
	a.must(201, "POST", "/campaigns", order(numbersFrom(n, n), `,"send":true`), &second)
	a.until(second.ID, "the first twenty", func(c apiCampaign) bool { return c.Counts["accepted"] >= 20 })
	var cancelled apiCampaign
	a.must(200, "POST", fmt.Sprintf("/campaigns/%d/cancel", second.ID), "", &cancelled)
	if cancelled.State != "cancelled" || cancelled.Counts["queued"] != 0 || cancelled.sum() != n {
		t.Errorf("%+v", cancelled)
	}
	last := a.until(second.ID, "what was under way", func(c apiCampaign) bool {
		return c.Counts["sending"]+c.Counts["claimed"] == 0
	})
	executed := 0
	for number, times := range executedTimes(t, p.sandbox) {
		if times != 1 {
			t.Errorf("%s was executed %d times", number, times)
		}
		executed++
	}
	if executed != n+int(last.Counts["accepted"]) {
		t.Errorf("%d executed, %d accepted", executed, n+int(last.Counts["accepted"]))
	}
}

// coversEveryRow reads a campaign's messages page by page: each row once.
func (a *apiClient) coversEveryRow(id int64, n int) {
	a.t.Helper()
	seen := map[int64]bool{}
	for cursor := ""; ; {
		var page struct {
			Items []struct {
				Row   int64
				Phone string
				State string
			}
			NextCursor *string
		}
		a.must(200, "GET", fmt.Sprintf("/campaigns/%d/messages?limit=170&cursor=%s", id, cursor), "", &page)
		for _, m := range page.Items {
			if seen[m.Row] || !strings.HasPrefix(m.Phone, "234") || m.State == "" {
				a.t.Errorf("%+v", m)
			}
			seen[m.Row] = true
		}
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	if len(seen) != n {
		a.t.Errorf("%d rows in the pages of %d", len(seen), n)
	}
}

// TestAKeyOutlivesKills asks for campaigns while the desk is killed again and
// again, and asks again with the same key until there is an answer, in parallel:
// one campaign a key, and no number twice at the service.
func TestAKeyOutlivesKills(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 50)
	process := p.serve()
	a := p.client("sender")
	const rounds, n = 8, 2000
	random := rand.New(rand.NewPCG(11, 4))
	var ids []int64
	cutOff := 0
	for round := range rounds {
		body, key := order(numbersFrom(round*n, n), `,"send":true`), fmt.Sprintf("round-%d", round)
		first := make(chan int, 1)
		go func() {
			status, _, _ := a.ask("POST", "/campaigns", "application/json", strings.NewReader(body), "Idempotency-Key", key)
			first <- status
		}()
		time.Sleep(time.Duration(random.IntN(350)) * time.Millisecond)
		process.kill()
		if <-first != 201 {
			cutOff++
		}
		process = p.serve()
		ids = append(ids, a.together(6, body, key)...)
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) != rounds {
		t.Fatalf("%d campaigns for %d keys: %v", len(ids), rounds, ids)
	}
	if cutOff*2 < rounds {
		t.Errorf("only %d of %d requests were cut off: this run proves nothing", cutOff, rounds)
	}
	all, _, err := p.db.Campaigns(context.Background(), sms.CampaignFilter{Limit: 100})
	if err != nil || len(all) != rounds {
		t.Errorf("%d campaigns are there: %v", len(all), err)
	}
	doubtful := int64(0)
	for i, id := range ids {
		waitFor(t, longPatience, "the end", func() bool {
			p.keepGoing(id)
			return a.campaign(id).State == "finished"
		})
		doubtful += a.campaign(id).Counts["inDoubt"]
		for _, wrong := range p.dishonest(id, numbersFrom(i*n, n)) {
			t.Error(wrong)
		}
	}
	t.Logf("%d kills, %d requests cut off, %d campaigns, %d messages in doubt", rounds, cutOff, len(ids), doubtful)
}

// together asks for the same with the same key several times at once.
func (a *apiClient) together(times int, body, key string) []int64 {
	a.t.Helper()
	ids := make([]int64, times)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			status, answer, err := a.ask("POST", "/campaigns", "application/json", strings.NewReader(body), "Idempotency-Key",
				key)
			var c apiCampaign
			if err != nil || status != 201 || json.Unmarshal(answer, &c) != nil {
				a.t.Errorf("repeat of %s: %d %v %.300s", key, status, err, answer)
			}
			ids[i] = c.ID
		})
	}
	all.Wait()
	return ids
}

func TestTwentyThousandRowsOfJSON(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 100)
	p.serve()
	a := p.client("sender")
	const n = 20_000
	began := time.Now()
	var c apiCampaign
	a.must(201, "POST", "/campaigns", order(numbersFrom(0, n), `,"send":true`), &c)
	made := time.Since(began)
	a.until(c.ID, "the end", func(c apiCampaign) bool { return c.State == "finished" })
	if got := a.campaign(c.ID); got.Counts["accepted"] != n || got.Rows != n {
		t.Errorf("%+v", got)
	}
	times := executedTimes(t, p.sandbox)
	for number, of := range times {
		if of != 1 {
			t.Errorf("%s was executed %d times", number, of)
		}
	}
	if len(times) != n {
		t.Errorf("%d of %d numbers were executed", len(times), n)
	}
	t.Logf("%d rows of JSON made a campaign in %s, %d calls planned, all accepted after %s", n,
		made.Round(time.Millisecond), c.Plan.Calls, time.Since(began).Round(time.Millisecond))
}
