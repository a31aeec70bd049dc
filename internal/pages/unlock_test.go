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
	tr := newTries(func() time.Time { return now })
	wrong := func(event calendar.ID, client string) time.Duration {
		wait := tr.begin(event, client)
		if wait == 0 {
			tr.end(event, client, true)
		}
		return wait
	}
	for n := range triesOfClient {
		if got := wrong(1, "a"); got != 0 {
			t.Fatalf("the %d. one waits %s", n+1, got)
		}
		now = now.Add(time.Second)
	}
	if got := wrong(1, "a"); got != 55*time.Second {
		t.Errorf("the sixth one waits %s", got)
	}
	if wrong(1, "b") != 0 || wrong(2, "a") != 0 {
		t.Error("others wait")
	}
	now = now.Add(55 * time.Second)
	if got := wrong(1, "a"); got != 0 {
		t.Errorf("after a minute it waits %s", got)
	}
	for n := range triesOfEvent {
		wrong(3, strconv.Itoa(n))
	}
	if wrong(3, "new") == 0 || wrong(4, "new") != 0 {
		t.Error("a hundred wrong ones for an event")
	}
	for n := range mostTried {
		wrong(calendar.ID(100+n), "c")
	}
	if wrong(99, "d") == 0 {
		t.Error("it holds more than it may")
	}
	now = now.Add(time.Minute)
	if got := tr.begin(99, "d"); got != 0 || len(tr.wrong) != 0 {
		t.Errorf("after a minute it waits %s and holds %d", got, len(tr.wrong))
	}
	tr.end(99, "d", false)
	if got := tr.begin(99, "d"); got != 0 || len(tr.wrong) != 0 {
		t.Error("a right one counts")
	}
	tr.end(99, "d", false)
	if len(tr.looked) != 0 {
		t.Errorf("%d are still looked at", len(tr.looked))
	}
}

// TestTriesAtOnce: of many wrong passwords that come at once no more are looked at than of
// those that come one after the other.
func TestTriesAtOnce(t *testing.T) {
	t.Parallel()
	tr := newTries(func() time.Time { return time.Unix(1_800_000_000, 0) })
	looked := 0
	for range 4 * triesOfClient {
		if tr.begin(1, "a") == 0 {
			looked++
		}
	}
	if looked != triesOfClient {
		t.Errorf("%d are looked at", looked)
	}
	for range looked {
		tr.end(1, "a", false)
	}
	if got := tr.begin(1, "a"); got != 0 {
		t.Errorf("after right ones it waits %s", got)
	}
}
