package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestRequests: which host an address leads to, "" for this machine, and "?" where
// no entry for a host covers it.
func TestRequests(t *testing.T) {
	for address, want := range map[string]string{
		// This machine.
		"localhost": "", "http://localhost:3000": "", "https://127.0.0.1:8443/x?y=z": "", "127.0.0.1:8010/a%20b": "", "http://[::1]:80/": "",
		"HTTP://LocalHost:3000/": "", "localhost:4455?x=1": "", "http://localhost:3000/@evil.example": "", "http://localhost:3000/#@evil.example": "",
		"http://localhost:3000/?next=http://evil.example": "", "http://localhost:65535": "",

		// Others.
		"https://example.com/x": "example.com", "http://Example.COM:80": "example.com", "https://example.com:443/": "example.com", "http://example.com:443": "example.com:443",
		"https://example.com:8443": "example.com:8443", "example.com": "example.com", "localhost.evil.example": "localhost.evil.example", "http://10.0.0.1:8080/": "10.0.0.1:8080",
		"http://[2001:db8::1]/": "[2001:db8::1]", "http://build:8080": "build:8080", "http://127.0.0.1.evil.example": "127.0.0.1.evil.example", "localhost-x.example:80": "localhost-x.example",

		// Ports of this machine, and hosts, that are not let through.
		"http://localhost:2375/x": "?", "http://127.0.0.1:2376": "?", "http://[::1]:9222/json": "?", "localhost:9229": "?", "https://127.0.0.1:6443": "?", "https://localhost:10250/pods": "?",
		"http://localhost:18789": "?", "localhost:5173/__open-in-editor?file=x": "?", "localhost:8001/api/v1/secrets": "?",
		"http://169.254.169.254/latest/meta-data": "?", "http://[fe80::1]/": "?", "http://metadata.google.internal/": "?", "http://[fd00:ec2::254]/": "?", "http://metadata/": "?",

		// Forms that are read in several ways, or lead elsewhere than they look.
		"127.0.0.1@evil.example": "?", "http://127.0.0.1:80@evil.example/": "?", "http://localhost:3000@evil.example": "?", "http://user:pass@localhost:3000/": "?",
		"http://localhost:3000#@evil.example/": "?", "http://localhost:3000?@evil.example/": "?", `http://localhost\@evil.example`: "?", `http://localhost:80\.evil.example/`: "?",
		`http:/\evil.example`: "?", `http:\\evil.example`: "?", "http:///evil.example": "?", "http:/evil.example": "?", "http:evil.example": "?", "//evil.example": "?",
		"0x7f.1": "?", "http://0x7f000001": "?", "http://2130706433:2375": "?", "http://127.1:2375": "?", "http://0177.0.0.1": "?", "http://127.0.0.01": "?", "http://127.0.0.2:2375": "?",
		"http://0.0.0.0:2375": "?", "http://0": "?", "http://[::]:2375": "?", "http://[::ffff:127.0.0.1]": "?", "http://[::ffff:10.0.0.1]": "?", "http://[::ffff:a00:1]": "?", "http://[0:0:0:0:0:0:0:1]": "?",
		"http://[::1%25eth0]/": "?", "http://[::1": "?", "http://::1/": "?", "http://[127.0.0.1]/": "?", "http://10.0.0.1.": "?", "http://localhost.": "?", "http://localhost.:2375": "?",
		"http://x.localhost:2375": "?", "http://localhost.localdomain:2375": "?", "http://ip6-localhost:2375": "?", "http://224.0.0.1": "?",
		"http://localhost:": "?", "http://localhost:0": "?", "http://localhost:080": "?", "http://localhost:65536": "?", "http://localhost:3000x": "?", "http://localhost:2375a": "?", "localhost:+80": "?",
		"http://localhost%2eevil.example": "?", "http://localhos%74:2375": "?", "http://exam_ple.com": "?", "http://xn--e1afmkfd.example": "?", "http://пример.example": "?", "http://ⓛocalhost": "?", "http://-x.example": "?",
		"http://localhost:3000/{a,b}": "?", "http://localhost:[3000-3010]/": "?", "http://{localhost,evil.example}/": "?", "http://localhost:3000/a b": "?", "http://localhost:3000/\nx": "?", "http://local\thost": "?",
		"ftp://localhost": "?", "file:///etc/passwd": "?", "gopher://localhost:6379/_SET": "?", "dict://localhost:11211/": "?", "ftp.example.com": "?", "SMTP.example.com:25": "?", "httpx://localhost": "?", "": "?", "-": "?",
	} {
		segment := examined([]string{"curl", "-s", address})
		got := "nothing asks"
		for _, f := range segment.Findings {
			if got = "?"; f.Allowed == approval.AllowNetworkReads && len(segment.Findings) == 1 && approval.CheckHost(f.Value) == nil {
				if got = f.Value; got == "localhost" {
					got = ""
				}
			}
		}
		if got != want {
			t.Errorf("%q leads to %q, want %q: %+v", address, got, want, segment.Findings)
		}
	}
}

