package health

import (
	"encoding/json"
	"fmt"
	"time"
)

// SettingTold names the setting that holds a list of Told as JSON, oldest first.
const SettingTold = "told"

// SettingLogs names the setting that says why the logs beside the journal
// cannot be written; "" while they can.
const SettingLogs = "logs"

// Told is something that happened with the desk's files and that staff should
// know, such as a damaged inbox.
type Told struct {
	At   int64  `json:"at"` // milliseconds
	Text string `json:"text"`
}

// toldFor is how long it is shown.
const toldFor = 7 * 24 * time.Hour

// Fresh says whether it is still to be shown.
func (t Told) Fresh(now time.Time) bool { return now.UnixMilli()-t.At < toldFor.Milliseconds() }

// ReadTold reads the setting.
func ReadTold(setting string) (list []Told, err error) {
	if setting != "" {
		if err = json.Unmarshal([]byte(setting), &list); err != nil {
			err = fmt.Errorf("read the setting %s: %w", SettingTold, err)
		}
	}
	return list, err
}
