package postgres

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnanswered makes the system give a connection up whose other end does not
// acknowledge what was sent; without it that takes about a quarter of an hour.
func limitUnanswered(network, _ string, c syscall.RawConn) error {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil
	}
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unanswered.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}
