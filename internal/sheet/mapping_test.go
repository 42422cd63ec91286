package sheet

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// table makes sample rows of lines with commas.
func table(lines ...string) []Row {
	var rows []Row
	for i, l := range lines {
		rows = append(rows, Row{Number: i + 2, Cells: strings.Split(l, ",")})
	}
	return rows
}

func TestGuess(t *testing.T) {
	for _, c := range []struct {
		name, header string
		rows         []Row
		phone        int
		message      int
		question     string
	}{
		{"by name", "name,phone", table("Ada,08035550101"), 1, -1, ""},
		{"by name in any spelling", "Name,PHONE_Number ,Message", table("Ada,0803 555 0101,Hi"), 1, 2, ""},
		{"mobile", "id,Mobile-No", table("1,+234 (0)803 555 0101"), 1, -1, ""},
		{"msisdn", "MSISDN,text", table("2348035550101,Hi"), 0, 1, ""},
		{"gsm", "Surname,G.S.M. No.,sms", table("Obi,8035550101,Hi"), 1, 2, ""},
		{"tel", "Tel.,who", table("08035550101,Ada"), 0, -1, ""},
		{"a longer name", "Customer's phone,who", table("08035550101,Ada"), 0, -1, ""},
		{"a name that only looks like it", "phone model,number", table("X100,08035550101"), 1, -1, ""},
		{"number, by content", "account,number", table("12,08035550101", "13,08035550102"), 1, -1, ""},
		{"by content alone", "who,where", table("Ada,08035550101", "Bola,2348035550102", "Chidi,"), 1, -1, ""},
		{"the name wins over content", "phone,account", table("08035550101,8035550199", "08035550102,8035550198"), 0, -1, ""},
		{"the empty one of two does not count", "phone,mobile", table(",08035550101", ",08035550102"), 1, -1, ""},
		{"shortened numbers", "who,phone", table("Ada,2.34803E+12", "Bola,2.34803E+12"), 1, -1, ""},
		{"only wrong numbers under the name", "phone,who", table("none,Ada", "?,Bola"), 0, -1, ""},
		{"no names", "", table("08035550101,Ada", "08035550102,Bola"), 0, -1, ""},
		{"no names, a text", "", table("08035550101,Dear Ada come on Monday", "08035550102,Dear Bola come on Monday"), 0, 1, ""},
		{"no names, text first", "", table("Dear Ada come on Monday,08035550101"), 1, 0, ""},
		{"two by name", "phone,name,mobile", table("08035550101,Ada,08035550102"), -1, -1, `Two columns look like phone numbers: "phone" and "mobile". Choose one`},
		{"two of one name", "phone,phone", table("08035550101,08035550102"), -1, -1,
			`Two columns look like phone numbers: "phone" (column A) and "phone" (column B). Choose one`},
		{"three by content", "a,b,c", table("08035550101,08035550102,08035550103"), -1, -1, `Three columns look like phone numbers: "a", "b" and "c". Choose one`},
		{"none", "who,what", table("Ada,a"), -1, -1, "Choose the column with the phone numbers"},
		{"two messages", "phone,message,text", table("08035550101,a,b"), 0, -1, ""},
		{"dates are no numbers", "phone,due", table("08035550101,2026-06-01", "08035550102,2026-06-02"), 0, -1, ""},
		{"rows with problems do not count", "a,b", append(table("x,08035550101"), Row{Cells: []string{"08035550101", "y"}, Problem: "bad"}), 1, -1, ""},
		{"nothing at all", "", nil, -1, -1, "Choose the column with the phone numbers"},
	} {
		var header []string
		if c.header != "" {
			header = strings.Split(c.header, ",")
		}
		got := Guess(header, c.rows, "NG")
		if got.Phone != c.phone || got.Message != c.message || got.Question(header) != c.question {
			t.Errorf("%s: %+v %q, want phone %d, message %d, %q", c.name, got, got.Question(header), c.phone, c.message,
				c.question)
		}
	}
	if got := Guess([]string{"who", "n"}, table("Ada,0712 345678", "B,0712 345679"), "KE"); got.Phone != 1 {
		t.Errorf("a number of Kenya: %+v", got)
	}
}

func TestMatchMarks(t *testing.T) {
	columns := []string{"Phone", "first_name", "DATE ", "Amount", "amount", "Time", "time"}
	got := MatchMarks([]string{"First Name", "date", "Amount", "TIME", "Place"}, columns)
	if want := map[string]int{"First Name": 1, "date": 2, "Amount": 3}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMarkQuestion(t *testing.T) {
	if got := MarkQuestion(
		"Date", []string{"phone", "name"}); got != "The message uses ##Date##. Choose a column for it, or enter one text for everyone" {
		t.Error(got)
	}
	if got := MarkQuestion("Amount", []string{"Amount", "phone", "AMOUNT ", "amount"}); got !=
		`3 columns are called "Amount". Choose the one for ##Amount##` {
		t.Error(got)
	}
}

func TestHeaderKey(t *testing.T) {
	key := HeaderKey([]string{"Phone No", "First Name"})
	for _, same := range [][]string{{"phone-no", "FIRST_NAME"}, {"Phone No", "First Name", "What to fix"}} {
		if HeaderKey(same) != key {
			t.Errorf("%q has another key", same)
		}
	}
	seen := map[string][]string{"": nil}
	for _, other := range [][]string{{"First Name", "Phone No"}, {"Phone No", "First Name", "Date"},
		{"Phone NoFirst Name"}, {"Phone", "NoFirst Name"}, {"Phone No", "", "First Name"}} {
		if twin, taken := seen[HeaderKey(other)]; taken {
			t.Errorf("%q has the key of %q", other, twin)
		}
		seen[HeaderKey(other)] = other
	}
	if HeaderKey(nil) != "" || HeaderKey([]string{"", " "}) != "" {
		t.Error("a key without names")
	}
}

func TestColumnName(t *testing.T) {
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA",
		16383: "XFD"} {
		if got := ColumnName(i); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

func TestCellFault(t *testing.T) {
	for value, want := range map[string]string{
		"#N/A":       "Cell shows the formula error #N/A. Fix the formula",
		" #div/0! ":  "Cell shows the formula error #DIV/0!. Fix the formula",
		"########":   "Cell shows ######## because the column is too narrow. Widen it and save the file again",
		"#1":         "",
		"##":         "",
		"#NAME? not": "",
		"Ada":        "",
		"":           "",
	} {
		if got := CellFault(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestSampleIsWhatNextReturns(t *testing.T) {
	got := mustRead(t, "phone,name\n\n08035550101,Ada\n,\n08035550102,Bola\n", Options{})
	if len(got.Sample) != 2 || !slices.Equal(show(got.Sample), show(got.rows)) || got.tally.Blank != 2 {
		t.Errorf("%q %q %+v", show(got.Sample), show(got.rows), got.tally)
	}
}
