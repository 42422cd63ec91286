package sheet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// Mapping says which column is which, counted from 0, with -1 for none.
type Mapping struct {
	Phone int
	// Phones are the columns between which a person must choose; nil when
	// Phone was found or no column could be it.
	Phones  []int
	Message int
}

// phoneNames are the names of columns that can hold nothing but a phone
// number, as nameKey writes them.
var phoneNames = map[string]bool{
	"phone": true, "phones": true, "phoneno": true, "phonenumber": true, "phonenumbers": true, "phonenum": true, "phone1": true,
	"mobile": true, "mobileno": true, "mobilenumber": true, "mobilenumbers": true, "mobilephone": true, "mobilephonenumber": true,
	"msisdn": true, "gsm": true, "gsmno": true, "gsmnumber": true, "tel": true, "telno": true, "telnumber": true, "telephone": true,
	"telephoneno": true, "telephonenumber": true, "cell": true, "cellno": true, "cellnumber": true, "cellphone": true,
	"cellphonenumber": true, "contactnumber": true, "contactno": true, "contactphone": true, "customerphone": true, "smsnumber": true,
	"whatsapp": true, "whatsappnumber": true, "handphone": true, "téléphone": true, "telefone": true, "telefono": true, "teléfono": true, "simu": true,
}

// phoneWords make a longer name one of a phone column, where the cells agree.
var phoneWords = []string{"phone", "mobile", "msisdn", "gsm", "whatsapp"}

// vagueNames can mean a phone number; the cells decide.
var vagueNames = map[string]bool{
	"number": true, "numbers": true, "no": true, "num": true, "nos": true, "contact": true, "contacts": true, "recipient": true,
	"recipients": true, "to": true, "destination": true, "dest": true, "line": true, "customernumber": true,
}

var messageNames = map[string]bool{
	"message": true, "messages": true, "msg": true, "text": true, "sms": true, "body": true, "content": true, "messagetext": true,
	"messagebody": true, "messagecontent": true, "smstext": true, "smsmessage": true, "smsbody": true, "textmessage": true,
}

// nameKey is sms.PlaceholderKey without the signs that people put into column names.
func nameKey(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(".#:*()/'’", r) {
			return -1
		}
		return r
	}, sms.PlaceholderKey(name))
}

func isPhoneName(name string) bool { return phoneNames[nameKey(name)] }

// tellsPhone tells of a longer name of a phone column, such as "Main Phone".
func tellsPhone(name string) bool {
	key := nameKey(name)
	return len(key) <= 40 && slices.ContainsFunc(phoneWords, func(w string) bool { return strings.Contains(key, w) })
}

// Guess finds the columns of the phone number and of the message from the
// names in header, which may be nil, and from the first rows. country
// (ISO 3166) is where numbers are at home.
func Guess(header []string, sample []Row, country string) Mapping {
	columns := analyseColumns(header, sample, country)
	m := Mapping{Phone: -1, Message: -1}
	var named, like, titled []int
	for i, c := range columns {
		key := nameKey(c.name)
		strong := phoneNames[key] || tellsPhone(c.name)
		switch {
		case strong && c.filled > 0 && 10*c.phonish >= 3*c.filled:
			named = append(named, i)
		case c.filled > 0 && (10*c.valid >= 6*c.filled || vagueNames[key] && 2*c.phonish >= c.filled):
			like = append(like, i)
		case phoneNames[key]:
			titled = append(titled, i)
		}
	}
	for _, found := range [][]int{named, like, titled} {
		if len(found) == 1 {
			m.Phone = found[0]
		} else if len(found) > 1 {
			m.Phones = found
		}
		if len(found) > 0 {
			break
		}
	}
	m.Message = findMessage(columns, header, m.Phone)
	return m
}

