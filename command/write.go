package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/pause"
	"daybook/internal/htmltext"
)

// maxAttempts is how often a write is decided again because another writer was
// first. Inside one process rivals wait for each other, so more than two or
// three are rare.
const maxAttempts = 20

// writing is one request on its way through the checks of interface 7.2.
type writing struct {
	s    *Service
	r    *Request
	now  time.Time
	lang calendar.Lang

	attrs    *calendar.Attrs       // decoded input of a create or update
	refused  []calendar.FieldError // what the decoding refused
	together calendar.Problems     // of several values of the input
	password []byte                // hash of the password that was sent
	ids      []calendar.ID         // fresh ids, kept over the attempts of one epoch
	epoch    uint64                // of the store, from before the attempt
	own      int                   // 1 on create: the first fresh id is the record's own

	release func() // of the lock on the record of an update or delete; nil: not held

	// above are the categories that the last decision looked at.
	above map[calendar.ID]*calendar.Record
}

func (s *Service) begin(r *Request) *writing {
	w := &writing{s: s, r: r, now: eventstore.Moment(r.At)}
	if r.At.IsZero() {
		w.now = eventstore.Moment(s.now())
	}
	p := calendar.Problems{}
	for _, f := range r.Extra {
		p.Add(f.Field, f.Reason, f.Args...)
	}
	w.lang = calendar.Language(r.Input, r.Lang, &p)
	w.refused = p.Fields
	return w
}

// decode reads the input by the table of the kind.
func (w *writing) decode(op calendar.Op) {
	p := calendar.Problems{Fields: w.refused}
	w.attrs, w.together = calendar.SpecOf(w.r.Kind).Decode(w.r.Input, op, w.lang, w.now, w.s.rules, w.r.Caller, &p)
	w.refused = p.Fields
}

// Create makes a record.
func (s *Service) Create(ctx context.Context, r Request) (Result, error) {
	if err := calendar.MayWrite(r.Caller, r.Kind, true); err != nil {
		return Result{}, err
	}
	if missing := calendar.SpecOf(r.Kind).Missing(r.Input); len(missing) > 0 {
		return Result{}, &calendar.Error{Code: calendar.CodeMissingParam, Kind: r.Kind, Missing: missing}
	}
	w := s.begin(&r)
	w.own = 1
	w.decode(calendar.OpCreate)
	return w.run(ctx, w.create)
}

// Update changes a record; a trashed post is restored by it.
func (s *Service) Update(ctx context.Context, r Request) (Result, error) {
	if err := calendar.MayWrite(r.Caller, r.Kind, false); err != nil {
		return Result{}, err
	}
	w := s.begin(&r)
	op := calendar.OpUpdate
	if r.Target.Slug != "" {
		op = calendar.OpUpdateBySlug
	}
	w.decode(op)
	return w.run(ctx, w.update)
}

// Delete moves a post to the trash and ends a term for ever.
func (s *Service) Delete(ctx context.Context, r Request) (Result, error) {
	if err := calendar.MayWrite(r.Caller, r.Kind, false); err != nil {
		return Result{}, err
	}
	r.Key = "" // ignored on deletes (interface 2.10)
	w := s.begin(&r)
	p := calendar.Problems{Fields: w.refused}
	if v, sent := r.Input["password"]; sent && v != nil && r.Kind == calendar.KindEvent && r.Target.Slug == "" {
		if _, text := v.(string); !text {
			p.Add("password", calendar.ReasonTypeText)
		}
	}
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	return w.run(ctx, w.remove)
}

// run answers a request whose key was used before (step 5). Else it makes attempts
// until one is not lost to another writer.
func (w *writing) run(ctx context.Context, once func(context.Context) (Result, error)) (Result, error) {
	defer func() {
		if w.release != nil {
			w.release()
		}
	}()
	if w.r.Key != "" {
		if again, err := w.earlier(ctx); again != nil || err != nil {
			return *orZero(again), readable(err, w.r.Kind)
		}
	}
	res, err := w.attempts(ctx, once)
	if _, refused := errors.AsType[*calendar.Error](err); refused && w.r.Key != "" {
		// Another caller may have carried out the same request meanwhile, and
		// that is why it is refused here.
		if again, err := w.earlier(ctx); again != nil || err != nil {
			return *orZero(again), readable(err, w.r.Kind)
		}
	}
	return res, readable(err, w.r.Kind)
}

// holdTarget locks the record of an update or delete until the request is answered, in
// the first attempt.
func (w *writing) holdTarget(ctx context.Context) error {
	if w.release != nil {
		return nil
	}
	rec, err := w.find(ctx)
	if err == nil {
		w.release, err = w.s.locks.Acquire(ctx, rec.ID)
	}
	return err
}

