package sms

import (
	"errors"
	"testing"
	"time"
)

func TestCheckBaseURL(t *testing.T) {
	const (
		address = "Enter the provider's API URL, for example https://api.example.com/v2"
		plain   = "API URL must not contain a user name, a question mark or #"
		secure  = "API URL must start with https://"
		version = "API URL must end with /v2"
	)
	for raw, want := range map[string]string{
		"https://api.example.com/v2":          "",
		"https://api.example.com/v2/":         "",
		"https://api.example.com:8443/api/v2": "",
		"  https://api.example.com/v2\n":      "",
		"HTTPS://API.EXAMPLE.COM/v2":          "",
		"http://127.0.0.1:8081/v2":            "",
		"http://127.8.9.1/v2":                 "",
		"http://localhost:1/v2":               "",
		"http://LocalHost/v2":                 "",
		"http://[::1]:8081/v2":                "",
		"http://[::ffff:127.0.0.1]/v2":        "",
		"":                                    address,
		"api.example.com/v2":                  address,
		"/v2":                                 address,
		"javascript:alert(1)":                 address,
		"javascript:alert(1)//v2":             address,
		"data:text/html,x/v2":                 address,
		"https:///v2":                         address,
		"https://:443/v2":                     address,
		"https://api.example.com:port/v2":     address,
		"https://api.exa mple.com/v2":         address,
		"https://api.example.com\r\nX: y/v2":  address,
		`https://a\@b/v2`:                     address,
		"https://user@api.example.com/v2":     plain,
		"https://u:p@api.example.com/v2":      plain,
		"https://@api.example.com/v2":         plain,
		"https://api.example.com/v2?":         plain,
		"https://api.example.com/v2?key=1":    plain,
		"https://api.example.com/v2#":         plain,
		"https://api.example.com/v2#x":        plain,
		"https://api.example.com?x=/v2":       plain,
		"http://api.example.com/v2":           secure,
		"http://10.0.0.1/v2":                  secure,
		"http://[::2]/v2":                     secure,
		"http://localhost.example.com/v2":     secure,
		"http://127.0.0.1.example.com/v2":     secure,
		"http://2130706433/v2":                secure,
		"ftp://api.example.com/v2":            secure,
		"javascript://api.example.com/v2":     secure,
		"file://localhost/v2":                 secure,
		"//api.example.com/v2":                secure,
		"https://api.example.com":             version,
		"https://api.example.com/":            version,
		"https://api.example.com/v1":          version,
		"https://api.example.com/V2":          version,
		"https://api.example.com/av2":         version,
		"https://api.example.com/v2/SendSMS":  version,
		"https://api.example.com/v2//":        version,
		"https://api.example.com/v2%2f":       version,
		"https://api.example.com/%2fv2%2f..":  version,
	} {
		if got := CheckBaseURL(raw); got != want {
			t.Errorf("CheckBaseURL(%q) = %q, want %q", raw, got, want)
		}
	}
}

func goodAccount() Account {
	return Account{Name: "Clinic", BaseURL: "https://api.example.com/v2", PerMinute: 100, CallLimit: 100, URLBudget: 2000,
		MaxParts: 6,
		Country:  "NG", Timezone: "Africa/Lagos", Currency: "₦", LateAfter: DefaultLateAfter}
}

func TestAccountCheck(t *testing.T) {
	if err := goodAccount().Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field  string
		change func(*Account)
	}{
		{"name", func(a *Account) { a.Name = " \t" }},
		{"base_url", func(a *Account) { a.BaseURL = "http://api.example.com/v2" }},
		{"per_minute", func(a *Account) { a.PerMinute = 0 }},
		{"per_minute", func(a *Account) { a.PerMinute = 1_000_001 }},
		{"call_limit", func(a *Account) { a.CallLimit = 0 }},
		{"call_limit", func(a *Account) { a.CallLimit = 10_001 }},
		{"url_budget", func(a *Account) { a.URLBudget = 20 }},
		{"url_budget", func(a *Account) { a.URLBudget = 8001 }},
		{"type_above", func(a *Account) { a.ConfirmCountAbove = -1 }},
		{"type_above", func(a *Account) { a.ConfirmCountAbove = 1_000_001 }},
		{"hours_from", func(a *Account) { a.Hours = Hours{From: -1, To: 60} }},
		{"hours_from", func(a *Account) { a.Hours = Hours{From: 60, To: 1440} }},
		{"max_parts", func(a *Account) { a.MaxParts = -1 }},
		{"max_parts", func(a *Account) { a.MaxParts = 256 }},
		{"price_per_part", func(a *Account) { a.PricePerPart = -1 }},
		{"late_after", func(a *Account) { a.LateAfter = -time.Hour }},
		{"country", func(a *Account) { a.Country = "" }},
		{"country", func(a *Account) { a.Country = "XX" }},
		{"country", func(a *Account) { a.Country = "NGA" }},
		{"timezone", func(a *Account) { a.Timezone = "" }},
		{"timezone", func(a *Account) { a.Timezone = "Local" }},
		{"timezone", func(a *Account) { a.Timezone = "Africa/Nowhere" }},
		{"timezone", func(a *Account) { a.Timezone = "../../etc/passwd" }},
		{"currency", func(a *Account) { a.Currency = "Naira" }},
	} {
		a := goodAccount()
		c.change(&a)
		var bad Invalid
		if err := a.Check(); !errors.As(err, &bad) || len(bad) != 1 || bad[c.field] == "" {
			t.Errorf("%s: %v", c.field, err)
		}
	}
	var bad Invalid
	if err := (Account{PerMinute: -1}).Check(); !errors.As(err, &bad) || len(bad) != 6 {
		t.Errorf("an empty account has %d faults: %v", len(bad), err)
	}
	for _, a := range []Account{{PerMinute: 1}, {PerMinute: 1_000_000}} {
		good := goodAccount()
		good.PerMinute = a.PerMinute
		if err := good.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestAccountLocation(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for zone, hour := range map[string]int{"Africa/Lagos": 13, "UTC": 12, "": 12, "Gone/Away": 12} {
		if got := at.In(Account{Timezone: zone}.Location()).Hour(); got != hour {
			t.Errorf("noon UTC is %d o'clock in %q, want %d", got, zone, hour)
		}
	}
}

func TestInvalidListsItsSentences(t *testing.T) {
	if err := (Invalid{}).Or(); err != nil {
		t.Errorf("nothing wrong is an error: %v", err)
	}
	if got := (Invalid{"b": "two", "a": "one"}).Error(); got != "a: one; b: two" {
		t.Errorf("%q", got)
	}
}
