package sheet

import (
	"bufio"
	"fmt"
	"io"

	"smsdesk/internal/sms"
)

// examples are the values of an example's rows, by sms.PlaceholderKey of the mark.
var examples = map[string][3]string{
	"name":      {"Ada Obi", "Bola Ade", "Chidi Eze"},
	"fullname":  {"Ada Obi", "Bola Ade", "Chidi Eze"},
	"firstname": {"Ada", "Bola", "Chidi"},
	"lastname":  {"Obi", "Ade", "Eze"},
	"surname":   {"Obi", "Ade", "Eze"},
	"date":      {"3 June", "4 June", "5 June"},
	"time":      {"9:00am", "10:30am", "2:00pm"},
	"amount":    {"2,500", "12,000", "800"},
	"code":      {"4711", "0815", "2903"},
}

// ExampleRows are the rows of an example for a text with marks: the names of
// the columns and three made-up people.
func ExampleRows(marks []string) [][]string {
	rows := [][]string{{"phone"}, {"08035550101"}, {"08035550102"}, {"08035550103"}}
	for _, m := range marks {
		rows[0] = append(rows[0], m)
		values, known := examples[sms.PlaceholderKey(m)]
		for i := range values {
			if !known {
				values[i] = fmt.Sprintf("%s %d", m, i+1)
			}
			rows[i+1] = append(rows[i+1], values[i])
		}
	}
	if len(marks) == 0 {
		rows[0] = append(rows[0], "message")
		for i := range 3 {
			rows[i+1] = append(rows[i+1], "Dear customer, we are closed on Monday.")
		}
	}
	return rows
}

// Example writes to w a workbook to begin a list from: a column "phone", set
// to Text so that numbers keep their zeros, one for each mark (sms.Placeholders), and
// three made-up rows. Without marks there is a column "message" instead.
func Example(w io.Writer, marks []string) error {
	return writeBook(w, func(put func([]string) error) error {
		for _, row := range ExampleRows(marks) {
			if err := put(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// ExampleCSV is Example as a CSV file.
func ExampleCSV(w io.Writer, marks []string) error {
	b := bufio.NewWriter(w)
	b.WriteString(UTF8.mark())
	for _, row := range ExampleRows(marks) {
		writeRecord(b, row)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write an example: %w", err)
	}
	return nil
}
