package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/groupcommit"
)

// groupBytes is about the most that one commit sends.
const groupBytes = 8 << 20

// item is one Append on its way to the committer, with all that can be made
// ready outside the commit.
type item struct {
	groupcommit.Part

	a       eventstore.Append
	drafts  []draft
	receipt [32]byte // digest of the receipt
	guards  [][32]byte
	named   []int64 // that the answer of the receipt may name, the record of it first
	result  *eventstore.Result
}

// draft is a draft with what is stored of it.
type draft struct {
	entry  eventstore.Entry // without its position
	leaf   [32]byte
	claims []pair
	names  []pair
}

// pair is a claim or a name with what it is found by.
type pair struct {
	calendar.Claim

	digest [32]byte
}

func newPair(c calendar.Claim) pair { return pair{c, pairDigest(c.Space, c.Key)} }

// Append does eventstore.Store. When the connection breaks during a commit, the
// store finds out on another one what became of it; an Append gets
// ErrUnavailable when that fails too.
func (s *Store) Append(ctx context.Context, appends []eventstore.Append) []eventstore.Result {
	results := make([]eventstore.Result, len(appends))
	if len(appends) == 0 {
		return results
	}
	if err := s.usable(ctx); err != nil {
		return failAll(len(appends), err)
	}
	if len(appends) == 1 && appends[0].LooksUp() {
		results[0] = s.lookUp(ctx, &appends[0])
		return results
	}
	if len(appends) == 1 && appends[0].Settles() {
		results[0] = s.settled(ctx, &appends[0])
		return results
	}
	items := make([]*item, 0, len(appends))
	for i := range appends {
		it, err := newItem(&appends[i])
		if err != nil {
			results[i].Err = err
			continue
		}
		if appends[i].Later && len(appends) == 1 {
			results[i] = s.appendLater(it)
			return results
		}
		it.result = &results[i]
		items = append(items, it)
	}
	if len(items) == 0 {
		return results
	}
	if err := s.share(ctx, items); err != nil {
		return failAll(len(appends), err)
	}
	return results
}

// share has items committed, with those of others where there are any.
func (s *Store) share(ctx context.Context, items []*item) error {
	call := groupcommit.Begin(items)
	if !s.queue.Add(items) {
		return eventstore.ErrClosed
	}
	within, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	err := call.Wait(within)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("append: %w: no answer within %s", eventstore.ErrUnavailable, s.o.Timeout)
	}
	return err
}

// appendLater takes an item for which nobody waits.
func (s *Store) appendLater(it *item) eventstore.Result {
	it.result = &eventstore.Result{}
	s.later.Store(it.receipt, it)
	if !s.queue.AddLater(it) {
		s.later.CompareAndDelete(it.receipt, it)
		return eventstore.Result{Err: eventstore.ErrClosed}
	}
	return eventstore.Result{}
}

func newItem(a *eventstore.Append) (*item, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	it := &item{a: *a, drafts: make([]draft, len(a.Drafts))}
	size := 0
	for i := range a.Drafts {
		d := &it.drafts[i]
		d.entry = a.Entry(i)
		d.leaf = eventstore.Leaf(&d.entry)
		d.claims = distinctPairs(a.Drafts[i].Claims)
		d.names = distinctPairs(a.Drafts[i].Names)
		size += len(d.entry.Fields) + len(d.entry.State)
	}
	for _, g := range a.Guards {
		it.guards = append(it.guards, pairDigest(g.Name.Space, g.Name.Key))
	}
	if a.Receipt != nil {
		it.receipt = receiptDigest(a.Receipt)
		size += len(a.Receipt.Answer)
		it.named = namedBy(a.Receipt)
	}
	it.Part = groupcommit.Sized(size)
	return it, nil
}

