package main

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// postOffice takes one mail as a server without TLS does and gives back what
// was said to it.
func postOffice(t *testing.T) (addr string, heard <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	all := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		var said strings.Builder
		in := bufio.NewReader(conn)
		say := func(line string) { _, _ = conn.Write([]byte(line + "\r\n")) }
		say("220 mail.example ESMTP")
		for body := false; ; {
			line, err := in.ReadString('\n')
			if err != nil {
				break
			}
			said.WriteString(line)
			switch {
			case body && line == ".\r\n":
				body = false
				say("250 taken")
			case body:
			case strings.HasPrefix(line, "DATA"):
				body = true
				say("354 go on")
			case strings.HasPrefix(line, "QUIT"):
				say("221 bye")
			default:
				say("250 fine")
			}
		}
		all <- said.String()
	}()
	return l.Addr().String(), all
}

func TestAMailLeavesWhole(t *testing.T) {
	addr, heard := postOffice(t)
	m, err := newMailer(mailFlags{SMTP: addr, SMTPFrom: "desk@example.com"}, func() time.Time {
		return time.Date(2026, 6, 3, 9, 0, 0, 0, time.UTC)
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := m.Mail(ctx, []string{"ada@example.com", "bola@example.com"}, "The balance is ₦5.00\r\nBcc: x@example.com",
		"Top up: ₦5.00 is left.\r\n.\r\nEnd\r\n"); err != nil {
		t.Fatal(err)
	}
	said := <-heard
	for _, want := range []string{"MAIL FROM:<desk@example.com>", "RCPT TO:<ada@example.com>\r\n",
		"RCPT TO:<bola@example.com>\r\n", "To: ada@example.com, bola@example.com\r\n",
		"Subject: =?utf-8?q?", "Date: Wed, 03 Jun 2026 09:00:00 +0000\r\n", "\r\n\r\nTop up: ₦5.00 is left.\r\n..\r\nEnd\r\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in:\n%s", want, said)
		}
	}
	if strings.Contains(said, "\nBcc:") {
		t.Errorf("a subject made a header:\n%s", said)
	}
}

func TestMailFlags(t *testing.T) {
	for _, c := range []struct {
		flags mailFlags
		bad   int
	}{
		{mailFlags{}, 0}, {mailFlags{SMTP: "mail.example.com:587", SMTPFrom: "desk@example.com"}, 0},
		{mailFlags{SMTP: "mail.example.com", SMTPFrom: "Desk <desk@example.com>"}, 2},
		{mailFlags{SMTP: "mail.example.com:587", SMTPFrom: "desk@example.com", SMTPUser: "desk"}, 1},
	} {
		if got := c.flags.check(); len(got) != c.bad {
			t.Errorf("%+v: %v", c.flags, got)
		}
	}
	if _, err := newMailer(mailFlags{SMTPPasswordFile: "/no/such/file"}, time.Now); err == nil {
		t.Error("a password that is not there")
	}
}
