package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	"smsdesk/internal/sms"
)

// errForbidden: the address is none that this account may be called at.
var errForbidden = errors.New("address not allowed")

// dialer connects to the account's own host and port and to nothing else. No
// proxy of the environment is used: it would see the credentials.
type dialer struct {
	net        net.Dialer
	address    string // host:port of the base URL
	loopback   bool   // the host names this machine
	tls        *tls.Config
	tlsTimeout time.Duration
	instead    func(context.Context) (net.Conn, error) // nil: the network
}

func newDialer(base *url.URL, roots *x509.CertPool, dialTimeout, tlsTimeout time.Duration) *dialer {
	d := &dialer{loopback: sms.Loopback(base.Hostname()), tlsTimeout: tlsTimeout}
	port := base.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[base.Scheme]
	}
	d.address = net.JoinHostPort(base.Hostname(), port)
	d.net = net.Dialer{Timeout: dialTimeout, KeepAlive: -1, Control: d.control}
	if base.Scheme == "https" {
		d.tls = &tls.Config{
			ServerName: base.Hostname(),
			RootCAs:    roots,
			MinVersion: tls.VersionTLS12,
			NextProtos: []string{"http/1.1"},
		}
	}
	return d
}

// control judges each address after the name was resolved, so that a name
// cannot be pointed into our own network between a check and the call.
func (d *dialer) control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return errForbidden
	}
	if ip := ap.Addr().WithZone(""); d.loopback && !ip.Unmap().IsLoopback() || !d.loopback && !public(ip) {
		return errForbidden
	}
	return nil
}

// public says that ip is an ordinary address of the internet. Forms that wrap
// another address (mapped, NAT64, 6to4, Teredo) are not.
func public(ip netip.Addr) bool {
	if ip.Is4In6() || !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, p := range notPublic() {
		if p.Contains(ip) {
			return false
		}
	}
	return ip.Is4() || netip.MustParsePrefix("2000::/3").Contains(ip)
}

func notPublic() []netip.Prefix {
	var list []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	} {
		list = append(list, netip.MustParsePrefix(s))
	}
	return list
}

// dial opens a TCP connection to the account's host.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if address != d.address {
		return nil, errForbidden
	}
	if d.instead != nil {
		return d.instead(ctx)
	}
	// The resolver hands a mapped literal on as plain IPv4, so it is caught here.
	if host, _, err := net.SplitHostPort(address); err == nil && !d.loopback {
		if ip, err := netip.ParseAddr(host); err == nil && ip.Is4In6() {
			return nil, errForbidden
		}
	}
	return d.net.DialContext(ctx, network, address)
}

// freshConn is a fresh connection, ready for its one request.
type freshConn struct {
	net.Conn
	raw *countingConn
}

// open dials and shakes hands. From here on the raw socket's bytes are counted.
func (d *dialer) open(ctx context.Context) (freshConn, error) {
	conn, err := d.dial(ctx, "tcp", d.address)
	if err != nil {
		return freshConn{}, fmt.Errorf("dial: %w", err)
	}
	raw := &countingConn{Conn: conn}
	if d.tls == nil {
		return freshConn{Conn: raw, raw: raw}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.tlsTimeout)
	defer cancel()
	secure := tls.Client(raw, d.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return freshConn{}, fmt.Errorf("TLS handshake: %w", err)
	}
	raw.sent.Store(0)
	return freshConn{Conn: secure, raw: raw}, nil
}

// countingConn counts the bytes that the kernel took.
type countingConn struct {
	net.Conn
	sent atomic.Int64
}

func (c *countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}
