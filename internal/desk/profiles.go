package desk

import (
	"sync"

	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// profiles keeps how the last few lists begin, because a preview is asked for
// at every pause in typing and a workbook takes a while to open.
type profiles struct {
	mu   sync.Mutex
	kept []profiled
}

type profiled struct {
	uid     string
	version int64
	profile sheet.Profile
}

const (
	profilesKept = 8
	// profileMost bounds the bytes of one kept beginning.
	profileMost = 256 << 10
)

func (p *profiles) find(l sms.List) (sheet.Profile, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.kept {
		if k.uid == l.UID && k.version == l.Version {
			return k.profile, true
		}
	}
	return sheet.Profile{}, false
}

func (p *profiles) keep(l sms.List, profile sheet.Profile) {
	size := 0
	for _, row := range profile.Sample {
		for _, c := range row.Cells {
			size += len(c)
		}
	}
	if size > profileMost {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, profiled{l.UID, l.Version, profile})
	if len(p.kept) > profilesKept {
		p.kept = append([]profiled(nil), p.kept[1:]...)
	}
}
