package sms

import "strings"

// Token lets another program act as one person over /api/v1, with the role
// that the person has at that moment. Only the SHA-256 of its secret is kept.
type Token struct {
	ID        int64
	Name      string // what it is for
	User      User   // as whom it acts
	Hint      string // the secret's last four characters
	CreatedAt int64
	UsedAt    int64 // about when it was last used, 0: never
	RevokedAt int64 // 0 while it works
}

// Works says whether the token may still be used: a person who may not sign in
// has no tokens that work.
func (t Token) Works() bool { return t.RevokedAt == 0 && t.User.Active }

// TokenPrefix begins every token's secret, so that one that has leaked can be
// recognised.
const TokenPrefix = "smsdesk_"

// HintOf is what is kept of a secret to tell it by.
func HintOf(secret string) string { return secret[max(0, len(secret)-4):] }

// TokenLike says whether a text can be a token's secret at all.
func TokenLike(secret string) bool {
	body, ok := strings.CutPrefix(secret, TokenPrefix)
	return ok && len(body) == 64 && strings.Trim(body, "0123456789abcdef") == ""
}

// TokenRequest is what a program asked for under a key of its own, so that
// asking again gives the first result.
type TokenRequest struct {
	TokenID    int64
	Key        string
	Request    [32]byte // SHA-256 of what was asked for
	CampaignID int64    // the result, 0 while there is none
}
