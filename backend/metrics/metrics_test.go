package metrics

import (
	"math"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page was read once with the parser of Prometheus, which found all of it.
const page = `# HELP a_total First by name.
# TYPE a_total counter
a_total 2
# HELP b_total By "reason", with a \\ and a\nline.
# TYPE b_total counter
b_total{reason="a \"b\" \\ c\nd"} 1
b_total{reason="allowed"} 2
# HELP c_seconds How long.
# TYPE c_seconds histogram
c_seconds_bucket{le="0.5"} 2
c_seconds_bucket{le="1"} 3
c_seconds_bucket{le="+Inf"} 4
c_seconds_sum 9.25
c_seconds_count 4
# HELP d Now.
# TYPE d gauge
d 1.5e+06
# HELP e Nobody knows.
# TYPE e gauge
e NaN
# HELP f_total Kept elsewhere.
# TYPE f_total counter
f_total 7
`

func TestText(t *testing.T) {
	var s Set
	s.Gauge("d", "Now.", func() float64 { return 1.5e6 })
	s.Gauge("e", "Nobody knows.", math.NaN)
	long := s.Histogram("c_seconds", "How long.", 0.5, 1)
	reasons := s.Counters("b_total", "By \"reason\", with a \\ and a\nline.", "reason")
	first := s.Counter("a_total", "First by name.")
	s.Tally("f_total", "Kept elsewhere.", func() uint64 { return 7 })
	for _, value := range []float64{0, 0.5, 0.75, 8} {
		long.Observe(value)
	}
	for _, reason := range []string{"allowed", "a \"b\" \\ c\nd", "allowed"} {
		reasons.Inc(reason)
	}
	first.Inc()
	first.Inc()

	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if diff := cmp.Diff(page, w.Body.String()); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	if got := w.Header().Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("the page is %q", got)
	}
}

// TestEmpty: a family without a value has a head, and a set without families
// is an empty page.
func TestEmpty(t *testing.T) {
	var s Set
	if got := string(s.Text()); got != "" {
		t.Errorf("an empty set tells %q", got)
	}
	s.Counters("a_total", "Help.", "reason")
	if got := string(s.Text()); got != "# HELP a_total Help.\n# TYPE a_total counter\n" {
		t.Errorf("no counter tells %q", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	const callers, each = 8, 500
	var s Set
	one, some, long := s.Counter("a_total", ""), s.Counters("b_total", "", "reason"), s.Histogram("c", "", 1)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range each {
				one.Inc()
				some.Inc("x")
				long.Observe(2)
				s.Text()
			}
		})
	}
	all.Wait()
	for _, want := range []string{"\na_total 4000\n", "\nb_total{reason=\"x\"} 4000\n", "\nc_bucket{le=\"1\"} 0\n", "\nc_sum 8000\n", "\nc_count 4000\n"} {
		if !strings.Contains(string(s.Text()), want) {
			t.Errorf("%q is missing in\n%s", want, s.Text())
		}
	}
}

func TestNameTwice(t *testing.T) {
	var s Set
	s.Counter("a_total", "")
	defer func() {
		if recover() == nil {
			t.Error("a name is there twice")
		}
	}()
	s.Gauge("a_total", "", nil)
}
