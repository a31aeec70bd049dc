package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"daybook/calendar"
	"daybook/eventstore"
)

// maxAttempts is how often a write is decided while other writers are faster.
const maxAttempts = 8

// attempts carries out one attempt after the other until none is lost to another writer.
// The waits are random and grow fast, so that many rivals part.
func attempts[T any](ctx context.Context, attempt func() (T, error)) (T, error) {
	wait := &backoff.ExponentialBackOff{InitialInterval: 2 * time.Millisecond, RandomizationFactor: 1, Multiplier: 4, MaxInterval: time.Second}
	return backoff.Retry(ctx, func() (T, error) {
		out, err := attempt()
		if !isLost(err) {
			err = backoff.Permanent(err)
		}
		return out, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(maxAttempts))
}

// isLost reports whether an attempt failed because another writer was faster.
func isLost(err error) bool {
	_, held := errors.AsType[*eventstore.ClaimError](err)
	return held || errors.Is(err, eventstore.ErrConflict)
}

// decision is one write on its way through the checks of docs/spec/interface.md 7.2.
type decision struct {
	calendar.Decision
	s    *Service
	r    *Request
	lang calendar.Lang

	attrs    *calendar.Attrs // of the input, as it was sent
	problems calendar.Problems

	// Of the present attempt.
	changes  eventstore.Append
	existing bool  // an equal record was there
	refused  error // the line of an import, when nothing else is wrong with it
}

// begin reads what every request has.
func (s *Service) begin(request *Request) *decision {
	at := request.At
	if at.IsZero() {
		at = s.now()
	}
	d := &decision{s: s, r: request, Decision: calendar.Decision{Rules: s.rules, Caller: request.Caller, Now: eventstore.Moment(at)}}
	for _, bad := range request.Extra {
		d.problems.Add(bad.Field, bad.Reason, bad.Args...)
	}
	d.lang = calendar.Language(request.Input, request.Lang, &d.problems)
	return d
}

// Create makes a record.
func (s *Service) Create(ctx context.Context, request Request) (Result, error) {
	return s.write(ctx, &request, calendar.OpCreate, (*decision).create)
}

// Update changes a record; a trashed post is restored by it.
func (s *Service) Update(ctx context.Context, request Request) (Result, error) {
	return s.write(ctx, &request, calendar.OpUpdate, (*decision).update)
}

// Delete moves a post to the trash and ends a term for ever.
func (s *Service) Delete(ctx context.Context, request Request) (Result, error) {
	request.Key = "" // ignored on deletes (docs/spec/interface.md 2.10)
	request.Input = maps.Clone(request.Input)
	maps.DeleteFunc(request.Input, func(name string, _ any) bool { return name != "password" && name != "multilang_language" })
	return s.write(ctx, &request, calendar.OpUpdate, (*decision).remove)
}

// decider decides a write in one attempt, and returns the record after it.
type decider func(*decision, context.Context) (*calendar.Record, error)

// write checks and decodes a request. One whose key was used before is answered again, else
// it loads, decides and appends until no other writer is faster.
func (s *Service) write(ctx context.Context, request *Request, op calendar.Op, decide decider) (Result, error) {
	if err := calendar.MayWrite(request.Caller, request.Kind); err != nil {
		return Result{}, err
	}
	spec := calendar.SpecOf(request.Kind)
	if missing := spec.Missing(request.Input); op == calendar.OpCreate && len(missing) > 0 {
		return Result{}, &calendar.Error{Code: calendar.CodeMissingParam, Kind: request.Kind, Missing: missing}
	}
	if request.Target.Slug != "" {
		op = calendar.OpUpdateBySlug
	}
	decision := s.begin(request)
	decision.attrs = spec.Decode(request.Input, op, decision.lang, &decision.Decision, &decision.problems)
	res, err := decision.replay(ctx)
	if err == nil && res.Record == nil {
		res, err = attempts(ctx, func() (Result, error) { return decision.attempt(ctx, decide) })
		if err != nil {
			// Another caller may have carried out the same request meanwhile, and that is
			// why it is refused here.
			if again, failed := decision.replay(ctx); failed != nil || again.Record != nil {
				res, err = again, failed
			}
		}
	}
	res.Lang = decision.lang
	return res, readable(err, request.Kind)
}

// attempt decides and appends once.
func (d *decision) attempt(ctx context.Context, decide decider) (Result, error) {
	d.start(ctx)
	if d.r.Epoch != 0 && d.r.Epoch != d.changes.Epoch.History {
		return Result{}, fmt.Errorf("%s: %w", d.r.Kind, eventstore.ErrHistory)
	}
	rec, err := decide(d, ctx)
	res := Result{Record: rec, Existing: d.existing}
	if err == nil && d.existing {
		res.Position, err = d.s.records.Head(ctx)
	}
	switch {
	case errors.Is(err, errApplied):
		return Result{Repeated: true}, nil
	case err != nil:
		return Result{}, err
	case d.r.Key != "":
		d.changes.Receipt = &eventstore.Receipt{
			User: d.r.Caller.ID, Key: d.r.Key, Fingerprint: d.r.Fingerprint, Time: eventstore.Moment(d.s.now()),
			Record: rec.ID, Version: rec.Version, Position: res.Position,
		}
	case d.existing: // it is answered because it was found, which has to be durable, too
		return res, d.s.store.Sync(ctx)
	}
	done := d.append(ctx, rec.ID)
	switch {
	case done.Err != nil:
		return Result{}, done.Err
	case done.Receipt != nil:
		return d.replayOf(ctx, done.Receipt)
	case !d.existing:
		res.Position = done.Position
	}
	return res, nil
}

// append appends the changes of the attempt, of a record and of others along with it.
func (d *decision) append(ctx context.Context, id calendar.ID) eventstore.Result {
	done := d.s.store.Append(ctx, []eventstore.Append{d.changes})[0]
	if done.Err != nil {
		done.Err = fmt.Errorf("append changes of %s %d: %w", d.r.Kind, id, done.Err)
	}
	return done
}

// start forgets the attempt before.
func (d *decision) start(ctx context.Context) {
	d.changes = eventstore.Append{Time: d.Now, Actor: d.r.Caller.ID, Cause: d.r.Cause, Epoch: d.s.store.Epoch()}
	d.existing, d.refused, d.Err = false, nil, nil
	d.Taken = func(kind calendar.Kind, id calendar.ID, slug string) bool {
		holder := d.holder(ctx, eventstore.SlugClaim(kind, slug))
		return holder != 0 && holder != id
	}
	d.Parent = func(id calendar.ID) *calendar.Record {
		rec := d.live(ctx, calendar.KindCategory, id)
		if rec != nil {
			d.guardPlace(rec)
		}
		return rec
	}
}

// replay answers a request whose key was used before; no Record: it was not.
func (d *decision) replay(ctx context.Context) (Result, error) {
	if d.r.Key == "" {
		return Result{}, nil
	}
	first, err := d.s.store.Receipt(ctx, d.r.Caller.ID, d.r.Key)
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("look for key: %w", err)
	case first == nil:
		return Result{}, nil
	}
	return d.replayOf(ctx, first)
}

