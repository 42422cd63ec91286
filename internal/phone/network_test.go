package phone

import "testing"

func TestNetworkOfAPrefix(t *testing.T) {
	for number, want := range map[string]string{
		"2348030000101": "MTN", "2348050000101": "Glo", "2348020000101": "Airtel", "2348090000101": "9mobile",
		"2349060000101": "MTN", "2347050000101": "Glo", "254712345678": "Safaricom", "447400123456": "Three", "": "", "12": "",
	} {
		if got := Network(number); got != want {
			t.Errorf("%s: %q, want %q", number, got, want)
		}
	}
}

func BenchmarkNetwork(b *testing.B) {
	for b.Loop() {
		Network("2348030000101")
	}
}
