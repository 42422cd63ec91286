package e2e

import (
	"archive/zip"
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/rig"
	"smsdesk/internal/sms"
)

// memoryMost is what the whole process may have resident while it works on the
// largest lists.
const memoryMost = 150 << 20

// desk is a second desk on the same data folder, which gives orders as the
// pages do; the serving process works on them.
func (p *pair) desk() *rig.Staff {
	return rig.StaffOn(p.db, nil, feed.New(), slog.New(slog.DiscardHandler), time.Now)
}

// upload stores a file as a list and has it checked.
func (p *pair) upload(path, text string) sms.List {
	p.t.Helper()
	ctx := context.Background()
	waitFor(p.t, longPatience, "the sender IDs", func() bool {
		list, err := p.db.SenderIDs(ctx, p.account.ID)
		return err == nil && len(list) > 0
	})
	f, err := os.Open(path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d := p.desk()
	l, err := d.UploadList(ctx, desk.Operator(), lists.UploadOrder{AccountID: p.account.ID, FileName: filepath.Base(path),
		Token: desk.NewToken()}, f)
	if err != nil {
		p.t.Fatal(err)
	}
	o := l.Order
	o.SenderID, o.Text = "CLINIC", text
	if text != "" {
		o.Message = -1
	}
	if l, err = d.CheckList(ctx, desk.Operator(), l.UID, l.Version, o); err != nil {
		p.t.Fatal(err)
	}
	return l
}

func (p *pair) list(uid string) sms.List {
	p.t.Helper()
	l, err := p.db.List(context.Background(), uid)
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// longText is a text of 120 characters that stands in no other row.
func longText(i int) string {
	return fmt.Sprintf(
		"Dear customer, your parcel %09d is with us. Please bring this code when you come for it, and pay no one who asks.......", i)
}

// bigList writes a CSV of a number and 120 characters a row.
func bigList(t *testing.T, rows int) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "list.csv"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprint(w, "phone,message\n")
	for i := range rows {
		fmt.Fprintf(w, "%011d,\"%s\"\n", 8030000000+i, longText(i))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// peak is the most memory that the process had resident, in bytes.
func (p *process) peak() int64 {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return n << 10
		}
	}
	p.t.Fatal("the system does not tell the peak of memory")
	return 0
}

// bigBook writes a workbook of that many rows, with its texts where Excel puts
// them.
func bigBook(t *testing.T, rows int) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "list.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	part := func(name string, write func(w io.Writer)) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		b := bufio.NewWriter(w)
		fmt.Fprint(b, `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`)
		write(b)
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) func(io.Writer) { return func(w io.Writer) { fmt.Fprint(w, s) } }
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	part("xl/workbook.xml", text(`<workbook xmlns:r="`+office+
		`"><sheets><sheet name="List" sheetId="1" r:id="rId1"/></sheets></workbook>`))
	part("xl/_rels/workbook.xml.rels", text(`<Relationships><Relationship Id="rId1" Type="`+office+
		`/worksheet" Target="worksheets/sheet1.xml"/>`+
		`<Relationship Id="rId2" Type="`+office+`/sharedStrings" Target="sharedStrings.xml"/></Relationships>`))
	part("xl/worksheets/sheet1.xml", func(w io.Writer) {
		fmt.Fprint(w, `<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>`)
		for i := range rows {
			fmt.Fprintf(w, `<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d" t="s"><v>%d</v></c></row>`, i+2, i+2, 2348030000000+i,
				i+2, i+2)
		}
		fmt.Fprint(w, `</sheetData></worksheet>`)
	})
	part("xl/sharedStrings.xml", func(w io.Writer) {
		fmt.Fprint(w, `<sst><si><t>phone</t></si><si><t>message</t></si>`)
		for i := range rows {
			fmt.Fprintf(w, `<si><t>%s</t></si>`, longText(i))
		}
		fmt.Fprint(w, `</sst>`)
	})
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// TestMemoryOfLargeLists: the whole process stays below 150 MiB from the upload
// to the campaign.
func TestMemoryOfLargeLists(t *testing.T) {
	beside(t)
	for _, c := range []struct {
		rows  int
		write func(*testing.T, int) string
	}{{many(300_000, 1_000_000), bigList}, {200_000, bigBook}} {
		path := c.write(t, c.rows)
		t.Run(filepath.Ext(path), func(t *testing.T) {
			p := newPair(t, binary(t, ""), 100)
			s := p.serve()
			idle := s.peak()
			l := p.upload(path, "")
			state, checked := l.State, int64(0)
			waitFor(t, longPatience, "the campaign", func() bool {
				if l = p.list(l.UID); l.State == sms.ListMaking && state == sms.ListChecking {
					checked = s.peak()
				}
				state = l.State
				return l.State != sms.ListChecking && l.State != sms.ListMaking
			})
			if l.State != sms.ListMade || l.Tally.Good != int64(c.rows) || p.campaign(l.CampaignID).Recipients != int64(c.rows) {
				t.Fatalf("%+v", l)
			}
			t.Logf("%d rows: %d MiB at the peak, %d before and %d after the check", c.rows, s.peak()>>20, idle>>20, checked>>20)
			if s.peak() > memoryMost {
				t.Errorf("%d MiB were resident, at most %d may be", s.peak()>>20, memoryMost>>20)
			}
		})
	}
}

