//go:build !shifted_clock

package main

import "time"

// wall is the computer's clock as it is set.
func wall() time.Time { return time.Now() }