// attempts makes attempts until one is not lost.
func (w *writing) attempts(ctx context.Context, once func(context.Context) (Result, error)) (Result, error) {
	lane := func() {}
	defer func() { lane() }()
	for n := 1; ; n++ {
		if err := w.turn(n); err != nil {
			return Result{}, err
		}
		res, err := once(ctx)
		rival, lost := lostTo(err)
		if !lost {
			return res, err
		}
		if n == maxAttempts {
			return Result{}, fmt.Errorf("%w (after %d attempts: %w)", calendar.Fail(calendar.CodeUnavailable, w.r.Kind), n, err)
		}
		lane()
		lane = func() {}
		release, err := w.s.locks.Acquire(ctx, rival)
		if err != nil {
			return Result{}, err
		}
		lane = release
		if err := giveWay(ctx, n); err != nil {
			return Result{}, err
		}
	}
}

// turn begins attempt number n. Fresh ids may be given twice by a server that took
// the place of another: those that were given before, or seem to be taken, are left.
func (w *writing) turn(n int) error {
	before := w.epoch
	w.epoch = w.s.store.Epoch()
	if w.r.Epoch != 0 && w.epoch != w.r.Epoch {
		return fmt.Errorf("%s: %w", w.r.Kind, eventstore.ErrHistory)
	}
	if w.epoch != before || n > sameIDs {
		w.ids = nil
	}
	return nil
}

// sameIDs is in how many attempts the same fresh ids are tried.
const sameIDs = 3

// Bounds of the wait after an attempt was lost again.
const (
	minPause = 2 * time.Millisecond
	maxPause = 100 * time.Millisecond
)

// giveWay waits before the attempt after the nth. Rivals of this process wait in a
// lane; those of other processes would else decide at the same moment again and
// again, and the slowest would lose each time. The first repetition goes at once.
func giveWay(ctx context.Context, n int) error {
	if n < 2 {
		return nil
	}
	return pause.For(ctx, rand.N(min(minPause<<(n-2), maxPause)))
}

// lane is the lock for attempts after a lost one: those who want the same claim
// go one after the other.
type lane struct{ claim calendar.Claim }

// lostTo tells whether an attempt was lost to another writer, and by which lock
// the next attempt waits for its rivals.
func lostTo(err error) (any, bool) {
	if held, ok := errors.AsType[*eventstore.ClaimError](err); ok {
		return lane{held.Claim}, true
	}
	if errors.Is(err, eventstore.ErrConflict) {
		return lane{}, true
	}
	return nil, false
}

// receipt is the receipt of the request without an outcome.
func (w *writing) receipt() *eventstore.Receipt {
	return &eventstore.Receipt{
		User: w.r.Caller.ID, Key: w.r.Key, Fingerprint: w.r.Fingerprint,
		Time: eventstore.Moment(w.s.now()), // not w.now: receipts are kept from now on
	}
}

// earlier answers a request whose key was used before, nil when it was not.
func (w *writing) earlier(ctx context.Context) (*Result, error) {
	res := w.s.store.Append(ctx, []eventstore.Append{{Receipt: w.receipt()}})[0]
	if res.Err != nil {
		return nil, fmt.Errorf("look for key: %w", res.Err)
	}
	if res.Receipt == nil {
		return nil, nil // nothing to answer, go on
	}
	again, err := w.replay(ctx, res.Receipt)
	return &again, err
}

// replay answers with the record as it was after the first write.
func (w *writing) replay(ctx context.Context, first *eventstore.Receipt) (Result, error) {
	entries, err := w.s.store.History(ctx, first.Record, first.Version-1, 1)
	if err != nil {
		return Result{}, fmt.Errorf("read version %d of %s %d: %w", first.Version, w.r.Kind, first.Record, err)
	}
	if len(entries) == 0 || entries[0].Version != first.Version {
		return Result{}, fmt.Errorf("%s %d has no version %d: %w", w.r.Kind, first.Record, first.Version, eventstore.ErrDamaged)
	}
	if entries[0].Redacted != nil {
		return Result{}, calendar.Fail(calendar.CodeErased, w.r.Kind)
	}
	rec, err := calendar.DecodeRecord(entries[0].State)
	if err != nil {
		return Result{}, fmt.Errorf("version %d of %s %d: %w", first.Version, w.r.Kind, first.Record, err)
	}
	return Result{Record: rec, Lang: w.lang, Position: first.Position, Replay: first}, nil
}

