package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"mime"
	"net"
	"net/mail"
	"net/smtp"
	"os"
	"strings"
	"time"
)

// mailFlags say how mail leaves this machine; without SMTP nothing is mailed.
type mailFlags struct {
	SMTP             string `name:"smtp" help:"Mail server for alerts, for example mail.example.com:587. Without it no email is sent." env:"SMSDESK_SMTP"`
	SMTPFrom         string `name:"smtp-from" help:"Address that warnings are mailed from." env:"SMSDESK_SMTP_FROM"`
	SMTPUser         string `name:"smtp-user" help:"Mail server user name, if required." env:"SMSDESK_SMTP_USER"`
	SMTPPasswordFile string `name:"smtp-password-file" type:"path" help:"File with the mail server password." env:"SMSDESK_SMTP_PASSWORD_FILE"`
}

func (f mailFlags) check() (bad flagErrors) {
	if f.SMTP == "" {
		return nil
	}
	if host, port, err := net.SplitHostPort(f.SMTP); err != nil || host == "" || port == "" {
		bad = append(bad, fmt.Sprintf("--smtp: %q is not an address like mail.example.com:587", f.SMTP))
	}
	if a, err := mail.ParseAddress(f.SMTPFrom); err != nil || a.Address != f.SMTPFrom {
		bad = append(bad, fmt.Sprintf("--smtp-from: %q is not an address like desk@example.com", f.SMTPFrom))
	}
	if (f.SMTPUser == "") != (f.SMTPPasswordFile == "") {
		bad = append(bad, "--smtp-user and --smtp-password-file: must be given together")
	}
	return bad
}

// mailer sends one mail a call, over TLS wherever the server can; a password
// never leaves without it.
type mailer struct {
	mailFlags
	password string
	now      func() time.Time
}

func newMailer(f mailFlags, now func() time.Time) (*mailer, error) {
	m := &mailer{mailFlags: f, now: now}
	if f.SMTPPasswordFile == "" {
		return m, nil
	}
	raw, err := os.ReadFile(f.SMTPPasswordFile)
	if err != nil {
		return nil, fmt.Errorf("read the password of the mail server: %w", err)
	}
	m.password = strings.TrimSpace(string(raw))
	return m, nil
}

// Mail sends a text; ctx's deadline bounds the whole of it.
func (m *mailer) Mail(ctx context.Context, to []string, subject, text string) (err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.SMTP)
	if err != nil {
		return fmt.Errorf("reach the mail server: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if until, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(until); err != nil {
			return fmt.Errorf("reach the mail server: %w", err)
		}
	}
	host, _, _ := net.SplitHostPort(m.SMTP)
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return fmt.Errorf("connect to the mail server: %w", err)
	}
	if ok, _ := c.Extension("STARTTLS"); ok {
		if err := c.StartTLS(&tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}); err != nil {
			return fmt.Errorf("start TLS the mail server: %w", err)
		}
	}
	if m.SMTPUser != "" {
		// PlainAuth refuses to send a password without TLS, except to this machine.
		if err := c.Auth(smtp.PlainAuth("", m.SMTPUser, m.password, host)); err != nil {
			return fmt.Errorf("sign in at the mail server: %w", err)
		}
	}
	if err := m.write(c, to, subject, text); err != nil {
		return fmt.Errorf("send email: %w", err)
	}
	return c.Quit()
}

func (m *mailer) write(c *smtp.Client, to []string, subject, text string) error {
	if err := c.Mail(m.SMTPFrom); err != nil {
		return err
	}
	for _, address := range to {
		if err := c.Rcpt(address); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	head := func(text string) string {
		return mime.QEncoding.Encode("utf-8", strings.Join(strings.Fields(text), " "))
	}
	_, err = fmt.Fprintf(w,
		"From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; "+
			"charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\nAuto-Submitted: auto-generated\r\n\r\n%s",
		m.SMTPFrom, strings.Join(to, ", "), head(subject), m.now().Format(time.RFC1123Z), text)
	if closed := w.Close(); err == nil {
		err = closed
	}
	return err
}
