package command

import (
	_ "embed"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

//go:embed requests.txt
var requestsText string

// requestWords are the lists of requests.txt: ports, hosts, guess and headers.
var requestWords = sync.OnceValue(func() map[string][]string {
	lists := map[string][]string{}
	for line := range strings.Lines(requestsText) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] != "#" {
			lists[fields[0]] = append(lists[fields[0]], fields[1:]...)
		}
	}
	return lists
})

// request is what a program asks servers, by all its words.
type request struct {
	addresses []string
	// sends tells that more may go out than addresses, and leads that it may go
	// elsewhere than to these.
	sends, leads bool
	// told tells that only the run can tell all of an address, which may carry what
	// a command printed; anybody that who answers is not checked.
	told, anybody bool
}

// requesting are the effects of what asks servers. Each request asks and names its
// host, so that entries can say which they cover.
func requesting() map[effect]rule {
	return map[effect]rule{
		"address": {reason: approval.ReasonStartsProgram, says: "%[1]s is given %[2]q, which is no address of the web", check: func(_ *arguments, u use) bool {
			return webAddress().MatchString(u.value)
		}, note: func(a *arguments, u use) { a.request.addresses = append(a.request.addresses, u.value) }},
		"resolve": {reason: approval.ReasonStartsProgram, says: moreThan, check: func(_ *arguments, u use) bool {
			return plainName(strings.TrimPrefix(u.value, ":"), ":@")
		}, note: func(a *arguments, _ use) { a.request.leads = true }},
		"anybody": {note: func(a *arguments, _ use) { a.request.anybody = true }},
		"follows": {note: func(a *arguments, _ use) { a.request.leads = true }},
		"sends":   {note: func(a *arguments, _ use) { a.request.sends = true }},
		"method": {note: func(a *arguments, u use) {
			a.request.sends = a.request.sends || u.value != "GET" && u.value != "HEAD"
		}},
		"agent": {note: func(a *arguments, u use) { a.request.sends = a.request.sends || !printable(u.value) }},
		"body":  {reason: approval.ReasonUploads, says: mayUpload, check: keepsFiles, note: body},
		"format": {reason: approval.ReasonUploads, says: mayUpload, check: keepsFiles, note: func(a *arguments, u use) {
			if strings.HasPrefix(u.value, "@") {
				body(a, u)
			}
		}},
		"header": {reason: approval.ReasonUploads, says: mayUpload, check: keepsFiles, note: func(a *arguments, u use) {
			name, value, ok := strings.Cut(u.value, ":")
			if !ok || !printable(value) || !slices.Contains(requestWords()["header"], strings.ToLower(name)) {
				body(a, u)
			}
		}},
	}
}

const mayUpload = "%[1]s may send %[2]q, which is not known to be in the project, or write a file"

func keepsFiles(a *arguments, u use) bool {
	files, ok := sent(u)
	return ok && !slices.ContainsFunc(files, func(file string) bool { return file != "-" && !a.inside(file) })
}

// body notes what is sent, and the files in it, of which some hold secrets.
func body(a *arguments, u use) {
	files, _ := sent(u)
	a.values = append(a.values, files...)
	a.request.sends = true
}

// sendsNoFile reports whether the beginning of a value tells that no file is sent.
func sendsNoFile(u use) bool {
	files, ok := sent(u)
	return ok && len(files) == 0
}

// printable reports whether a text holds nothing that begins another line.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// finishRequest says of each address where the request goes, and whether it only
// reads there.
func (a *arguments) finishRequest(p *profile) {
	if len(a.request.addresses) > approval.MaxHosts {
		a.complex("it asks more than %d addresses", approval.MaxHosts)
		return
	}
	for _, address := range a.request.addresses {
		f := approval.Finding{Reason: approval.ReasonNetwork, Allowed: approval.AllowNetworkReads}
		does := "asks"
		host, port, ok := hostOf(address)
		if a.request.sends || a.request.told && !thisMachine(host) {
			f.Allowed, does = approval.AllowNetworkSends, "may send something to"
		}
		name := host
		if port != "" {
			name += ":" + port
		}
		switch here := thisMachine(host); {
		case !ok:
			f.Sentence = fmt.Sprintf("%s %s %q, of which programs read the host in several ways", p.name, does, address)
		case here && slices.Contains(requestWords()["port"], port):
			f.Sentence = fmt.Sprintf("%s %s port %s of this machine, where a request can act or show secrets", p.name, does, port)
		case slices.Contains(requestWords()["host"], host):
			f.Sentence = fmt.Sprintf("%s %s %s, which shows keys or stands for this machine", p.name, does, host)
		case here && slices.ContainsFunc(requestWords()["path"], func(part string) bool { return strings.Contains(strings.ToLower(address), part) }):
			f.Sentence = fmt.Sprintf("%s %s %s, which may start an editor", p.name, does, name)
		case a.request.leads:
			f.Sentence = fmt.Sprintf("%s %s %s, and whatever host an answer or an option names", p.name, does, name)
		case a.request.anybody && !here:
			f.Sentence = fmt.Sprintf("%s %s %s, and takes the answer of whoever is on the way", p.name, does, name)
		case here && !a.request.sends:
			f.Sentence, f.Value = fmt.Sprintf("%s %s this machine at %s", p.name, does, name), "localhost"
		default:
			f.Sentence, f.Value = fmt.Sprintf("%s %s %s", p.name, does, name), name
		}
		if !slices.Contains(a.findings, f) {
			a.findings = append(a.findings, f)
		}
	}
}

