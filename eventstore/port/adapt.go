package port

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// Adapted is what Adapt asks of a store of the former port.
type Adapted interface {
	eventstore.Verifier
	// Takings returns who took a slug with which entry, the last one first.
	Takings(ctx context.Context, kind calendar.Kind, slug string) ([]eventstore.SlugTaken, error)
}

// adapter implements Store by a store of the former port.
type adapter struct {
	old      Adapted
	erasures atomic.Uint64

	mutex sync.Mutex
	moved chan struct{}     // closed when the head is beyond from, nil when nobody waits
	from  calendar.Position // that moved belongs to
}

// Adapt returns the new port to a store of the former one. What the former port cannot
// write in one commit is ErrMalformed: Redact and Checkpoint each stand alone but for
// the drafts of erasures. Epoch.Erasures counts the erasures through the adapter alone.
// A receipt without drafts is looked for before it is written, so that of two equal
// requests at the same time both may write it. Records does not look for claims and
// names without a record, nor are state and claims those of one moment while others
// write; Verify of the former port sees to both.
func Adapt(old Adapted) Store { return &adapter{old: old} }

// former returns the Append of the former port, without Redact and Checkpoint.
func (a *Append) former() eventstore.Append {
	out := eventstore.Append{Drafts: a.Drafts, Guards: a.Guards, Time: a.Time, Actor: a.Actor, Cause: a.Cause, Epoch: a.Epoch.History}
	if r := a.Receipt; r != nil {
		out.Receipt = &eventstore.Receipt{
			User: r.User, Key: r.Key, Fingerprint: r.Fingerprint, Time: a.Time, Record: r.Record, Version: r.Version, Position: r.Position,
		}
	}
	return out
}

// ofFormer returns a receipt of the former port, nil for none.
func ofFormer(r *eventstore.Receipt) *Receipt {
	if r == nil {
		return nil
	}
	return &Receipt{
		User: r.User, Key: r.Key, Fingerprint: r.Fingerprint, Record: r.Record, Version: r.Version, Position: r.Position, Time: r.Time,
	}
}

// Append implements Store. Runs of Appends that the former port knows are one call.
func (s *adapter) Append(ctx context.Context, appends []Append) []Result {
	results := make([]Result, 0, len(appends))
	var run []eventstore.Append
	flush := func() {
		if len(run) == 0 {
			return
		}
		for _, r := range s.old.Append(ctx, run) {
			results = append(results, Result{Position: r.Position, Receipt: ofFormer(r.Receipt), Err: r.Err})
		}
		run = nil
	}
	for i := range appends {
		a := &appends[i]
		var alone func(context.Context, *Append) (Result, error)
		switch err := a.Check(); {
		case err != nil:
			alone = func(context.Context, *Append) (Result, error) { return Result{}, err }
		case len(a.Redact) > 0:
			alone = s.redact
		case a.Checkpoint != nil:
			alone = s.sign
		case a.Receipt != nil && len(a.Drafts) == 0:
			alone = s.remember
		default:
			run = append(run, a.former())
			continue
		}
		flush()
		res, err := alone(ctx, a)
		if err != nil {
			res = Result{Err: err}
		}
		results = append(results, res)
	}
	flush()
	return results
}

// atHead returns a Result with the position of the head.
func (s *adapter) atHead(ctx context.Context, r *Receipt) (Result, error) {
	head, err := s.old.Head(ctx)
	return Result{Position: head, Receipt: r}, err
}

// remember stores a receipt of a record that is there.
func (s *adapter) remember(ctx context.Context, a *Append) (Result, error) {
	there, err := s.Receipt(ctx, a.Receipt.User, a.Receipt.Key)
	switch {
	case err != nil:
		return Result{}, err
	case there != nil && there.Fingerprint != a.Receipt.Fingerprint:
		return Result{}, fmt.Errorf("receipt %q: %w", a.Receipt.Key, ErrKeyReused)
	case there != nil:
		return s.atHead(ctx, there)
	}
	res := s.old.Append(ctx, []eventstore.Append{a.former()})[0]
	if res.Err != nil {
		return Result{}, res.Err
	}
	// The receipt of another Append that came first stays as it was.
	there, err = s.Receipt(ctx, a.Receipt.User, a.Receipt.Key)
	if there != nil && there.Record == a.Receipt.Record && there.Version == a.Receipt.Version && there.Position == a.Receipt.Position {
		there = nil
	}
	return Result{Position: res.Position, Receipt: there}, err
}

