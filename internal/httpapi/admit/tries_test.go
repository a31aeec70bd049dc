package admit

import (
	"errors"
	"strconv"
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
	wait := func(event calendar.ID, client string) int {
		if problem, ok := errors.AsType[*calendar.Error](tries.check(event, client)); ok {
			return problem.RetryAfter
		}
		return 0
	}
	wrong := func(event calendar.ID, client string) int {
		wait := wait(event, client)
		if wait == 0 {
			tries.add(event, client)
		}
		return wait
	}
	for n := range triesOfClient {
		if got := wrong(1, "a"); got != 0 {
			t.Fatalf("the %d. one waits %d s", n+1, got)
		}
		now = now.Add(time.Second)
	}
	if got := wrong(1, "a"); got != 55 {
		t.Errorf("the sixth one waits %d s", got)
	}
	if wrong(1, "b") != 0 || wrong(2, "a") != 0 {
		t.Error("others wait")
	}
	now = now.Add(55 * time.Second)
	if got := wrong(1, "a"); got != 0 {
		t.Errorf("after a minute it waits %d s", got)
	}
	for n := range triesOfEvent {
		wrong(3, strconv.Itoa(n))
	}
	if wrong(3, "new") == 0 || wrong(4, "new") != 0 {
		t.Error("a hundred wrong ones for an event")
	}
	now = now.Add(time.Minute)
	if got := wrong(3, "new"); got != 0 || len(tries.wrong) != 2 {
		t.Errorf("after a minute it waits %d s and holds %d", got, len(tries.wrong))
	}
}
