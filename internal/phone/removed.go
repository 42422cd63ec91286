package phone

import "strings"

// removed marks a number that was removed. What follows is its network, which
// counts need, and a keyed hash, by which the same number stays the same.
const removed = "#"

// RemovedFrom is what takes the place of a number.
func RemovedFrom(number, hash string, networks *Networks) string {
	if Removed(number) || number == "" {
		return number
	}
	return removed + networks.Of(number) + removed + hash
}

// Removed says that a number was removed, with its text, when its time was over.
func Removed(number string) bool { return strings.HasPrefix(number, removed) }

// RemovedWords stand where a removed number would.
const RemovedWords = "Number removed"

func removedNetwork(number string) string {
	network, _, _ := strings.Cut(strings.TrimPrefix(number, removed), removed)
	return network
}
