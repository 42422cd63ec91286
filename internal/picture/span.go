package picture

// Span is a stretch of time, in Unix milliseconds, laid out from left to right.
type Span struct{ From, Until int64 }

// leastBar is how wide a bar is at least, in percent: what is there can be seen.
const leastBar = 0.8

// At is where a moment stands, in percent; what lies outside stands at the edge.
func (s Span) At(ms int64) float64 {
	if s.Until <= s.From {
		return 0
	}
	return 100 * float64(min(max(ms, s.From), s.Until)-s.From) / float64(s.Until-s.From)
}

// Bar is where a bar from one moment to another begins, and how wide it is.
func (s Span) Bar(from, until int64) (x, width float64) {
	x = s.At(from)
	width = max(s.At(until)-x, leastBar)
	return min(x, 100-width), width
}
