package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// How many texts of two cases a run makes, and from which number. Without the
// first it runs a quarter of the corpus, and with it all (make random-test).
const (
	mixtureCount = "COUNTERSIGN_MIXTURES"
	mixtureSeed  = "COUNTERSIGN_RANDOM_SEED"
)

// TestCorpusReallyRuns makes the invented machine of the corpus, with a program
// in every place that only notes how it was started, and runs the cases there
// through the real gate and runner. What is not allowed starts nothing; what is
// allowed starts what was judged and what bash and dash start; no file changes
// and nobody lives on.
func TestCorpusReallyRuns(t *testing.T) {
	job := machineJob{Folder: t.TempDir(), Seed: rand.Uint64(), Mixtures: 200, Every: 4}
	var err error
	if job.Corpus, err = filepath.Abs(filepath.Join("testdata", corpusFile)); err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.ParseUint(os.Getenv(mixtureSeed), 10, 64); err == nil {
		job.Seed = n
	}
	if n, err := strconv.Atoi(os.Getenv(mixtureCount)); err == nil {
		job.Mixtures, job.Every = n, 1
	}
	t.Logf("%s=%d %s=%d, one case of %d", mixtureSeed, job.Seed, mixtureCount, job.Mixtures, job.Every)
	got, skip, err := realMachine(job.Folder, job)
	if err != nil {
		t.Fatal(err)
	}
	if skip != "" {
		t.Skip("skipped: " + skip)
	}
	for _, line := range got.Logs {
		t.Log(line)
	}
	for _, line := range got.Wrong {
		t.Error(line)
	}
	if len(got.Logs) == 0 {
		t.Error("nothing was reported")
	}
}
