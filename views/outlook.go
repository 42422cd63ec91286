package views

import (
	"math"
	"math/big"
	"time"

	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
)

// Outlook is how long a balance lasts when sending goes on as before.
type Outlook struct {
	Now      time.Time // in the account's zone
	Currency string
	Left     *big.Rat // nil where the balance cannot be read
	Price    Price
	Unpaid   int64   // parts that are scheduled or still to be sent
	Used     []int64 // parts on each of the days before today, oldest first
}

// OutlookDays are the days that tell how much is used.
const OutlookDays = 14

// planned is what the messages still to be sent cost.
func (o Outlook) planned() *big.Rat {
	if !o.Price.Known() {
		return new(big.Rat)
	}
	return o.Price.of(o.Unpaid)
}

func (o Outlook) lasting() (l picture.Lasting, ok bool) {
	if o.Left == nil || !o.Price.Known() {
		return l, false
	}
	each, _ := o.Price.Middle.Float64()
	costs := make([]float64, len(o.Used))
	for i, parts := range o.Used {
		costs[i] = float64(parts) * each
	}
	left, _ := new(big.Rat).Sub(o.Left, o.planned()).Float64()
	return picture.Lasts(left, costs)
}

const yearLong = 365

// words say how long it lasts, and by what that is told.
func (o Outlook) words() (lasts, why string) {
	l, ok := o.lasting()
	switch {
	case o.Left == nil:
		return "", ""
	case !o.Price.Known():
		return "How long it lasts cannot be told", "the price per part is not known yet"
	case !ok:
		return "Too few days to tell how long it lasts", "at least " + Number(picture.FewDays) + " of the last " +
			Number(OutlookDays) + " days need sending"
	}
	why = "at " + o.money(l.Mean) + " a day (last " + Number(OutlookDays) + " days)"
	if o.Unpaid > 0 {
		why += ", after " + reckoned(o.Currency, o.planned()) + " for what is still to be sent"
	}
	switch {
	case l.Days < 1 && o.Left.Sign() > 0 && o.Left.Cmp(o.planned()) < 0:
		return "Not enough for what is still to be sent", why
	case l.Days < 1:
		return "Lasts less than a day", why
	case l.Days >= yearLong:
		return "Lasts more than a year", why
	}
	return "Lasts about " + Plural(int(l.Days), "day", "days") + ", to " + o.day(l.Days), why + o.between(l)
}

// short says what tells how long it lasts, in fewer words.
func (o Outlook) short() string {
	if _, ok := o.lasting(); !ok {
		_, why := o.words()
		return capitalise(why)
	}
	return "At the rate of the last " + Number(OutlookDays) + " days"
}

func (o Outlook) between(l picture.Lasting) string {
	least, most := math.Floor(l.Least), math.Floor(l.Most)
	switch {
	case most >= yearLong:
		return "; at least " + Plural(int(least), "day", "days")
	case least == most:
		return ""
	}
	return "; between " + Number(int(least)) + " and " + Plural(int(most), "day", "days")
}

func (o Outlook) money(x float64) string {
	r := new(big.Rat)
	r.SetFloat64(x)
	return reckoned(o.Currency, r)
}

func (o Outlook) day(days float64) string {
	at := o.Now.AddDate(0, 0, int(days))
	if at.Year() != o.Now.Year() {
		return at.Format("2 January 2006")
	}
	return at.Format("2 January")
}

// emptyAt is when nothing is left, 0 where that cannot be told or is far away.
func (o Outlook) emptyAt() int64 {
	l, ok := o.lasting()
	if !ok || l.Days >= yearLong {
		return 0
	}
	return o.Now.Add(time.Duration(l.Days * 24 * float64(time.Hour))).UnixMilli()
}

// levels are the amounts of a balance, oldest first; spans that are no amount are
// left out.
func levels(history []sms.BalanceSpan) (list []picture.Level) {
	for _, s := range history {
		if v, ok := s.Amount(); ok {
			value, _ := v.Float64()
			list = append(list, picture.Level{At: s.Since, Value: value})
		}
	}
	return list
}

// CourseProps describes how a balance went and where it goes.
type CourseProps struct {
	ID      string
	Outlook Outlook
	Levels  []picture.Level // oldest first
	Warn    int64           // hundredths, 0 for none
	High    int             // of the drawing without its words, in pixels
	Says    string
}

func (p CourseProps) course() picture.Course {
	return picture.NewCourse(p.Levels, p.Outlook.Now.UnixMilli(), p.Outlook.emptyAt())
}

// warnAt is where the low-balance alert stands, ok where it is in the picture.
func (p CourseProps) warnAt(c picture.Course) (y string, ok bool) {
	if p.Warn <= 0 {
		return "", false
	}
	return c.Up(float64(p.Warn)/100, float64(p.High))
}

// end says when nothing is left, "" where that is not in the picture.
func (p CourseProps) end(c picture.Course) string {
	at := p.Outlook.emptyAt()
	if c.Ahead == "" || at > c.Until {
		return ""
	}
	return p.day(at)
}

func (p CourseProps) day(ms int64) string {
	return time.UnixMilli(ms).In(p.Outlook.Now.Location()).Format("2 Jan")
}