// redact erases what is left of records.
func (s *adapter) redact(ctx context.Context, a *Append) (Result, error) {
	if len(a.Guards) > 0 || a.Receipt != nil || a.Checkpoint != nil {
		return Result{}, fmt.Errorf("%w: a redaction with guards, a receipt or a checkpoint", ErrMalformed)
	}
	former := a.former()
	if err := former.CheckEpoch(s.old.Epoch()); err != nil {
		return Result{}, err
	}
	var all []eventstore.Erasure
	for i := range a.Drafts {
		d := &a.Drafts[i]
		if d.Change != ErasedChange(d.Kind) || !slices.Contains(a.Redact, d.ID) {
			return Result{}, fmt.Errorf("%w: draft %d erases no record that is redacted", ErrMalformed, i)
		}
		all = append(all, eventstore.Erasure{
			Kind: d.Kind, ID: d.ID, Expected: d.Expected, Time: a.Time, Actor: a.Actor, Cause: a.Cause, State: d.State, Claims: d.Claims,
		})
	}
	held, err := s.held(ctx, a.Redact)
	if err != nil {
		return Result{}, err
	}
	drafts := len(all)
	for i, h := range held {
		drafted := slices.ContainsFunc(all[:drafts], func(e eventstore.Erasure) bool { return e.ID == a.Redact[i] })
		if drafted == h.Erased { // it is erased by the draft, or was before
			return Result{}, fmt.Errorf("redact record %d: %w", a.Redact[i], ErrConflict)
		}
		if !drafted {
			all = append(all, eventstore.Erasure{Kind: h.Kind, ID: h.ID, Expected: h.Version, Time: a.Time, State: []byte(`{}`)})
		}
	}
	first := all[0]
	first.Also = all[1:]
	res := s.old.Erase(ctx, first)
	switch {
	case errors.Is(res.Err, ErrNotFound):
		return Result{}, fmt.Errorf("%w: %w", ErrConflict, res.Err)
	case res.Err != nil:
		return Result{}, res.Err
	}
	s.erasures.Add(1)
	if drafts == 0 {
		return s.atHead(ctx, nil)
	}
	return Result{Position: res.Position + calendar.Position(drafts-1)}, nil
}

// sign stores a checkpoint.
func (s *adapter) sign(ctx context.Context, a *Append) (Result, error) {
	if len(a.Drafts) > 0 || a.Receipt != nil {
		return Result{}, fmt.Errorf("%w: a checkpoint with drafts or a receipt", ErrMalformed)
	}
	if err := s.old.PutCheckpoint(ctx, *a.Checkpoint); err != nil {
		return Result{}, err
	}
	return s.atHead(ctx, nil)
}

// Receipt implements Store: the former port says what a receipt holds to a caller that
// knows its fingerprint, and in the error for others.
func (s *adapter) Receipt(ctx context.Context, user calendar.ID, key string) (*Receipt, error) {
	res := s.old.Append(ctx, []eventstore.Append{{Receipt: &eventstore.Receipt{User: user, Key: key}}})[0]
	if reused, ok := errors.AsType[*eventstore.ReusedError](res.Err); ok {
		// It may have been read only, and is durable when a later call is answered.
		return ofFormer(reused.Receipt), s.Sync(ctx)
	}
	return ofFormer(res.Receipt), res.Err
}

// Sync implements Store.
func (s *adapter) Sync(ctx context.Context) error {
	return s.old.Append(ctx, make([]eventstore.Append, 1))[0].Err
}

