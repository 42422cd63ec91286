package picture

import (
	"cmp"
	"fmt"
	"slices"
)

// A map of screens: each in the layer of the longest way from the first, joined
// by wires as thick as callers went there.

const (
	// BoxWidth and BoxHeight are those of a screen, in pixels.
	BoxWidth, BoxHeight = 136, 92
	columnPitch         = 197
	rowPitch            = 128
	mapMargin           = 4
	laneHeight          = 26
	backDepth           = 60 // how far below its boxes a way back is pulled
	wireMost, wireLeast = 26.0, 2.0
)

// Spot is a screen of a map: how many callers saw it and how many left there, and
// where it stands. Layer is -1 for one to which no way leads from the first.
type Spot struct {
	Seen, Left  int64
	Layer, X, Y int
}

// Way leads from one screen to another, by their places in the list; so many
// callers went it. Back is one that leads to where callers came from. Path is in
// pixels, the tip is its end, and the label stands at LabelX and LabelY.
type Way struct {
	From, To       int
	Callers        int64
	Back           bool
	Path           string
	Thick          float64
	TipX, TipY     int
	LabelX, LabelY int
}

// Map is the spots and the ways between them, in a box of pixels.
type Map struct {
	Width, Height int
	Spots         []Spot
	Ways          []Way
}

// NewMap places screens, the first of which is where callers begin, and draws the
// ways. Layers, places and paths of its arguments are computed.
func NewMap(spots []Spot, ways []Way) Map {
	m := Map{Spots: slices.Clone(spots), Ways: slices.Clone(ways)}
	if len(spots) == 0 {
		return m
	}
	m.layers()
	m.place()
	m.draw()
	return m
}

// layers finds which ways lead back, and the longest way to each screen along the
// others.
func (m *Map) layers() {
	const fresh, open, done = 0, 1, 2
	state := make([]int, len(m.Spots))
	var visit func(at int)
	var order []int
	visit = func(at int) {
		state[at] = open
		for i, w := range m.Ways {
			if w.From != at {
				continue
			}
			switch state[w.To] {
			case open:
				m.Ways[i].Back = true
			case fresh:
				visit(w.To)
			}
		}
		state[at] = done
		order = append(order, at)
	}
	visit(0)
	for i := range m.Spots {
		m.Spots[i].Layer = -1
	}
	m.Spots[0].Layer = 0
	for _, at := range slices.Backward(order) {
		for _, w := range m.Ways {
			if w.From == at && !w.Back {
				m.Spots[w.To].Layer = max(m.Spots[w.To].Layer, m.Spots[at].Layer+1)
			}
		}
	}
}

// place puts each layer into a column, the screens that most saw first.
func (m *Map) place() {
	columns := map[int][]int{}
	for i, s := range m.Spots {
		columns[s.Layer] = append(columns[s.Layer], i)
	}
	deepest, tallest := 0, 0
	for layer, column := range columns {
		slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(m.Spots[b].Seen, m.Spots[a].Seen) })
		deepest, tallest = max(deepest, layer), max(tallest, len(column))
	}
	if lost := columns[-1]; len(lost) > 0 {
		// No way leads there: they stand behind all others.
		deepest++
		columns[deepest] = lost
		delete(columns, -1)
	}
	top := mapMargin + laneHeight*(1+m.lanes())
	m.Width = 2*mapMargin + deepest*columnPitch + BoxWidth
	m.Height = top + tallest*rowPitch
	if slices.ContainsFunc(m.Ways, func(w Way) bool { return w.Back }) {
		m.Height += labelHeight
	}
	for layer, column := range columns {
		y := top + (tallest-len(column))*rowPitch/2
		for i, at := range column {
			m.Spots[at].X, m.Spots[at].Y = mapMargin+layer*columnPitch, y+i*rowPitch
		}
	}
}

// skips says that a way leads over a layer.
func (m *Map) skips(w Way) bool { return !w.Back && m.Spots[w.To].Layer-m.Spots[w.From].Layer > 1 }

