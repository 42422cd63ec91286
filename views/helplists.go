package views

// readingRules are what somebody who uploads a file may wonder about.
func readingRules() []string {
	return []string{
		"What a cell shows in Excel is what recipients get: ₦1,234,567.50, 15%, 00123 or 8 May 2026.",
		"Hidden rows are left out and counted. You can include them when you read the file again.",
		"If the column names are repeated in the middle of a file, those rows are left out.",
		"If several columns have the same name, choose which one fills a placeholder.",
		"Empty columns at the end of a file are ignored.",
	}
}

// numberRules are how phone numbers are read, by what stands in the file.
func numberRules() []KeyValue {
	return []KeyValue{
		{Name: "0803-000-0001, (0803) 000 0001, 0803_000_0001", Text: "Spaces, hyphens, brackets, dots, underscores and hidden characters are removed."},
		{Name: "8030000001", Text: "The missing 0 is added."},
		{Name: "+234 803 000 0001, 00234…, wa.me/234…", Text: "International forms and WhatsApp links are read."},
		{Name: "2.34803E+12", Text: "Refused in CSV files: Excel has lost the last digits. In XLSX and ODS files they are still there."},
		{Name: "08030000001 / 08050000001", Text: "Refused: a cell has one number."},
		{Name: "020 1234 5678, 0800 225 5322", Text: "Refused: landlines and toll-free numbers do not get messages."},
		{Name: "n/a, none, -", Text: "Counts as missing."},
	}
}
