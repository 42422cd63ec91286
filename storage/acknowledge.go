//go:build !naive_acknowledge

package storage

// ackBeforeSync is what the kill loop's negative control sets: it must find
// a build out that acknowledges a report before it is on disk.
const ackBeforeSync = false
