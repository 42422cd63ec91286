package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"smsdesk/internal/sms"
)

// TestBalancesAreFoundInAnyXML: the specification shows no shape, so whatever
// pairs PluginType with Credits counts (§4.1).
func TestBalancesAreFoundInAnyXML(t *testing.T) {
	naira := sms.Balance{PluginType: "SMS", Credits: "₦57,524.50"}
	for raw, want := range map[string][]sms.Balance{
		`<?xml version="1.0" encoding="UTF-8"?><Response><ErrorCode>0</ErrorCode><Data><PluginType>SMS</PluginType><Credits>₦57,524.50</Credits></Data></Response>`:      {naira},
		`<r><Data><item><Credits> ₦57,524.50 </Credits><PluginType>SMS</PluginType></item><item><PluginType>USSD</PluginType><Credits>$2.00</Credits></item></Data></r>`: {naira, {PluginType: "USSD", Credits: "$2.00"}},
		`<a:r xmlns:a="x"><a:Balance plugintype="SMS" credits="₦57,524.50"/></a:r>`:                                                                                      {naira},
		`<?xml version="1.0" encoding="utf-16"?><x><PluginType>SMS</PluginType><Credits>1</Credits></x>`:                                                                 {{PluginType: "SMS", Credits: "1"}},
		`<x><PluginType>SMS</PluginType><PluginType>USSD</PluginType><Credits>1</Credits></x>`:                                                                           {{PluginType: "SMS"}, {PluginType: "USSD", Credits: "1"}},
		`<x><PluginType>SMS</PluginType><Credits>1</Credits><PluginType>USSD</PluginType><Credits`:                                                                       {{PluginType: "SMS", Credits: "1"}},
		`{"Data":[]}`: nil,
		``:            nil,
	} {
		if got := balancesIn(raw); !slices.Equal(got, want) {
			t.Errorf("%s\nis read as %v, want %v", raw, got, want)
		}
	}
}

// TestTheBalanceAsXMLReadsJSON: a service may answer with JSON whatever was asked for.
func TestTheBalanceAsXMLReadsJSON(t *testing.T) {
	for body, want := range map[string][]sms.Balance{
		`{"ErrorCode":0,"Data":[{"PluginType":"SMS","Credits":"₦1.00"}]}`:   {{PluginType: "SMS", Credits: "₦1.00"}},
		`{"errorcode":"000","data":{"plugintype":"SMS","credits":"₦1.00"}}`: {{PluginType: "SMS", Credits: "₦1.00"}},
		`<r><PluginType>SMS</PluginType><Credits>₦1.00</Credits></r>`:       {{PluginType: "SMS", Credits: "₦1.00"}},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, body) }))
		list, raw, err := open(t, server.URL+"/v2").BalanceXML(t.Context())
		server.Close()
		for i := range list {
			list[i].ReadAt = 0
		}
		if err != nil || raw != body || !slices.Equal(list, want) {
			t.Errorf("%s is read as %v, %v", body, list, err)
		}
	}
}

// FuzzBalancesIn never fails, and finds nothing that was not there.
func FuzzBalancesIn(f *testing.F) {
	f.Add(`<Response><Data><PluginType>SMS</PluginType><Credits>₦1</Credits></Data></Response>`)
	f.Add(`<!DOCTYPE x [<!ENTITY a "b">]><x>&a;<Credits a="1"><![CDATA[2]]></Credits></x>`)
	f.Fuzz(func(t *testing.T, raw string) {
		for _, b := range balancesIn(raw) {
			if b.PluginType == "" && b.Credits == "" {
				t.Errorf("an empty balance out of %q", raw)
			}
		}
	})
}
