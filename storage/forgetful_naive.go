//go:build forgetful_limiter

package storage

const forgetful = true
