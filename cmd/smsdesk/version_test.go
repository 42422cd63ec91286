package main

import (
	"regexp"
	"runtime/debug"
	"testing"
)

// TestAVersionIsNeverEmptyAndNeverTheWrongOne, by each way of building.
func TestAVersionIsNeverEmptyAndNeverTheWrongOne(t *testing.T) {
	sum := func() string { return "0123456789ab" }
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"},
		{Key: "vcs.revision", Value: "fedcba9876543210fedcba9876543210fedcba98"}, {Key: "vcs.modified", Value: "false"}}
	changed := append(commit[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	for name, c := range map[string]struct {
		stamp string
		info  debug.BuildInfo
		want  string
	}{
		"make build":              {"v1.2.3-4-gabcdef0\n", debug.BuildInfo{Main: debug.Module{Version: "v1.2.2"}}, "v1.2.3-4-gabcdef0"},
		"make build of a tarball": {" ", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "unversioned, program 0123456789ab"},
		"go install at a version": {"", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3"},
		"go build of a commit": {"", debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261122041337-fedcba987654"},
			Settings: commit}, "v0.0.0-20261122041337-fedcba987654"},
		"an older go, of a commit":   {"", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: commit}, "fedcba987654"},
		"an older go, of a change":   {"", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: changed}, "fedcba987654+dirty"},
		"go build without a history": {"", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "unversioned, program 0123456789ab"},
		"no build information":       {"", debug.BuildInfo{}, "unversioned, program 0123456789ab"},
	} {
		if got := versionOf(c.stamp, &c.info, sum); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := programSum(); !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(got) {
		t.Errorf("the sum of this program is %q", got)
	}
}