// replayOf answers with the record as it was after the first write.
func (d *decision) replayOf(ctx context.Context, first *eventstore.Receipt) (Result, error) {
	if first.Fingerprint != d.r.Fingerprint {
		return Result{}, fmt.Errorf("receipt %q: %w", d.r.Key, eventstore.ErrKeyReused)
	}
	_, rec, err := d.s.records.version(ctx, d.r.Kind, first.Record, first.Version)
	return Result{Record: rec, Position: first.Position, Replayed: true}, err
}

// create is an attempt of Create.
func (d *decision) create(ctx context.Context) (*calendar.Record, error) {
	if err := d.checkImported(ctx); err != nil {
		return nil, err
	}
	attrs, err := d.link(ctx)
	if err != nil {
		return nil, err
	}
	id := d.newID(ctx)
	if err := cmp.Or(d.makeLinked(ctx, d.r.Kind, attrs), d.hashPassword(ctx)); err != nil {
		return nil, err
	}
	change, err := calendar.Create(d.r.Kind, id, attrs, &d.Decision)
	if err == nil {
		err = d.checkTerm(ctx, change)
	}
	if err != nil {
		return nil, err
	}
	rec, err := d.put(nil, change)
	if err != nil {
		return nil, err
	}
	if equal := d.equal(ctx, rec); equal != nil {
		d.changes.Drafts, d.changes.Guards = nil, nil
		d.existing, rec = true, equal
	}
	return rec, d.Err
}

// update is an attempt of Update.
func (d *decision) update(ctx context.Context) (*calendar.Record, error) {
	attrs, err := d.link(ctx)
	if err == nil {
		err = d.makeLinked(ctx, d.r.Kind, attrs)
	}
	if err != nil {
		return nil, err
	}
	rec, err := d.target(ctx)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(d.checkFlat(), d.hashPassword(ctx)); err != nil {
		return nil, err
	}
	change, err := calendar.Update(rec, attrs, &d.Decision)
	if err != nil {
		return nil, err
	}
	return d.put(rec, change)
}

