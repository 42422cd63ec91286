package storage

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"smsdesk/internal/sms"
)

// CallbackCache is a file with the hashes of the callback tokens, so that
// reports are acknowledged while the database cannot be read. It stands in the
// data folder, and in the spool's where that is another one.
type CallbackCache struct {
	paths   []string
	version int64    // grows with every change
	body    []byte   // of this version
	written []string // paths that hold this version
}

const callbackCacheName = "callback.tokens"

type cachedTokens struct {
	Version int64         `json:"version"`
	Tokens  []cachedToken `json:"tokens"`
}

type cachedToken struct {
	Hash       string `json:"hash"` // SHA-256 of the token, in hexadecimal digits
	Account    int64  `json:"account"`
	Kind       string `json:"kind"`
	CreatedAt  int64  `json:"createdAt"`  // milliseconds since 1970 UTC
	ValidUntil int64  `json:"validUntil"` // the same; 0: the current one
	Posts      bool   `json:"posts"`      // reports by POST are taken
}

// NewCallbackCache returns the cache of a data folder; spool is "" where it is
// in the data folder, too.
func NewCallbackCache(data, spool string) *CallbackCache {
	c := &CallbackCache{paths: []string{filepath.Join(data, callbackCacheName)}}
	if spool != "" {
		c.paths = append(c.paths, filepath.Join(spool, callbackCacheName))
	}
	return c
}

// Read returns the newest list there is. known is false where there is none, or
// none that is whole.
func (c *CallbackCache) Read() (list []sms.CallbackToken, known bool) {
	for _, path := range c.paths {
		tokens, version, err := readCallbackCache(path)
		if err == nil && (!known || version > c.version) {
			list, c.version, known = tokens, version, true
		}
	}
	return list, known
}

func readCallbackCache(path string) (list []sms.CallbackToken, version int64, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	var cached cachedTokens
	if err := json.Unmarshal(raw, &cached); err != nil {
		return nil, 0, err
	}
	for _, t := range cached.Tokens {
		hash, err := hex.DecodeString(t.Hash)
		if err != nil || len(hash) != 32 {
			return nil, 0, fmt.Errorf("%s is damaged", path)
		}
		list = append(list, sms.CallbackToken{AccountID: t.Account, Kind: t.Kind, Hash: [32]byte(hash),
			CreatedAt: t.CreatedAt, ValidUntil: t.ValidUntil, Posts: t.Posts})
	}
	return list, cached.Version, nil
}

// Write stores the list where it has changed, or could not be stored before.
func (c *CallbackCache) Write(list []sms.CallbackToken) error {
	tokens := make([]cachedToken, len(list))
	for i, t := range list {
		tokens[i] = cachedToken{Hash: hex.EncodeToString(t.Hash[:]), Account: t.AccountID, Kind: t.Kind,
			CreatedAt: t.CreatedAt, ValidUntil: t.ValidUntil, Posts: t.Posts}
	}
	body, err := json.Marshal(tokens)
	if err != nil {
		return fmt.Errorf("keep the callback addresses: %w", err)
	}
	if !bytes.Equal(body, c.body) {
		if c.version == 0 {
			c.Read()
		}
		c.version, c.body, c.written = c.version+1, body, nil
	}
	if len(c.written) == len(c.paths) {
		return nil
	}
	whole, err := json.Marshal(cachedTokens{Version: c.version, Tokens: tokens})
	if err != nil {
		return fmt.Errorf("keep the callback addresses: %w", err)
	}
	c.written = nil
	var failed error
	for _, path := range c.paths {
		if err := replaceFile(path, whole); err != nil {
			failed = errors.Join(failed, fmt.Errorf("keep the callback addresses: %w", err))
			continue
		}
		c.written = append(c.written, path)
	}
	return failed
}

// replaceFile puts a file into the place of another, or leaves that as it is.
func replaceFile(path string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return syncFolder(filepath.Dir(path))
}