// NewIDs implements Store.
func (s *adapter) NewIDs(ctx context.Context, n int) (calendar.ID, error) {
	return s.old.NewIDs(ctx, n)
}

// Load implements Store.
func (s *adapter) Load(ctx context.Context, ids ...calendar.ID) ([]State, error) {
	return s.old.Load(ctx, ids...)
}

// At implements Store.
func (s *adapter) At(ctx context.Context, p Point, ids ...calendar.ID) ([]Entry, error) {
	return s.old.At(ctx, p, ids...)
}

// Find implements Store.
func (s *adapter) Find(ctx context.Context, l Lookup) (f Found, err error) {
	if len(l.Claims)+len(l.Names) > 0 {
		if f.Holders, f.Named, err = s.old.Find(ctx, l.Claims, l.Names); err != nil {
			return Found{}, err
		}
	}
	for _, c := range l.Slugs {
		kind, _ := calendar.ParseKind(strings.TrimPrefix(c.Space, SlugClaim(0, "").Space))
		took, err := s.old.Takings(ctx, kind, c.Key)
		if err != nil {
			return Found{}, err
		}
		taken := make([]Taken, len(took))
		for i, t := range took {
			taken[i] = Taken{Position: t.Position, Record: t.Record}
		}
		f.Taken = append(f.Taken, taken)
	}
	if l.Signed.Limit > 0 {
		f.Signed, err = s.old.Checkpoints(ctx, calendar.Position(l.Signed.After), l.Signed.Limit)
	}
	return f, err
}

