package readmodeltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// lifeCase is one thing that the life of an index promises. It gets an empty one that is
// reached, and the record that is in it at position 1.
type lifeCase struct {
	name string
	run  func(t testing.TB, x readmodel.Generations, old *calendar.Record)
}

// RunGenerations runs the suite of readmodel.Generations; open gives an empty one that is
// closed by t.Cleanup.
func RunGenerations(t *testing.T, open func(t testing.TB) readmodel.Generations) {
	for _, c := range lifeCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			runLife(t, c, open(t))
		})
	}
}

func runLife(t testing.TB, c lifeCase, x readmodel.Generations) {
	t.Helper()
	if err := x.Reach(t.Context()); err != nil {
		t.Fatalf("reach: %v", err)
	}
	var b build
	old := b.add(calendar.KindTag, 1, calendar.Fields{})
	b.write(t, x)
	c.run(t, x, old)
}

// come fills the coming generation with one tag at position 2 and a quarantined record.
func come(t testing.TB, x readmodel.Generations) {
	t.Helper()
	next, err := x.Next(t.Context())
	if err != nil {
		t.Fatalf("next: %v", err)
	}
	b := build{next: 1}
	b.add(calendar.KindTag, 2, calendar.Fields{})
	write(t, next, readmodel.Batch{
		Documents: b.docs, Mark: At(b.next), Quarantined: []readmodel.Quarantined{{ID: 9, Position: 1, Reason: "bad"}},
	})
}

// wantLive checks which tag answers, and the marks.
func wantLive(t testing.TB, x readmodel.Generations, when string, id calendar.ID, at calendar.Position) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := x.Wait(ctx, at); err != nil {
		t.Fatalf("%s: wait: %v", when, err)
	}
	p := search(t, x, readmodel.Query{Kind: calendar.KindTag, Sort: byID, Limit: 10})
	if got := idsOf(p.Documents); len(got) != 1 || got[0] != id {
		t.Errorf("%s: tags %v, want %d", when, got, id)
	}
	shown, err := x.Visible(ctx)
	if err != nil || shown.Mark != At(at) {
		t.Errorf("%s: shows %v, %v, want %v", when, shown, err, At(at))
	}
	d, err := x.Digest(ctx)
	if err != nil || d.Counts[calendar.KindTag] != 1 {
		t.Errorf("%s: digest %v, %v", when, d.Counts, err)
	}
	if marks, err := x.Marks(ctx); err != nil || marks.All != At(at) {
		t.Errorf("%s: marks %v, %v, want %v", when, marks, err, At(at))
	}
	for what, quarantined := range map[string]func(context.Context) ([]readmodel.Quarantined, error){"now": x.Quarantined, "lately": x.QuarantinedLately} {
		if p, err := quarantined(ctx); err != nil || len(p) != int(at)-1 {
			t.Errorf("%s: quarantined %s: %v, %v", when, what, p, err)
		}
	}
}

func promote(t testing.TB, x readmodel.Generations) {
	t.Helper()
	if err := x.Promote(t.Context()); err != nil {
		t.Fatalf("promote: %v", err)
	}
}

