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

// lifecycle is an index that is reached, with one tag at position 1.
type lifecycle struct {
	testing.TB
	readmodel.Generations
	first, second *indexPair // the index with what is in its generations
	coming        readmodel.Index
}

// RunGenerations runs the suite of readmodel.Generations; open returns an empty one that is
// closed by t.Cleanup.
func RunGenerations(t *testing.T, open func(t testing.TB) readmodel.Generations) {
	for name, run := range lifeCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lifecycle{TB: t, Generations: open(t)}
			l.do("reach", l.Reach)
			l.first = newPair(t, l)
			l.first.add(calendar.KindTag, 1, calendar.Fields{})
			l.first.write()
			run(l)
		})
	}
}

// do makes a step that has to succeed.
func (life *lifecycle) do(what string, step func(context.Context) error) {
	life.Helper()
	wantErr(life, what, step(life.Context()), nil)
}

// come fills the coming generation with one tag at position 2 and a quarantined record.
func (life *lifecycle) come() {
	life.Helper()
	next, err := life.Next(life.Context())
	if err != nil {
		life.Fatalf("next: %v", err)
	}
	pair := newPair(life, next)
	pair.last = 1
	pair.add(calendar.KindTag, 2, calendar.Fields{})
	pair.apply(readmodel.Batch{
		Documents: pair.documents, Mark: At(pair.last), Quarantined: []readmodel.Quarantined{{ID: 9, Position: 1, Reason: "bad"}},
	})
	life.coming = next
	life.second = &indexPair{TB: life, index: life, plain: pair.plain, last: pair.last}
}

func (life *lifecycle) comeAndPromote() {
	life.Helper()
	life.come()
	life.do("promote", life.Promote)
}

// nothing checks that there is nothing to promote.
func (life *lifecycle) nothing(what string) {
	life.Helper()
	if life.Promote(life.Context()) == nil {
		life.Errorf("%s is promoted", what)
	}
}

// answers checks which generation answers.
func (life *lifecycle) answers(pair *indexPair) {
	life.Helper()
	pair.wait()
	pair.state()
	pair.find(calendar.KindTag, nil)
}

var lifeCases = map[string]func(l *lifecycle){
	"the coming one answers nobody": func(l *lifecycle) {
		l.come()
		l.answers(l.first)
		next, err := l.Next(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		if marks, err := next.Marks(l.Context()); err != nil || marks != (readmodel.Marks{}) {
			l.Errorf("another coming generation has the marks %v, %v", marks, err)
		}
		l.answers(l.first)
	},
	"promote puts it in place": func(l *lifecycle) {
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
	"promote never goes back": func(l *lifecycle) {
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
	"back and back again": func(l *lifecycle) {
		wantErr(l, "back to none", l.Back(l.Context()), readmodel.ErrNoGeneration)
		l.comeAndPromote()
		for _, pair := range []*indexPair{l.first, l.second, l.first} {
			l.do("back", l.Back)
			l.answers(pair)
		}
	},
	"forget leaves the one that answers alone": func(l *lifecycle) {
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
	"a writer is told": func(l *lifecycle) {
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
	"waits end with their context": func(l *lifecycle) {
		ctx, cancel := context.WithTimeout(l.Context(), 50*time.Millisecond)
		defer cancel()
		wantErr(l, "moved", l.Moved(ctx), context.DeadlineExceeded)
		wantErr(l, "keep", l.Keep(ctx), nil)
		wantErr(l, "close", l.Close(), nil)
	},
}
