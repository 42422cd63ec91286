package desk

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/text/unicode/norm"

	"smsdesk/internal/sms"
)

// The limits of a password (ASVS 6.2.1 and 6.2.9): there is no rule about
// which characters, and nothing is cut off.
const (
	minPassword = 15  // characters
	maxPassword = 128 // bytes
)

// hasher hashes passwords a few at a time, so that a flood of sign-ins costs a
// bounded amount of memory (19 MiB each).
type hasher chan struct{}

func newHasher() hasher { return make(hasher, 2*runtime.GOMAXPROCS(0)) }

var hashParams = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// nobodysHash belongs to no password that anybody knows. An unknown address is
// checked against it, so that it takes the same time as a known one.
const nobodysHash = "$argon2id$v=19$m=19456,t=2,p=1$FJSnenLqLiBKt1Oko0EG+Q$tIXnluJQjuAnTxPIA3Iuc8ZQ3phaTs8StB63OFbaKAE"

func (h hasher) hash(ctx context.Context, password string) (string, error) {
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer func() { <-h }()
	out, err := argon2id.CreateHash(norm.NFC.String(password), &hashParams)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return out, nil
}

// matches says whether the password belongs to the hash; never for nobodysHash.
func (h hasher) matches(ctx context.Context, password, hash string) (bool, error) {
	if err := h.acquire(ctx); err != nil {
		return false, err
	}
	defer func() { <-h }()
	ok, err := argon2id.ComparePasswordAndHash(norm.NFC.String(password), hash)
	if err != nil {
		return false, fmt.Errorf("check the password: %w", err)
	}
	return ok && hash != nobodysHash, nil
}

func (h hasher) acquire(ctx context.Context) error {
	select {
	case h <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait to check a password: %w", ctx.Err())
	}
}

// checkPassword returns the sentence that says why u may not have this
// password, or "".
func checkPassword(password string, u sms.User) string {
	n := utf8.RuneCountInString(norm.NFC.String(password))
	switch {
	case password == "":
		return "Password must be at least 15 characters"
	case n < minPassword:
		return fmt.Sprintf("Password must be at least 15 characters. Yours is %d", n)
	case len(password) > maxPassword || len(norm.NFC.String(password)) > maxPassword:
		return "Password must be 128 characters or fewer"
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return "Password has a character we cannot store. Use a different one"
	case onlyAbout(password, u):
		return "Password is too close to your name, your email address or the word smsdesk. Add unrelated words"
	case isCommonPassword(password):
		return "The password is easy to guess. Use several unrelated words"
	}
	return ""
}

// onlyAbout says that hardly anything is left of the password without the
// words that anybody would try first for this person.
func onlyAbout(password string, u sms.User) bool {
	words := strings.FieldsFunc(strings.ToLower(u.Email+" "+u.Name), notAlphanumeric)
	words = append(words, strings.ToLower(strings.Join(strings.FieldsFunc(u.Name, notAlphanumeric), "")), "smsdesk", "sms",
		"desk", "password")
	rest := strings.ToLower(norm.NFC.String(password))
	for _, w := range words {
		if utf8.RuneCountInString(w) >= 3 {
			rest = strings.ReplaceAll(rest, w, " ")
		}
	}
	left := 0
	for _, r := range rest {
		if unicode.IsLetter(r) || unicode.Is(unicode.M, r) || r > unicode.MaxLatin1 {
			left++
		}
	}
	return left < 4 && rest != strings.ToLower(norm.NFC.String(password))
}

func notAlphanumeric(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// isCommonPassword finds the passwords that reach the length by repeating or counting,
// and the long ones that stand on every list of leaked passwords.
func isCommonPassword(password string) bool {
	r := []rune(strings.ToLower(norm.NFC.String(password)))
	for unit := 1; unit <= len(r)/2; unit++ {
		if repeats(r, unit) {
			return true
		}
	}
	steps := 0
	for i := 1; i < len(r); i++ {
		if d := r[i] - r[i-1]; d >= -1 && d <= 1 {
			steps++
		}
	}
	if steps >= len(r)*3/4 {
		return true
	}
	plain := strings.Join(strings.FieldsFunc(string(r), notAlphanumeric), "")
	for _, known := range obviousPasswords {
		if strings.Contains(plain, known) && len(plain) < len(known)+6 {
			return true
		}
	}
	return false
}

func repeats(r []rune, unit int) bool {
	for i := unit; i < len(r); i++ {
		if r[i] != r[i-unit] {
			return false
		}
	}
	return true
}

var obviousPasswords = []string{
	"1q2w3e4r5t6y7u8i", "1qaz2wsx3edc4rfv", "qwertyuiopasdfgh", "qwertyuiop12345", "qwertyuiop1234567890", "asdfghjklzxcvbnm", "zaq12wsxcde34rfv",
	"administrator", "changemechangeme", "letmeinletmein", "iloveyouiloveyou", "thisismypassword", "mypasswordismy",
	"welcometosmsdesk", "welcome123456789", "whatisthepassword", "thequickbrownfox", "abcdefghijklmno", "supersecretpassword", "trustno1trustno1",
	"passwordpassword", "password12345678", "adminadminadmin", "unitednations", "manchesterunited", "jesuschristislord", "godisgoodallthetime",
}
