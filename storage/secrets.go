package storage

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sealer encrypts secrets at rest with AES-256-GCM. The place of a secret
// (table:row:column) is bound to it, so that a sealed value copied elsewhere
// does not open.
type sealer struct {
	aead    cipher.AEAD
	key     []byte
	numbers []byte // key of the hashes that take the place of removed numbers
}

// readSealer reads the key file; it gives nil where there is none.
func readSealer(path string) (*sealer, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	s, err := newSealer(raw)
	if err != nil {
		return nil, fmt.Errorf("the key file %s is damaged: %w. Put back the one from your backup", path, err)
	}
	return &s, nil
}

// newSealer takes what is in a key file.
func newSealer(raw []byte) (sealer, error) {
	key, err := hex.DecodeString(strings.TrimSpace(string(raw)))
	if err != nil || len(key) != 32 {
		return sealer{}, errors.New("it must hold 64 hexadecimal digits")
	}
	return sealerOf(key)
}

// sealerOf takes 32 bytes.
func sealerOf(key []byte) (sealer, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("use the key file: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fmt.Errorf("use the key file: %w", err)
	}
	numbers := hmac.New(sha256.New, key)
	numbers.Write([]byte("removed numbers"))
	return sealer{aead, key, numbers.Sum(nil)}, nil
}

// makeKey writes a new key beside its name first: a half-written key file
// after a crash would lock every secret away.
func makeKey(path string) ([]byte, error) {
	key := make([]byte, 32)
	rand.Read(key)
	text := []byte(hex.EncodeToString(key) + "\n")
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, err
	}
	return text, syncFolder(filepath.Dir(path))
}

// syncFolder makes a rename in the folder survive a power loss.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// StopKey is the key of the links with which people stop messages: 32 bytes
// that come from the key file, so that a link outlives everything but that.
func (db *core) StopKey() ([]byte, error) { return stopKey(db.seal) }

func stopKey(seal sealer) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, seal.key, nil, "links to stop messages", 32)
	if err != nil {
		return nil, fmt.Errorf("make the key of links: %w", err)
	}
	return key, nil
}

func (s sealer) seal(secret, place string) []byte {
	return s.aead.Seal(nil, nil, []byte(secret), []byte(place))
}

func (s sealer) open(sealed []byte, place string) (string, error) {
	b, err := s.aead.Open(nil, nil, sealed, []byte(place))
	if err != nil {
		return "", fmt.Errorf("open the secret %s: the key file does not fit this database", place)
	}
	return string(b), nil
}
