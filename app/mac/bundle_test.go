package mac

import "testing"

func TestBundleOf(t *testing.T) {
	for program, want := range map[string]string{
		"/Applications/Countersign.app/Contents/MacOS/Countersign":                        "/Applications/Countersign.app",
		"/Users/dana/Old.app/Contents/MacOS/x/Countersign.app/Contents/MacOS/Countersign": "/Users/dana/Old.app/Contents/MacOS/x/Countersign.app",
		"/Applications/Countersign.app/Contents/MacOS/":                                   "",
		"/Applications/Countersign.app/Contents/MacOS/more/Countersign":                   "",
		"/Applications/Countersign.app/Contents/Helpers/countersign":                      "",
		"/usr/local/bin/countersign-app":                                                  "",
		"":                                                                                "",
	} {
		if got := bundleOf(program); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}
