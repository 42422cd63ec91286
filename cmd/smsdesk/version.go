package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

// linked is the version that the linker was given (make build), "" without.
var linked string

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(e env) error {
	_, err := fmt.Fprintf(e.out, "smsdesk %s\n", programVersion())
	return err
}

// programVersion tells this program from every other, however it was built.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(linked, info, programSum)
}

// versionOf prefers what the linker was told, then the version of the module,
// which the go command takes from a tag or a commit, then the commit itself.
// Built from sources without any history, a program is known by its own sum.
func versionOf(stamp string, info *debug.BuildInfo, sum func() string) string {
	if stamp = strings.TrimSpace(stamp); stamp != "" {
		return stamp
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+dirty"
		}
	}
	if revision != "" {
		return revision + changed
	}
	if s := sum(); s != "" {
		return "unversioned, program " + s
	}
	return "unversioned"
}

// programSum is the beginning of the SHA-256 sum of the program's file, "" where
// it cannot be read.
func programSum() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
