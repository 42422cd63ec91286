package sms

import (
	"path"
	"strings"
	"unicode"
)

const maxFileName = 100 // runes

// ShownFileName keeps of a file's name what can be shown: no folders, nothing
// that cannot be seen or turns the text round.
func ShownFileName(raw string) string {
	name := path.Base(strings.ReplaceAll(strings.ToValidUTF8(raw, "�"), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if runes := []rune(name); len(runes) > maxFileName {
		name = string(runes[:maxFileName-1]) + "…"
	}
	if name == "" || name == "." || name == "/" || name == ".." {
		return "list"
	}
	return name
}
