package pages

import (
	"strconv"
	"testing"
	"time"

	"daybook/calendar"
)

// TestTries: PAGES P2.3 and P13.10: the sixth wrong one of a minute waits, whoever sends
// it, and so does the hundred and first for an event.
func TestTries(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	tr := &tries{now: func() time.Time { return now }, wrong: map[tried][]time.Time{}}
	for n := range triesOfClient {
		if got := tr.wait(1, "a"); got != 0 {
			t.Fatalf("the %d. one waits %s", n+1, got)
		}
		tr.note(1, "a")
		now = now.Add(time.Second)
	}
	if got := tr.wait(1, "a"); got != 55*time.Second {
		t.Errorf("the sixth one waits %s", got)
	}
	if tr.wait(1, "b") != 0 || tr.wait(2, "a") != 0 {
		t.Error("others wait")
	}
	now = now.Add(55 * time.Second)
	if got := tr.wait(1, "a"); got != 0 {
		t.Errorf("after a minute it waits %s", got)
	}
	for n := range triesOfEvent {
		tr.note(3, strconv.Itoa(n))
	}
	if tr.wait(3, "new") == 0 || tr.wait(4, "new") != 0 {
		t.Error("a hundred wrong ones for an event")
	}
	for n := range mostTried {
		tr.note(calendar.ID(100+n), "c")
	}
	if tr.wait(99, "d") == 0 {
		t.Error("it holds more than it may")
	}
	now = now.Add(time.Minute)
	if got := tr.wait(99, "d"); got != 0 || len(tr.wrong) != 0 {
		t.Errorf("after a minute it waits %s and holds %d", got, len(tr.wrong))
	}
}
