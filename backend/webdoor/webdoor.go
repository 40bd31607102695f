// Package webdoor keeps web pages away from the HTTP doors of this machine: one
// whose name was made to lead here (DNS rebinding), and one that calls us from
// a browser of the person. A door asks it first, before it looks at a token. It
// bounds connections, too, so that silent ones keep nobody out.
//
// It reads the head of a request and nothing else, and may close connections. What must never happen here:
// a request that a browser sent for a page that nobody named comes through.
package webdoor

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/rescue"
)

// Names say which values of the header Host are ours.
type Names struct {
	ours func(host string) bool
	// instead is what can be done about another one.
	instead string
}

// Here are the names of a door that only this machine reaches: its address, and
// localhost, both with the port.
func Here(at net.Addr) Names {
	_, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return Names{func(string) bool { return false }, "it has no address"}
	}
	own := []string{at.String(), net.JoinHostPort("localhost", port)}
	return Names{func(host string) bool { return slices.Contains(own, host) }, "use " + strings.Join(own, " or ")}
}

// Anywhere are the names of a door that other machines may reach: any address,
// as nobody can make one lead elsewhere, localhost, and the names of the list.
// "*.example.com" there means every name with one word more, as in a
// certificate. The port may be another one: that of a tunnel or a proxy.
func Anywhere(list []string) Names {
	ours := func(host string) bool {
		name, _, err := net.SplitHostPort(host)
		if err != nil {
			name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
		}
		if net.ParseIP(name) != nil || strings.EqualFold(name, "localhost") {
			return true
		}
		_, above, _ := strings.Cut(name, ".")
		return name != "" && slices.ContainsFunc(list, func(own string) bool {
			return strings.EqualFold(own, name) || above != "" && strings.EqualFold(own, "*."+above)
		})
	}
	return Names{ours, "use its address, or start it with the name"}
}

// Guard serves those that call us by a name of ours and are no web page, but for
// pages of these origins, such as http://localhost:6274. A request that makes us
// panic is answered as a failure.
func Guard(names Names, origins []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer rescue.Catch(nil, "a request over HTTP", func() { // net/http would log its text
			http.Error(w, "internal-error: Countersign failed at this: its log says where", http.StatusInternalServerError)
		})
		from, page := r.Header["Origin"]
		switch {
		case !names.ours(r.Host):
			http.Error(w, "this server is not called that: "+names.instead, http.StatusForbidden)
		case page && (len(from) != 1 || !slices.ContainsFunc(origins, func(o string) bool { return strings.EqualFold(o, from[0]) })):
			http.Error(w, "pages of this origin may not come here", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
