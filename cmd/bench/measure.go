package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// line is one figure beside what it is compared with.
type line struct {
	name    string
	figure  string // with its unit, such as "1,200,000 rows/s"
	against string // what the ratio is to, with its own figure
	ratio   float64
	bar     float64 // 0: none
	most    bool    // the ratio must be at most the bar; at least otherwise
}

func (l line) ok() bool {
	return l.bar == 0 || l.most && l.ratio <= l.bar || !l.most && l.ratio >= l.bar
}

func (l line) String() string {
	bar, verdict := "no bar", "ok"
	if l.bar > 0 {
		word := "at least"
		if l.most {
			word = "at most"
		}
		bar = word + " " + decimal(l.bar)
	}
	if !l.ok() {
		verdict = "below"
	}
	return fmt.Sprintf("%s: %s, %s, ratio %s, %s, %s", l.name, l.figure, l.against, decimal(l.ratio), bar, verdict)
}

// decimal shows a ratio with as many places as tell it from 1.
func decimal(x float64) string {
	if math.Abs(x-1) < 0.1 {
		return strconv.FormatFloat(x, 'f', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// env is what a bench works with.
type env struct {
	dir string // its files go here; the folder is removed after the run
}

func (e env) path(name string) string { return filepath.Join(e.dir, name) }

// figures is what a child process measured. "peak" is the most bytes of memory
// that it had resident.
type figures map[string]float64

// child runs one of the children in a process of its own.
func (e env) child(ctx context.Context, name string, args ...string) (figures, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, append([]string{"-child", name, "--"}, args...)...)
	c.Env = append(os.Environ(), "TMPDIR="+e.dir)
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("measure %s in a process of its own: %w: %s", name, err, bytes.TrimSpace(complaint.Bytes()))
	}
	f := figures{}
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		return nil, fmt.Errorf("read what %s measured: %w", name, err)
	}
	return f, nil
}

// answer is the child's side of env.child.
func answer(out io.Writer, name string, args []string) error {
	do, known := children()[name]
	if !known {
		return fmt.Errorf("there is no measurement %q", name)
	}
	f, err := do(args)
	if err != nil {
		return err
	}
	if f["peak"], err = peak(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(f)
}

// peak is the most bytes that this process had resident. What the system says
// of a child that has ended counts the parent's memory too, so the child looks
// itself.
func peak() (float64, error) { return peakIn("/proc/self/status") }

func peakIn(path string) (float64, error) {
	status, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("measure memory (only Linux tells): %w", err)
	}
	for entry := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(entry, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("measure memory: the system does not tell the peak")
}

const rounds = 3

// turns runs all of do in turns, a few times each, and gives back the best
// time of each.
func turns(ctx context.Context, do ...func() error) ([]time.Duration, error) {
	best := make([]time.Duration, len(do))
	for range rounds {
		for i, f := range do {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			runtime.GC()
			began := time.Now()
			if err := f(); err != nil {
				return nil, err
			}
			if took := time.Since(began); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best, nil
}

const mib = 1 << 20

// memory is the line of a peak against a bar in MiB.
func memory(name string, peak, bar float64) line {
	return line{name: name, figure: fmt.Sprintf("%.0f MiB at the peak", peak/mib), against: fmt.Sprintf("of %.0f MiB", bar),
		ratio: peak / mib / bar, bar: 1, most: true}
}

func rate(n int, took time.Duration) string {
	return fmt.Sprintf("%.0f rows/s", float64(n)/took.Seconds())
}
