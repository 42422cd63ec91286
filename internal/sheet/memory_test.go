package sheet

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// growth is by how many MiB the memory of the process rose above its start
// while f ran: resident memory where the system tells, else what the runtime
// took from the system.
func growth(t *testing.T, f func()) int64 {
	t.Helper()
	debug.FreeOSMemory()
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return int64(after.Sys-before.Sys+before.HeapReleased) >> 20
	}
	before := resident(t, "VmRSS:")
	f()
	return (resident(t, "VmHWM:") - before) >> 10
}

// resident is a figure of the process in KiB.
func resident(t *testing.T, name string) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s", name)
	return 0
}

// bigFile writes a file of n lines.
func bigFile(t testing.TB, n int, line func(i int) string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "list"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b := bufio.NewWriterSize(f, 1<<20)
	for i := range n {
		b.WriteString(line(i))
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	return f
}

func ordinaryLine(i int) string {
	if i == 0 {
		return "phone,text\r\n"
	}
	return fmt.Sprintf(
		"%011d,\"Dear customer, your parcel %09d is with us. Please bring this code when you come for it, and pay no one who asks for it.\"\r\n", 8035000000+i, i)
}

// drain reads a file to its end and counts.
func drain(t testing.TB, f *os.File, o Options) Tally {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(f, info.Size(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		if _, err := r.Next(); err == io.EOF {
			return r.Tally()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMemoryStaysFlat(t *testing.T) {
	half := strings.Repeat("x", 40_000)
	for _, c := range []struct {
		name  string
		file  func() *os.File
		want  Tally
		limit int64
	}{
		{"a CSV of 1,000,000 rows", func() *os.File { return bigFile(t, 1_000_000/lighter+1, ordinaryLine) }, Tally{Rows: 1_000_000 / lighter, Columns: 2}, 100},
		{"a workbook of 200,000 rows with 400,000 texts", func() *os.File {
			f := bigFile(t, 1, func(int) string { return bigBook(t, 200_000/lighter) })
			return f
		}, Tally{Rows: 200_000 / lighter, Columns: 3}, 100},
		{"an unclosed quote before 100 MiB", func() *os.File {
			return bigFile(t, 1_000_000/lighter, func(i int) string {
				switch i {
				case 0:
					return "phone,text,more\n"
				case 1:
					return "08035550101,\"Dear\n"
				}
				return "phone,text of a hundred letters that goes on and on until there is enough of it to fill memory, which it must not\n"
			})
		}, Tally{Rows: 1_000_000/lighter - 1, Problems: 1, Columns: 3}, 32},
		{"one line of 200 MiB", func() *os.File {
			return bigFile(t, 5000/lighter, func(i int) string {
				if i == 0 {
					return "phone\n"
				}
				return half
			})
		}, Tally{Rows: 1, Problems: 1, Columns: 1}, 32},
		{"200 MiB of line ends", func() *os.File {
			return bigFile(t, 5000/lighter, func(i int) string {
				if i == 0 {
					return "phone\n1\n"
				}
				return strings.Repeat("\n", 40_000)
			})
		}, Tally{Rows: 1, Blank: (5000/lighter - 1) * 40_000, Columns: 1}, 32},
	} {
		f := c.file()
		var got Tally
		start := time.Now()
		grown := growth(t, func() { got = drain(t, f, Options{}) })
		info, _ := f.Stat()
		t.Logf("%s: %d MiB, %d rows, memory +%d MiB, %v", c.name, info.Size()>>20, got.Rows, grown,
			time.Since(start).Round(time.Millisecond))
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if grown >= c.limit*lighter {
			t.Errorf("%s: memory grew by %d MiB, more than %d", c.name, grown, c.limit)
		}
		f.Close()
		os.Remove(f.Name())
	}
}

func TestMemoryStaysFlatWhenWriting(t *testing.T) {
	text := strings.Repeat("a text of some length ", 6)
	rows := func(yield func(Rejected, error) bool) {
		for i := range 200_000 / lighter {
			if !yield(Rejected{Row{Cells: []string{strconv.Itoa(8035550000 + i), text}}, "Too short: has 10 digits, needs 11"},
				nil) {
				return
			}
		}
	}
	for name, write := range map[string]func(io.Writer, Layout, iter.Seq2[Rejected, error]) error{"CSV": WriteCSV,
		"XLSX": WriteXLSX} {
		var err error
		grown := growth(t, func() { err = write(io.Discard, Layout{Columns: 2}, rows) })
		t.Logf("200,000 rejected rows as %s: memory +%d MiB", name, grown)
		if err != nil || grown >= 100*lighter {
			t.Errorf("%s: %v, memory grew by %d MiB", name, err, grown)
		}
	}
}
