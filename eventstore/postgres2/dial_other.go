//go:build !linux

package postgres

import "syscall"

// limitUnanswered leaves it to the system how long a connection may stay without a
// sign; the calls have their own limits.
func limitUnanswered(string, string, syscall.RawConn) error { return nil }
