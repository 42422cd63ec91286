package storage

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"smsdesk/internal/health"
)

// Steady is what the clock that nobody can set shows now: it goes on while the
// computer sleeps, and begins anew when that is started.
func Steady() health.Steady {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return health.Steady{}
	}
	id, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(string(text)), "-", ""))
	var at unix.Timespec
	if err != nil || len(id) < 8 || unix.ClockGettime(unix.CLOCK_BOOTTIME, &at) != nil {
		return health.Steady{}
	}
	return health.Steady{Boot: int64(binary.BigEndian.Uint64(id)), Ms: time.Duration(at.Nano()).Milliseconds()}
}
