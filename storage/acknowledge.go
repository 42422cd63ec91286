//go:build !naive_acknowledge

package storage

// acknowledgeEarly is what the kill loop's negative control sets: it must find
// a build out that acknowledges a report before it is on disk.
const acknowledgeEarly = false