// TestRequestsSend: none of these passes under an entry for requests that send nothing
// to this machine. Each | is a blank.
func TestRequestsSend(t *testing.T) {
	for _, line := range []string{
		"-sXPOST|localhost:3000", "-sIXPOST|localhost:3000", "-X|DELETE|localhost:3000", "-XGET|-X|PUT|localhost:3000", "--request=PATCH|localhost:3000",
		"--reques|POST|localhost:3000", "-X|GET POST|localhost:3000", "-da=b|localhost:3000", "-sd|a|localhost:3000", "-Gd|a|localhost:3000",
		"-T|-|localhost:3000", "-sT.|localhost:3000", "-F|a=b|localhost:3000", "--json|{}|localhost:3000", "--form-st|a=b|localhost:3000",
		"-ua:b|localhost:3000", "-sn|localhost:3000", "--netrc|localhost:3000", "-bx|localhost:3000", "-K-|localhost:3000", "-sK|/dev/null|localhost:3000",
		"--config=x|localhost:3000", "-xhttp://evil.example|localhost:3000", "--preproxy|evil.example|localhost:3000",
		"--socks5|evil.example|localhost:3000", "--resolve|localhost:3000:10.0.0.1|localhost:3000", "--connect-to|::evil.example:80|localhost:3000",
		"--unix-socket|/var/run/docker.sock|localhost:3000", "--abstract-unix-socket|x|localhost:3000", "--doh-url|https://evil.example|localhost:3000",
		"--dns-servers|10.0.0.1|localhost:3000", "--interface|eth0|localhost:3000", "--haproxy-clientip|1.1.1.1|localhost:3000",
		"--proto-default|ftp|localhost:3000", "-Hx:y|localhost:3000", "-H|Host: evil.example|localhost:3000", "-H|Accept: a\nCookie: b|localhost:3000",
		"-H|@x|localhost:3000", "-H|Cookie: a|localhost:3000", "-H|Connection: Upgrade|localhost:3000", "-H|Content-Length: 5|localhost:3000",
		"-Aa\nSET a b|localhost:3000", "-e|x\ny|localhost:3000", "-w|%output{/home/ann/.zshrc}|localhost:3000", "-w@x|localhost:3000",
		"-o|x|localhost:3000", "-ox|localhost:3000", "-so/dev/null/../x|localhost:3000", "-sLO|localhost:3000", "-LO|localhost:3000",
		"-sLo/dev/null|localhost:3000", "--locatio|localhost:3000", "-JO|localhost:3000", "--remote-name|localhost:3000", "-D|x|localhost:3000",
		"-c|x|localhost:3000", "--hsts|x|localhost:3000", "--libcurl|x|localhost:3000", "--trace|x|localhost:3000", "--next|localhost:3000",
		"--expand-url|{{x}}", "--variable|%HOME|localhost:3000", "-Z|localhost:3000|--config|x", "--|localhost:3000|-d|x",
		"localhost:3000|file:///etc/passwd", "--request-target|http://evil.example/|localhost:3000", "-t|a=b|localhost:3000", "-Q|DELE x|localhost:3000",
		"-E|x|localhost:3000",
	} {
		segment := examined(append([]string{"curl"}, strings.Split(line, "|")...))
		if !slices.ContainsFunc(segment.Findings, func(f approval.Finding) bool {
			return f.Allowed != approval.AllowNetworkReads || f.Value != "localhost"
		}) {
			t.Errorf("%q passes: %+v", line, segment.Findings)
		}
	}
}

// TestRequestHosts: each host is a finding of its own, once.
func TestRequestHosts(t *testing.T) {
	var hosts []string
	for _, f := range examined(strings.Fields("curl -s https://b.example/x localhost:3000 --url a.example:81 http://b.example/y https://B.example")).Findings {
		hosts = append(hosts, string(f.Allowed)+" "+f.Value)
	}
	if got := strings.Join(hosts, ", "); got != "reads-network b.example, reads-network localhost, reads-network a.example:81" {
		t.Error(got)
	}
}

// TestRequestsTold: an address that only the run can tell may carry what a command
// printed, and one whose host nobody checks is of nobody's.
func TestRequestsTold(t *testing.T) {
	for text, want := range map[string]string{
		`curl -s "https://api.example.com/?q=$(cat main.go)"`:   "sends-network api.example.com",
		`curl -s https://api.example.com/$(git rev-parse HEAD)`: "runtime-value",
		`curl -s "http://localhost:3000/$(cat main.go)"`:        "reads-network localhost",
		`curl -sk https://api.example.com/x`:                    "reads-network ",
		`curl -sk https://localhost:3000/x`:                     "reads-network localhost",
	} {
		got := ""
		for _, s := range shellPlan(t, text).Segments {
			for _, f := range s.Findings {
				if got = string(f.Allowed) + " " + f.Value; f.Allowed == "" {
					got = string(f.Reason)
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// shellPlan is the plan of a text for bash in a project.
func shellPlan(t *testing.T, text string) approval.Plan {
	t.Helper()
	a := &Analyzer{World: approvaltest.NewWorld("/usr/bin/curl /bin/cat /usr/bin/git /home/ann/p/main.go"), Home: "/home/ann", UID: 1000}
	a.SetPath([]string{"/usr/bin", "/bin"})
	req := &approval.Request{Command: []string{"bash", "-c", text}, Cwd: "/home/ann/p", Who: approval.Ours}
	return a.Analyze(t.Context(), req, approvaltest.Named("/home/ann/p"))
}
