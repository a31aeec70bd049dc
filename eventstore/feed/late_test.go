package feed_test

import (
	"testing"

	"daybook/eventstore/feed"
)

// TestLateReader: what was published entry by entry while the reader was busy is
// given in few pieces: each costs a read model a write of the position.
func TestLateReader(t *testing.T) {
	t.Parallel()
	js := embedded(t)
	s := newStore(t)
	actor(t, relay(t, s, js, feed.RelayOptions{}).Run)
	src := source(t, s, js, feed.SourceOptions{})
	at := add(t, s, 1)
	mustReadAll(t, s, src, 0, at) // from the stream from here on
	const entries = 300
	from := markOf(t, s, at)
	for range entries {
		at = add(t, s, 1)
		until(t, js, at)
	}
	reads := 0
	for from.Position < at {
		var err error
		_, from, err = src.Read(within(t), from, 1000)
		check(t, err)
		reads++
	}
	// The client is asked for more when it has had half of what it asked for; a
	// machine that is busy breaks a piece here and there.
	if stats := src.Stats(); stats.FromStream < entries || reads > entries/10 {
		t.Errorf("%d entries in %d reads, %+v", entries, reads, stats)
	}
}
