//go:build naive_acknowledge

package storage

const acknowledgeEarly = true
