package picture

// Cell is what became of the messages of one network that left in one hour.
type Cell struct {
	Sent, Delivered, Failed int64
}

// Add is both together.
func (c Cell) Add(o Cell) Cell {
	return Cell{c.Sent + o.Sent, c.Delivered + o.Delivered, c.Failed + o.Failed}
}

// Final is how many of them have a final result.
func (c Cell) Final() int64 { return c.Delivered + c.Failed }

// FewFinals is how many final results tell nothing about a network.
const FewFinals = 10

// Share is how many of every hundred with a final result were delivered, rounded
// down; -1 without any.
func (c Cell) Share() int64 {
	if c.Final() <= 0 {
		return -1
	}
	return 100 * c.Delivered / c.Final()
}

// steps of a Grade, in percent.
var grades = [...]int64{80, 92, 96, 98}

// Grade is the step of a cell's share: from 1, where less than 80 of every hundred
// were delivered, to 5; 0 where there are too few to tell.
func (c Cell) Grade() int {
	if c.Final() < FewFinals {
		return 0
	}
	grade := 1
	for _, least := range grades {
		if c.Share() >= least {
			grade++
		}
	}
	return grade
}
