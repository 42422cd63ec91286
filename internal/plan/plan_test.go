package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"smsdesk/internal/gateway"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

// failer is what the checks need of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func planOf(t failer, l bounds, rows []plan.Row) plan.Plan {
	t.Helper()
	p := plan.New(l.limits(), len(rows))
	for _, r := range rows {
		if err := p.Add(r); err != nil {
			t.Fatalf("Add(%+v): %v", r, err)
		}
	}
	return p.Plan()
}

// callsOf builds the calls as a dispatcher would.
func callsOf(rows []plan.Row, p plan.Plan) []sms.Call {
	calls := make([]sms.Call, p.Calls)
	for i, r := range rows {
		c := &calls[p.Assign[i]]
		c.Kind, c.SenderID, c.Unicode = p.Kind(p.Assign[i]), "Clinic", r.Unicode
		if c.Kind == sms.CallText {
			c.Text = r.Text
		}
		c.Recipients = append(c.Recipients, sms.Recipient{MessageID: r.ID, Number: r.Number, Text: r.Text})
	}
	return calls
}

// said is one message as the service would understand it.
type said struct {
	Number, Text string
	Unicode      bool
}

func wanted(rows []plan.Row) map[said]int {
	m := map[said]int{}
	for _, r := range rows {
		m[said{r.Number, r.Text, r.Unicode}]++
	}
	return m
}

// readPairs reads MobileNumber_Message as the service does: split at "~", then
// each pair at its first "^" (§4.4).
func readPairs(value string, unicode bool) (list []said) {
	for _, pair := range strings.Split(value, "~") {
		number, text, _ := strings.Cut(pair, "^")
		list = append(list, said{number, text, unicode})
	}
	return list
}

// pairsQuery is the query of GET /SendBulkSMS (§4.4) for the test account.
func pairsQuery(value string, unicode bool) string {
	q := url.Values{"ApiKey": {"k/+="}, "ClientId": {"c"}, "SenderId": {"Clinic"}, "Is_Flash": {"false"},
		"Is_Unicode": {fmt.Sprint(unicode)}, "MobileNumber_Message": {value}}
	return strings.ReplaceAll(q.Encode(), "+", "%20")
}

const bulkURL = "https://api.example.com/v2/SendBulkSMS?"

var overhead = len(bulkURL + pairsQuery("", false))

// bounds are the limits of a call whose URL has at most so many bytes.
type bounds struct{ CallLimit, URLBudget, Overhead int }

// limits are the bounds as the client's own measure of a URL.
func (b bounds) limits() plan.Limits {
	return plan.Limits{CallLimit: b.CallLimit, Size: gateway.PairSize, Room: func(unicode bool) int {
		room := b.URLBudget - b.Overhead + len("~")
		if unicode {
			room += len("false") - len("true")
		}
		return room
	}}
}

// checkPlan holds a plan to everything that it promises.
func checkPlan(t failer, l bounds, rows []plan.Row, p plan.Plan) {
	t.Helper()
	if len(p.Assign) != len(rows) || p.ByKind[sms.CallText]+p.ByKind[sms.CallPairs] != p.Calls {
		t.Fatalf("%d rows, %d assigned, %d calls, by kind %v", len(rows), len(p.Assign), p.Calls, p.ByKind)
	}
	next := int32(0)
	for i, c := range p.Assign {
		if c > next || c < 0 {
			t.Fatalf("row %d opens call %d, want at most %d", i, c, next)
		}
		next = max(next, c+1)
	}
	if int(next) != p.Calls {
		t.Fatalf("%d calls hold rows, the plan says %d", next, p.Calls)
	}
	got := map[said]int{}
	for i, c := range callsOf(rows, p) {
		for _, m := range checkCall(t, l, int32(i), c, rows, p) {
			got[m]++
		}
	}
	if d := gocmp.Diff(wanted(rows), got); d != "" {
		t.Fatalf("what the service reads is not what was planned: %s", d)
	}
}

