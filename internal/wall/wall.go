// Package wall is a link to a campaign's wall screen: whoever holds it sees the
// counts and the first words of the name, without signing in, for as long as the
// link works. It must never know a message, a number, HTTP or storage.
package wall

import (
	"strings"
	"time"
)

const (
	// After is how long a link works once its campaign has ended.
	After = 24 * time.Hour
	// Longest is how long a link works at most: a campaign may stand still for ever.
	Longest = 30 * 24 * time.Hour
)

// Link is one link. Its secret is shown once and stored nowhere. Times are Unix
// milliseconds.
type Link struct {
	ID         int64
	CampaignID int64
	MadeBy     int64
	MadeName   string
	MadeAt     int64
	RevokedAt  int64 // 0: not revoked
}

// Until is when the link ends by itself; finished is when its campaign ended, 0
// while it goes on.
func (l Link) Until(finished int64) int64 {
	until := l.MadeAt + Longest.Milliseconds()
	if finished > 0 {
		until = min(until, finished+After.Milliseconds())
	}
	return until
}

// Works says that the link opens its wall screen now.
func (l Link) Works(now, finished int64) bool { return l.RevokedAt == 0 && now < l.Until(finished) }

const (
	mostWords   = 3
	mostLetters = 28
)

// Title is what strangers may read of a campaign's name: its first words.
func Title(name string) string {
	words := strings.Fields(name)
	short := words[:min(len(words), mostWords)]
	title := strings.Join(short, " ")
	letters := []rune(title)
	if len(letters) > mostLetters {
		return strings.TrimSpace(string(letters[:mostLetters])) + "…"
	}
	if len(short) < len(words) {
		title += "…"
	}
	return title
}
