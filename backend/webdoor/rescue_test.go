package webdoor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanics: a request that makes a handler panic is answered as a failure, without
// its text, and the next one of the same connection is served.
func TestPanics(t *testing.T) {
	h := Guard(Names{func(string) bool { return true }, ""}, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/at-once":
			panic("secret")
		case "/later":
			_, _ = io.WriteString(w, "begun")
			panic("secret")
		}
		_, _ = io.WriteString(w, "fine")
	}))
	server := httptest.NewServer(h)
	defer server.Close()
	get := func(path string) (int, string) {
		resp, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	before := rescue.Caught()
	if code, text := get("/at-once"); code != http.StatusInternalServerError || !strings.HasPrefix(text, "internal-error") || strings.Contains(text, "secret") {
		t.Errorf("%d %s", code, text)
	}
	if _, text := get("/later"); !strings.Contains(text, "internal-error") || strings.Contains(text, "secret") {
		t.Error(text)
	}
	if n := rescue.Caught() - before; n != 2 {
		t.Errorf("%d were counted", n)
	}
	if code, text := get("/"); code != http.StatusOK || text != "fine" {
		t.Errorf("then %d %s", code, text)
	}
}