func (m *Map) lanes() (n int) {
	for _, w := range m.Ways {
		if m.skips(w) {
			n++
		}
	}
	return n
}

// draw makes the paths. The ways of a screen leave and arrive one below the other,
// in the order of where they lead.
func (m *Map) draw() {
	lane := 0
	for i := range m.Ways {
		w := &m.Ways[i]
		w.Thick = wireLeast
		if most := m.Spots[0].Seen; most > 0 {
			w.Thick = max(wireLeast, wireMost*min(1, float64(w.Callers)/float64(most)))
		}
		from, to := m.Spots[w.From], m.Spots[w.To]
		x1, y1 := from.X+BoxWidth, from.Y+m.port(i, func(o Way) (int, int) { return o.From, o.To })
		x2, y2 := to.X-6, to.Y+m.port(i, func(o Way) (int, int) { return o.To, o.From })
		w.TipX, w.TipY = x2, y2
		switch {
		case w.Back:
			w.Path, w.LabelX, w.LabelY = backPath(from, to)
			w.TipX, w.TipY, w.Thick = to.X+BoxWidth/2, to.Y+BoxHeight+6, 1
		case m.skips(*w):
			y := mapMargin + laneHeight*(lane+1)
			lane++
			w.Path = fmt.Sprintf("M%d,%d C%d,%d %d,%d %d,%d L%d,%d C%d,%d %d,%d %d,%d", x1, y1, x1+50, y1, x1+15, y,
				x1+65, y, x2-65, y, x2-15, y, x2-50, y2, x2, y2)
			w.LabelX, w.LabelY = x1+105, y-int(w.Thick/2)-4
		default:
			w.Path = fmt.Sprintf("M%d,%d C%d,%d %d,%d %d,%d", x1, y1, x1+36, y1, x2-36, y2, x2, y2)
			w.LabelX, w.LabelY = (x1+x2)/2, (y1+y2)/2-int(w.Thick/2)-4
		}
	}
	m.keepLabelsApart()
}

// port is how far below the top of a box a way stands among those of the same
// box. end tells the box and the other end.
func (m *Map) port(way int, end func(Way) (box, other int)) int {
	box, _ := end(m.Ways[way])
	var all []int
	for i, w := range m.Ways {
		if at, _ := end(w); at == box && !w.Back {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		_, x := end(m.Ways[a])
		_, y := end(m.Ways[b])
		return cmp.Compare(m.Spots[x].Y, m.Spots[y].Y)
	})
	return BoxHeight * (slices.Index(all, way) + 1) / (len(all) + 1)
}

// backPath leads below the boxes.
func backPath(from, to Spot) (path string, x, y int) {
	x1, x2 := from.X+BoxWidth/2, to.X+BoxWidth/2
	y1, y2 := from.Y+BoxHeight, to.Y+BoxHeight
	below := max(y1, y2) + backDepth
	path = fmt.Sprintf("M%d,%d C%d,%d %d,%d %d,%d", x1, y1, x1, below, x2, below, x2, y2+6)
	return path, (x1 + x2) / 2, max(y1, y2) + backDepth*3/4 - 3
}

// labelHeight is how far labels of one gap stand from each other.
const labelHeight = 16

func (m *Map) keepLabelsApart() {
	gaps := map[int][]int{}
	for i, w := range m.Ways {
		gaps[w.LabelX] = append(gaps[w.LabelX], i)
	}
	for _, gap := range gaps {
		slices.SortStableFunc(gap, func(a, b int) int { return cmp.Compare(m.Ways[a].LabelY, m.Ways[b].LabelY) })
		places := make([]float64, len(gap))
		for i, at := range gap {
			places[i] = float64(m.Ways[at].LabelY)
		}
		for i, y := range Apart(places, labelHeight, float64(m.Height-4)) {
			m.Ways[gap[i]].LabelY = int(y)
		}
	}
}
