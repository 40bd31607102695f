package toolpolicy

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// address looks at one address that an argument names.
func (l *looker) address(at, said string) error {
	if said == "" || len(said) > 8192 {
		return fmt.Errorf("%s is no address", at)
	}
	u, err := url.Parse(said)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return fmt.Errorf("%s is no address", at)
	}
	if u.Scheme == "" { // "//x" is another address on each page
		return fmt.Errorf("%s is no address: begin it with https://", at)
	}
	a := approval.ToolAddress{Arg: at, Host: strings.ToLower(u.Hostname()), Why: whyNotPublic(u)}
	u.User = nil
	a.URL = u.String()
	l.tool.Addresses = append(l.tool.Addresses, a)
	return nil
}

// addressIs reports whether an address is what a pattern stands for: its machine
// and port by what stands before the path, and the path by the rest. So what
// "https://*.corp/*" means is no path or name on another machine.
func addressIs(pattern, said string) bool {
	if pattern == exactly(said) {
		return true
	}
	of, at := pathOf(pattern), pathOf(said)
	return of >= 0 && at >= 0 && !strings.Contains(said[:at], "@") && wild(pattern[:of], said[:at]) && wild(pattern[of:], said[at:])
}

// pathOf is where the path of an address begins, below zero where it is none.
func pathOf(url string) int {
	i := strings.Index(url, "://")
	if i < 0 {
		return -1
	}
	if end := strings.IndexAny(url[i+3:], "/?#"); end >= 0 {
		return i + 3 + end
	}
	return len(url)
}

// whyNotPublic says why an address is not surely one of the public network, ""
// for one that is. Names are not looked up: what a name leads to can change
// until it is fetched, so only what a name says of itself counts.
func whyNotPublic(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, "..") {
		return "its name holds unusual characters"
	}
	host = strings.TrimSuffix(host, ".")
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "its scheme is " + u.Scheme
	case u.User != nil:
		return "it carries a name or a password"
	case host == "":
		return "it names no machine"
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return whyNotPublicIP(ip)
	}
	if ip, ok := looseIPv4(host); ok {
		if why := whyNotPublicIP(ip); why != "" {
			return why
		}
		return "it is written in a way that programs read differently"
	}
	switch {
	case endsInNumber(host):
		return "it is written in a way that programs read differently"
	case !plainName(host):
		return "its name holds unusual characters"
	case !strings.Contains(host, "."):
		return "its name is one of the local network"
	case host == "metadata.google.internal" || host == "metadata.goog":
		return "it is the metadata service of a cloud"
	}
	for _, local := range []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa", "localdomain", "localdomain6", "test", "invalid", "onion", "svc"} {
		if strings.HasSuffix(host, "."+local) {
			return "its name is one of the local network"
		}
	}
	for _, mirror := range []string{"nip.io", "sslip.io", "xip.io", "localtest.me", "lvh.me", "vcap.me"} {
		if host == mirror || strings.HasSuffix(host, "."+mirror) {
			return "its name can lead to this machine"
		}
	}
	return ""
}

// whyNotPublicIP is the same for a number.
func whyNotPublicIP(ip netip.Addr) string {
	ip = ip.Unmap()
	switch {
	case ip.Zone() != "":
		return "it is of the local network"
	case ip == netip.AddrFrom4([4]byte{169, 254, 169, 254}) || ip == netip.AddrFrom4([4]byte{100, 100, 100, 200}) || ip == netip.AddrFrom4([4]byte{168, 63, 129, 16}) || ip == netip.MustParseAddr("fd00:ec2::254"):
		return "it is the metadata service of a cloud"
	case ip.IsLoopback() || ip.IsUnspecified():
		return "it is this machine"
	case ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() || ip.IsMulticast() || ip.IsInterfaceLocalMulticast():
		return "it is of the local network"
	case ip.IsPrivate():
		return "it is of a private network"
	}
	for _, prefix := range []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "fec0::/10", "2001:db8::/32", "2001::/32", "64:ff9b:1::/48", "::ffff:0:0:0/96"} {
		if netip.MustParsePrefix(prefix).Contains(ip) {
			return "it is of no public network"
		}
	}
	if ip.Is6() { // a number of the old kind inside the new one: NAT64, 6to4, compatible
		b := ip.As16()
		for prefix, at := range map[string]int{"64:ff9b::/96": 12, "2002::/16": 2, "::/96": 12} {
			if netip.MustParsePrefix(prefix).Contains(ip) {
				if why := whyNotPublicIP(netip.AddrFrom4([4]byte(b[at : at+4]))); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// endsInNumber reports whether browsers and Node take a host for a number,
// whatever stands before its last part (WHATWG URL, ends in a number).
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// looseIPv4 reads what many programs take for a number: 2130706433, 0x7f.1,
// 0177.0.0.1.
func looseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 64)
		if err != nil || strings.Contains(part, "_") {
			return netip.Addr{}, false
		}
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if n >= 1<<bits {
			return netip.Addr{}, false
		}
		value = value<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// plainName reports whether a host's name has only the characters of one.
func plainName(host string) bool {
	return strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-._") == "" && !strings.Contains(host, "..")
}
