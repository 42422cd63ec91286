package desk

import (
	"runtime/debug"
	"runtime/metrics"
)

// importMemory is how much memory a list in work should add to the process.
const importMemory = 44 << 20

// sparingly keeps the process small until restore: garbage is collected when
// importMemory more than now is in use, not when the heap has doubled. That
// costs little, as the tables of a list hold no pointers, and nothing fails
// when more is needed.
func sparingly() (restore func()) {
	debug.FreeOSMemory()
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, int64(s[0].Value.Uint64()-s[1].Value.Uint64())+importMemory))
	return func() { debug.SetMemoryLimit(before) }
}