// checkCall checks one call and returns what the service would read in it.
func checkCall(t failer, l bounds, n int32, c sms.Call, rows []plan.Row, p plan.Plan) (list []said) {
	t.Helper()
	if len(c.Recipients) > l.CallLimit {
		t.Fatalf("call %d has %d recipients, limit %d", n, len(c.Recipients), l.CallLimit)
	}
	numbers, texts := map[string]bool{}, map[string]bool{}
	for _, r := range c.Recipients {
		if numbers[r.Number] {
			t.Fatalf("call %d holds %s twice", n, r.Number)
		}
		numbers[r.Number] = true
		texts[r.Text] = true
	}
	for i, r := range rows {
		if p.Assign[i] == n && r.Unicode != c.Unicode {
			t.Fatalf("call %d mixes GSM-7 and Unicode", n)
		}
	}
	if (len(texts) == 1) != (c.Kind == sms.CallText) {
		t.Fatalf("call %d is %s with %d texts", n, c.Kind, len(texts))
	}
	if c.Kind == sms.CallText {
		for number := range maps.Keys(numbers) {
			list = append(list, said{number, c.Text, c.Unicode})
		}
		return list
	}
	value, err := gateway.EncodePairs(c.Recipients)
	if err != nil {
		t.Fatalf("call %d cannot be encoded: %v", n, err)
	}
	query := pairsQuery(value, c.Unicode)
	size := l.Overhead - len("~")
	if c.Unicode {
		size--
	}
	for _, r := range c.Recipients {
		pair, ok := gateway.PairSize(r.Number, r.Text)
		if !ok {
			t.Fatalf("call %d holds a text with ~ or ^: %q", n, r.Text)
		}
		size += pair
	}
	if len(bulkURL)+len(query) != size || size > l.URLBudget {
		t.Fatalf("call %d: URL of %d bytes, counted %d, budget %d", n, len(bulkURL)+len(query), size, l.URLBudget)
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatalf("call %d: %v", n, err)
	}
	return readPairs(q.Get("MobileNumber_Message"), q.Get("Is_Unicode") == "true")
}

// planCase draws limits and rows in which everything that matters happens:
// texts of one row and of many, of any length, with and without separators,
// numbers once and often, both alphabets.
func planCase(t *rapid.T) (bounds, []plan.Row) {
	l := bounds{
		CallLimit: rapid.SampledFrom([]int{1, 2, 3, 7, 20, 100}).Draw(t, "call limit"),
		URLBudget: overhead + rapid.IntRange(-5, 1900).Draw(t, "room"),
		Overhead:  overhead,
	}
	numbers := rapid.SampledFrom([]int{1, 3, 30, 100_000}).Draw(t, "numbers")
	pool := rapid.SliceOfN(planText(), 1, 6).Draw(t, "pool")
	own := rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "own")
	row := rapid.Custom(func(t *rapid.T) plan.Row {
		r := plan.Row{Unicode: rapid.Bool().Draw(t, "unicode"),
			Number: fmt.Sprint(2348030000000 + rapid.IntRange(0, numbers-1).Draw(t, "number"))}
		if own > 0 && rapid.IntRange(0, own).Draw(t, "whose") > 0 {
			r.Text = planText().Draw(t, "text")
		} else {
			r.Text = rapid.SampledFrom(pool).Draw(t, "shared")
		}
		return r
	})
	rows := rapid.SliceOfN(row, 0, rapid.SampledFrom([]int{3, 40, 300}).Draw(t, "most")).Draw(t, "rows")
	for i := range rows {
		rows[i].ID = int64(i + 1)
	}
	return l, rows
}

func planText() *rapid.Generator[string] {
	plain := rapid.StringMatching(`[a-z0-9 .,+%&=~^€ọ😀\n-]{0,40}`)
	return rapid.Custom(func(t *rapid.T) string {
		s := plain.Draw(t, "part")
		if rapid.IntRange(0, 3).Draw(t, "separators") > 0 {
			s = strings.NewReplacer("~", "", "^", "").Replace(s)
		}
		return strings.Repeat(s+"x", rapid.SampledFrom([]int{1, 1, 2, 5, 40}).Draw(t, "times"))
	})
}

func TestPlanKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, rows := planCase(t)
		p := planOf(t, l, rows)
		checkPlan(t, l, rows, p)
		if again := planOf(t, l, rows); again.Calls != p.Calls || !slices.Equal(again.Assign, p.Assign) {
			t.Fatalf("the same rows make another plan")
		}
		if least := newBound(l, rows).calls(); float64(p.Calls) < least-1e-6 {
			t.Fatalf("%d calls where at least %.2f are needed", p.Calls, least)
		}
	})
}