func lifeCases() []lifeCase {
	return []lifeCase{
		{"the coming one answers nobody", func(t testing.TB, x readmodel.Generations, _ *calendar.Record) {
			come(t, x)
			wantLive(t, x, "while another one comes", 1, 1)
			if err := x.Discard(t.Context()); err != nil {
				t.Fatalf("discard: %v", err)
			}
			if err := x.Promote(t.Context()); err == nil {
				t.Error("what was discarded is promoted")
			}
			wantLive(t, x, "after discard", 1, 1)
			if err := x.Discard(t.Context()); err != nil {
				t.Errorf("discard of none: %v", err)
			}
		}},
		{"promote puts it in place", func(t testing.TB, x readmodel.Generations, _ *calendar.Record) {
			before, err := x.Visible(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			come(t, x)
			promote(t, x)
			wantLive(t, x, "after promote", 2, 2)
			if after, err := x.Visible(t.Context()); err != nil || after.Content == before.Content {
				t.Errorf("content %d before and %d after, %v", before.Content, after.Content, err)
			}
			if err := x.Sound(t.Context()); err != nil {
				t.Errorf("sound: %v", err)
			}
			if err := x.Promote(t.Context()); err == nil {
				t.Error("none is promoted")
			}
		}},
		{"promote never goes back", func(t testing.TB, x readmodel.Generations, _ *calendar.Record) {
			write(t, x, readmodel.Batch{Mark: At(3)})
			come(t, x)
			wantErr(t, "promote of one that is behind", x.Promote(t.Context()), readmodel.ErrBehind)
			if shown, err := x.Visible(t.Context()); err != nil || shown.Mark != At(3) {
				t.Errorf("shows %v, %v, want %v", shown, err, At(3))
			}
			next, err := x.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			write(t, next, readmodel.Batch{Mark: At(3)})
			promote(t, x)
			if shown, err := x.Visible(t.Context()); err != nil || shown.Mark != At(3) {
				t.Errorf("after promote: shows %v, %v, want %v", shown, err, At(3))
			}
			if err := x.Back(t.Context()); err != nil {
				t.Fatalf("back: %v", err)
			}
			if marks, err := x.Marks(t.Context()); err != nil || marks.All != At(3) {
				t.Errorf("after back: %v, %v, want %v", marks, err, At(3))
			}
			write(t, x, readmodel.Batch{Mark: At(4)})
		}},
		{"back and back again", func(t testing.TB, x readmodel.Generations, _ *calendar.Record) {
			wantErr(t, "back to none", x.Back(t.Context()), readmodel.ErrNoGeneration)
			come(t, x)
			promote(t, x)
			for _, want := range []calendar.ID{1, 2, 1} {
				if err := x.Back(t.Context()); err != nil {
					t.Fatalf("back to %d: %v", want, err)
				}
				wantLive(t, x, "after back", want, calendar.Position(want))
			}
		}},
		{"forget leaves the one that answers alone", func(t testing.TB, x readmodel.Generations, _ *calendar.Record) {
			forget := func() {
				t.Helper()
				if err := x.Forget(t.Context()); err != nil {
					t.Fatalf("forget: %v", err)
				}
			}
			forget()
			wantLive(t, x, "with nothing to forget", 1, 1)
			come(t, x)
			promote(t, x)
			come(t, x)
			forget()
			wantLive(t, x, "after forgetting", 2, 2)
			wantErr(t, "back to what was forgotten", x.Back(t.Context()), readmodel.ErrNoGeneration)
			if err := x.Promote(t.Context()); err == nil {
				t.Error("a coming one that was forgotten is promoted")
			}
			come(t, x)
			promote(t, x)
			if err := x.Back(t.Context()); err != nil {
				t.Errorf("back to what came later: %v", err)
			}
		}},
		{"a writer is told", func(t testing.TB, x readmodel.Generations, old *calendar.Record) {
			if _, err := x.Marks(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			told := make(chan error, 1)
			go func() { told <- x.Moved(ctx) }()
			<-time.After(50 * time.Millisecond) // it waits by now
			come(t, x)
			promote(t, x)
			if err := <-told; err != nil {
				t.Fatalf("moved: %v", err)
			}
			newer := *old
			newer.Version, newer.ID = 2, 3
			batch := readmodel.Batch{Documents: []readmodel.Document{document(&newer, 3)}, Mark: At(3)}
			if _, err := x.Write(ctx, batch); err != nil && !errors.Is(err, readmodel.ErrMoved) {
				t.Errorf("write for the one before: %v, want ErrMoved or nothing", err)
			}
			wantLive(t, x, "after a write for the one before", 2, 2)
			batch.Documents[0] = document(&newer, 3)
			write(t, x, batch)
			wantPage(t, x, readmodel.Query{Kind: calendar.KindTag, Sort: byID, Limit: 10}, 2, 2, 3)
		}},
		{"waits end with their context", func(t testing.TB, x readmodel.Generations, _ *calendar.Record) {
			if _, err := x.Marks(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			wantErr(t, "moved", x.Moved(ctx), context.DeadlineExceeded)
			if err := x.Keep(ctx); err != nil {
				t.Errorf("keep: %v", err)
			}
			if err := x.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}},
	}
}
