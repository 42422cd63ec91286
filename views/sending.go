package views

// SendingForm is how an account sends, as its form shows it.
type SendingForm struct {
	Action               string
	From, To             string // times of day, both empty for any hour
	Abroad               bool
	TypeAbove            string
	ApproveAbove         string
	CallLimit, URLBudget string
	SendByGet            bool
	Zone                 string // in words
	Country              string
	Saved                bool
	HoursZone            string     // IANA name, "" for the account's
	Days                 [7]DayForm // Sunday first
	Limits               map[string]string
}

// DayForm is one weekday's own sending hours as typed.
type DayForm struct{ Mode, From, To string }
