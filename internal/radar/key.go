package radar

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"smsdesk/internal/sms"
)

// What a campaign keeps instead of one key of all its messages.
const (
	KeyUnknown = 0 // it is older than the keys, and its turn has not come
	KeyEach    = 1 // its messages have texts of their own
)

// templateLeast is how many letters and digits of a template count beside its
// placeholders: with fewer, what fills them is the text.
const templateLeast = 12

// Key is the same for texts that are nearly the same: only letters and
// digits count, without their case.
func Key(text string) int64 {
	plain := onlyLetters(text)
	if len(plain) == 0 {
		plain = []byte("\x00" + strings.TrimSpace(text))
	}
	sum := sha256.Sum256(plain)
	return int64(binary.LittleEndian.Uint64(sum[:])>>1) | 2
}

// TemplateKey is the Key of what a template has beside its placeholders,
// or KeyEach where that is too little to tell texts apart.
func TemplateKey(template string) int64 {
	text, _ := sms.Fill(template, func(string) (string, bool) { return " ", true })
	if text == template || utf8.RuneCount(onlyLetters(text)) >= templateLeast {
		return Key(text)
	}
	return KeyEach
}

// ListKey is the key of a campaign that is made of a list.
func ListKey(o sms.ListOrder) int64 {
	if o.Text == "" || o.Own && o.Message >= 0 {
		return KeyEach
	}
	return TemplateKey(o.Text)
}

// onlyLetters is what of a text counts, in one form.
func onlyLetters(text string) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b >= utf8.RuneSelf:
			return norm.NFKD.Bytes(lettersOf(norm.NFKD.String(text)))
		case 'a' <= b && b <= 'z' || '0' <= b && b <= '9':
			out = append(out, b)
		case 'A' <= b && b <= 'Z':
			out = append(out, b+'a'-'A')
		}
	}
	return out
}

func lettersOf(text string) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			out = utf8.AppendRune(out, unicode.ToLower(unicode.ToUpper(r)))
		}
	}
	return out
}