func thisMachine(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "[::1]"
}

// plainAddress is an address that all programs read alike: the scheme, the host, the
// port, and what follows. That holds no signs of which curl makes several addresses,
// and begins with no fragment, behind which some look for the host.
var plainAddress = expression(`^(?:([A-Za-z]+)://)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::([1-9][0-9]{0,4}))?(|/[!-Z^-z|~]*|\?[!-?A-Z^-z|~]*)$`)

// hostOf returns the host that an address leads to, in small letters, and its port,
// "" for that of the scheme. It reports false where another program, or another
// version, could read another host in it.
func hostOf(address string) (host, port string, ok bool) {
	parts := plainAddress().FindStringSubmatch(address)
	if parts == nil {
		return "", "", false
	}
	scheme, host, port := strings.ToLower(parts[1]), strings.ToLower(parts[2]), parts[3]
	first, _, _ := strings.Cut(host, ".")
	n, _ := strconv.Atoi(port)
	switch {
	case scheme != "" && scheme != "http" && scheme != "https", n > 65535:
		return "", "", false
	case scheme == "" && slices.Contains(requestWords()["guess"], first):
		return "", "", false
	case scheme == "https" && port == "443", scheme != "https" && port == "80":
		port = ""
	}
	return host, port, isHost(host)
}

// isHost reports whether a host in small letters is a name, or a number of one
// machine in the one way of writing it.
func isHost(host string) bool {
	inner, six := strings.CutPrefix(host, "[")
	if number, err := netip.ParseAddr(strings.TrimSuffix(inner, "]")); err == nil {
		loops := number.IsLoopback() && !thisMachine(host)
		odd := number.Is4In6() || number.IsUnspecified() || number.IsMulticast() || number.IsLinkLocalUnicast() || loops
		return !odd && number.Is6() == six && number.String() == strings.TrimSuffix(inner, "]")
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.HasPrefix(label, "xn--") {
			return false
		}
	}
	last := labels[len(labels)-1]
	named := last[0] >= 'a' && last[0] <= 'z' && (len(labels) == 1 || last != "localhost")
	return named && !six && approval.CheckHost(host) == nil
}

// hostKnown reports whether the beginning of an address tells all of its host.
func hostKnown(u use) bool {
	parts := plainAddress().FindStringSubmatch(u.value)
	return parts != nil && parts[4] != ""
}

// finishQuery asks about fields that are sent, unless they are one query of GraphQL and
// its variables: that is sent as a request that writes, and only reads.
func (a *arguments) finishQuery(p *profile) {
	if !a.has["graphql"] {
		return
	}
	queries, only := 0, len(a.named) == 1 && a.named[0].text == "graphql" && a.named[0].open == nil
	for _, s := range a.said {
		if p.options[s.option].effect != "graphql" {
			continue
		}
		name, value, assigned := strings.Cut(s.value.text, "=")
		if name == "query" {
			queries++
			only = only && onlyQuery(value)
		}
		only = only && assigned && s.value.open == nil && plainName(name, "[]") && !strings.HasPrefix(value, "@")
	}
	if !only || queries != 1 {
		a.find(approval.ReasonUploads, "%s sends more than a query of GraphQL", p.name)
	}
}

// onlyQuery reports whether a text of GraphQL surely asks for nothing but what is there, and
// shows no file.
func onlyQuery(text string) bool {
	text = strings.TrimSpace(text)
	asks := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "query") || strings.HasPrefix(text, "fragment")
	return asks && !strings.Contains(text, "Blob") && !strings.Contains(text, "mutation") && !strings.Contains(text, "subscription")
}
