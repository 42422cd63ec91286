package views

import (
	"math/big"
	"strings"
	"time"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// Formatter is for whom and when a page is made.
type Formatter struct {
	Now     time.Time // in the zone in which times are shown
	Country string    // ISO 3166: numbers of it are shown as people dial them
	Masked  bool      // this person sees phone numbers only in part
	// Retention is set where a page says until when numbers and texts are kept.
	Retention sms.Retention
}

// When says a stored time (milliseconds) as people do, "–" for 0.
func (o Formatter) When(ms int64) string {
	if ms == 0 {
		return "–"
	}
	return When(o.at(ms), o.Now)
}

// ShortTime is When for a column of times: of today only the time of day.
func (o Formatter) ShortTime(ms int64) string {
	return strings.TrimPrefix(o.When(ms), "today at ")
}

// Stamp is a stored time for machines (RFC 3339).
func (o Formatter) Stamp(ms int64) string { return o.at(ms).Format(time.RFC3339) }

func (o Formatter) at(ms int64) time.Time { return time.UnixMilli(ms).In(o.Now.Location()) }

// Phone shows a number as far as this person may see it.
func (o Formatter) Phone(number string) string {
	switch {
	case number == "":
		return ""
	case o.Masked:
		return phone.Mask(number, o.Country)
	}
	return phone.Show(number, o.Country)
}

// MaskNumbers shows words that somebody else chose, such as the provider's reason:
// where numbers are masked, what may be one is left out.
func (o Formatter) MaskNumbers(text string) string {
	if !o.Masked {
		return text
	}
	return phone.MaskText(text)
}

// Percent is the share of n in total with one decimal, cut and never rounded
// up: "100%" is all of them and "0%" none.
func Percent(n, total int64) string {
	switch {
	case total <= 0:
		return "–"
	case n == total:
		return "100%"
	case n <= 0:
		return "0%"
	}
	tenths := max(n*1000/total, 1)
	return Number(int(tenths/10)) + "." + Number(int(tenths%10)) + "%"
}

// Money writes an amount in hundredths: Money("₦", 481600) is "₦4,816.00".
func Money(currency string, hundredths int64) string {
	return amount(currency, big.NewRat(hundredths, 100))
}

func amount(currency string, value *big.Rat) string {
	sign := ""
	if value.Sign() < 0 {
		sign, value = "-", new(big.Rat).Neg(value)
	}
	whole, rest, _ := strings.Cut(value.FloatString(2), ".")
	var grouped strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			grouped.WriteByte(',')
		}
		grouped.WriteRune(digit)
	}
	return sign + currency + grouped.String() + "." + rest
}

// Shorten cuts a text for a table: at most n letters, with "…" for the rest.
func Shorten(text string, n int) string {
	letters := []rune(strings.Join(strings.Fields(text), " "))
	if len(letters) <= n {
		return string(letters)
	}
	return strings.TrimRight(string(letters[:n-1]), " ") + "…"
}

// withStop ends a text with a full stop unless it ends already.
func withStop(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// and joins words as people do: "a, b and c".
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

func toneOf(t sms.Tone) Tone {
	switch t {
	case sms.ToneInfo:
		return ToneInfo
	case sms.ToneOK:
		return ToneOK
	case sms.ToneBad:
		return ToneBad
	case sms.ToneWarn:
		return ToneWarn
	default:
		return ToneMute
	}
}

// glyphOf finds the drawing for the icon that a standing names.
func glyphOf(icon string) Glyph {
	switch icon {
	case "clock":
		return GlyphWaiting
	case "loader":
		return GlyphSending
	case "check":
		return GlyphDelivered
	case "x":
		return GlyphFailed
	case "ban":
		return GlyphBlocked
	case "alert":
		return GlyphUnknown
	case "help":
		return GlyphDecide
	case "repeat":
		return GlyphRefresh
	default:
		return GlyphStopped
	}
}

func tileGlyph(t sms.Tile) Glyph {
	switch t {
	case sms.TileWaiting, sms.TileNetwork:
		return GlyphWaiting
	case sms.TileDelivered:
		return GlyphDelivered
	case sms.TileFailed:
		return GlyphFailed
	case sms.TileUnknown:
		return GlyphUnknown
	case sms.TileDecision:
		return GlyphDecide
	default:
		return GlyphStopped
	}
}
