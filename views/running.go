package views

import "math/big"

// Running is what a message takes while it is being written: it ticks with every
// recipient and every part.
type Running struct {
	Currency   string
	Price      Price
	Recipients int64
	Parts      int64 // of all of them together
	About      bool  // the two are estimated
	Group      bool  // only the provider knows how many there are
	Each       int   // parts of the message shown
	Special    int64 // rows with special characters
	Extra      int64 // parts that those cost
}

// facts are the figures of the bar.
func (u Running) facts() []DeckFact {
	if u.Recipients == 0 {
		return nil
	}
	facts := []DeckFact{{Figure: u.about() + Number(int(u.Recipients)), Word: plural(u.Recipients, "recipient", "recipients")}}
	if u.Parts == 0 {
		return facts
	}
	facts = append(facts, DeckFact{Figure: u.about() + Number(int(u.Parts)), Word: plural(u.Parts, "part", "parts"),
		Desk: true})
	if u.Price.Known() {
		facts = append(facts, DeckFact{Figure: "about " + u.money(u.Parts), Word: "estimated cost"})
	}
	return facts
}

func (u Running) about() string {
	if u.About || u.Group {
		return "about "
	}
	return ""
}

func (u Running) money(parts int64) string { return reckoned(u.Currency, u.Price.of(parts)) }

// figure is what the message costs, "" while that is not known.
func (u Running) figure() string {
	switch {
	case u.Each == 0 || !u.Price.Known():
		return ""
	case u.Parts > 0:
		return "about " + u.money(u.Parts)
	}
	return "about " + u.money(int64(u.Each)) + " for each recipient"
}

// whom says for how many the figure is.
func (u Running) whom() string {
	if u.Parts == 0 {
		return ""
	}
	words := Plural(int(u.Recipients), "recipient", "recipients") + ", " + Plural(int(u.Parts), "part", "parts")
	if u.Group {
		return "If the group has " + words
	}
	return capitalise(u.about() + words)
}

// basis says where the figure is from, and how sure it is.
func (u Running) basis() string {
	switch {
	case u.Each == 0:
		return ""
	case !u.Price.Known():
		return "The cost is shown after " + Number(minLearned) + " campaigns, which tell the price per part."
	}
	words := u.Price.each(u.Currency) + ", " + u.Price.source()
	if spread := u.spread(); spread != "" {
		words = spread + ". " + words
	}
	return words
}

func (u Running) spread() string {
	if u.Parts == 0 {
		return ""
	}
	return u.Price.spread(u.Currency, u.Parts)
}

// saves is what fewer parts for each recipient save, "" where that is not known.
func (u Running) saves(parts int) string {
	n := int64(parts) * u.Recipients
	if n <= 0 || !u.Price.Known() {
		return ""
	}
	return "about " + u.money(n)
}

// special says what special characters in the rows of a list cost.
func (u Running) special() string {
	if u.Extra <= 0 {
		return ""
	}
	words := capitalise(u.about() + Plural(int(u.Special), "row has", "rows have") + " special characters")
	words += ": " + Plural(int(u.Extra), "more part", "more parts")
	if u.Price.Known() {
		words += ", about " + reckoned(u.Currency, new(big.Rat).Mul(u.Price.Middle, new(big.Rat).SetInt64(u.Extra)))
	}
	return words + "."
}
