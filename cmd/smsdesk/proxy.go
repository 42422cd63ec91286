package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// A reverse proxy that serve was not told of makes everybody come from one
// address: limits of sign-in then hit all at once, and the log knows nobody.

const (
	settingProxySeen = "proxy_seen"
	// proxyEvery is how often a sighting is stored, proxyFresh how long doctor
	// speaks of it.
	proxyEvery = 24 * time.Hour
	proxyFresh = 7 * 24 * time.Hour
)

// proxySeen is the last request that carried X-Forwarded-For and did not come
// from one of --trusted-proxy.
type proxySeen struct {
	At   int64  `json:"at"`
	Peer string `json:"peer"`
}

// proxyWatch stores such sightings, one a day.
type proxyWatch struct {
	settings settings
	log      *slog.Logger
	now      func() time.Time
	next     atomic.Int64 // no sighting is stored before, in milliseconds
}

// settings are what was stored under a name, "" for what never was.
type settings interface {
	ReadSetting(ctx context.Context, name string) (string, error)
	PutSetting(ctx context.Context, name, value string) error
}

// forget begins anew with a start: --trusted-proxy may be another one now.
func (p *proxyWatch) forget(ctx context.Context) error {
	old, err := p.settings.ReadSetting(ctx, settingProxySeen)
	if err != nil || old == "" {
		return err
	}
	return p.settings.PutSetting(ctx, settingProxySeen, "")
}

// saw is told of each such request. The writing must not hold it up for long.
func (p *proxyWatch) saw(ctx context.Context, peer string) {
	now, next := p.now(), p.next.Load()
	if now.UnixMilli() < next || !p.next.CompareAndSwap(next, now.Add(proxyEvery).UnixMilli()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	text, err := json.Marshal(proxySeen{now.UnixMilli(), peer})
	if err == nil {
		err = p.settings.PutSetting(ctx, settingProxySeen, string(text))
	}
	if err != nil {
		p.next.Store(now.Add(time.Minute).UnixMilli())
		p.log.Warn("a reverse proxy that --trusted-proxy does not name could not be noted", "error", err)
		return
	}
	p.log.Warn(
		"a request carries X-Forwarded-For and comes from no --trusted-proxy: where that is your reverse proxy, name it, "+
			"or everyone seems to come from one address", "peer", peer)
}

func (x *examination) proxy(ctx context.Context) ([]finding, error) {
	text, err := x.db.ReadSetting(ctx, settingProxySeen)
	if err != nil {
		return nil, err
	}
	var seen proxySeen
	if text != "" {
		if err := json.Unmarshal([]byte(text), &seen); err != nil {
			return nil, fmt.Errorf("read the setting %s: %w", settingProxySeen, err)
		}
	}
	at := time.UnixMilli(seen.At)
	if seen.At == 0 || x.now.Sub(at) > proxyFresh {
		return []finding{found(fine, "no request came through a reverse proxy that serve does not know")}, nil
	}
	return []finding{found(notice,
		"on %s a request from %s carried X-Forwarded-For, which is not believed. If a reverse proxy runs there, start "+
			"serve with --trusted-proxy and its network; otherwise nothing has to be done",
		at.UTC().Format("2 January 2006, 15:04 UTC"), seen.Peer)}, nil
}
