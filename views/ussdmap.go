package views

import (
	"fmt"
	"strconv"
	"strings"

	"smsdesk/internal/picture"
	"smsdesk/internal/ussd"
)

// MenuMap is where the callers of a menu went, from screen to screen.
type MenuMap struct {
	ID      int64
	Menu    ussd.Menu
	Drops   []ussd.Drop
	Moves   []ussd.Move
	MayEdit bool
}

// mapBox is a screen on the map; without a screen it is where a choice leads that
// has no target.
type mapBox struct {
	picture.Spot
	Screen  ussd.Screen
	No      int
	Nowhere bool
}

// mapWay is a way on the map, with what leads there.
type mapWay struct {
	picture.Way
	Choice  string
	Nowhere bool
}

// drawnMap is a map with what stands on it.
type drawnMap struct {
	Width, Height int
	Boxes         []mapBox
	Ways          []mapWay
}

// drawn places the screens of the menu as it is now, and the ways that it has or
// that callers went.
func (p MenuMap) drawn() drawnMap {
	at, spots, ways := map[string]int{}, []picture.Spot{}, []picture.Way{}
	for i, s := range p.Menu.Screens {
		at[s.Key] = i
		spots = append(spots, picture.Spot{Seen: p.drop(s.Key).Seen, Left: p.drop(s.Key).Ended})
	}
	nowhere, known := len(spots), map[[2]int]bool{}
	way := func(from, to int, callers int64) {
		if from == to || known[[2]int{from, to}] {
			return
		}
		if to == nowhere && len(spots) == nowhere {
			spots = append(spots, picture.Spot{})
		}
		known[[2]int{from, to}] = true
		ways = append(ways, picture.Way{From: from, To: to, Callers: callers})
	}
	for i, s := range p.Menu.Screens {
		for _, key := range s.Exits() {
			to, there := at[key]
			if !there {
				to = nowhere
			}
			way(i, to, p.moved(s.Key, key))
		}
	}
	for _, m := range p.Moves {
		from, is := at[m.From]
		if to, too := at[m.To]; is && too {
			way(from, to, m.Callers)
		}
	}
	m := picture.NewMap(spots, ways)
	d := drawnMap{Width: m.Width, Height: m.Height}
	for i, s := range m.Spots {
		b := mapBox{Spot: s, No: i + 1, Nowhere: i == nowhere}
		if !b.Nowhere {
			b.Screen = p.Menu.Screens[i]
		}
		d.Boxes = append(d.Boxes, b)
	}
	for _, w := range m.Ways {
		choice := p.choice(p.Menu.Screens[w.From], d.Boxes[w.To])
		d.Ways = append(d.Ways, mapWay{Way: w, Choice: choice, Nowhere: w.To == nowhere})
	}
	return d
}

func (p MenuMap) drop(key string) ussd.Drop {
	for _, d := range p.Drops {
		if d.Screen == key {
			return d
		}
	}
	return ussd.Drop{}
}

func (p MenuMap) moved(from, to string) int64 {
	for _, m := range p.Moves {
		if m.From == from && m.To == to {
			return m.Callers
		}
	}
	return 0
}

// choice is what leads to a screen: the number and the words of one choice, or
// the numbers of several.
func (p MenuMap) choice(from ussd.Screen, to mapBox) string {
	var numbers []string
	words := ""
	for i, c := range from.Choices {
		_, there := p.Menu.Screen(c.Next)
		if from.Kind == ussd.Choose && (c.Next == to.Screen.Key && !to.Nowhere || to.Nowhere && !there) {
			numbers, words = append(numbers, strconv.Itoa(i+1)), p.Menu.In(c.Text, "")
		}
	}
	if len(numbers) == 1 {
		return numbers[0] + " " + Shorten(words, 9)
	}
	return strings.Join(numbers, ", ")
}

// says is the picture in a sentence: how many began, and where most left.
func (p MenuMap) says() string {
	if len(p.Menu.Screens) == 0 {
		return ""
	}
	words := Plural(int(p.drop(p.Menu.Screens[0].Key).Seen), "caller", "callers") + " began."
	most := ussd.Drop{}
	for _, s := range p.Menu.Screens {
		if d := p.drop(s.Key); d.Ended > most.Ended {
			most = d
		}
	}
	if most.Ended > 0 {
		words += " Most left at " + MenuPage{Draft: ussd.Draft{Menu: p.Menu}}.title(most.Screen) + ": " +
			Number(int(most.Ended)) + " of " + Number(int(most.Seen)) + "."
	}
	return words
}

func (b mapBox) title() string { return Shorten(strconv.Itoa(b.No)+". "+screenTitle(b.Screen), 15) }

// count is how many saw the screen, or came to the menu's end there.
func (b mapBox) count() string {
	if b.Screen.Kind == ussd.Finish {
		return "Ended here: " + Number(int(b.Seen))
	}
	return Number(int(b.Seen)) + " saw it"
}

const boxInner = picture.BoxWidth - 20

// split is how wide the parts of the bar are: who went on, and who left.
func (b mapBox) split() (on, left string) {
	if b.Seen == 0 {
		return "0", "0"
	}
	away := boxInner * float64(b.Left) / float64(b.Seen)
	return picture.Unit(boxInner - away), picture.Unit(away)
}

// stub is how thick the way out of the menu is.
func (b mapBox) stub(first int64) string {
	return picture.Unit(max(3, 26*float64(b.Left)/float64(max(first, 1))))
}

func (b mapBox) left() string { return Number(int(b.Left)) + " left, " + Percent(b.Left, b.Seen) }

func (w mapWay) label() string {
	if w.Nowhere {
		return w.Choice
	}
	return strings.TrimSpace(w.Choice + " " + Number(int(w.Callers)))
}

func (w mapWay) class() string {
	switch {
	case w.Nowhere:
		return "way bad lost"
	case w.Back:
		return "way back"
	}
	return "way info"
}

// The tips of ways, and the way out below a box, as paths in pixels.

func mapArrow(x, y int) string {
	return fmt.Sprintf("M%d,%d L%d,%d L%d,%dZ", x-1, y-6, x+6, y, x-1, y+6)
}

func mapArrowUp(x, y int) string {
	return fmt.Sprintf("M%d,%d L%d,%d L%d,%dZ", x-5, y, x, y-6, x+5, y)
}

func mapArrowDown(x, y int) string {
	return fmt.Sprintf("M%d,%d h14 L%d,%dZ", x-7, y-1, x, y+8)
}

func mapStub(b mapBox) string {
	return fmt.Sprintf("M%d,%d v16", b.X+picture.BoxWidth-22, b.Y+picture.BoxHeight)
}

// mapRight is where the part of the bar begins for those who left.
func mapRight(b mapBox, width string) string {
	wide, err := strconv.ParseFloat(width, 64)
	if err != nil {
		return strconv.Itoa(b.X + 10)
	}
	return picture.Unit(float64(b.X+10+boxInner) - wide)
}
