package ussd

// Examples are menus to begin with: their numbers, names and sums are made up.
func Examples() []Menu { return []Menu{optOut(), schoolFee(), survey()} }

func english() []Language { return []Language{{Code: "en", Name: "English"}} }

func en(text string) Words { return Words{"en": text} }

func optOut() Menu {
	return Menu{Name: "Stop or start messages", Code: "347", Languages: english(), Screens: []Screen{
		{Key: "start", Title: "Start", Kind: Choose, Text: en("Messages from the clinic to ##Number##"), Choices: []Choice{
			{Text: en("Stop all messages"), Next: "sure"}, {Text: en("Start messages again"), Next: "again"},
			{Text: en("What became of my last message?"), Next: "last"}}},
		{Key: "sure", Title: "Are you sure?", Kind: Choose, Back: true, Text: en("You will get no more messages from us. Stop all messages?"), Choices: []Choice{
			{Text: en("Yes, stop"), Next: "stopped"}}},
		{Key: "stopped", Title: "Stopped", Kind: Finish, Does: []Action{{Kind: Block}},
			Text: en("Done. You will get no more messages from us. Dial again to start them.")},
		{Key: "again", Title: "Started again", Kind: Finish, Does: []Action{{Kind: Unblock, Otherwise: "ask"}}, Text: en("Done. You will get our messages again.")},
		{Key: "ask", Title: "Ask the office", Kind: Finish, Text: en("We cannot start messages to this number from here. Ask at the clinic.")},
		{Key: "last", Title: "Last message", Kind: Finish, Does: []Action{{Kind: Status, Into: "Status"}}, Text: en("Your last message: ##Status##.")},
	}}
}

func schoolFee() Menu {
	return Menu{Name: "School fee balance", Code: "347*12",
		Languages: []Language{{Code: "en", Name: "English"},
			{Code: "ha", Name: "Hausa", Back: "Baya", More: "Gaba", Wrong: "Ba haka ba ne."}},
		Tables: []Table{{Name: "Fees", Columns: []string{"Pupil number", "Pupil", "Balance"}, Rows: [][]string{
			{"1001", "Ada", "12,500 naira"}, {"1002", "Bola", "nothing"}, {"1003", "Chidi", "4,000 naira"}}}},
		Screens: []Screen{
			{Key: "start", Title: "Language", Kind: Choose,
				Text: Words{"en": "Unity School\nChoose a language", "ha": "Makarantar Unity\nZabi harshe"}, Choices: []Choice{
					{Text: Words{"en": "English", "ha": "English"}, Next: "number", Language: "en"},
					{Text: Words{"en": "Hausa", "ha": "Hausa"}, Next: "number", Language: "ha"}}},
			{Key: "number", Title: "Pupil number", Kind: Ask, Back: true, Save: "Typed", Next: "balance", Rule: Rule{Form: Digits, Min: 4, Max: 6,
				Wrong: Words{"en": "The number has 4 to 6 digits.", "ha": "Lambar tana da 4 zuwa 6."}},
				Text: Words{"en": "Enter the pupil number", "ha": "Shigar da lambar dalibi"}},
			{Key: "balance", Title: "Balance", Kind: Finish, Does: []Action{{Kind: LookUp, Table: "Fees", Column: "Pupil number", By: "Typed", Otherwise: "unknown"}},
				Text: Words{"en": "To pay for ##Pupil##: ##Balance##", "ha": "Saura na ##Pupil##: ##Balance##"}},
			{Key: "unknown", Title: "Not found", Kind: Choose,
				Text: Words{"en": "We do not know the number ##Typed##.", "ha": "Ba mu san lambar ##Typed## ba."},
				Choices: []Choice{
					{Text: Words{"en": "Try again", "ha": "Sake gwadawa"}, Next: "number"}, {Text: Words{"en": "Leave", "ha": "Fita"}, Next: "bye"}}},
			{Key: "bye", Title: "Goodbye", Kind: Finish, Text: Words{"en": "Ask at the office. Goodbye.", "ha": "Tambayi ofis. Sai an jima."}},
		}}
}

func survey() Menu {
	return Menu{Name: "Survey after a visit", Code: "347*13", Languages: english(), Screens: []Screen{
		{Key: "start", Title: "Satisfied?", Kind: Choose, Save: "Satisfied", Record: true, Text: en("Thank you for your visit. How was it?"), Choices: []Choice{
			{Text: en("Good"), Next: "when"}, {Text: en("Fair"), Next: "why"}, {Text: en("Bad"), Next: "why"}}},
		{Key: "why", Title: "Why?", Kind: Ask, Back: true, Save: "Reason", Record: true,
			Rule: Rule{Form: AnyText, Min: 2, Max: 100}, Next: "when", Text: en("What should we do better?")},
		{Key: "when", Title: "Day of the visit", Kind: Ask, Back: true, Save: "Day", Record: true,
			Rule: Rule{Form: Date, Wrong: en("Enter the day like 31/12/2026.")}, Next: "join",
			Text: en("On which day were you here? (day/month/year)")},
		{Key: "join", Title: "Keep in touch?", Kind: Choose, Text: en("May we send you news?"),
			Choices: []Choice{{Text: en("Yes"), Next: "joined"}, {Text: en("No"), Next: "thanks"}}},
		{Key: "joined", Title: "Added", Kind: Finish, Does: []Action{{Kind: Join, List: "News"}}, Text: en("Thank you. You are on the list.")},
		{Key: "thanks", Title: "Thanks", Kind: Finish, Text: en("Thank you and goodbye.")},
	}}
}
