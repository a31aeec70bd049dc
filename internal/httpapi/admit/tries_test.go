package admit

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"daybook/calendar"
)

// TestTries: PAGES P2.3 and P13.10: the sixth wrong one of a minute waits, no matter who sends
// it, and so does the hundred and first for an event.
func TestTries(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	tries := NewTries(func() time.Time { return now })
	address := func(client byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, client}) }
	wait := func(event calendar.ID, client byte) int {
		if problem, ok := errors.AsType[*calendar.Error](tries.check(event, address(client))); ok {
			return problem.RetryAfter
		}
		return 0
	}
	wrong := func(event calendar.ID, client byte) int {
		wait := wait(event, client)
		if wait == 0 {
			tries.add(event, address(client))
		}
		return wait
	}
	for n := range triesOfClient {
		if got := wrong(1, 1); got != 0 {
			t.Fatalf("the %d. one waits %d s", n+1, got)
		}
		now = now.Add(time.Second)
	}
	if got := wrong(1, 1); got != 55 {
		t.Errorf("the sixth one waits %d s", got)
	}
	if wrong(1, 2) != 0 || wrong(2, 1) != 0 {
		t.Error("others wait")
	}
	now = now.Add(55 * time.Second)
	if got := wrong(1, 1); got != 0 {
		t.Errorf("after a minute it waits %d s", got)
	}
	for n := range triesOfEvent {
		wrong(3, byte(n))
	}
	if wrong(3, 200) == 0 || wrong(4, 200) != 0 {
		t.Error("a hundred wrong ones for an event")
	}
	now = now.Add(time.Minute)
	if got := wrong(3, 200); got != 0 || len(tries.wrong) != 1 {
		t.Errorf("after a minute it waits %d s and holds %d", got, len(tries.wrong))
	}
}
