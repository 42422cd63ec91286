//go:build !race

package sheet

// lighter is by how much the heavy tests shrink: not at all.
const lighter = 1
