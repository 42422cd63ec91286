package health

import "fmt"

// Miscount is one kept count that is not what its rows say.
type Miscount struct {
	Of      CountOf
	Kept    int64
	Counted int64
}

// CountOf names one kept count. Campaign is 0 for counts of an account, At the
// beginning of its time in milliseconds UTC, 0 for counts of no time.
type CountOf struct {
	Table    string
	Account  int64
	Campaign int64
	At       int64
	Key      string
}

// String tells a person which count it is.
func (m Miscount) String() string {
	whose := fmt.Sprintf("campaign %d", m.Of.Campaign)
	if m.Of.Campaign == 0 {
		whose = fmt.Sprintf("account %d at %d", m.Of.Account, m.Of.At)
	}
	if m.Of.Campaign == 0 && m.Of.At == 0 {
		whose = fmt.Sprintf("account %d", m.Of.Account)
	}
	return fmt.Sprintf("%s, %s %q: %d kept, %d counted", whose, m.Of.Table, m.Of.Key, m.Kept, m.Counted)
}