// find gives the record that the request is about, or CodeNotFound or CodeErased. For imports
// it gives deleted terms too.
func (w *writing) find(ctx context.Context) (*calendar.Record, error) {
	var rec *calendar.Record
	var err error
	switch t := w.r.Target; {
	case t.Slug != "":
		rec, err = w.s.records.BySlug(ctx, w.r.Kind, t.Slug)
	case w.r.Mark != nil:
		rec, err = w.s.marked(ctx, w.r.Kind, t.ID)
	default:
		rec, err = w.s.records.one(ctx, w.r.Kind, t.ID)
	}
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Kind != w.r.Kind {
		return nil, w.s.records.Absent(ctx, w.r.Kind, w.r.Target.ID)
	}
	return rec, nil
}

// fresh gives the fresh id number n of the request, from 0; the same in every
// attempt.
func (w *writing) fresh(ctx context.Context, n int) (calendar.ID, error) {
	if missing := n + 1 - len(w.ids); missing > 0 {
		first, err := w.s.store.NewIDs(ctx, missing)
		if err != nil {
			return 0, fmt.Errorf("fresh ids: %w", err)
		}
		for i := range missing {
			w.ids = append(w.ids, first+calendar.ID(i))
		}
	}
	return w.ids[n], nil
}

// checked resolves the input and decides the records to make beside it; all
// refused fields come back at once.
func (w *writing) checked(ctx context.Context, g *group) (*plan, *calendar.Problems, error) {
	p := &calendar.Problems{Fields: slices.Clone(w.refused)}
	pl, err := w.resolve(ctx, w.r.Kind, w.attrs, p)
	if err != nil {
		return nil, nil, err
	}
	p.Join(w.together)
	if len(p.Fields) > 0 {
		return nil, nil, p.Err()
	}
	if err := w.settle(ctx, pl, g, p); err != nil {
		return nil, nil, err
	}
	return pl, p, nil
}

// create is one attempt of Create.
func (w *writing) create(ctx context.Context) (Result, error) {
	if res, err := w.imported(ctx); res != nil || err != nil {
		return *orZero(res), err
	}
	g := &group{at: w.now}
	pl, p, err := w.checked(ctx, g)
	if err != nil {
		return Result{}, err
	}
	id, err := w.fresh(ctx, 0)
	if err != nil {
		return Result{}, err
	}
	if err := w.hashPassword(ctx, pl.attrs); err != nil {
		return Result{}, err
	}
	c, err := w.decide(ctx, g, w.r.Kind, id, func(d *calendar.Decision) (calendar.Change, error) {
		return calendar.Create(w.r.Kind, id, pl.attrs, d)
	})
	if refused, ok := errors.AsType[*calendar.Error](err); ok && refused.Code == calendar.CodeInvalidParam {
		for _, f := range refused.Fields {
			p.Add(f.Field, f.Reason, f.Args...)
		}
		err = nil
	}
	if err == nil {
		err = p.Err()
	}
	if err != nil {
		return Result{}, err
	}
	if err := w.checkTerm(ctx, c, g); err != nil {
		return Result{}, err
	}
	rec, err := w.put(g, nil, c)
	if err != nil {
		return Result{}, err
	}
	if equal, err := w.equal(ctx, rec, g); err != nil {
		return Result{}, err
	} else if equal != nil {
		return w.existing(ctx, equal)
	}
	return w.done(ctx, g, rec)
}

func orZero(r *Result) *Result {
	if r == nil {
		return &Result{}
	}
	return r
}

// done appends the group and answers.
func (w *writing) done(ctx context.Context, g *group, rec *calendar.Record) (Result, error) {
	at, first, err := w.append(ctx, g, rec)
	if err != nil {
		return Result{}, err
	}
	if first != nil {
		return w.replay(ctx, first)
	}
	return Result{Record: rec, Lang: w.lang, Position: at, Epoch: w.epoch}, nil
}

// checkTerm refuses a new term of a name that exists, and a parent of a tag.
func (w *writing) checkTerm(ctx context.Context, c calendar.Change, g *group) error {
	if !c.Kind.IsTerm() {
		return nil
	}
	parent := c.Fields.ID("parent")
	name, _ := c.Fields.Text(c.Kind.NameField()).In(w.lang, c.Home)
	same, err := w.sameName(ctx, c.Kind, htmltext.NameKey(name), g)
	if err != nil {
		return err
	}
	for _, rec := range same {
		if rec.Fields.ID("parent") == parent {
			return &calendar.Error{Code: calendar.CodeTermExists, Kind: c.Kind, TermID: rec.ID}
		}
	}
	if err := w.checkFlat(); err != nil {
		return err
	}
	if parent == 0 {
		return nil
	}
	return w.guardPlaces(g, parent)
}