// The smallest cases are compared with the best of all possible plans.
func TestPlanBesideTheOptimum(t *testing.T) {
	worse, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		l := bounds{CallLimit: rapid.IntRange(1, 5).Draw(t, "call limit"), URLBudget: overhead + 200, Overhead: overhead}
		rows := make([]plan.Row, rapid.IntRange(1, 9).Draw(t, "rows"))
		repeats := rapid.Bool().Draw(t, "repeats")
		for i := range rows {
			n := rapid.IntRange(10, 170).Draw(t, "length")
			rows[i] = plan.Row{Number: fmt.Sprint(2348030000000 + i), Text: strings.Repeat("a", n/40*40+n%3)}
			if repeats {
				rows[i].Number = fmt.Sprint(2348030000000 + rapid.IntRange(0, 12).Draw(t, "number"))
			}
		}
		p, best := planOf(t, l, rows), optimum(l, rows)
		all++
		switch {
		case p.Calls < best:
			t.Fatalf("%d calls, but %d are needed", p.Calls, best)
		case !repeats && p.Calls > best+1:
			t.Fatalf("%d calls, %d suffice", p.Calls, best)
		case p.Calls > best:
			worse++
		}
	})
	if worse*10 > all {
		t.Errorf("%d of %d small plans have a call too many", worse, all)
	}
}

// optimum finds the fewest calls by trying all divisions of a few rows.
func optimum(l bounds, rows []plan.Row) int {
	fits := make([]bool, 1<<len(rows))
	for set := 1; set < len(fits); set++ {
		numbers, texts, size, count := map[string]bool{}, map[string]bool{}, l.Overhead-1, 0
		for i, r := range rows {
			if set>>i&1 == 1 {
				n, _ := gateway.PairSize(r.Number, r.Text)
				numbers[r.Number], texts[r.Text] = true, true
				size += n
				count++
			}
		}
		fits[set] = count <= l.CallLimit && len(numbers) == count && (len(texts) == 1 || size <= l.URLBudget)
	}
	least := make([]int, len(fits))
	for set := 1; set < len(fits); set++ {
		least[set] = len(rows)
		for sub := set; sub > 0; sub = (sub - 1) & set {
			if fits[sub] {
				least[set] = min(least[set], least[set&^sub]+1)
			}
		}
	}
	return least[len(fits)-1]
}

