package sheet

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// names are those of months and days in one language, with their short forms.
type names struct {
	months, shortMonths [12]string
	days, shortDays     [7]string // from Sunday
}

// namesOf are the names in the language of a locale, which is a number of
// Windows such as 407 or a tag such as de-DE; English for one that is not among
// ours.
func namesOf(locale string) *names {
	id, err := strconv.ParseUint(locale, 16, 32)
	for _, l := range languages {
		if err == nil && id&0x3ff == l.id || err != nil && strings.HasPrefix(strings.ToLower(locale), l.tag) {
			return l.names
		}
	}
	return languages[0].names
}

// languages are those with names of their own, English first; id is the lower
// ten bits of their locales.
var languages = []struct {
	id    uint64
	tag   string
	names *names
}{
	{0x09, "en", named("January February March April May June July August September October November December",
		"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
		"Sunday Monday Tuesday Wednesday Thursday Friday Saturday", "Sun Mon Tue Wed Thu Fri Sat")},
	{0x07, "de", named("Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
		"Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
		"Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag", "So Mo Di Mi Do Fr Sa")},
	{0x0c, "fr", named("janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		"janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
		"dimanche lundi mardi mercredi jeudi vendredi samedi", "dim. lun. mar. mer. jeu. ven. sam.")},
	{0x0a, "es", named("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		"ene feb mar abr may jun jul ago sep oct nov dic",
		"domingo lunes martes miércoles jueves viernes sábado", "dom lun mar mié jue vie sáb")},
	{0x16, "pt", named("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
		"jan fev mar abr mai jun jul ago set out nov dez",
		"domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado", "dom seg ter qua qui sex sáb")},
	{0x41, "sw", named("Januari Februari Machi Aprili Mei Juni Julai Agosti Septemba Oktoba Novemba Desemba",
		"Jan Feb Mac Apr Mei Jun Jul Ago Sep Okt Nov Des",
		"Jumapili Jumatatu Jumanne Jumatano Alhamisi Ijumaa Jumamosi", "Jpl Jtt Jnn Jtn Alh Ijm Jms")},
}

func named(months, shortMonths, days, shortDays string) *names {
	n := &names{}
	copy(n.months[:], strings.Fields(months))
	copy(n.shortMonths[:], strings.Fields(shortMonths))
	copy(n.days[:], strings.Fields(days))
	copy(n.shortDays[:], strings.Fields(shortDays))
	return n
}

const (
	daySeconds = 24 * 60 * 60
	// lastDay is 31 December 9999, counted from 1900.
	lastDay = 2958465
	// leapDay is 29 February 1900, which there was not: programs count it
	// because the first of them did.
	leapDay = 60
	// days1904 lie between the two days from which workbooks count.
	days1904 = 1462
)

// moment is a day and time as a section shows it.
type moment struct {
	year, month, day, weekday int
	seconds                   int   // of the day, and of all days for spans
	total                     int64 // seconds from the first day on
	parts                     int   // of a second, as many as the format has digits for
}

// settleDate tells minutes from months: "m" behind hours or before seconds.
// What is a code of numbers stands for itself, but zeros behind the seconds.
func (s *section) settleDate() {
	if s.months == nil {
		s.months = languages[0].names
	}
	before := ""
	for i := range s.pieces {
		p := &s.pieces[i]
		switch {
		case p.kind == pieceDate && p.text[0] == 'm' && len(p.text) <= 2 && (strings.HasPrefix(before, "h") || s.nextCode(i) == 's'):
			p.text = strings.Replace(p.text, "m", "n", -1)
		case p.kind == piecePoint && s.fraction == 0 && strings.HasPrefix(before, "s"):
			for j := i + 1; j < len(s.pieces) && s.pieces[j].kind == pieceDigit && s.pieces[j].text == "0" && s.fraction < 3; j++ {
				s.fraction++
				s.pieces[j] = piece{pieceLiteral, ""}
			}
			if s.fraction > 0 {
				p.text = ""
				s.pieces[i+1] = piece{pieceDate, "."}
			}
		}
		if p.kind == pieceDate || p.kind == pieceElapsed {
			before = p.text
		}
	}
}

// nextCode is the letter of the next date code behind piece i, or 0.
func (s *section) nextCode(i int) byte {
	for _, p := range s.pieces[i+1:] {
		if p.kind == pieceDate || p.kind == pieceElapsed {
			return p.text[0]
		}
	}
	return 0
}

