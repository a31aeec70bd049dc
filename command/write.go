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
		result, err := attempt()
		if !isLost(err) {
			err = backoff.Permanent(err)
		}
		return result, err
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
	service  *Service
	request  *Request
	language calendar.Lang

	attrs    *calendar.Attrs // of the input, as it was sent
	problems calendar.Problems

	// Of the present attempt.
	changes  eventstore.Append
	existing bool  // an equal record was there
	refused  error // the line of an import, when nothing else is wrong with it
}

// begin reads what every request has.
func (service *Service) begin(request *Request) *decision {
	instant := request.At
	if instant.IsZero() {
		instant = service.now()
	}
	d := &decision{service: service, request: request, Decision: calendar.Decision{Rules: service.rules, Caller: request.Caller, Now: eventstore.Moment(instant)}}
	for _, bad := range request.Extra {
		d.problems.Add(bad.Field, bad.Reason, bad.Args...)
	}
	d.language = calendar.Language(request.Input, request.Lang, &d.problems)
	return d
}

// Create makes a record.
func (service *Service) Create(ctx context.Context, request Request) (Result, error) {
	return service.write(ctx, &request, calendar.OpCreate, (*decision).create)
}

// Update changes a record; a trashed post is restored by it.
func (service *Service) Update(ctx context.Context, request Request) (Result, error) {
	return service.write(ctx, &request, calendar.OpUpdate, (*decision).update)
}

// Delete moves a post to the trash and ends a term for ever.
func (service *Service) Delete(ctx context.Context, request Request) (Result, error) {
	request.Key = "" // ignored on deletes (docs/spec/interface.md 2.10)
	request.Input = maps.Clone(request.Input)
	maps.DeleteFunc(request.Input, func(name string, _ any) bool { return name != "password" && name != "multilang_language" })
	return service.write(ctx, &request, calendar.OpUpdate, (*decision).remove)
}

// decider decides a write in one attempt, and returns the record after it.
type decider func(*decision, context.Context) (*calendar.Record, error)

// write checks and decodes a request. One whose key was used before is answered again, else
// it loads, decides and appends until no other writer is faster.
func (service *Service) write(ctx context.Context, request *Request, op calendar.Op, decide decider) (Result, error) {
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
	decision := service.begin(request)
	decision.attrs = spec.Decode(request.Input, op, decision.language, &decision.Decision, &decision.problems)
	result, err := decision.replay(ctx)
	if err == nil && result.Record == nil {
		result, err = attempts(ctx, func() (Result, error) { return decision.attempt(ctx, decide) })
		if err != nil {
			// Another caller may have carried out the same request meanwhile, and that is
			// why it is refused here.
			if again, failed := decision.replay(ctx); failed != nil || again.Record != nil {
				result, err = again, failed
			}
		}
	}
	result.Lang = decision.language
	return result, readable(err, request.Kind)
}

// attempt decides and appends once.
func (decision *decision) attempt(ctx context.Context, decide decider) (Result, error) {
	decision.start(ctx)
	if decision.request.Epoch != 0 && decision.request.Epoch != decision.changes.Epoch.History {
		return Result{}, fmt.Errorf("%s: %w", decision.request.Kind, eventstore.ErrHistory)
	}
	record, err := decide(decision, ctx)
	result := Result{Record: record, Existing: decision.existing}
	if err == nil && decision.existing {
		result.Position, err = decision.service.records.Head(ctx)
	}
	switch {
	case errors.Is(err, errApplied):
		return Result{Repeated: true}, nil
	case err != nil:
		return Result{}, err
	case decision.request.Key != "":
		decision.changes.Receipt = &eventstore.Receipt{
			ReceiptKey: eventstore.ReceiptKey{User: decision.request.Caller.ID, Key: decision.request.Key}, Fingerprint: decision.request.Fingerprint, Time: eventstore.Moment(decision.service.now()),
			Record: record.ID, Version: record.Version, Position: result.Position,
		}
	case decision.existing: // it is answered because it was found, which has to be durable, too
		return result, decision.service.store.Sync(ctx)
	}
	done := decision.append(ctx, record.ID)
	switch {
	case done.Err != nil:
		return Result{}, done.Err
	case done.Receipt != nil:
		return decision.replayOf(ctx, done.Receipt)
	case !decision.existing:
		result.Position = done.Position
	}
	return result, nil
}

