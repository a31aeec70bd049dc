package eventstore

import (
	"context"
	"time"
)

// Limits of leases.
const (
	MinLease = 100 * time.Millisecond
	MaxLease = time.Hour
)

// Lease is the right to be the one active process of a role for a while.
type Lease struct {
	Name   string        // of the role: "relay", "projector"
	Holder string        // of the process, unique among all that ever ran
	Epoch  int64         // from 1; grows whenever another holder takes the lease
	Left   time.Duration // how long it still holds, by the clock of the store
}

// Leases is a store that several processes share and that lets one of them be
// the active one. Its own clock decides, never that of a process. A lease keeps
// work from being done twice; what must not be done twice needs a fence of its
// own, because a process may be paused while its lease ends.
type Leases interface {
	// Acquire takes the free or ended lease of a name, or renews the one that
	// holder has, for span (MinLease to MaxLease) from now. It gives the lease
	// and whether holder has it; otherwise the lease is that of who has it.
	// Errors: ErrMalformed, ErrUnavailable, ErrClosed.
	Acquire(ctx context.Context, name, holder string, span time.Duration) (Lease, bool, error)

	// Release ends the lease when holder has it, so that another process need
	// not wait; else it does nothing.
	Release(ctx context.Context, name, holder string) error
}