// checkFlat refuses a parent of a tag.
func (w *writing) checkFlat() error {
	if _, sent := w.r.Input["parent"]; sent && w.r.Kind == calendar.KindTag {
		return calendar.Fail(calendar.CodeNotHierarchical, w.r.Kind)
	}
	return nil
}

// sameName gives the live records of a kind that show the folded name in the
// language of the request, by id; the group is held to what was found.
func (w *writing) sameName(ctx context.Context, k calendar.Kind, key string, g *group) ([]*calendar.Record, error) {
	names := spellings(nameOf(k, key))
	_, found, err := w.s.store.Find(ctx, nil, names)
	if err != nil {
		return nil, fmt.Errorf("find %s by name: %w", k, err)
	}
	g.guard(names[0], len(found[0]))
	loaded, err := w.s.records.Load(ctx, ascending(found...)...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(loaded, func(rec *calendar.Record) bool {
		return rec == nil || rec.Kind != k || !showsName(rec, w.lang, key)
	}), nil
}

// equal gives the published venue or organizer that the new one would equal, the
// one of the lowest id; nil when there is none (interface 5.3.1).
func (w *writing) equal(ctx context.Context, rec *calendar.Record, g *group) (*calendar.Record, error) {
	posted := rec.Kind == calendar.KindVenue || rec.Kind == calendar.KindOrganizer
	keyedImport := w.r.Mark != nil && w.r.Mark.Key != ""
	if !posted || keyedImport || rec.Status(w.now) != calendar.StatusPublish {
		return nil, nil // no record is no error
	}
	name, _ := rec.Name(w.lang)
	same, err := w.sameName(ctx, rec.Kind, htmltext.NameKey(name), g)
	if err != nil {
		return nil, err
	}
	for _, other := range same {
		if other.Status(w.now) == calendar.StatusPublish && other.Home == rec.Home && equalFields(rec, other) {
			return other, nil
		}
	}
	return nil, nil // no record is no error
}

// equalFields compares two records of a kind, what interface 5.3.1 leaves aside
// left aside.
func equalFields(a, b *calendar.Record) bool {
	plain := func(r *calendar.Record) calendar.Fields {
		f := maps.Clone(r.Fields)
		for _, name := range []string{"author", "date", "date_utc", "modified", "modified_utc", "slug", "status", "imports"} {
			delete(f, name)
		}
		t := f.Text(r.Kind.NameField())
		for i := range t {
			t[i] = htmltext.NameKey(t[i])
		}
		f[r.Kind.NameField()] = t
		return f
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

// existing answers with a record that is there; only the key is kept.
func (w *writing) existing(ctx context.Context, rec *calendar.Record) (Result, error) {
	head, err := w.s.store.Head(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("head: %w", err)
	}
	res := Result{Record: rec, Lang: w.lang, Position: head, Epoch: w.epoch, Existing: true}
	if w.r.Key == "" { // it is answered because it is found: durable, too
		if err := w.s.store.Append(ctx, []eventstore.Append{{}})[0].Err; err != nil {
			return Result{}, fmt.Errorf("settle %s %d: %w", rec.Kind, rec.ID, err)
		}
		return res, nil
	}
	receipt := w.receipt()
	receipt.Record, receipt.Version, receipt.Position = rec.ID, rec.Version, head
	kept := w.s.store.Append(ctx, []eventstore.Append{{Receipt: receipt, Time: w.now, Actor: w.r.Caller.ID, Cause: w.r.Cause, Epoch: w.epoch}})[0]
	if kept.Err != nil {
		return Result{}, fmt.Errorf("keep key of %s %d: %w", rec.Kind, rec.ID, kept.Err)
	}
	return res, nil
}

// update is one attempt of Update.
func (w *writing) update(ctx context.Context) (Result, error) {
	g := &group{at: w.now}
	pl, p, err := w.checked(ctx, g)
	if err == nil {
		err = p.Err()
	}
	if err != nil {
		return Result{}, err
	}
	if err := w.holdTarget(ctx); err != nil {
		return Result{}, err
	}
	rec, again, err := w.target(ctx)
	if again != nil || err != nil {
		return *orZero(again), err
	}
	if err := w.checkFlat(); err != nil {
		return Result{}, err
	}
	if err := w.hashPassword(ctx, pl.attrs); err != nil {
		return Result{}, err
	}
	c, err := w.decide(ctx, g, rec.Kind, rec.ID, func(d *calendar.Decision) (calendar.Change, error) {
		return calendar.Update(rec, pl.attrs, d)
	})
	if err != nil {
		return Result{}, err
	}
	if moved, ok := c.Fields["parent"].(calendar.ID); ok && rec.Kind == calendar.KindCategory {
		if err := w.guardPlaces(g, moved); err != nil {
			return Result{}, err
		}
	}
	next, err := w.put(g, rec, c)
	if err != nil {
		return Result{}, err
	}
	return w.done(ctx, g, next)
}

// put adds a change to the group, with the mark of an import line, and gives the
// record after it; before is nil for a new one.
func (w *writing) put(g *group, before *calendar.Record, c calendar.Change) (*calendar.Record, error) {
	if err := w.mark(before, &c); err != nil {
		return nil, err
	}
	return g.add(before, c)
}

// target gives the record of an update or delete when it exists (step 7), the
// caller may edit it (step 8) and If-Match fits (step 9). For a line of an
// import that was applied before, it gives the answer instead.
func (w *writing) target(ctx context.Context) (*calendar.Record, *Result, error) {
	rec, err := w.find(ctx)
	if err != nil {
		return nil, nil, err
	}
	if again, err := w.applied(ctx, rec); again != nil || err != nil {
		return nil, again, err
	}
	if rec.Deleted {
		return nil, nil, calendar.Fail(calendar.CodeNotFound, w.r.Kind)
	}
	if err := calendar.MayEdit(w.r.Caller, rec, w.now); err != nil {
		return nil, nil, err
	}
	if w.r.IfMatch != nil && !slices.Contains(w.r.IfMatch, 0) && !slices.Contains(w.r.IfMatch, rec.Version) {
		return nil, nil, calendar.Fail(calendar.CodePrecondition, w.r.Kind)
	}
	return rec, nil, nil
}

// hashPassword makes the hash of a password that was sent; once, for it is slow.
func (w *writing) hashPassword(ctx context.Context, attrs *calendar.Attrs) error {
	plain, sent := attrs.Set["password"].(string)
	if !sent || w.password != nil {
		return nil
	}
	hash, err := w.s.hasher.Hash(ctx, plain)
	if err != nil {
		return fmt.Errorf("hash password: %w", err)
	}
	w.password = hash
	return nil
}

// remove is one attempt of Delete.
func (w *writing) remove(ctx context.Context) (Result, error) {
	if err := w.holdTarget(ctx); err != nil {
		return Result{}, err
	}
	rec, again, err := w.target(ctx)
	if again != nil || err != nil {
		return *orZero(again), err
	}
	g := &group{at: w.now}
	decision := calendar.Trash
	if rec.Kind.IsTerm() {
		decision = calendar.Delete
		if err := w.adopt(ctx, rec, g); err != nil {
			return Result{}, err
		}
	}
	c, err := w.decide(ctx, g, rec.Kind, rec.ID, func(d *calendar.Decision) (calendar.Change, error) {
		return decision(rec, d)
	})
	if err != nil {
		return Result{}, err
	}
	next, err := w.put(g, rec, c)
	if err != nil {
		return Result{}, err
	}
	res, err := w.done(ctx, g, next)
	if err == nil && rec.Kind.IsTerm() {
		res.Record = rec
	}
	return res, err
}

// adopt moves the child categories of one that is deleted to its parent.
func (w *writing) adopt(ctx context.Context, rec *calendar.Record, g *group) error {
	if rec.Kind != calendar.KindCategory {
		return nil
	}
	name := calendar.ChildrenName(rec.ID)
	_, found, err := w.s.store.Find(ctx, nil, []calendar.Name{name})
	if err != nil {
		return fmt.Errorf("find children of category %d: %w", rec.ID, err)
	}
	g.guard(name, len(found[0]))
	children, err := w.s.records.Load(ctx, found[0]...)
	if err != nil {
		return err
	}
	var parent any
	// The parent cannot end meanwhile without a change of rec, its child.
	if above := rec.Fields.ID("parent"); above != 0 {
		parent = above
	}
	for _, child := range children {
		if child == nil || child.Fields.ID("parent") != rec.ID {
			return fmt.Errorf("children of category %d: %w", rec.ID, eventstore.ErrConflict)
		}
		if _, err := g.add(child, calendar.Change{
			Name: calendar.KindCategory.String() + "." + calendar.Updated, Kind: calendar.KindCategory, ID: child.ID,
			Fields: calendar.Fields{"parent": parent},
		}); err != nil {
			return err
		}
	}
	return nil
}