// namedBy gives the ids of records that a receipt with an answer may tell of: all
// numbers of the answer.
func namedBy(r *eventstore.Receipt) []int64 {
	if len(r.Answer) == 0 {
		return nil
	}
	ids := []int64{int64(r.Record)}
	for _, digits := range bytes.FieldsFunc(r.Answer, func(c rune) bool { return c < '0' || c > '9' }) {
		if digits[0] == '0' {
			continue
		}
		if id, err := strconv.ParseInt(string(digits), 10, 64); err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// distinctPairs gives each claim or name once, in order.
func distinctPairs[P ~struct{ Space, Key string }](in []P) []pair {
	out := make([]pair, 0, len(in))
next:
	for _, p := range in {
		n := newPair(calendar.Claim(p))
		for i := range out {
			if out[i].digest == n.digest {
				continue next
			}
		}
		out = append(out, n)
	}
	return out
}

func failAll(n int, err error) []eventstore.Result {
	results := make([]eventstore.Result, n)
	for i := range results {
		results[i].Err = err
	}
	return results
}

// lookUp answers an Append that only looks for its receipt: without the committer,
// unless that has something for it.
func (s *Store) lookUp(ctx context.Context, a *eventstore.Append) eventstore.Result {
	if err := a.Check(); err != nil {
		return eventstore.Result{Err: err}
	}
	digest := receiptDigest(a.Receipt)
	if _, waits := s.later.Load(digest); waits {
		it := &item{a: *a, receipt: digest, result: &eventstore.Result{}}
		if err := s.share(ctx, []*item{it}); err != nil {
			return eventstore.Result{Err: err}
		}
		return *it.result
	}
	found, err := all(ctx, s, scanReceipt, s.q.receipt, digest[:])
	if err != nil {
		return eventstore.Result{Err: wrap(err, "receipt %q", a.Receipt.Key)}
	}
	head, err := s.Head(ctx)
	if err != nil {
		return eventstore.Result{Err: err}
	}
	if len(found) == 0 {
		return eventstore.Result{Position: head}
	}
	if found[0].Fingerprint != a.Receipt.Fingerprint {
		return eventstore.Result{Err: found[0].Reused()}
	}
	if err := s.settle(ctx); err != nil {
		return eventstore.Result{Err: wrap(err, "receipt %q", a.Receipt.Key)}
	}
	return eventstore.Result{Position: head, Receipt: found[0]}
}

// settled answers an Append of nothing.
func (s *Store) settled(ctx context.Context, a *eventstore.Append) eventstore.Result {
	if err := a.Check(); err != nil {
		return eventstore.Result{Err: err}
	}
	head, err := s.Head(ctx)
	if err == nil {
		err = s.settle(ctx)
	}
	if err != nil {
		return eventstore.Result{Err: wrap(err, "settle")}
	}
	return eventstore.Result{Position: head}
}

// settle waits until all that was committed before is durable, at synchronous
// standbys too. A commit whose wait for them was cut off, of this process or of
// another, can be read and may be lost.
func (s *Store) settle(ctx context.Context) error {
	return s.use(ctx, s.o.Timeout, func(ctx context.Context, c *pgx.Conn) error {
		return heard(c, func() error {
			_, err := c.Exec(ctx, s.q.settle)
			return err
		})
	})
}

// commitAll is the committer: it takes what arrived during the last commit, and
// those who are about to come back from it, until the queue is closed and empty.
func (s *Store) commitAll(ctx context.Context) {
	defer close(s.drained)
	p := groupcommit.Delay{Commits: 1}
	for !s.queue.Wait() {
		items := s.queue.Take(&p)
		begin := s.o.Now()
		s.commit(ctx, items)
		p.Note(groupcommit.Calls(items), s.o.Now().Sub(begin))
	}
}

// observed writes a group and lets who watches know.
func (s *Store) observed(ctx context.Context, items []*item) error {
	if s.o.Observe == nil {
		return s.writeGroup(ctx, items)
	}
	end := s.o.Observe()
	c := eventstore.Committed{Appends: len(items), Err: s.writeGroup(ctx, items)}
	for _, it := range items {
		if c.Err == nil && it.result.Err == nil && it.result.Receipt == nil && len(it.drafts) > 0 {
			c.Entries += len(it.drafts)
			c.Head = max(c.Head, it.result.Position)
		}
	}
	end(c)
	return c.Err
}

// commit writes a group and answers its callers.
func (s *Store) commit(ctx context.Context, items []*item) {
	defer func() {
		for _, it := range items { // what nobody waits for is written now, or lost
			if it.a.Later {
				s.later.CompareAndDelete(it.receipt, it)
			}
		}
	}()
	groupcommit.Commit(items, func(live []*item) error { return s.observed(ctx, live) }, lasting,
		func(it *item, err error) { *it.result = eventstore.Result{Err: err} })
}

// withWriter runs a function on the connection of the committer; lost tells
// whether the connection was.
func (s *Store) withWriter(ctx context.Context, do func(*pgx.Conn) error) (lost bool, err error) {
	c, err := s.acquire(ctx, s.write)
	if err != nil {
		return true, err
	}
	defer s.giveBack(c)
	s.writerPID.Store(int64(c.Conn().PgConn().PID()))
	err = heard(c.Conn(), func() error { return do(c.Conn()) })
	s.doubt(err, ctx)
	return c.Conn().IsClosed() || errors.Is(err, errUnheard), err
}
