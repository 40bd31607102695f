package command_test

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// targetsOf writes what a command changes: the plan's own first, then that of
// its segments; ? is what only the run can tell.
func targetsOf(p approval.Plan) string {
	list := p.Targets
	for _, s := range p.Segments {
		list = append(list, s.Targets...)
	}
	var out []string
	for _, t := range list {
		name := strings.TrimPrefix(t.Path, "/p/")
		if name == "" {
			name = "?"
		}
		out = append(out, string(t.Op)+" "+name)
	}
	return strings.Join(out, ", ")
}

func TestTargets(t *testing.T) {
	world := approvaltest.NewWorld(`
		/bin/rm /bin/rmdir /bin/cp /bin/mv /bin/ln /bin/mkdir /bin/touch /bin/tee /bin/sort /bin/sed /bin/git /bin/tar /bin/zip /bin/gzip
		/bin/chmod /bin/truncate /bin/install /bin/ls /bin/go /bin/bash /bin/sh /bin/unknown /bin/unlink /bin/find /bin/env /bin/curl
		/p/a.o /p/b.o /p/sub/c`)
	a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500}
	a.SetPath([]string{"/bin"})
	for _, test := range []struct{ text, want string }{
		{"ls", ""},
		{"ls a.o", ""},
		{"unknown x", ""},
		{"rm x y", "deletes x, deletes y"},
		{"rm -rf sub/", "deletes sub/"},
		{"rm -- -x", "deletes -x"},
		{"rm *.o", "deletes a.o, deletes b.o"},
		{"rm ../x", "deletes ../x"},
		{"rm /etc/x", "deletes /etc/x"},
		{"rm $x", "deletes ?"},
		{"rm x x", "deletes x"},
		{"cd sub && rm c", "deletes sub/c"},
		{"cd $x && rm c", "deletes ?"},
		{"env rm x", "deletes x"},
		{"bash -c 'rm x > y'", "writes y, deletes x"},
		{"unlink x; rmdir sub", "deletes x, deletes sub"},
		{"git rm -r sub", "deletes sub"},
		{"git rm --cached sub", ""},
		{"git checkout x", "writes x"},
		{"git clean -fd", ""},
		{"cp a.o x", "writes x"},
		{"cp a.o b.o sub", "writes sub/a.o, writes sub/b.o"},
		{"mv a.o x", "moves a.o, writes x"},
		{"mv a.o sub", "moves a.o, writes sub/a.o"},
		{"mv $x sub", "moves ?, writes ?"},
		{"mv -t sub a.o", "writes ?"},
		{"ln -s ../x y", "writes y"},
		{"install a.o sub", "writes sub/a.o"},
		{"mkdir -p x/y", "writes x/y"},
		{"touch x", "changes x"},
		{"chmod +x x", "changes x"},
		{"truncate -s 0 x", "writes x"},
		{"gzip x", "changes x"},
		{"gzip -c x", ""},
		{"zip x.zip a.o b.o", "writes x.zip"},
		{"tar -cf x.tar sub", "writes x.tar"},
		{"tar -tf x.tar", ""},
		{"tee x < a.o", "changes x"},
		{"sort -o x y", "writes x"},
		{"sed -i s/a/b/ x", "changes x"},
		{"sed -i '' s/a/b/ x", "changes x"},
		{"sed -i.bak -e s/a/b/ x y", "changes x, changes x.bak, changes y, changes y.bak"},
		{"sed -i s/a/b/ $x", "writes ?"},
		{"find . -delete", "writes ?"},
		{"find sub -name x -delete", "changes sub"},
		{"go build -o bin/x .", "writes bin/x"},
		{"ls > x", "writes x"},
		{"ls >> x 2> y", "changes x, writes y"},
		{"ls > $x", "writes ?"},
		{"ls > /dev/null 2>&1", ""},
		{"{ ls; ls; } > x", "writes x"},
		{"for f in a b; do ls > $f; done", "writes ?"},
	} {
		got := a.Analyze(t.Context(), &approval.Request{Command: []string{"/bin/bash", "-c", test.text}, Cwd: "/p", Who: approval.Ours}, approvaltest.Named("/p"))
		if said := targetsOf(got); said != test.want {
			t.Errorf("%s: %s, want %s", test.text, said, test.want)
		}
	}
}