// Records implements Store.
func (s *adapter) Records(ctx context.Context, k calendar.Kind, after calendar.ID, limit int) ([]Held, error) {
	states, err := s.old.Records(ctx, k, after, limit)
	if err != nil || len(states) == 0 {
		return nil, err
	}
	out := make([]Held, len(states))
	var page []eventstore.Holding
	for i := range states {
		out[i].State = states[i]
		for len(page) > 0 && page[0].ID < states[i].ID {
			page = page[1:]
		}
		if len(page) == 0 {
			if page, err = s.old.Holdings(ctx, states[i].ID-1, len(states)-i); err != nil {
				return nil, err
			}
		}
		if len(page) > 0 && page[0].ID == states[i].ID {
			out[i].Claims, out[i].Names = InOrder(page[0].Claims), InOrder(page[0].Names)
		}
		if out[i].Erased, err = s.isErased(ctx, &states[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// held returns records without their claims and names.
func (s *adapter) held(ctx context.Context, ids []calendar.ID) ([]Held, error) {
	states, err := s.old.Load(ctx, ids...)
	out := make([]Held, len(states))
	for i := range states {
		if out[i].State = states[i]; err == nil && states[i].Version > 0 {
			out[i].Erased, err = s.isErased(ctx, &states[i])
		}
	}
	return out, err
}

// isErased reports whether the last entry of a record erased it.
func (s *adapter) isErased(ctx context.Context, st *State) (bool, error) {
	if !strings.Contains(string(st.Record), `"erased":true`) { // texts may have it too
		return false, nil
	}
	entries, err := s.old.History(ctx, st.ID, st.Version-1, 1)
	return len(entries) > 0 && entries[0].Change == ErasedChange(st.Kind), err
}

// Read implements Store.
func (s *adapter) Read(ctx context.Context, r Range) ([]Entry, error) {
	if r.Record != 0 {
		return s.old.History(ctx, r.Record, int64(min(r.After, 1<<62)), r.Limit)
	}
	return s.old.ReadAll(ctx, calendar.Position(r.After), r.Limit)
}

// Commits implements Store. The former port selects commits by their first entry.
func (s *adapter) Commits(ctx context.Context, from calendar.Position, limit int) ([]Commit, error) {
	from = max(from, 1)
	found, err := s.old.Commits(ctx, from-1, limit)
	if err != nil || limit <= 0 {
		return nil, err
	}
	if len(found) == 0 || found[0].First > from { // one that holds from may begin before it
		before, err := s.commitBefore(ctx, from)
		if err != nil {
			return nil, err
		}
		found = append(before, found...)
		found = found[:min(len(found), limit)]
	}
	out := make([]Commit, len(found))
	var leaves [][32]byte
	for i, c := range found {
		out[i] = Commit{First: c.First, Last: c.Last, Hash: c.Hash}
		for n := int(c.Last - c.First + 1); ; {
			if len(leaves) >= n {
				out[i].Leaves, leaves = leaves[:n:n], leaves[n:]
				break
			}
			after := c.First - 1 + calendar.Position(len(leaves))
			page, err := s.old.Leaves(ctx, after, int(found[len(found)-1].Last-after))
			if err != nil {
				return nil, err
			}
			if len(page) == 0 {
				return nil, fmt.Errorf("leaves of commit %d: %w", c.First, ErrDamaged)
			}
			leaves = append(leaves, page...)
		}
	}
	return out, nil
}

// commitBefore returns the commit that begins before a position and holds it, if any.
func (s *adapter) commitBefore(ctx context.Context, p calendar.Position) ([]eventstore.Commit, error) {
	for back := calendar.Position(16); ; back *= 16 {
		after := p - min(p, back)
		found, err := s.old.Commits(ctx, after, int(min(back, p)))
		if err != nil {
			return nil, err
		}
		begun := slices.IndexFunc(found, func(c eventstore.Commit) bool { return c.First > p })
		if begun >= 0 {
			found = found[:begun]
		}
		if n := len(found); n > 0 {
			if found[n-1].Last < p {
				return nil, nil
			}
			return found[n-1:], nil
		}
		if after == 0 {
			return nil, nil
		}
	}
}

// Head implements Store.
func (s *adapter) Head(ctx context.Context, p Point) (h Head, err error) {
	h.Epoch = s.Epoch()
	head, err := s.old.Head(ctx)
	if err != nil {
		return Head{}, err
	}
	if h.Position = head; p != (Point{}) {
		c, err := s.old.Counted(ctx, p)
		if err != nil {
			return Head{}, err
		}
		h.Position, h.Time = c.Position, c.Time
	}
	if h.Mark, err = s.old.Mark(ctx, h.Position); err != nil {
		return Head{}, err
	}
	if h.UUID, err = s.old.UUID(ctx); err != nil {
		return Head{}, err
	}
	switch newest, err := s.old.Checkpoint(ctx, 0); {
	case err == nil:
		h.Signed = newest.Size
	case !errors.Is(err, ErrNotFound):
		return Head{}, err
	}
	h.Moved = s.watch(ctx, head, h.Epoch.History)
	return h, nil
}

// watchSpan bounds how long the change to another history is missed when it comes just
// before the former port begins to wait.
const watchSpan = time.Second

// watch returns a channel that is closed when the head is beyond a position, or the
// history another one.
func (s *adapter) watch(ctx context.Context, head calendar.Position, history uint64) <-chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.moved != nil && head < s.from { // it has moved, or there is another history
		moved := make(chan struct{})
		close(moved)
		return moved
	}
	if s.moved == nil {
		moved := make(chan struct{})
		s.moved, s.from = moved, head
		go func() {
			s.wait(context.WithoutCancel(ctx), head, history)
			s.mutex.Lock()
			defer s.mutex.Unlock()
			s.moved = nil
			close(moved)
		}()
	}
	return s.moved
}

// wait returns when the head is beyond a position, the history is another one, or the
// store cannot tell; whoever is woken asks for the head.
func (s *adapter) wait(ctx context.Context, head calendar.Position, history uint64) {
	for s.old.Epoch() == history {
		within, cancel := context.WithTimeout(ctx, watchSpan)
		_, err := s.old.Wait(within, head)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return
		}
	}
}

// Epoch implements Store.
func (s *adapter) Epoch() Epoch {
	return Epoch{History: s.old.Epoch(), Erasures: s.erasures.Load()}
}
