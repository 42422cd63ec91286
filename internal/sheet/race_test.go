//go:build race

package sheet

// lighter is by how much the heavy tests shrink: the race detector makes them
// ten times slower and takes memory of its own.
const lighter = 10
