package sandbox

import (
	"slices"
	"strings"
)

// group is §2.5 with what the service keeps to itself: its contacts and its parent.
type group struct {
	ID       int64    `json:"id"`
	Name     string   `json:"name"`
	Parent   int64    `json:"parent,omitempty"`
	Contacts []string `json:"contacts,omitempty"`
}

type groupRow struct {
	GroupID      int64  `json:"GroupId"`
	GroupName    string `json:"GroupName"`
	ContactCount int    `json:"ContactCount"`
}

// listGroups is §4.7. Sub-groups are in the list like any group; the specification shows no other place for them.
func (s *Sandbox) listGroups(*call) answer {
	rows := []groupRow{}
	for _, g := range s.groups {
		rows = append(rows, groupRow{g.ID, g.Name, len(g.Contacts)})
	}
	return success(rows)
}

func (s *Sandbox) createGroup(c *call) answer { return s.addGroup(c, 0) }

func (s *Sandbox) createSubGroup(c *call) answer {
	i := s.groupIndex(c.parent)
	if i < 0 {
		return failure(codeNotFound)
	}
	return s.addGroup(c, s.groups[i].ID)
}

func (s *Sandbox) addGroup(c *call, parent int64) answer {
	name := strings.TrimSpace(c.value("groupname"))
	if name == "" {
		return failure(codeMissing)
	}
	if s.groupNamed(name) >= 0 {
		return failure(codeGroupExists)
	}
	return s.change(entry{Group: &group{ID: s.nextID(), Name: name, Parent: parent}},
		"success#New Group added successfully.")
}

func (s *Sandbox) updateGroup(c *call) answer {
	i := s.groupIndex(c.id())
	name := strings.TrimSpace(c.value("groupname"))
	switch {
	case name == "" || c.id() == "":
		return failure(codeMissing)
	case i < 0:
		return failure(codeNotFound)
	}
	if j := s.groupNamed(name); j >= 0 && j != i {
		return failure(codeGroupExists)
	}
	g := s.groups[i]
	g.Name = name
	return s.change(entry{Group: &g}, "Group updated Successfully.")
}

// deleteGroup takes the sub-groups with it.
func (s *Sandbox) deleteGroup(c *call) answer {
	if c.id() == "" {
		return failure(codeMissing)
	}
	i := s.groupIndex(c.id())
	if i < 0 {
		return failure(codeNotFound)
	}
	return s.change(entry{GroupGone: s.groups[i].ID}, "Group deleted successfully.")
}

func (s *Sandbox) removeGroup(id int64) {
	gone := []int64{id}
	for _, g := range s.groups {
		if slices.Contains(gone, g.Parent) {
			gone = append(gone, g.ID)
		}
	}
	s.groups = slices.DeleteFunc(s.groups, func(g group) bool { return slices.Contains(gone, g.ID) })
}

// groupIndex is -1 where there is no such group.
func (s *Sandbox) groupIndex(id string) int {
	n, ok := parseID(id)
	if !ok {
		return -1
	}
	return slices.IndexFunc(s.groups, func(g group) bool { return g.ID == n })
}

func (s *Sandbox) groupNamed(name string) int {
	return slices.IndexFunc(s.groups, func(g group) bool { return g.Name == name })
}
