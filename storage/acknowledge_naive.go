//go:build naive_acknowledge

package storage

const ackBeforeSync = true
