package lists

import "smsdesk/internal/sms"

// place is what a row counts as in the map of its file.
type place struct{ ready, fix, repeated, repaired bool }

// note takes in what is said of the row.
func (p *place) note(k sms.RowKind) {
	p.fix = p.fix || k.Bad()
	p.repeated = p.repeated || k == sms.RowRepeat || k == sms.RowSecond || k == sms.RowOtherText
	p.repaired = p.repaired || k == sms.RowRepaired
}

const (
	// mapCells is the most cells of a file's map, mapBuckets how many are counted
	// on the way there.
	mapCells, mapBuckets = 36, 1024
)

// fileMap counts the rows of a file by where they stand in it. How many there
// will be is not known before the end: once there are too many buckets, two
// become one.
type fileMap struct {
	first, width int64
	buckets      []sms.MapCell
}

// count takes in a row behind those before it.
func (m *fileMap) count(row int64, p place) {
	if len(m.buckets) == 0 {
		m.first, m.width = row, 1
	}
	for (row-m.first)/m.width >= mapBuckets {
		for i := range (len(m.buckets) + 1) / 2 {
			m.buckets[i] = joined(m.buckets[2*i : min(2*i+2, len(m.buckets))])
		}
		m.buckets, m.width = m.buckets[:(len(m.buckets)+1)/2], m.width*2
	}
	for at := (row - m.first) / m.width; int64(len(m.buckets)) <= at; {
		m.buckets = append(m.buckets, sms.MapCell{})
	}
	b := &m.buckets[len(m.buckets)-1]
	if b.First == 0 {
		b.First = row
	}
	b.Last = row
	addPlace(b, p, 1)
}

// addPlace counts n rows more of a place in a cell.
func addPlace(c *sms.MapCell, p place, n int64) {
	for _, of := range []struct {
		is bool
		to *int64
	}{{p.ready, &c.Ready}, {p.fix, &c.Fix}, {p.repeated, &c.Repeated}, {p.repaired, &c.Repaired}} {
		if of.is {
			*of.to += n
		}
	}
}

// joined is one cell for some that follow each other.
func joined(some []sms.MapCell) (all sms.MapCell) {
	for _, c := range some {
		if all.First == 0 {
			all.First = c.First
		}
		all.Last = max(all.Last, c.Last)
		all.Ready, all.Fix, all.Repeated, all.Repaired = all.Ready+c.Ready, all.Fix+c.Fix, all.Repeated+c.Repeated,
			all.Repaired+c.Repaired
	}
	return all
}

// cells is the map, without the parts of the file that have no rows.
func (m *fileMap) cells() []sms.MapCell {
	per := (len(m.buckets) + mapCells - 1) / mapCells
	var all []sms.MapCell
	for from := 0; from < len(m.buckets); from += per {
		if c := joined(m.buckets[from:min(from+per, len(m.buckets))]); c.First != 0 {
			all = append(all, c)
		}
	}
	return all
}