// append appends the changes of the attempt, of a record and of others along with it.
func (decision *decision) append(ctx context.Context, id calendar.ID) eventstore.Result {
	done := decision.service.store.Append(ctx, decision.changes)
	if done.Err != nil {
		done.Err = fmt.Errorf("append changes of %s %d: %w", decision.request.Kind, id, done.Err)
	}
	return done
}

// start forgets the attempt before.
func (decision *decision) start(ctx context.Context) {
	decision.changes = eventstore.Append{Time: decision.Now, Actor: decision.request.Caller.ID, Cause: decision.request.Cause, Epoch: decision.service.store.Epoch()}
	decision.existing, decision.refused, decision.Err = false, nil, nil
	decision.Taken = func(kind calendar.Kind, id calendar.ID, slug string) bool {
		holder := decision.holder(ctx, eventstore.SlugClaim(kind, slug))
		return holder != 0 && holder != id
	}
	decision.Parent = func(id calendar.ID) *calendar.Record {
		record := decision.live(ctx, calendar.KindCategory, id)
		if record != nil {
			decision.guardPlace(record)
		}
		return record
	}
}

// replay answers a request whose key was used before; no Record: it was not.
func (decision *decision) replay(ctx context.Context) (Result, error) {
	if decision.request.Key == "" {
		return Result{}, nil
	}
	first, err := decision.service.store.Receipt(ctx, decision.request.Caller.ID, decision.request.Key)
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("look for key: %w", err)
	case first == nil:
		return Result{}, nil
	}
	return decision.replayOf(ctx, first)
}

// replayOf answers with the record as it was after the first write.
func (decision *decision) replayOf(ctx context.Context, first *eventstore.Receipt) (Result, error) {
	if first.Fingerprint != decision.request.Fingerprint {
		return Result{}, fmt.Errorf("receipt %q: %w", decision.request.Key, eventstore.ErrKeyReused)
	}
	_, record, err := decision.service.records.version(ctx, decision.request.Kind, first.Record, first.Version)
	return Result{Record: record, Position: first.Position, Replayed: true}, err
}

// create is an attempt of Create.
func (decision *decision) create(ctx context.Context) (*calendar.Record, error) {
	if err := decision.checkImported(ctx); err != nil {
		return nil, err
	}
	attrs, err := decision.link(ctx)
	if err != nil {
		return nil, err
	}
	id := decision.newID(ctx)
	if err := cmp.Or(decision.makeLinked(ctx, decision.request.Kind, attrs), decision.hashPassword(ctx)); err != nil {
		return nil, err
	}
	change, err := calendar.Create(decision.request.Kind, id, attrs, &decision.Decision)
	if err == nil {
		err = decision.checkTerm(ctx, change)
	}
	if err != nil {
		return nil, err
	}
	record, err := decision.put(nil, change)
	if err != nil {
		return nil, err
	}
	if equal := decision.equal(ctx, record); equal != nil {
		decision.changes.Drafts, decision.changes.Guards = nil, nil
		decision.existing, record = true, equal
	}
	return record, decision.Err
}

// update is an attempt of Update.
func (decision *decision) update(ctx context.Context) (*calendar.Record, error) {
	attrs, err := decision.link(ctx)
	if err == nil {
		err = decision.makeLinked(ctx, decision.request.Kind, attrs)
	}
	if err != nil {
		return nil, err
	}
	record, err := decision.target(ctx)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(decision.checkFlat(), decision.hashPassword(ctx)); err != nil {
		return nil, err
	}
	change, err := calendar.Update(record, attrs, &decision.Decision)
	if err != nil {
		return nil, err
	}
	return decision.put(record, change)
}

// remove is an attempt of Delete.
func (decision *decision) remove(ctx context.Context) (*calendar.Record, error) {
	if err := decision.problems.Err(); err != nil {
		return nil, err
	}
	record, err := decision.target(ctx)
	if err == nil {
		err = decision.adopt(ctx, record)
	}
	if err != nil {
		return nil, err
	}
	change, err := calendar.Remove(record, &decision.Decision)
	if err != nil {
		return nil, err
	}
	next, err := decision.put(record, change)
	if record.Kind.IsTerm() {
		next = record // it is shown as it was
	}
	return next, err
}