func TestPlanTable(t *testing.T) {
	one := func(n int, text string) (rows []plan.Row) {
		for i := range n {
			rows = append(rows, plan.Row{Number: fmt.Sprint(2348030000000 + i), Text: text})
		}
		return rows
	}
	own := func(n, length int) (rows []plan.Row) {
		for i := range n {
			rows = append(rows, plan.Row{Number: fmt.Sprint(2348100000000 + i), Text: fmt.Sprintf("%0*d", length, i)})
		}
		return rows
	}
	unicode := func(rows []plan.Row) []plan.Row {
		rows = slices.Clone(rows)
		for i := range rows {
			rows[i].Unicode = true
		}
		return rows
	}
	// Ten pairs of 13+3+83 bytes and nine "~" between them fill 999 bytes.
	tight := bounds{CallLimit: 100, URLBudget: overhead + 999, Overhead: overhead}
	short := tight
	short.URLBudget--
	few := tight
	few.CallLimit = 4
	none := tight
	none.URLBudget = overhead
	for _, c := range []struct {
		name        string
		limits      bounds
		rows        []plan.Row
		text, pairs int
	}{
		{"nothing", tight, nil, 0, 0},
		{"one row goes by POST", tight, own(1, 83), 1, 0},
		{"one text", tight, one(250, "Clinic opens at 8"), 3, 0},
		{"one text of one call", tight, one(100, "Clinic opens at 8"), 1, 0},
		{"own texts fill the URL to the last byte", tight, own(30, 83), 0, 3},
		{"one byte less and each call holds nine", short, own(27, 83), 0, 3},
		{"in Unicode the URL is one byte shorter", short, unicode(own(30, 83)), 0, 3},
		{"the call limit", few, own(12, 83), 0, 3},
		{"the call limit of one", bounds{CallLimit: 1, URLBudget: 2000, Overhead: overhead}, own(3, 10), 3, 0},
		{"alphabets apart", tight, append(own(5, 83), unicode(own(5, 83))...), 0, 2},
		{"the same text in both alphabets", tight, append(one(5, "a"), unicode(one(5, "a"))...), 2, 0},
		{"separators go by POST", tight, append(append(one(3, "a~b"), one(2, "a^b")...), own(10, 83)...), 2, 1},
		{"a text longer than the URL goes by POST", tight, append(one(3, strings.Repeat("z", 1000)), own(10, 83)...), 1, 1},
		{"nothing fits a URL", none, own(3, 10), 3, 0},
		{"a text of few rows rides along", tight, append(one(5, strings.Repeat("b", 83)), own(5, 83)...), 0, 1},
		{"a text of many rows goes alone", tight, append(one(12, strings.Repeat("b", 83)), own(10, 83)...), 1, 1},
		{"what a full POST call leaves over rides along", tight, append(one(102, strings.Repeat("b", 83)), own(8, 83)...), 1, 1},
		{"a short text of a whole POST call rides along where rows are not what is short", bounds{CallLimit: 10, URLBudget: overhead + 999, Overhead: overhead},
			append(one(10, "b"), own(4, 390)...), 0, 2},
		{"the same number again", tight, append(own(4, 20), own(4, 21)...), 0, 2},
		{"the same message again", tight, append(one(3, "a"), one(3, "a")...), 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planOf(t, c.limits, c.rows)
			checkPlan(t, c.limits, c.rows, p)
			if p.ByKind[sms.CallText] != c.text || p.ByKind[sms.CallPairs] != c.pairs {
				t.Errorf("%d calls %v, want %d text and %d pairs", p.Calls, p.ByKind, c.text, c.pairs)
			}
		})
	}
}

func TestPlannerRefuses(t *testing.T) {
	for name, r := range map[string]plan.Row{
		"no number":     {ID: 7, Text: "a"},
		"a plus":        {ID: 7, Number: "+2348030000101", Text: "a"},
		"an injection":  {ID: 7, Number: "2348030000101^a~2348030000102", Text: "a"},
		"nineteen":      {ID: 7, Number: "1234567890123456789", Text: "a"},
		"not UTF-8":     {ID: 7, Number: "2348030000101", Text: "a\xff"},
		"other numeral": {ID: 7, Number: "٢٣٤", Text: "a"},
	} {
		p := plan.New(bounds{}.limits(), 0)
		if err := p.Add(r); err == nil || !strings.Contains(err.Error(), "7") || r.Number != "" &&
			strings.Contains(err.Error(), r.Number) {
			t.Errorf("%s: %v", name, err)
		}
		if rest := p.Plan(); rest.Calls != 0 || len(rest.Assign) != 0 {
			t.Errorf("%s is planned", name)
		}
	}
}

func TestPlanTellsNumbersApartByLeadingZeros(t *testing.T) {
	rows := []plan.Row{{Number: "803", Text: "a"}, {Number: "0803", Text: "a"}, {Number: "00803", Text: "a"}}
	if p := planOf(t, bounds{URLBudget: 2000, Overhead: overhead}, rows); p.Calls != 1 {
		t.Errorf("%d calls, want 1", p.Calls)
	}
}

func TestPlanStaysNearRowOrder(t *testing.T) {
	const n = 20_000
	l := bounds{CallLimit: 100, URLBudget: 2000, Overhead: 200}
	for _, m := range mixtures {
		rng := rand.New(rand.NewPCG(1, 1))
		rows := make([]plan.Row, n)
		for i := range rows {
			rows[i] = m.row(i, n, rng)
		}
		p := planOf(t, l, rows)
		first := make([]int, p.Calls)
		spans := make([]int, p.Calls)
		for i, c := range slices.Backward(p.Assign) {
			first[c] = i
		}
		for i, c := range p.Assign {
			spans[c] = i - first[c]
		}
		slices.Sort(spans)
		if median := spans[len(spans)/2]; m.ordered && median > n/7 {
			t.Errorf("%s: half of the calls span more than %d rows of %d", m.name, median, n)
		}
	}
}
