package ussd

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Change is one difference between two versions of a menu, in words.
type Change struct {
	Screen string // key; "" for the menu as a whole
	What   string // "added", "removed", "changed" or "moved"
	Title  string
	Before string
	After  string
}

// Diff lists what changed from one version to the next.
func Diff(before, after Menu) (list []Change) {
	whole := func(what, a, b string) {
		if a != b {
			list = append(list, Change{What: "changed", Title: what, Before: a, After: b})
		}
	}
	whole("Name", before.Name, after.Name)
	whole("Short code", before.Code, after.Code)
	whole("Networks", fmt.Sprint(before.Networks), fmt.Sprint(after.Networks))
	whole("Languages", plain(before.Languages), plain(after.Languages))
	whole("Tables", plain(before.Tables), plain(after.Tables))
	for _, s := range after.Screens {
		old, there := before.Screen(s.Key)
		switch {
		case !there:
			list = append(list, Change{Screen: s.Key, What: "added", Title: s.Title, After: plain(s)})
		case plain(old) != plain(s):
			list = append(list, Change{Screen: s.Key, What: "changed", Title: s.Title, Before: plain(old), After: plain(s)})
		}
	}
	for _, s := range before.Screens {
		if after.index(s.Key) < 0 {
			list = append(list, Change{Screen: s.Key, What: "removed", Title: s.Title, Before: plain(s)})
		}
	}
	if len(list) == 0 && !slices.Equal(keys(before), keys(after)) {
		list = append(list, Change{What: "moved", Title: "Order of the screens"})
	}
	return list
}

func keys(m Menu) (list []string) {
	for _, s := range m.Screens {
		list = append(list, s.Key)
	}
	return list
}

// plain is a form in which parts of a menu can be compared; maps come out in
// the order of their keys.
func plain(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// maxMenu is the largest export that is read.
const maxMenu = 2 << 20

// ReadMenu reads an export. What is not a menu, or holds more than one may, is
// refused with a sentence.
func ReadMenu(raw []byte) (m Menu, sentence string) {
	if len(raw) > maxMenu {
		return m, "The file must be smaller than 2MB"
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return Menu{}, "This is not a menu file. Choose a file downloaded from smsdesk"
	}
	if len(m.Screens) == 0 || len(m.Screens) > MaxScreens {
		return Menu{}, fmt.Sprintf("A menu has 1 to %d screens. This file has %d", MaxScreens, len(m.Screens))
	}
	if len(m.Languages) == 0 {
		m.Languages = english()
	}
	return m, ""
}
