package sms

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// StopMark is the mark that puts a link into a message with which whoever gets
// it stops the messages of the account. It needs no column.
const StopMark = "stop link"

// IsStopMark says that a mark is the one for the link.
func IsStopMark(name string) bool { return PlaceholderKey(name) == PlaceholderKey(StopMark) }

// StopLinks makes and reads the links with which people stop messages. A link
// holds the account and the number, but neither can be read or made up without
// the key: both stand in one block of AES-256, whose other 48 bits must be
// zero. All links of a desk have the same length.
type StopLinks struct {
	base  string
	block cipher.Block
}

// NewStopLinks returns links that begin with base, the desk's public address.
// The key has 32 bytes.
func NewStopLinks(base string, key []byte) (*StopLinks, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use the key of links: %w", err)
	}
	return &StopLinks{base: strings.TrimSuffix(base, "/") + "/s/", block: block}, nil
}

const (
	stopBytes  = aes.BlockSize
	numberBits = 50 // 15 digits
)

// Link is the address for one number of one account. number is the MSISDN.
func (l *StopLinks) Link(account, number int64) string {
	var plain, sealed [stopBytes]byte
	binary.BigEndian.PutUint64(plain[:], uint64(number)&(1<<numberBits-1))
	binary.BigEndian.PutUint16(plain[8:], uint16(account))
	l.block.Encrypt(sealed[:], plain[:])
	return l.base + base64.RawURLEncoding.EncodeToString(sealed[:])
}

// Sample is a link as it looks, for previews; it opens nothing.
func (l *StopLinks) Sample() string {
	return l.base + strings.Repeat("x", base64.RawURLEncoding.EncodedLen(stopBytes))
}

// Read reads the last part of a link. ok is false for whatever is not one of
// ours.
func (l *StopLinks) Read(token string) (account int64, number string, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(stopBytes) {
		return 0, "", false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return 0, "", false
	}
	var plain [stopBytes]byte
	l.block.Decrypt(plain[:], sealed)
	n, rest := binary.BigEndian.Uint64(plain[:]), binary.BigEndian.Uint64(plain[8:])
	account = int64(rest >> 48)
	if n>>numberBits != 0 || rest<<16 != 0 || n == 0 || account == 0 {
		return 0, "", false
	}
	return account, strconv.FormatUint(n, 10), true
}

// linkToken finds what may be a link of ours under any public address.
var linkToken = regexp.MustCompile(`\S*/s/([A-Za-z0-9_-]{22})`)

// linkSign stands for a link of ours in a text that is compared.
const linkSign = "\x01"

// Compared is the form in which a text is the same as another one that a
// recipient would not tell apart: Unicode's NFC, white space folded, and a sign
// in the place of each of our own links, which name the account's row and the
// public address and may differ where a campaign is made again.
func (l *StopLinks) Compared(text string) string {
	if strings.Contains(text, "/s/") {
		text = linkToken.ReplaceAllStringFunc(text, func(link string) string {
			if _, _, ours := l.Read(link[len(link)-base64.RawURLEncoding.EncodedLen(stopBytes):]); !ours {
				return link
			}
			return linkSign
		})
	}
	return foldText(text)
}
