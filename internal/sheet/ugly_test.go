package sheet

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"smsdesk/internal/phone"
)

// uglyFolder holds files of the kind that people really have, for this test
// and for whoever wants to try smsdesk. Its README says where each comes from.
const uglyFolder = "../../e2e/testdata"

var write = flag.Bool("write", false, "write the files of e2e/testdata again")

// uglyFile is such a file, how it is made and what must come out of it.
type uglyFile struct {
	name string
	data func(t *testing.T) string
	o    Options // chosen by a person; most need nothing

	encoding  Encoding // of a text file
	delimiter rune
	header    int
	columns   string   // as on screen, joined by "|"
	phone     int      // the column that is guessed
	message   int      // -1: none is guessed
	rows      []string // as show writes them
	numbers   []string // of each row: the number in Nigeria, or the sentence
	said      []string // about the whole file
	blank     int
	hidden    int
}

func lined(lines ...string) func(*testing.T) string {
	return func(*testing.T) string { return strings.Join(lines, "\r\n") + "\r\n" }
}

func in(e encoding.Encoding, mark string, lines ...string) func(*testing.T) string {
	return func(t *testing.T) string { return mark + encode(t, e, lined(lines...)(t)) }
}

// workbook makes a book with excelize, from nothing but what fill puts in.
func workbook(fill func(f *excelize.File) []error) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		f := excelize.NewFile()
		for _, err := range fill(f) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
}

const (
	missing   = "Missing: enter a phone number"
	twoInOne  = "Cell has two numbers. Put each on its own row"
	shortened = "Excel has shortened this number (2.34803E+12), so its last digits are lost. Set the column to Text and re-enter the number"
)

var turkish = in(charmap.Windows1254, "", "Ad Soyad;Cep Telefonu;Mesaj",
	"Ayşe Yılmaz;0803 555 0101;Sayın Ayşe, ödemeniz gecikmiştir", "İbrahim Güneş;0803 555 0102;Sayın İbrahim, ödemeniz gecikmiştir")

