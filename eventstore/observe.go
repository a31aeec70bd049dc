package eventstore

import "daybook/calendar"

// Committed is what came of one group commit.
type Committed struct {
	Appends int               // that shared the commit, the losing ones too
	Entries int               // that were written; 0 for a group that wrote only receipts, or nothing
	Head    calendar.Position // of the store after it, as far as the committer knows; 0 when it does not
	Err     error             // of the group as a whole: nothing of it was written
}

// ObserveCommit observes group commits: a store calls it when it begins one, and the
// function that it returns when that one has ended. Every append waits for both, so they
// must be quick.
type ObserveCommit func() func(Committed)
