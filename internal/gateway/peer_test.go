package gateway

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

const (
	testKey    = "Zm9v+YmFy/MTIz=="
	testClient = "c1a2-77&x"
)

// peer is the other side of a raw TCP connection: a script gets each accepted
// connection and says every byte itself. It shares nothing with the sandbox.
type peer struct {
	t    *testing.T
	ln   net.Listener
	done sync.WaitGroup

	mu    sync.Mutex
	conns int
	bytes int
}

func newPeer(t *testing.T, script func(p *peer, c net.Conn)) *peer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, ln: ln}
	p.done.Add(1)
	go func() {
		defer p.done.Done()
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.conns++
			p.mu.Unlock()
			p.done.Add(1)
			go func() {
				defer p.done.Done()
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(5 * time.Second))
				script(p, c)
			}()
		}
	}()
	t.Cleanup(p.close)
	return p
}

func (p *peer) close() {
	p.ln.Close()
	p.done.Wait()
}

func (p *peer) addr() string { return p.ln.Addr().String() }

func (p *peer) url() string { return "http://" + p.addr() + "/v2" }

// saw returns the connections and request bytes so far.
func (p *peer) saw() (conns, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns, p.bytes
}

// request reads one whole request and its raw bytes.
func (p *peer) request(c net.Conn) (*http.Request, []byte, error) {
	var raw bytes.Buffer
	r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(c, &raw)))
	if err == nil {
		var body []byte
		body, err = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	p.mu.Lock()
	p.bytes += raw.Len()
	p.mu.Unlock()
	return r, raw.Bytes(), err
}

// drain reads up to n bytes, or until the client stops; it returns how many came.
func (p *peer) drain(c net.Conn, n int64) int64 {
	got, _ := io.CopyN(io.Discard, c, n)
	p.mu.Lock()
	p.bytes += int(got)
	p.mu.Unlock()
	return got
}

// reset ends a connection with RST instead of FIN.
func reset(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	_ = c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// reply is a script that reads one request and plays the given bytes.
func reply(answer string) func(*peer, net.Conn) {
	return func(p *peer, c net.Conn) {
		if _, _, err := p.request(c); err == nil {
			_, _ = io.WriteString(c, answer)
		}
	}
}

// http200 frames a body as the service does.
func http200(body string) string { return answer("200 OK", body) }

func answer(status, body string, headers ...string) string {
	h := append(headers, "Content-Type: application/json", "Content-Length: "+strconv.Itoa(len(body)))
	return "HTTP/1.1 " + status + "\r\n" + strings.Join(h, "\r\n") + "\r\n\r\n" + body
}

// getting is the client of an account that sends by GET.
func (c *Client) getting() *Client {
	d := *c
	d.byGet = sms.DefaultURLBudget
	return &d
}

func open(t testing.TB, base string, change ...func(*Config)) *Client {
	t.Helper()
	lagos, err := time.LoadLocation("Africa/Lagos")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		BaseURL:       base,
		Credentials:   sms.Credentials{ClientID: testClient, APIKey: testKey},
		Location:      lagos,
		PerMinute:     1_000_000,
		DialTimeout:   2 * time.Second,
		TLSTimeout:    2 * time.Second,
		AnswerTimeout: 2 * time.Second,
		ReadTimeout:   2 * time.Second,
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func yes() error { return nil }

func textCall(numbers ...string) sms.Call {
	call := sms.Call{Kind: sms.CallText, SenderID: "CLINIC", Text: "Hello"}
	for i, n := range numbers {
		call.Recipients = append(call.Recipients, sms.Recipient{MessageID: int64(i + 1), Number: n})
	}
	return call
}

// certificate signs itself for 127.0.0.1 and example.com.
func certificate(t *testing.T, ends time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: ends.Add(-48 * time.Hour), NotAfter: ends,
		IsCA:                  true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"example.com"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// secured wraps a script in TLS.
func secured(cfg *tls.Config, script func(*peer, net.Conn)) func(*peer, net.Conn) {
	return func(p *peer, c net.Conn) {
		s := tls.Server(c, cfg)
		if s.Handshake() == nil {
			script(p, s)
			s.Close()
		}
	}
}

// resolver answers every question with the given function, over a pipe.
func resolver(answer func(question []byte) []byte) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			for {
				size := make([]byte, 2)
				if _, err := io.ReadFull(there, size); err != nil {
					return
				}
				q := make([]byte, int(size[0])<<8|int(size[1]))
				if _, err := io.ReadFull(there, q); err != nil {
					return
				}
				if a := answer(q); a != nil {
					_, _ = there.Write(append([]byte{byte(len(a) >> 8), byte(len(a))}, a...))
				}
			}
		}()
		return here, nil
	}}
}

// unknownName answers NXDOMAIN.
func unknownName(q []byte) []byte {
	a := append([]byte(nil), q[:questionEnd(q)]...)
	copy(a[2:], []byte{0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0})
	return a
}

// pointsTo answers questions for A with an IPv4 address and others with nothing.
func pointsTo(ip string) func([]byte) []byte {
	return func(q []byte) []byte {
		end := questionEnd(q)
		a := append([]byte(nil), q[:end]...)
		copy(a[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
		if q[end-3] == 1 {
			a[7] = 1
			a = append(a, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)
			a = append(a, net.ParseIP(ip).To4()...)
		}
		return a
	}
}

func questionEnd(q []byte) int {
	i := 12
	for q[i] != 0 {
		i += int(q[i]) + 1
	}
	return i + 5
}