// remove is an attempt of Delete.
func (d *decision) remove(ctx context.Context) (*calendar.Record, error) {
	if err := d.problems.Err(); err != nil {
		return nil, err
	}
	rec, err := d.target(ctx)
	if err == nil {
		err = d.adopt(ctx, rec)
	}
	if err != nil {
		return nil, err
	}
	change, err := calendar.Remove(rec, &d.Decision)
	if err != nil {
		return nil, err
	}
	next, err := d.put(rec, change)
	if rec.Kind.IsTerm() {
		next = rec // it is shown as it was
	}
	return next, err
}

// target returns the record of an update or delete when it exists (step 7), the caller may
// edit it (step 8) and If-Match fits (step 9).
func (d *decision) target(ctx context.Context) (rec *calendar.Record, err error) {
	t := d.r.Target
	if t.Slug != "" {
		rec, err = d.s.records.BySlug(ctx, d.r.Kind, t.Slug)
	} else {
		rec, err = d.s.records.find(ctx, t.ID)
	}
	there := rec != nil && rec.Kind == d.r.Kind
	if there {
		err = d.checkApplied(ctx, rec)
	}
	if err == nil && (!there || rec.Deleted) {
		err = d.s.records.Absent(ctx, d.r.Kind, t.ID)
	}
	if err != nil {
		return nil, err
	}
	if err := calendar.MayEdit(d.r.Caller, rec, d.Now); err != nil {
		return nil, err
	}
	if d.r.IfMatch != nil && !slices.Contains(d.r.IfMatch, 0) && !slices.Contains(d.r.IfMatch, rec.Version) {
		return nil, calendar.Fail(calendar.CodePrecondition, d.r.Kind)
	}
	return rec, nil
}

// hashPassword makes the hash of a password that was sent; once, for it is slow.
func (d *decision) hashPassword(ctx context.Context) (err error) {
	plain, sent := d.attrs.Set["password"].(string)
	if sent && d.Password == nil {
		if d.Password, err = d.s.hasher.Hash(ctx, plain); err != nil {
			return fmt.Errorf("hash password: %w", err)
		}
	}
	return nil
}

// holder returns who holds a claim, 0 for no one: a record that this write makes, else what
// the store says.
func (d *decision) holder(ctx context.Context, claim calendar.Claim) calendar.ID {
	for i := range d.changes.Drafts {
		if slices.Contains(d.changes.Drafts[i].Claims, claim) {
			return d.changes.Drafts[i].ID
		}
	}
	found, err := d.s.store.Find(ctx, eventstore.Lookup{Claims: []calendar.Claim{claim}})
	if err != nil {
		d.Err = fmt.Errorf("find %s %q: %w", claim.Space, claim.Key, err)
		return 0
	}
	return found.Holders[0]
}

// live returns a record of a kind that is not deleted, nil if none exists.
func (d *decision) live(ctx context.Context, kind calendar.Kind, id calendar.ID) *calendar.Record {
	rec, err := d.s.records.one(ctx, kind, id)
	d.Err = cmp.Or(d.Err, err)
	return rec
}

// newID returns a fresh id.
func (d *decision) newID(ctx context.Context) calendar.ID {
	id, err := d.s.store.NewIDs(ctx, 1)
	d.Err = cmp.Or(d.Err, err)
	return id
}

// put adds the change of the record of the request, with the mark of an import line, and
// returns the record after it; before is nil for a new one.
func (d *decision) put(before *calendar.Record, change calendar.Change) (*calendar.Record, error) {
	if d.refused != nil {
		return nil, d.refused
	}
	if d.r.Mark != nil {
		change.Fields["imports"] = calendar.WithImportMark(before, *d.r.Mark)
	}
	return d.add(before, change)
}

// add adds a change of a record, nil for a new one, and returns the record after it.
func (d *decision) add(before *calendar.Record, change calendar.Change) (*calendar.Record, error) {
	draft, after, err := eventstore.NewDraft(before, change, d.Now)
	if err != nil {
		return nil, err
	}
	after.Sum = calendar.SumOf(draft.State)
	d.changes.Drafts = append(d.changes.Drafts, draft)
	return after, nil
}

// guard holds the write to the number of records that a name was found for.
func (d *decision) guard(n calendar.Name, count int) {
	d.changes.Guards = append(d.changes.Guards, eventstore.Guard{Name: n, Count: count})
}

// guardPlace holds the write to the place of a category that it looked at, so that two moves
// at the same time make no cycle and nothing is put below a category that ends meanwhile.
func (d *decision) guardPlace(rec *calendar.Record) { d.guard(calendar.PlaceName(rec), 1) }