// appendDate appends day v. A day that no calendar of the program has is not ok.
func (s *section) appendDate(dst []byte, v float64, from1904 bool) (shown []byte, ok bool) {
	if from1904 && !s.spans() {
		v += days1904
	}
	if v < 0 || v >= lastDay+1 {
		return dst, false
	}
	m := s.moment(v)
	half := false
	for _, p := range s.pieces {
		half = half || p.kind == pieceHalf
	}
	for _, p := range s.pieces {
		switch p.kind {
		case pieceDate:
			dst = s.appendDatePart(dst, p.text, m, half)
		case pieceElapsed:
			of := map[byte]int64{'h': 3600, 'm': 60, 's': 1}[p.text[0]]
			dst = appendPadded(dst, int(m.total/of), len(p.text))
		case pieceHalf:
			dst = append(dst, halfOfDay(p.text, m.seconds)...)
		case pieceGeneral, pieceText:
		default:
			dst = append(dst, p.text...)
		}
	}
	return dst, true
}

func (s *section) spans() bool {
	for _, p := range s.pieces {
		if p.kind == pieceElapsed {
			return true
		}
	}
	return false
}

// moment rounds to what the format shows: parts of a second, else seconds; a
// day alone is only spared the noise of binary fractions.
func (s *section) moment(v float64) moment {
	unit := int64(1)
	for range s.fraction {
		unit *= 10
	}
	parts := int64(math.Floor(v*daySeconds*float64(unit) + 0.5))
	if !s.showsTime() {
		parts = int64(math.Floor(v*daySeconds + 1e-4))
	}
	m := moment{total: parts / unit, parts: int(parts % unit)}
	m.seconds = int(m.total % daySeconds)
	days := int(m.total / daySeconds)
	switch {
	case days == 0:
		m.year, m.month, m.day, m.weekday = 1900, 1, 0, 6
		return m
	case days == leapDay:
		m.year, m.month, m.day, m.weekday = 1900, 2, 29, 3
		return m
	case days > leapDay:
		days--
	}
	t := time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC).AddDate(0, 0, days)
	m.year, m.month, m.day, m.weekday = t.Year(), int(t.Month()), t.Day(), int(t.Weekday())
	if days < leapDay {
		m.weekday = (m.weekday + 6) % 7
	}
	return m
}

func (s *section) showsTime() bool {
	for _, p := range s.pieces {
		if p.kind == pieceElapsed || p.kind == pieceHalf || p.kind == pieceDate && strings.IndexByte("hns.", p.text[0]) >= 0 {
			return true
		}
	}
	return false
}

func (s *section) appendDatePart(dst []byte, code string, m moment, half bool) []byte {
	n := len(code)
	switch code[0] {
	case 'y', 'e':
		if n <= 2 && code[0] == 'y' {
			return appendPadded(dst, m.year%100, 2)
		}
		return appendPadded(dst, m.year, 4)
	case 'b': // Buddhist
		if n <= 2 {
			return appendPadded(dst, (m.year+543)%100, 2)
		}
		return appendPadded(dst, m.year+543, 4)
	case 'm':
		return s.appendMonth(dst, n, m.month)
	case 'd':
		switch {
		case n <= 2:
			return appendPadded(dst, m.day, n)
		case n == 3:
			return append(dst, s.months.shortDays[m.weekday]...)
		}
		return append(dst, s.months.days[m.weekday]...)
	case 'h':
		hour := m.seconds / 3600
		if half {
			hour = (hour+11)%12 + 1
		}
		return appendPadded(dst, hour, min(n, 2))
	case 'n':
		return appendPadded(dst, m.seconds/60%60, n)
	case 's':
		return appendPadded(dst, m.seconds%60, min(n, 2))
	}
	return appendPadded(append(dst, '.'), m.parts, s.fraction)
}

func (s *section) appendMonth(dst []byte, n, month int) []byte {
	switch {
	case n <= 2:
		return appendPadded(dst, month, n)
	case n == 3:
		return append(dst, s.months.shortMonths[month-1]...)
	case n == 5:
		return append(dst, string([]rune(s.months.months[month-1])[:1])...)
	}
	return append(dst, s.months.months[month-1]...)
}

func halfOfDay(code string, seconds int) string {
	first, second := code[:strings.IndexByte(code, '/')], code[strings.IndexByte(code, '/')+1:]
	if seconds < daySeconds/2 {
		return first
	}
	return second
}

// appendPadded appends n with at least some digits.
func appendPadded(dst []byte, n, digits int) []byte {
	text := strconv.Itoa(n)
	for i := len(text); i < digits; i++ {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}
