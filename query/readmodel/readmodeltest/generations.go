package readmodeltest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// life is an index that is reached, with one tag at position 1.
type life struct {
	testing.TB
	readmodel.Generations
	first, second *pair // the index with what is in its generations
	coming        readmodel.Index
}

// RunGenerations runs the suite of readmodel.Generations; open returns an empty one that is
// closed by t.Cleanup.
func RunGenerations(t *testing.T, open func(t testing.TB) readmodel.Generations) {
	for name, run := range lifeCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &life{TB: t, Generations: open(t)}
			l.do("reach", l.Reach)
			l.first = newPair(t, l)
			l.first.add(calendar.KindTag, 1, calendar.Fields{})
			l.first.write()
			run(l)
		})
	}
}

// do makes a step that has to succeed.
func (l *life) do(what string, step func(context.Context) error) {
	l.Helper()
	wantErr(l, what, step(l.Context()), nil)
}

// come fills the coming generation with one tag at position 2 and a quarantined record.
func (l *life) come() {
	l.Helper()
	next, err := l.Next(l.Context())
	if err != nil {
		l.Fatalf("next: %v", err)
	}
	p := newPair(l, next)
	p.last = 1
	p.add(calendar.KindTag, 2, calendar.Fields{})
	p.apply(readmodel.Batch{
		Documents: p.documents, Mark: At(p.last), Quarantined: []readmodel.Quarantined{{ID: 9, Position: 1, Reason: "bad"}},
	})
	l.coming = next
	l.second = &pair{TB: l, index: l, plain: p.plain, last: p.last}
}

func (l *life) comeAndPromote() {
	l.Helper()
	l.come()
	l.do("promote", l.Promote)
}

// nothingComes checks that a coming generation is empty, whatever was in the one before.
func (l *life) nothingComes() {
	l.Helper()
	next, err := l.Next(l.Context())
	if err != nil {
		l.Fatalf("next: %v", err)
	}
	if marks, err := next.Marks(l.Context()); err != nil || marks != (readmodel.Marks{}) {
		l.Errorf("a coming generation has the marks %v, %v", marks, err)
	}
}

// nothing checks that there is nothing to promote.
func (l *life) nothing(what string) {
	l.Helper()
	if l.Promote(l.Context()) == nil {
		l.Errorf("%s is promoted", what)
	}
}

// answers checks which generation answers.
func (l *life) answers(p *pair) {
	l.Helper()
	p.wait()
	p.state()
	p.find(calendar.KindTag, nil)
}

var lifeCases = map[string]func(l *life){
	"the coming one answers nobody": func(l *life) {
		l.come()
		l.answers(l.first)
		l.nothingComes()
		l.answers(l.first)
	},
	"promote puts it in place": func(l *life) {
		before, err := l.Visible(l.Context())
		l.comeAndPromote()
		l.answers(l.second)
		after, afterErr := l.Visible(l.Context())
		if err = errors.Join(err, afterErr); err != nil || after.Content == before.Content {
			l.Errorf("content %d before and %d after, %v", before.Content, after.Content, err)
		}
		l.do("sound", l.Sound)
		l.nothing("none")
	},
	"promote never goes back": func(l *life) {
		third := readmodel.Batch{Mark: At(3)}
		l.first.apply(third)
		l.come()
		wantErr(l, "promote of one that is behind", l.Promote(l.Context()), readmodel.ErrBehind)
		l.answers(l.first)
		l.second.index = l.coming
		l.second.apply(third)
		l.do("promote", l.Promote)
		l.second.index = l
		l.second.wait()
		l.do("back", l.Back)
		l.answers(l.first)
		l.first.apply(readmodel.Batch{Mark: At(4)})
	},
	"back and back again": func(l *life) {
		wantErr(l, "back to none", l.Back(l.Context()), readmodel.ErrNoGeneration)
		l.comeAndPromote()
		for _, p := range []*pair{l.first, l.second, l.first} {
			l.do("back", l.Back)
			l.answers(p)
		}
	},
	"forget leaves the one that answers alone": func(l *life) {
		l.do("forget nothing", l.Forget)
		l.answers(l.first)
		l.comeAndPromote()
		l.come()
		l.do("forget", l.Forget)
		l.answers(l.second)
		wantErr(l, "back to what was forgotten", l.Back(l.Context()), readmodel.ErrNoGeneration)
		l.nothing("a coming one that was forgotten")
		l.comeAndPromote()
		l.do("back to what came later", l.Back)
	},
	"a writer is told": func(l *life) {
		told := make(chan error, 1)
		go func() { told <- l.Moved(l.Context()) }()
		<-time.After(50 * time.Millisecond) // it waits by now
		l.comeAndPromote()
		wantErr(l, "moved", <-told, nil)
		l.second.add(calendar.KindTag, 3, calendar.Fields{})
		_, err := l.Write(l.Context(), readmodel.Batch{Documents: slices.Clone(l.second.documents), Mark: At(3)})
		if err != nil && !errors.Is(err, readmodel.ErrMoved) {
			l.Errorf("write for the one before: %v, want ErrMoved or nothing", err)
		}
		l.answers(l.second) // its Marks bind the writer to it
		l.second.write()
		l.answers(l.second)
	},
	"waits end with their context": func(l *life) {
		ctx, cancel := context.WithTimeout(l.Context(), 50*time.Millisecond)
		defer cancel()
		wantErr(l, "moved", l.Moved(ctx), context.DeadlineExceeded)
		wantErr(l, "keep", l.Keep(ctx), nil)
		wantErr(l, "close", l.Close(), nil)
	},
}
