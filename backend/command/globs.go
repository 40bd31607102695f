package command

import "github.com/countersign-app/countersign/backend/pathname"

// names returns the words that a pattern in dir becomes: files, or its own
// text. It reports false where only the run can tell.
func (j *job) names(glob, dir string) ([]string, bool) {
	found, ok := pathname.Expand(disk{j}, glob, dir)
	if len(found) == 0 {
		found = []string{pathname.Unescape(glob)}
	}
	if j.named += len(found); !ok || j.spent() {
		return nil, false
	}
	return found, true
}

// disk is the World of a job as patterns see it.
type disk struct{ *job }

func (d disk) List(folder string) []string {
	names, _ := d.list(folder) // what cannot be read has no names
	return names
}

func (d disk) Spend(steps int) bool { return d.spend(steps) }

func (d disk) Exists(path string) bool {
	_, err := d.look(path)
	return err == nil
}