var uglyFiles = []uglyFile{
	{
		name: "german-excel.csv", encoding: Windows1252, delimiter: ';', header: 1, columns: "Name|Telefon|Betrag|Fällig am",
		phone: 1, message: -1,
		data: in(charmap.Windows1252, "", "Name;Telefon;Betrag;Fällig am", "Jürgen Groß;0803 555 0101;1.250,50 €;03.06.2026",
			"\"Müller; Söhne\";2348035550102;20,00 €;04.06.2026"),
		rows: []string{"2: Jürgen Groß|0803 555 0101|1.250,50 €|03.06.2026",
			"3: Müller; Söhne|2348035550102|20,00 €|04.06.2026"}, numbers: []string{"2348035550101", "2348035550102"},
	},
	{
		name: "french-excel.csv", encoding: Windows1252, delimiter: ';', header: 1, columns: "Prénom|Téléphone|Message",
		phone: 1, message: 2,
		data: in(charmap.Windows1252, "", "Prénom;Téléphone;Message",
			"Zoé;08035550101;\"Bonjour Zoé, rendez-vous à 9\u00a0h ; coût\u00a0: 5\u00a0000\u00a0€\"", "Loïc;08035550102;« À bientôt »"),
		rows: []string{"2: Zoé|08035550101|Bonjour Zoé, rendez-vous à 9\u00a0h ; coût\u00a0: 5\u00a0000\u00a0€",
			"3: Loïc|08035550102|« À bientôt »"}, numbers: []string{"2348035550101", "2348035550102"},
	},
	{
		name: "unicode-text.txt", encoding: UTF16LE, delimiter: '\t', header: 1, columns: "GSM No|Name|Text", phone: 0,
		message: 2,
		data: in(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "\xff\xfe", "GSM No\tName\tText",
			"8035550101\tṢadé Ọlá\t\"Ẹ káàbọ̀, owó yín jẹ́ ₦5,000\"", "8035550102\t\"Obi \"\"Junior\"\"\"\tHello"),
		rows:    []string{"2: 8035550101|Ṣadé Ọlá|Ẹ káàbọ̀, owó yín jẹ́ ₦5,000", "3: 8035550102|Obi \"Junior\"|Hello"},
		numbers: []string{"2348035550101", "2348035550102"},
	},
	{
		name: "turkish-excel.csv", encoding: Windows1252, delimiter: ';', header: 1, columns: "Ad Soyad|Cep Telefonu|Mesaj",
		phone: 1, message: -1, data: turkish,
		rows: []string{"2: Ayþe Yýlmaz|0803 555 0101|Sayýn Ayþe, ödemeniz gecikmiþtir",
			"3: Ýbrahim Güneþ|0803 555 0102|Sayýn Ýbrahim, ödemeniz gecikmiþtir"},
		numbers: []string{"2348035550101", "2348035550102"},
	},
	{
		name: "turkish-excel.csv", o: Options{Encoding: "Windows-1254"}, encoding: "Windows-1254", delimiter: ';', header: 1,
		columns: "Ad Soyad|Cep Telefonu|Mesaj", phone: 1, message: -1, data: turkish,
		rows: []string{"2: Ayşe Yılmaz|0803 555 0101|Sayın Ayşe, ödemeniz gecikmiştir",
			"3: İbrahim Güneş|0803 555 0102|Sayın İbrahim, ödemeniz gecikmiştir"},
		numbers: []string{"2348035550101", "2348035550102"},
	},
	{
		name: "nigerian-school.csv", encoding: UTF8, delimiter: ',', header: 1, columns: "S/N|Full Name|Phone No.|Amount Due",
		phone: 2, message: -1,
		data: in(encoding.Nop, "\xef\xbb\xbf", "S/N,Full Name,Phone No.,Amount Due",
			"1,Ọláyínká Adéṣọlá,08035550101,\"₦12,500.00\"", "2,Nneka Ọkọ́ńjọ,8035550102,\"₦9,000.00\"", "3,Ẹniọlá Ajàyí,+2348035550103,₦0.00"),
		rows: []string{"2: 1|Ọláyínká Adéṣọlá|08035550101|₦12,500.00", "3: 2|Nneka Ọkọ́ńjọ|8035550102|₦9,000.00",
			"4: 3|Ẹniọlá Ajàyí|+2348035550103|₦0.00"}, numbers: []string{"2348035550101", "2348035550102", "2348035550103"},
	},
	{
		name: "shortened-numbers.csv", encoding: UTF8, delimiter: ',', header: 1, columns: "phone|name", phone: 0,
		message: -1,
		data:    lined("phone,name", "2.34803E+12,Ada", "2.34803E+12,Bola", "08035550103,Chidi"),
		rows:    []string{"2: 2.34803E+12|Ada", "3: 2.34803E+12|Bola", "4: 08035550103|Chidi"},
		numbers: []string{shortened, shortened, "2348035550103"},
	},
	{
		name: "signs-in-numbers.csv", encoding: UTF8, delimiter: ',', header: 1, columns: "Mobile Number|Name", phone: 0,
		message: -1,
		data: lined("Mobile Number,Name", "'08035550101,Ada", "+234 (0)803 555 0102,Bola", "\"=\"\"08035550103\"\"\",Chidi",
			"0803-555-0104,Dayo", "(0803) 555.0105,Efe", "2348035550106.0,Femi", "\u202a+2348035550107\u202c,Gbenga",
			"0803\u00a0555\u00a00108,Hauwa", "٠٨٠٣٥٥٥٠١٠٩,Idris", "00234 803 555 0110,Jide", "tel:08035550111,Kemi"),
		rows: []string{"2: '08035550101|Ada", "3: +234 (0)803 555 0102|Bola", "4: =\"08035550103\"|Chidi",
			"5: 0803-555-0104|Dayo", "6: (0803) 555.0105|Efe", "7: 2348035550106.0|Femi", "8: \u202a+2348035550107\u202c|Gbenga",
			"9: 0803\u00a0555\u00a00108|Hauwa", "10: ٠٨٠٣٥٥٥٠١٠٩|Idris", "11: 00234 803 555 0110|Jide", "12: tel:08035550111|Kemi"},
		numbers: []string{"2348035550101", "2348035550102", "2348035550103", "2348035550104", "2348035550105",
			"2348035550106", "2348035550107", "2348035550108", "2348035550109", "2348035550110",
			"2348035550111"},
	},
	{
		name: "trailing-columns.csv", encoding: UTF8, delimiter: ',', header: 1, columns: "phone|name", phone: 0, message: -1,
		blank:   3,
		data:    lined("phone,name,,,,", "08035550101,Ada,,,,", ",,,,,", "08035550102,Bola,,,,", ",,,,,", ",,,,,"),
		rows:    []string{"2: 08035550101|Ada||||", "4: 08035550102|Bola||||"},
		numbers: []string{"2348035550101", "2348035550102"},
	},
	{
		name: "title-and-total.csv", encoding: UTF8, delimiter: ',', header: 4, columns: "Name|Phone|Amount", phone: 1,
		message: -1,
		data: lined("GREENFIELD COLLEGE,,", "Outstanding fees as at 01/06/2026,,", ",,", "Name,Phone,Amount",
			"Ada Obi,08035550101,\"12,500\"", "Bola Ade,08035550102,\"9,000\"", "TOTAL,,\"21,500\"", ",,", "Prepared by: Accounts,,"),
		rows: []string{"5: Ada Obi|08035550101|12,500", "6: Bola Ade|08035550102|9,000", "7: TOTAL||21,500",
			"9: Prepared by: Accounts||"}, numbers: []string{"2348035550101", "2348035550102", missing, missing}, blank: 1,
	},
	{
		name: "two-numbers-in-a-cell.csv", encoding: UTF8, delimiter: ',', header: 1, columns: "Name|Contact", phone: 1,
		message: -1,
		data: lined("Name,Contact", "Ada,08035550101", "Bola,08035550102/08055550102",
			"Chidi,\"08035550103, 08055550103\"", "Dayo,08035550104 08055550104", "Efe,08035550105", "Femi,08035550106", "Gbenga,08035550107"),
		rows: []string{"2: Ada|08035550101", "3: Bola|08035550102/08055550102", "4: Chidi|08035550103, 08055550103",
			"5: Dayo|08035550104 08055550104", "6: Efe|08035550105", "7: Femi|08035550106", "8: Gbenga|08035550107"},
		numbers: []string{"2348035550101", twoInOne, twoInOne, twoInOne, "2348035550105", "2348035550106", "2348035550107"},
	},
	{
		name: "lines-in-a-message.csv", encoding: UTF8, delimiter: ',', header: 1, columns: "phone|message", phone: 0,
		message: 1,
		data: lined("phone,message", "08035550101,\"Dear Ada,\r\nyour fees are due.\r\n\r\nThe bursar\"",
			"08035550102,\"He said \"\"come\"\"\""),
		rows:    []string{"2: 08035550101|Dear Ada,\nyour fees are due.\n\nThe bursar", "3: 08035550102|He said \"come\""},
		numbers: []string{"2348035550101", "2348035550102"},
	},
	{
		name: "google-contacts.csv", encoding: UTF8, delimiter: ',', header: 1,
		columns: "First Name|Last Name|Labels|Phone 1 - Label|Phone 1 - Value", phone: 4, message: -1,
		data: lined("First Name,Last Name,Labels,Phone 1 - Label,Phone 1 - Value",
			"Ada,Obi,* myContacts,Mobile,+234 803 555 0101", "Bola,,* myContacts,Mobile,0803 555 0102 ::: 0805 555 0102", "Chidi,Eze,* myContacts,Work,08035550103"),
		rows: []string{"2: Ada|Obi|* myContacts|Mobile|+234 803 555 0101",
			"3: Bola||* myContacts|Mobile|0803 555 0102 ::: 0805 555 0102", "4: Chidi|Eze|* myContacts|Work|08035550103"},
		numbers: []string{"2348035550101", twoInOne, "2348035550103"},
	},
	{
		name: "numbers-only.txt", encoding: UTF8, delimiter: ',', header: NoHeader, columns: "Column A", phone: 0,
		message: -1,
		data:    func(*testing.T) string { return "08035550101\n\n 08035550102 \n2348035550103" },
		rows:    []string{"1: 08035550101", "3:  08035550102 ", "4: 2348035550103"},
		numbers: []string{"2348035550101", "2348035550102", "2348035550103"}, blank: 1,
		said: []string{"The first row looks like data, not column names"},
	},
	{
		name: "bank-export.txt", encoding: UTF8, delimiter: '|', header: 1, columns: "ACCT|CUSTOMER|MSISDN|BALANCE", phone: 2,
		message: -1,
		data: lined("ACCT|CUSTOMER|MSISDN|BALANCE", "0012345678|OBI, ADA|2348035550101|12,500.00 CR",
			"0012345679|ADE; BOLA|2348035550102|0.00"),
		rows:    []string{"2: 0012345678|OBI, ADA|2348035550101|12,500.00 CR", "3: 0012345679|ADE; BOLA|2348035550102|0.00"},
		numbers: []string{"2348035550101", "2348035550102"},
	},
	{
		name: "pairs.txt", encoding: UTF8, header: NoHeader, columns: "phone|message", phone: 0, message: 1,
		data: func(*testing.T) string {
			return "2348035550101^Dear Ada, come on Monday~08035550102^Dear Bola, 2^3 is 8~8035550103^Ẹ kú ọjọ́"
		},
		rows: []string{"1: 2348035550101|Dear Ada, come on Monday", "2: 08035550102|Dear Bola, 2^3 is 8",
			"3: 8035550103|Ẹ kú ọjọ́"}, numbers: []string{"2348035550101", "2348035550102", "2348035550103"},
	},
	{
		name: "numbers-as-numbers.xlsx", header: 1, columns: "Phone|Name|Due", phone: 0, message: -1, hidden: 1,
		o: Options{Country: "NG"},
		data: workbook(func(f *excelize.File) []error {
			short, err := f.NewStyle(&excelize.Style{CustomNumFmt: ptr("0.00E+00")})
			day, err2 := f.NewStyle(&excelize.Style{NumFmt: 14})
			return []error{err, err2,
				f.SetSheetRow("Sheet1", "A1", &[]any{"Phone", "Name", "Due"}),
				f.SetSheetRow("Sheet1", "A2", &[]any{2348035550101, "Ada", time.Date(2026, 6, 3, 0, 0, 0, 0, time.UTC)}),
				f.SetSheetRow("Sheet1", "A3", &[]any{8035550102, "Bola", time.Date(2026, 6, 4, 0, 0, 0, 0, time.UTC)}),
				f.SetSheetRow("Sheet1", "A4", &[]any{"08035550103", "Hidden Chidi", "later"}),
				f.SetSheetRow("Sheet1", "A5", &[]any{"08035550104", "Dayo", "now"}),
				f.SetCellStyle("Sheet1", "A2", "A3", short), f.SetCellStyle("Sheet1", "C2", "C3", day),
				f.SetRowVisible("Sheet1", 4, false),
			}
		}),
		rows:    []string{"2: 2348035550101|Ada|03/06/2026", "3: 8035550102|Bola|04/06/2026", "5: 08035550104|Dayo|now"},
		numbers: []string{"2348035550101", "2348035550102", "2348035550104"},
		said:    []string{"1 hidden row is left out"},
	},
	{
		name: "merged-title.xlsx", header: 3, columns: "Pupil|Parent's phone|Owing", phone: 1, message: -1,
		o: Options{Country: "NG"},
		data: workbook(func(f *excelize.File) []error {
			return []error{
				f.SetSheetName("Sheet1", "June"),
				f.SetCellValue("June", "A1", "GREENFIELD COLLEGE - outstanding fees, June 2026"), f.MergeCell("June", "A1", "C1"),
				f.SetSheetRow("June", "A3", &[]any{"Pupil", "Parent's phone", "Owing"}),
				f.SetSheetRow("June", "A4", &[]any{"Ada Obi", "0803 555 0101", 12500}),
				f.SetSheetRow("June", "A5", &[]any{"Uche Obi", nil, 9000}), f.MergeCell("June", "B4", "B5"),
				f.SetSheetRow("June", "A6", &[]any{"Bola Ade", 8035550102, 0.5}),
				f.SetSheetRow("June", "A8", &[]any{"TOTAL", nil}), f.SetCellFormula("June", "C8", "SUM(C4:C6)"),
			}
		}),
		rows:    []string{"4: Ada Obi|0803 555 0101|12500", "5: Uche Obi||9000", "6: Bola Ade|8035550102|0.5", "8: TOTAL"},
		numbers: []string{"2348035550101", missing, "2348035550102", missing},
	},
	{
		name: "several-sheets.xlsx", header: 1, columns: "name|phone", phone: 1, message: -1, o: Options{Country: "NG"},
		data: workbook(func(f *excelize.File) []error {
			_, err := f.NewSheet("Parents")
			_, err2 := f.NewSheet("Old")
			return []error{err, err2,
				f.SetSheetName("Sheet1", "Read me"), f.SetCellValue("Read me", "A1",
					"Fill in the sheet Parents. Do not change the column names."),
				f.SetSheetRow("Parents", "A1", &[]any{"name", "phone"}),
				f.SetSheetRow("Parents", "A2", &[]any{"Ada", "08035550101"}),
				f.SetSheetRow("Parents", "A3", &[]any{"Bola", "08035550102"}),
				f.SetSheetRow("Old", "A1", &[]any{"name", "phone"}), f.SetSheetRow("Old", "A2", &[]any{"Chidi", "08035550103"}),
				f.SetSheetVisible("Old", false),
			}
		}),
		rows: []string{"2: Ada|08035550101", "3: Bola|08035550102"}, numbers: []string{"2348035550101", "2348035550102"},
		said: []string{"The selected file has 3 sheets. Choose the one to use"},
	},
}

