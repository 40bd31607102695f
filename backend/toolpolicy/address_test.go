package toolpolicy

import (
	"net/url"
	"testing"
)

func TestPublic(t *testing.T) {
	for _, c := range []struct {
		url  string
		want bool
	}{
		{"https://example.com/a?b#c", true}, {"http://example.com:8080/", true}, {"https://EXAMPLE.com", true}, {"https://8.8.8.8/", true},
		{"https://[2606:4700::1111]/", true}, {"https://xn--mnchen-3ya.de/", true}, {"https://172.32.0.1/", true},
		{"http://localhost/", false}, {"http://localhost./", false}, {"http://a.localhost/", false}, {"http://127.0.0.1/", false},
		{"http://127.1/", false}, {"http://2130706433/", false}, {"http://0x7f000001/", false}, {"http://0177.0.0.1/", false}, {"http://0x8.8.8.8/", false},
		{"http://0/", false}, {"http://[::1]/", false}, {"http://[::ffff:127.0.0.1]/", false}, {"http://[64:ff9b::7f00:1]/", false},
		{"http://[2002:7f00:1::]/", false}, {"http://[fe80::1%25en0]/", false}, {"http://[fd00::1]/", false}, {"http://[fd00:ec2::254]/", false},
		{"http://10.0.0.1/", false}, {"http://172.16.0.1/", false}, {"http://192.168.1.1/", false}, {"http://100.64.0.1/", false},
		{"http://169.254.169.254/latest/meta-data", false}, {"http://metadata.google.internal/", false}, {"http://100.100.100.200/", false},
		{"http://224.0.0.1/", false}, {"http://255.255.255.255/", false}, {"http://router/", false}, {"http://printer.local/", false},
		{"http://nas.home.arpa/", false}, {"http://git.corp/", false}, {"http://127.0.0.1.nip.io/", false}, {"http://a.localtest.me/", false},
		{"http://münchen.de/", false}, {"http://user:pass@example.com/", false}, {"ftp://example.com/", false}, {"gopher://example.com/", false},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if why := whyNotPublic(u); (why == "") != c.want {
			t.Errorf("%s: %q", c.url, why)
		}
	}
}
