package sms

// Group is one contact group at the gateway (§2.5). The list tells no parent
// and creation returns no id (§4.7), so parents are known only of groups that
// were made here.
type Group struct {
	ID           int64
	Name         string
	ContactCount int64
	MadeHere     bool
	ParentID     int64 // of a sub-group made here, 0: none known
}

// GroupNode is a group at its place in the tree.
type GroupNode struct {
	Group
	Depth     int
	SubGroups int // directly below it
}

// GroupTree brings groups into the order of a tree: those without a parent as
// they come, each followed by its sub-groups. A parent that is not in the list,
// or that would go round in circles, counts as none; every group is there once.
func GroupTree(list []Group) []GroupNode {
	below, known := map[int64][]Group{}, map[int64]Group{}
	for _, g := range list {
		known[g.ID] = g
	}
	for _, g := range list {
		parent := g.ParentID
		if _, ok := known[parent]; !ok || circles(known, g) {
			parent = 0
		}
		below[parent] = append(below[parent], g)
	}
	tree := make([]GroupNode, 0, len(list))
	var walk func(parent int64, depth int)
	walk = func(parent int64, depth int) {
		for _, g := range below[parent] {
			tree = append(tree, GroupNode{Group: g, Depth: depth, SubGroups: subGroups(below, g)})
			if g.ID != 0 {
				walk(g.ID, depth+1)
			}
		}
	}
	walk(0, 0)
	return tree
}

func subGroups(below map[int64][]Group, g Group) int {
	if g.ID == 0 {
		return 0
	}
	return len(below[g.ID])
}

// circles says that the way up from g never ends.
func circles(known map[int64]Group, g Group) bool {
	at := g
	for range len(known) + 1 {
		next, ok := known[at.ParentID]
		if !ok || at.ParentID == 0 {
			return false
		}
		at = next
	}
	return true
}