func ptr(s string) *string { return &s }

func TestUglyFiles(t *testing.T) {
	for _, c := range uglyFiles {
		t.Run(c.name+string(c.o.Encoding), func(t *testing.T) {
			made, path := c.data(t), filepath.Join(uglyFolder, c.name)
			if *write {
				if err := os.WriteFile(path, []byte(made), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v: go test ./internal/sheet -run Ugly -write makes it", err)
			}
			got, again := mustRead(t, string(raw), c.o), mustRead(t, made, c.o)
			if strings.HasSuffix(c.name, ".xlsx") && !slices.Equal(show(got.rows), show(again.rows)) ||
				!strings.HasSuffix(c.name, ".xlsx") && string(raw) != made {
				t.Errorf("the file is not the one that is made here")
			}
			c.compare(t, got)
		})
	}
}

func (c uglyFile) compare(t *testing.T, got list) {
	t.Helper()
	if got.Options.Encoding != c.encoding || got.Options.Delimiter != c.delimiter || got.Options.HeaderRow != c.header ||
		strings.Join(got.Columns, "|") != c.columns {
		t.Errorf("read as %s with %q, names in row %d: %q", got.Options.Encoding, got.Options.Delimiter,
			got.Options.HeaderRow, strings.Join(got.Columns, "|"))
	}
	if !slices.Equal(show(got.rows), c.rows) {
		t.Errorf("rows:\ngot  %q\nwant %q", show(got.rows), c.rows)
	}
	if got.tally.Blank != c.blank || got.tally.Hidden != c.hidden || got.tally.Problems != 0 {
		t.Errorf("%+v", got.tally)
	}
	said := got.Notices()
	if n := got.tally.Notice(); n != "" {
		said = append(said, n)
	}
	if !slices.Equal(said, c.said) {
		t.Errorf("said %q, want %q", said, c.said)
	}
	m := Guess(got.Header, got.Sample, "NG")
	if m.Phone != c.phone || m.Message != c.message {
		t.Fatalf("guessed %+v, want %d and %d", m, c.phone, c.message)
	}
	var numbers []string
	for _, row := range got.rows {
		cell := ""
		if c.phone < len(row.Cells) {
			cell = row.Cells[c.phone]
		}
		if p, err := phone.Parse(cell, "NG", false); err != nil {
			numbers = append(numbers, err.Error())
		} else {
			numbers = append(numbers, p.Number)
		}
	}
	if !slices.Equal(numbers, c.numbers) {
		t.Errorf("numbers:\ngot  %q\nwant %q", numbers, c.numbers)
	}
}
