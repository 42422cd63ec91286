package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// KeyLock encrypts the key file for a backup.
type KeyLock struct {
	how       string
	recipient age.Recipient
}

// minPassphrase is how many characters a passphrase has at least: whoever has the backup may try for years.
const minPassphrase = 12

// ByPassphrase encrypts with a passphrase.
func ByPassphrase(passphrase string) (*KeyLock, error) {
	if len([]rune(passphrase)) < minPassphrase {
		return nil, fmt.Errorf("the passphrase must be %d characters or longer", minPassphrase)
	}
	r, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("use the passphrase: %w", err)
	}
	return &KeyLock{"passphrase", r}, nil
}

// ForRecipient encrypts for whoever has the identity of an age recipient, such as age1….
func ForRecipient(recipient string) (*KeyLock, error) {
	r, err := age.ParseX25519Recipient(strings.TrimSpace(recipient))
	if err != nil {
		return nil, fmt.Errorf("%q is no age recipient such as age1…: %w", recipient, err)
	}
	return &KeyLock{"recipient", r}, nil
}

func (k *KeyLock) encrypt(key []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, k.recipient)
	if err == nil {
		_, err = w.Write(key)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("encrypt the key: %w", err)
	}
	return out.Bytes(), nil
}

// KeyFrom says where the key of a restored desk comes from. Of several the first that is given is taken; the last is
// the folder whose journal is taken.
type KeyFrom struct {
	File       string                 // a key file, as it lies in a data folder
	Identity   string                 // text of an age identity file, for the key in the backup
	Passphrase func() (string, error) // asked for when the key in the backup is encrypted with one
}

func (k KeyFrom) decrypt(sealed []byte, how string) ([]byte, error) {
	var ids []age.Identity
	switch {
	case how == "recipient" && k.Identity == "":
		return nil,
			errors.New(
				"the key in this backup is encrypted for an age recipient. Give the file with its identity as --identity, " +
					"or the key file as --key")
	case how == "recipient":
		list, err := age.ParseIdentities(strings.NewReader(k.Identity))
		if err != nil {
			return nil, fmt.Errorf("the identity file cannot be read: %w", err)
		}
		ids = list
	case k.Passphrase == nil:
		return nil, errors.New("the key in this backup is encrypted with a passphrase. Give it, or the key file as --key")
	default:
		text, err := k.Passphrase()
		if err != nil {
			return nil, err
		}
		id, err := age.NewScryptIdentity(text)
		if err != nil {
			return nil, fmt.Errorf("use the passphrase: %w", err)
		}
		ids = []age.Identity{id}
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), ids...)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		return nil, fmt.Errorf("this %s does not open the key in the backup. Try again with the right one", how)
	}
	if err != nil {
		return nil, fmt.Errorf("open the key in the backup: %w", err)
	}
	return io.ReadAll(io.LimitReader(r, 1<<10))
}
