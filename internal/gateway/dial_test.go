package gateway

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

func TestAddresses(t *testing.T) {
	refused := []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.8.8.8", "169.254.0.1",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255",
		"198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1",
		"100::1", "2001::1", "2001:0:53aa:64c::1", "2001:db8::1", "2001:10::1", "2002:7f00:1::1", "2002:808:808::1", "3fff::1", "4000::1",
		"fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff05::2",
	}
	allowed := []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1",
		"198.17.0.1", "223.255.255.255",
		"2606:4700::1", "2a00:1450:4001::1", "2001:4860:4860::8888", "2400:cb00::1"}
	if len(refused)+len(allowed) < 60 {
		t.Fatal("fewer than 60 addresses")
	}
	far := dialerFor(t, "https://api.example.com/v2")
	near := dialerFor(t, "http://localhost:8080/v2")
	for _, s := range refused {
		if err := far.control("tcp", netip.AddrPortFrom(netip.MustParseAddr(s), 443).String(), nil); !errors.Is(err,
			errForbidden) {
			t.Errorf("%s is allowed", s)
		}
	}
	for _, s := range allowed {
		if err := far.control("tcp", netip.AddrPortFrom(netip.MustParseAddr(s), 443).String(), nil); err != nil {
			t.Errorf("%s is refused", s)
		}
		if err := near.control("tcp", netip.AddrPortFrom(netip.MustParseAddr(s), 80).String(), nil); err == nil {
			t.Errorf("%s is allowed for localhost", s)
		}
	}
	for _, s := range []string{"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"} {
		if err := near.control("tcp", netip.AddrPortFrom(netip.MustParseAddr(s), 80).String(), nil); err != nil {
			t.Errorf("%s is refused for localhost", s)
		}
	}
	for _, s := range []string{"10.0.0.1", "0.0.0.0", "fe80::1"} {
		if err := near.control("tcp", netip.AddrPortFrom(netip.MustParseAddr(s), 80).String(), nil); err == nil {
			t.Errorf("%s is allowed for localhost", s)
		}
	}
	for _, s := range []string{"", "fe80::1%eth0", "example.com:443"} {
		if err := far.control("tcp", s, nil); err == nil {
			t.Errorf("%q is allowed", s)
		}
	}
}

func dialerFor(t *testing.T, base string) *dialer {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return newDialer(u, nil, time.Second, time.Second)
}

func TestOnlyItsOwnHost(t *testing.T) {
	p := newPeer(t, func(*peer, net.Conn) {})
	d := dialerFor(t, "http://127.0.0.1:1/v2")
	if _, err := d.dial(t.Context(), "tcp", p.addr()); !errors.Is(err, errForbidden) {
		t.Fatalf("another port: %v", err)
	}
	d = dialerFor(t, "https://[::ffff:8.8.8.8]/v2")
	if _, err := d.dial(t.Context(), "tcp", d.address); !errors.Is(err, errForbidden) {
		t.Fatalf("a mapped literal: %v", err)
	}
	for base, want := range map[string]string{"https://api.example.com/v2": "api.example.com:443",
		"http://localhost/v2": "localhost:80", "https://[2606:4700::1]:8443/v2": "[2606:4700::1]:8443"} {
		if d := dialerFor(t, base); d.address != want {
			t.Errorf("%s: %s", base, d.address)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	good := Config{BaseURL: "https://api.example.com/api/v2/", PerMinute: 100,
		Credentials: sms.Credentials{ClientID: "c", APIKey: "k"}}
	c, err := Open(good)
	if err != nil || c.base != "https://api.example.com/api/v2" || c.Rate() != 100 {
		t.Fatalf("%v, %+v", err, c)
	}
	for field, change := range map[string]func(*Config){
		"base_url":   func(c *Config) { c.BaseURL = "http://api.example.com/v2" },
		"per_minute": func(c *Config) { c.PerMinute = 0 },
		"client_id":  func(c *Config) { c.Credentials.ClientID = "a\r\nHost: b" },
		"api_key":    func(c *Config) { c.Credentials.APIKey = "\xff" },
	} {
		cfg := good
		change(&cfg)
		_, err := Open(cfg)
		var bad sms.Invalid
		if !errors.As(err, &bad) || bad[field] == "" || len(bad) != 1 {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, base := range []string{"javascript:alert(1)//v2", "http://10.0.0.1/v2", "https://user@api.example.com/v2",
		"https://api.example.com/v1",
		"https://api.example.com/v2?x=1", "https://api.example.com/v2#x", "ftp://localhost/v2", "https:///v2", "https://bücher.example/v2", ""} {
		cfg := good
		cfg.BaseURL = base
		if _, err := Open(cfg); err == nil {
			t.Errorf("%s is accepted", base)
		}
	}
}