const (
	killedRows  = 200_000
	importKills = 14
)

// TestKillsDuringAnImport kills the desk with kill -9 while it checks a list
// and while it makes a campaign of it. Whatever is seen in between is nothing,
// and in the end it is all of it, once.
func TestKillsDuringAnImport(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 100)
	s := p.serve()
	l := p.upload(bigList(t, killedRows), "")
	random := rand.New(rand.NewPCG(9, 9))
	killed := map[sms.ListState]int{}
	for i := 0; i < importKills; i++ {
		// Half of the kills hit the check, which comes first and is the
		// shorter work, and the others wait until it is over.
		within := 80
		if i >= importKills/2 {
			within = 600
			waitFor(t, longPatience, "the end of the check", func() bool { return p.list(l.UID).State != sms.ListChecking })
		}
		time.Sleep(time.Duration(random.IntN(within)) * time.Millisecond)
		s.kill()
		l = p.list(l.UID)
		killed[l.State]++
		p.noneOrAll(l)
		if l.State == sms.ListMade {
			break
		}
		s = p.serve()
	}
	waitFor(t, longPatience, "the campaign", func() bool { return p.list(l.UID).State == sms.ListMade })
	l = p.list(l.UID)
	p.noneOrAll(l)
	t.Logf("kills by what was under way: %v", killed)
	if killed[sms.ListChecking] < 3 || killed[sms.ListMaking] < 3 {
		t.Errorf("kills by what was under way: %v: this run proves nothing", killed)
	}
	seen := map[string]bool{}
	for _, m := range p.messages(l.CampaignID) {
		if seen[m.Number] || m.State != sms.Draft {
			t.Fatalf("%+v", m)
		}
		seen[m.Number] = true
	}
	if len(seen) != killedRows {
		t.Errorf("%d messages of %d", len(seen), killedRows)
	}
	if err := s.stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
}

// noneOrAll asks what can be seen of a list's campaign.
func (p *pair) noneOrAll(l sms.List) {
	p.t.Helper()
	rows, _, err := p.db.Campaigns(context.Background(), sms.CampaignFilter{AccountID: p.account.ID, Limit: 100})
	if err != nil {
		p.t.Fatal(err)
	}
	switch {
	case l.State != sms.ListMade && len(rows) == 0 && l.CampaignID == 0:
	case l.State == sms.ListMade && len(rows) == 1 && rows[0].Campaign.ID == l.CampaignID &&
		rows[0].Tally[string(sms.Draft)] == killedRows && rows[0].Campaign.Recipients == killedRows:
	default:
		p.t.Errorf("the list is %s, and %d campaigns are seen: %+v", l.State, len(rows), rows)
	}
}