// target returns the record of an update or delete when it exists (step 7), the caller may
// edit it (step 8) and If-Match fits (step 9).
func (decision *decision) target(ctx context.Context) (record *calendar.Record, err error) {
	target := decision.request.Target
	if target.Slug != "" {
		record, err = decision.service.records.BySlug(ctx, decision.request.Kind, target.Slug)
	} else {
		record, err = decision.service.records.find(ctx, target.ID)
	}
	there := record != nil && record.Kind == decision.request.Kind
	if there {
		err = decision.checkApplied(ctx, record)
	}
	if err == nil && (!there || record.Deleted) {
		err = decision.service.records.Absent(ctx, decision.request.Kind, target.ID)
	}
	if err != nil {
		return nil, err
	}
	if err := calendar.MayEdit(decision.request.Caller, record, decision.Now); err != nil {
		return nil, err
	}
	if decision.request.IfMatch != nil && !slices.Contains(decision.request.IfMatch, 0) && !slices.Contains(decision.request.IfMatch, record.Version) {
		return nil, calendar.Fail(calendar.CodePrecondition, decision.request.Kind)
	}
	return record, nil
}

// hashPassword makes the hash of a password that was sent; once, for it is slow.
func (decision *decision) hashPassword(ctx context.Context) (err error) {
	plain, sent := decision.attrs.Set["password"].(string)
	if sent && decision.Password == nil {
		if decision.Password, err = decision.service.hasher.Hash(ctx, plain); err != nil {
			return fmt.Errorf("hash password: %w", err)
		}
	}
	return nil
}

// holder returns who holds a claim, 0 for no one: a record that this write makes, else what
// the store says.
func (decision *decision) holder(ctx context.Context, claim calendar.Claim) calendar.ID {
	for i := range decision.changes.Drafts {
		if slices.Contains(decision.changes.Drafts[i].Claims, claim) {
			return decision.changes.Drafts[i].ID
		}
	}
	found, err := decision.service.store.Find(ctx, eventstore.Lookup{Claims: []calendar.Claim{claim}})
	if err != nil {
		decision.Err = fmt.Errorf("find %s %q: %w", claim.Space, claim.Key, err)
		return 0
	}
	return found.Holders[0]
}

// live returns a record of a kind that is not deleted, nil if none exists.
func (decision *decision) live(ctx context.Context, kind calendar.Kind, id calendar.ID) *calendar.Record {
	record, err := decision.service.records.one(ctx, kind, id)
	decision.Err = cmp.Or(decision.Err, err)
	return record
}

// newID returns a fresh id.
func (decision *decision) newID(ctx context.Context) calendar.ID {
	id, err := decision.service.store.NewID(ctx)
	decision.Err = cmp.Or(decision.Err, err)
	return id
}

// put adds the change of the record of the request, with the mark of an import line, and
// returns the record after it; before is nil for a new one.
func (decision *decision) put(before *calendar.Record, change calendar.Change) (*calendar.Record, error) {
	if decision.refused != nil {
		return nil, decision.refused
	}
	if decision.request.Mark != nil {
		change.Fields["imports"] = calendar.WithImportMark(before, *decision.request.Mark)
	}
	return decision.add(before, change)
}

// add adds a change of a record, nil for a new one, and returns the record after it.
func (decision *decision) add(before *calendar.Record, change calendar.Change) (*calendar.Record, error) {
	draft, after, err := eventstore.NewDraft(before, change, decision.Now)
	if err != nil {
		return nil, err
	}
	after.Sum = calendar.SumOf(draft.State)
	decision.changes.Drafts = append(decision.changes.Drafts, draft)
	return after, nil
}

// guard holds the write to the number of records that a name was found for.
func (decision *decision) guard(claim calendar.Name, count int) {
	decision.changes.Guards = append(decision.changes.Guards, eventstore.Guard{Name: claim, Count: count})
}

// guardPlace holds the write to the place of a category that it looked at, so that two moves
// at the same time make no cycle and nothing is put below a category that ends meanwhile.
func (decision *decision) guardPlace(record *calendar.Record) {
	decision.guard(calendar.PlaceName(record), 1)
}