// findMessage goes by the name; without names, the one long column beside the
// phone number is it.
func findMessage(columns []column, header []string, phone int) int {
	found := -1
	for i, c := range columns {
		if i != phone && messageNames[nameKey(c.name)] {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	if other := 1 - phone; found < 0 && header == nil && len(columns) == 2 && phone >= 0 &&
		columns[other].letters >= 15*max(columns[other].filled, 1) {
		return other
	}
	return found
}

// Question is the sentence that asks for the phone column (ux 2.4), or "" when
// it was found. columns are the names on screen.
func (m Mapping) Question(columns []string) string {
	if m.Phone >= 0 {
		return ""
	}
	if len(m.Phones) < 2 {
		return "Choose the column with the phone numbers"
	}
	count := fmt.Sprint(len(m.Phones))
	if words := []string{"Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"}; len(m.Phones)-2 < len(words) {
		count = words[len(m.Phones)-2]
	}
	var names []string
	for _, i := range m.Phones {
		name := fmt.Sprintf("%q", columns[i])
		for j := range columns {
			if j != i && columns[j] == columns[i] {
				name = fmt.Sprintf("%q (column %s)", columns[i], ColumnName(i))
			}
		}
		names = append(names, name)
	}
	last := len(names) - 1
	return fmt.Sprintf("%s columns look like phone numbers: %s and %s. Choose one", count,
		strings.Join(names[:last], ", "), names[last])
}

// MatchMarks finds for each mark of a text (sms.Placeholders) the column of the same
// name, by sms.PlaceholderKey. Marks without a column, or with several that are not
// told apart by their exact spelling, are left out.
func MatchMarks(marks, columns []string) map[string]int {
	found := map[string]int{}
	for _, mark := range marks {
		var same, exact []int
		for i, c := range columns {
			if sms.PlaceholderKey(c) == sms.PlaceholderKey(mark) {
				same = append(same, i)
			}
			if c == mark {
				exact = append(exact, i)
			}
		}
		switch {
		case len(same) == 1:
			found[mark] = same[0]
		case len(exact) == 1:
			found[mark] = exact[0]
		}
	}
	return found
}

// MarkQuestion is the sentence about a mark for which no column was found among
// those with these names (ux 2.4).
func MarkQuestion(mark string, columns []string) string {
	same := 0
	for _, c := range columns {
		if sms.PlaceholderKey(c) == sms.PlaceholderKey(mark) {
			same++
		}
	}
	if same > 1 {
		return fmt.Sprintf("%d columns are called %q. Choose the one for ##%s##", same, mark, mark)
	}
	return fmt.Sprintf("The message uses ##%s##. Choose a column for it, or enter one text for everyone", mark)
}

// HeaderKey is the same for two lists with the same column names in the same
// order, without regard to case, space, "_" and "-" and to the column that
// rejected rows carry. It is "" without names, as then nothing tells lists
// apart.
func HeaderKey(header []string) string {
	hash, any := sha256.New(), false
	for _, name := range header {
		key := sms.PlaceholderKey(name)
		if key == sms.PlaceholderKey(fixColumn) {
			continue
		}
		any = any || key != ""
		fmt.Fprintf(hash, "%d:%s", len(key), key)
	}
	if !any {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// column is what the sample tells of one column.
type column struct {
	name    string
	filled  int // cells in which something stands
	phonish int // of them, those that look like numbers
	valid   int // of them, those that are
	letters int // runes in all
}

func analyseColumns(header []string, sample []Row, country string) []column {
	columns := make([]column, len(header))
	for i, name := range header {
		columns[i].name = name
	}
	for _, row := range sample {
		if row.Problem != "" {
			continue
		}
		for len(columns) < len(row.Cells) {
			columns = append(columns, column{})
		}
		for i, cell := range row.Cells {
			c := &columns[i]
			if strings.TrimSpace(cell) == "" {
				continue
			}
			c.filled++
			c.letters += utf8.RuneCountInString(cell)
			if !looksLikePhone(cell) {
				continue
			}
			c.phonish++
			if _, err := phone.Parse(cell, country, true); err == nil {
				c.valid++
			}
		}
	}
	return columns
}

// mostlyDigits tells a cell with data from a name: names rarely have many digits.
func mostlyDigits(cell string) bool {
	digits, letters := 0, 0
	for _, r := range cell {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	// A day in a title has a year and words.
	if digits >= 5 && digits >= letters {
		return true
	}
	return strings.ContainsAny(cell, "eE") && looksLikePhone(cell)
}

// looksLikePhone tells whether a cell has the looks of a phone number, also of one
// that a spreadsheet program has spoiled.
func looksLikePhone(cell string) bool {
	cell = strings.TrimRight(strings.TrimSpace(cell), ",;")
	if len(cell) > 60 && strings.IndexByte(cell, '/') < 0 {
		return false
	}
	if m, e, ok := strings.Cut(strings.ToUpper(cell), "E"); ok && m != "" {
		return strings.Trim(m, "0123456789.,") == "" && strings.Trim(e, "+0123456789") == "" && len(e) >= 2
	}
	digits := 0
	for _, r := range strings.TrimSuffix(cell, ".0") {
		switch {
		case unicode.IsDigit(r):
			digits++
		case r == '/' || r == ',':
			// Dates and amounts have these; of links the parser knows more.
			return isPhoneLink(cell)
		case r == '+', r == '＋', phone.Between(r):
		default:
			return isPhoneLink(cell)
		}
	}
	return digits >= 7 && digits <= 16
}

// isPhoneLink tells whether a cell is a link with a number in it, as those of WhatsApp.
func isPhoneLink(cell string) bool {
	if !strings.ContainsAny(cell, ":/") {
		return false
	}
	digits, fixes, sentence := phone.Clean(cell)
	return sentence == "" && len(fixes) > 0 && len(digits) >= 7 && strings.IndexFunc(cell, unicode.IsLetter) >= 0
}
