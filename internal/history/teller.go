package history

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// Teller tells the past of records to callers.
type Teller struct {
	store eventstore.Store
	now   func() time.Time
	facts *eventstore.EpochCache[calendar.ID, *facts]
	shown *eventstore.EpochCache[shownKey, wasPublic]
	moved *eventstore.EpochCache[calendar.ID, wasMoved]
}

// New makes a Teller with the clock that gates go by.
func New(store eventstore.Store, now func() time.Time) *Teller {
	return &Teller{
		store: store, now: now,
		facts: eventstore.NewEpochCache(factsBytes, func(_ calendar.ID, f *facts) int { return f.size() }),
		shown: eventstore.NewEpochCache(publicBytes, func(k shownKey, _ wasPublic) int { return len(k.slug) }),
		moved: eventstore.NewEpochCache(publicBytes, func(calendar.ID, wasMoved) int { return movedSize }),
	}
}

// Forget drops what is cached of records that were erased since.
func (t *Teller) Forget() {
	now := t.store.Epoch()
	t.facts.Enter(now)
	t.shown.Enter(now)
	t.moved.Enter(now)
}

// Listener is to whom the past is told.
type Listener struct {
	Caller calendar.Caller
	Lang   calendar.Lang
	// Collection gives the URL of a collection, for links to versions; nil: there are none.
	Collection func(calendar.Kind) string
}

// Entry is an entry as it is told (HISTORY 5). What the listener does not get has no key.
type Entry struct {
	Kind     string            `json:"kind"`
	ID       calendar.ID       `json:"id"`
	Version  int64             `json:"version"`
	Position calendar.Position `json:"position"`
	Time     string            `json:"time"`
	Action   Action            `json:"action"`
	Actor    *Actor            `json:"actor,omitempty"`
	Client   string            `json:"client,omitempty"`
	Request  string            `json:"request,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Name     string            `json:"name,omitempty"`
	Summary  string            `json:"summary"`
	Changes  []ToldChange      `json:"changes"`
	Redacted *Erasure          `json:"redacted,omitempty"`
	URLs     *URLs             `json:"urls,omitempty"`

	named []calendar.ID // the records that sentences name
}

// Actor is the user who made a change, 0 the service itself.
type Actor struct {
	ID   calendar.ID `json:"id"`
	Name string      `json:"name,omitempty"`
}

// ToldChange is a Change as it is told.
type ToldChange struct {
	Field    string `json:"field"`
	Language string `json:"language,omitempty"` // of translatable fields
	Before   any    `json:"before"`
	After    any    `json:"after"`
	Sentence string `json:"sentence"`

	change *Change
	names  Names
}

// Erasure is the entry that took the content of a redacted one.
type Erasure struct {
	Version  int64             `json:"version"`
	Position calendar.Position `json:"position"`
	Time     string            `json:"time"`
}

// URLs are the links of an entry.
type URLs struct {
	Version string `json:"version,omitempty"`
	Diff    string `json:"diff,omitempty"`
}

// present is what a listener may know of a record now.
type present struct {
	kind     calendar.Kind
	version  int64
	position calendar.Position
	gate     error // the gate now
	own      bool
	erased   bool
	steady   bool // it does not go public by itself
	home     calendar.Lang
	texts    calendar.Text // the name; of users in the home language
}

func (p *present) name(l calendar.Lang) string {
	name, _ := p.texts.In(l, p.home)
	return name
}

// telling is one request of a listener.
type telling struct {
	*Teller
	Listener
	at       time.Time // the present moment
	known    map[calendar.ID]*present
	erasures map[calendar.Position]*Erasure
}

func (t *Teller) to(l Listener) *telling {
	return &telling{
		Teller: t, Listener: l, at: t.now(),
		known: map[calendar.ID]*present{}, erasures: map[calendar.Position]*Erasure{},
	}
}

// atOnce is how many records or entries are read at once: each may have some 800 kB.
const atOnce = 128

// learn looks up what is not known of records.
func (t *telling) learn(ctx context.Context, ids []calendar.ID) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id calendar.ID) bool { return id <= 0 || t.known[id] != nil })
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), atOnce) {
		all, err := t.look(ctx, some)
		if err != nil {
			return err
		}
		for i, f := range all {
			if f == nil {
				t.known[some[i]] = &present{gate: calendar.Fail(calendar.CodeNotFound, 0)}
				continue
			}
			r := f.record()
			t.known[some[i]] = &present{
				kind: f.kind, version: f.version, position: f.position, gate: t.gate(r, t.at), own: t.Caller.Owns(r),
				erased: f.erased, steady: f.status != string(calendar.StatusFuture), home: f.home, texts: f.texts,
			}
		}
	}
	return nil
}

// gate is Gate for who may know of images and users, too, and closed to others once the
// record is erased.
func (t *telling) gate(r *calendar.Record, at time.Time) error {
	if r.Erased && !t.Caller.ReadsAll() {
		return calendar.Fail(calendar.CodeErased, r.Kind)
	}
	return Gate(t.Caller, r.Kind, r, at)
}

// version is one version of a record with the one before it.
type version struct {
	*eventstore.Entry
	before *eventstore.Entry // nil: there is none
	next   func(context.Context) (time.Time, error)
	state  *calendar.Record // nil while it is not decoded
}

func (v *version) record() (*calendar.Record, error) {
	if v.state == nil {
		r, err := calendar.DecodeRecord(v.State)
		if err != nil {
			return nil, fmt.Errorf("decode entry %d: %w", v.Position, err)
		}
		v.state = r
	}
	return v.state, nil
}

// closed is the gate then of a version: nil for an open one.
func (t *telling) closed(ctx context.Context, v *version) error {
	if t.Caller.ReadsAll() && (v.Kind.IsPost() || v.Kind.IsTerm() || ReadsKept(t.Caller)) {
		return nil
	}
	if v.Redacted != nil {
		return calendar.Fail(calendar.CodeErased, v.Kind)
	}
	r, err := v.record()
	if err != nil {
		return err
	}
	end := v.Time
	if r.Status(v.Time) == calendar.StatusFuture { // only such a version changes by itself
		next, err := v.next(ctx)
		if err != nil {
			return err
		}
		end = EndOfLife(v.Time, next, t.at)
	}
	return Gate(t.Caller, v.Kind, r, end)
}

// isOpen tells whether an error of closed lets the version in; another one than a refusal
// comes back.
func isOpen(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if _, refused := err.(*calendar.Error); refused { //nolint:errorlint // Gate gives it unwrapped
		return false, nil
	}
	return false, err
}

// tell tells a version of a record that passed the gate now, nil when the version is not
// open.
func (t *telling) tell(ctx context.Context, v *version) (*Entry, error) {
	open, err := isOpen(t.closed(ctx, v))
	if err != nil || !open {
		return nil, err
	}
	e := &Entry{
		Kind: v.Kind.String(), ID: v.ID, Version: v.Version, Position: v.Position, Time: v.Time.Format(TimeLayout),
		Action: actionOf(v.Change), Changes: []ToldChange{},
	}
	if err := t.tellCause(ctx, e, v); err != nil {
		return nil, err
	}
	if v.Redacted != nil {
		e.Summary = BlankSummary(t.Lang)
		e.Redacted, err = t.erasure(ctx, v.Redacted.By)
		return e, err
	}
	r, err := v.record()
	if err != nil {
		return nil, err
	}
	e.Name = NameOf(r, t.Lang)
	var before *calendar.Record
	compared := true
	if v.before != nil {
		former := &version{Entry: v.before, next: func(context.Context) (time.Time, error) { return v.Time, nil }}
		if compared, err = isOpen(t.closed(ctx, former)); err != nil {
			return nil, err
		}
		compared = compared && v.before.Redacted == nil
		if compared {
			if before, err = former.record(); err != nil {
				return nil, err
			}
		}
	}
	var sentences []string
	switch {
	case e.Action == Erased:
	case !compared:
		e.Action = Published
	default:
		changes := Changes(before, r, v.Secret != nil)
		if e.Changes, e.named, err = t.tellChanges(ctx, changes, v.Kind, v.Position, v.Time); err != nil {
			return nil, err
		}
		for i := range e.Changes {
			sentences = append(sentences, e.Changes[i].Sentence)
		}
	}
	e.Summary = Summary(e.Action, e.Name, sentences, t.Lang)
	e.URLs = t.links(e, v.Kind, compared && before != nil)
	return e, nil
}

// actionOf is the last part of the name of a change.
func actionOf(change string) Action {
	_, verb, _ := strings.Cut(change, ".")
	return Action(verb)
}

// tellCause adds who made a change and why, as far as the listener gets it (HISTORY 4.2).
func (t *telling) tellCause(ctx context.Context, e *Entry, v *version) error {
	all := t.Caller.ReadsAll()
	if !all && !t.known[v.ID].own {
		return nil
	}
	if err := t.learn(ctx, []calendar.ID{v.Actor}); err != nil {
		return err
	}
	e.Actor = &Actor{ID: v.Actor}
	if who := t.known[v.Actor]; who != nil && who.kind == calendar.KindUser {
		e.Actor.Name = who.name(t.Lang)
	}
	e.Reason = v.Cause.Reason
	if all {
		e.Client, e.Request = v.Cause.Client, v.Cause.Request
	}
	return nil
}

// erasure tells of the entry at a position.
func (t *telling) erasure(ctx context.Context, at calendar.Position) (*Erasure, error) {
	if known := t.erasures[at]; known != nil {
		return known, nil
	}
	entries, err := t.store.Read(ctx, eventstore.Range{After: uint64(at) - 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 || entries[0].Position != at {
		return nil, fmt.Errorf("no entry %d: %w", at, eventstore.ErrDamaged)
	}
	x := &Erasure{Version: entries[0].Version, Position: at, Time: entries[0].Time.Format(TimeLayout)}
	t.erasures[at] = x
	return x, nil
}

// tellChanges tells changes with the names of linked records as of an entry, and gives the
// ids of those.
func (t *telling) tellChanges(ctx context.Context, changes []Change, k calendar.Kind, at calendar.Position, moment time.Time) ([]ToldChange, []calendar.ID, error) {
	names, err := t.names(ctx, Links(changes), at, moment)
	if err != nil {
		return nil, nil, err
	}
	nameOf := func(id calendar.ID) string { return names[id] }
	out := make([]ToldChange, len(changes))
	for i := range changes {
		c := &changes[i]
		out[i] = ToldChange{
			Field: c.Field.Name, Before: c.Before, After: c.After, Sentence: c.Sentence(k, t.Lang, nameOf),
			change: c, names: nameOf,
		}
		if c.Field.Stored == calendar.TypeText {
			out[i].Language = c.Lang.String()
		}
	}
	named := make([]calendar.ID, 0, len(names))
	for id := range names {
		named = append(named, id)
	}
	return out, named, nil
}

// names gives the names that linked records had after the entry at a position; of those
// that do not pass both gates none.
func (t *telling) names(ctx context.Context, ids []calendar.ID, at calendar.Position, moment time.Time) (map[calendar.ID]string, error) {
	if err := t.learn(ctx, ids); err != nil {
		return nil, err
	}
	names := make(map[calendar.ID]string, len(ids))
	var former []calendar.ID
	for _, id := range ids {
		switch p := t.known[id]; {
		case p == nil, p.gate != nil, p.erased:
		case p.position <= at && (p.steady || t.Caller.ReadsAll()): // it was the present one already
			if name := p.name(t.Lang); name != "" {
				names[id] = name
			}
		default:
			former = append(former, id)
		}
	}
	for some := range slices.Chunk(former, atOnce) {
		entries, err := t.store.At(ctx, eventstore.Point{Position: at}, some...)
		if err != nil {
			return nil, err
		}
		for i := range entries {
			e := &entries[i]
			if e.Version == 0 || e.Redacted != nil {
				continue
			}
			r, err := calendar.DecodeRecord(e.State)
			if err != nil {
				return nil, fmt.Errorf("decode entry %d: %w", e.Position, err)
			}
			if Gate(t.Caller, r.Kind, r, moment) == nil {
				if name := NameOf(r, t.Lang); name != "" {
					names[r.ID] = name
				}
			}
		}
	}
	return names, nil
}

// links are the URLs of an entry: the version, but where its point has no record, and its
// difference to the one before where that is open.
func (t *telling) links(e *Entry, k calendar.Kind, compared bool) *URLs {
	if t.Collection == nil || !k.IsPost() && !k.IsTerm() || e.Action == Erased {
		return nil
	}
	base := t.Collection(k) + "/" + e.ID.String()
	var u URLs
	if e.Action != Deleted {
		u.Version = base + "?" + ParamPoint + "=version%3A" + strconv.FormatInt(e.Version, 10)
	}
	if compared {
		u.Diff = base + "/diff?from=" + strconv.FormatInt(e.Version-1, 10) + "&to=" + strconv.FormatInt(e.Version, 10)
	}
	if u == (URLs{}) {
		return nil
	}
	return &u
}

// Filter says which entries are told; what is nil or zero lets all in.
type Filter struct {
	Kinds        []calendar.Kind
	IDs          []calendar.ID
	Actors       []calendar.ID
	Actions      []Action
	Fields       []string
	Since, Until time.Time // Since ≤ time of the entry < Until
}

// mayLetIn tells whether an entry may pass the filter, without asking for others.
func (f *Filter) mayLetIn(e *eventstore.Entry) bool {
	lets := func(none, in bool) bool { return none || in }
	verb := actionOf(e.Change)
	return lets(f.Kinds == nil, slices.Contains(f.Kinds, e.Kind)) &&
		lets(f.IDs == nil, slices.Contains(f.IDs, e.ID)) &&
		lets(f.Actors == nil, slices.Contains(f.Actors, e.Actor)) &&
		!e.Time.Before(f.Since) && lets(f.Until.IsZero(), e.Time.Before(f.Until)) &&
		lets(f.Actions == nil, slices.Contains(f.Actions, verb) || slices.Contains(f.Actions, Published)) &&
		// What a change has set stands in it; a new record has defaults, too.
		lets(f.Fields == nil || verb == Created, slices.ContainsFunc(f.Fields, func(name string) bool {
			if name == "password" {
				return e.Secret != nil
			}
			return bytes.Contains(e.Fields, []byte(`"`+name+`":`))
		}))
}

// letsIn tells whether an entry passes as it is told.
func (f *Filter) letsIn(e *Entry) bool {
	return (f.Actions == nil || slices.Contains(f.Actions, e.Action)) &&
		(f.Fields == nil || slices.ContainsFunc(e.Changes, func(c ToldChange) bool { return slices.Contains(f.Fields, c.Field) }))
}

// Named are the records that the sentences of the entry name.
func (e *Entry) Named() []calendar.ID { return e.named }

// Walk is a walk through the log, or the history of one record.
type Walk struct {
	Record    calendar.ID // 0: the log; numbers are positions then, else versions
	From, To  int64       // the least and the greatest number that is looked at
	Ascending bool
	Filter    Filter
	Most      int // entries that are looked at
	// Page is about how many entries the listener wants.
	Page int
	// Enough is asked between two looks at the store whether the walk is to end.
	Enough func() bool
}

// Remains tells whether there is something to be looked at after a walk that came to a
// number, 0 for none.
func (w *Walk) Remains(lookedTo int64) bool {
	switch {
	case w.From > w.To:
		return false
	case lookedTo == 0:
		return true
	case w.Ascending:
		return lookedTo < w.To
	default:
		return lookedTo > w.From
	}
}

// Walk tells what of the log the listener gets, in order, until tell says that this was
// enough, and gives the number that it looked at last, 0 for none. tell is given nil for
// every entry that is skipped, and the number of the entry. Of one record, who does not
// pass the gate now is told nothing: ask Present first. The errors are those of the store
// and of tell.
func (t *Teller) Walk(ctx context.Context, l Listener, w Walk, tell func(number int64, e *Entry) (more bool, err error)) (lookedTo int64, err error) {
	to := t.to(l)
	size := min(max(w.Page, 16), atOnce)
	from, last := w.From, w.To
	for looked := 0; from <= last && looked < w.Most; {
		size = min(size, w.Most-looked)
		first := from
		if !w.Ascending {
			first = max(from, last-int64(size)+1)
		}
		entries, err := t.read(ctx, w.Record, first, min(first+int64(size)-1, last), !w.Ascending && size > 1)
		if err != nil {
			return lookedTo, err
		}
		if len(entries) == 0 {
			if w.Ascending || size == 1 {
				return lookedTo, nil // the store went back behind the walk
			}
			size = max(1, size/4) // large ones: a page ends before its last
			continue
		}
		looked += len(entries)
		number, more, err := to.piece(ctx, entries, &w, tell)
		if number > 0 {
			lookedTo = number
		}
		if err != nil || !more {
			return lookedTo, err
		}
		if w.Ascending {
			from = lookedTo + 1
		} else {
			last = lookedTo - 1
		}
		if w.Enough != nil && w.Enough() {
			break
		}
		size = min(2*size, atOnce)
	}
	return lookedTo, nil
}

// read gives the entries from first to last. whole gives none where they do not fit into a
// page.
func (t *Teller) read(ctx context.Context, record calendar.ID, first, last int64, whole bool) (entries []eventstore.Entry, err error) {
	entries, err = t.store.Read(ctx, eventstore.Range{Record: record, After: uint64(first - 1), Limit: int(last - first + 1)})
	if err != nil {
		return nil, err
	}
	if n := len(entries); whole && n > 0 && numberOf(&entries[n-1], record) < last {
		return nil, nil
	}
	return entries, nil
}

func numberOf(e *eventstore.Entry, record calendar.ID) int64 {
	if record != 0 {
		return e.Version
	}
	return int64(e.Position)
}

// piece tells some entries that follow each other.
func (t *telling) piece(ctx context.Context, entries []eventstore.Entry, w *Walk, tell func(int64, *Entry) (bool, error)) (lookedTo int64, more bool, err error) {
	wanted := make([]bool, len(entries))
	var ids []calendar.ID
	for i := range entries {
		if wanted[i] = w.Filter.mayLetIn(&entries[i]); wanted[i] {
			ids = append(ids, entries[i].ID)
		}
	}
	if err := t.learn(ctx, ids); err != nil {
		return 0, false, err
	}
	before, err := t.before(ctx, entries, wanted)
	if err != nil {
		return 0, false, err
	}
	next := map[calendar.ID]time.Time{}
	versions := make([]version, len(entries))
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		versions[i] = version{Entry: e, before: before[i], next: t.nextOf(e, next[e.ID])}
		next[e.ID] = e.Time
	}
	for i := range versions {
		if !w.Ascending {
			i = len(versions) - 1 - i
		}
		v := &versions[i]
		var e *Entry
		if wanted[i] {
			if e, err = t.tell(ctx, v); err != nil {
				return lookedTo, false, err
			}
			if e != nil && !w.Filter.letsIn(e) {
				e = nil
			}
		}
		number := numberOf(v.Entry, w.Record)
		more, err := tell(number, e)
		if err != nil {
			return lookedTo, false, err
		}
		if lookedTo = number; !more {
			return lookedTo, false, nil
		}
		v.state = nil
	}
	return lookedTo, true, nil
}

// before gives for each wanted entry of a record that passes the gate now the one before
// it, and clears wanted for the others.
func (t *telling) before(ctx context.Context, entries []eventstore.Entry, wanted []bool) ([]*eventstore.Entry, error) {
	last := map[calendar.ID]*eventstore.Entry{}
	out := make([]*eventstore.Entry, len(entries))
	var missing []calendar.ID
	for i := range entries {
		e := &entries[i]
		wanted[i] = wanted[i] && t.known[e.ID].gate == nil
		if out[i] = last[e.ID]; wanted[i] && out[i] == nil && e.Version > 1 {
			missing = append(missing, e.ID)
		}
		last[e.ID] = e
	}
	if missing == nil {
		return out, nil
	}
	former, err := t.store.At(ctx, eventstore.Point{Position: entries[0].Position - 1}, missing...)
	if err != nil {
		return nil, err
	}
	at := 0
	for i := range entries {
		if e := &entries[i]; wanted[i] && out[i] == nil && e.Version > 1 {
			if former[at].Version != e.Version-1 {
				return nil, fmt.Errorf("no version %d before entry %d: %w", e.Version-1, e.Position, eventstore.ErrDamaged)
			}
			out[i] = &former[at]
			at++
		}
	}
	return out, nil
}

// nextOf gives when the version after an entry was written, zero when it is the last one.
// known is that moment where it is known.
func (t *telling) nextOf(e *eventstore.Entry, known time.Time) func(context.Context) (time.Time, error) {
	return func(ctx context.Context) (time.Time, error) {
		if p := t.known[e.ID]; !known.IsZero() || p != nil && p.version == e.Version {
			return known, nil
		}
		entries, err := t.store.Read(ctx, eventstore.Range{Record: e.ID, After: uint64(e.Version), Limit: 1})
		if err != nil || len(entries) == 0 {
			return time.Time{}, err
		}
		return entries[0].Time, nil
	}
}

// Present gives the version that a record of a kind has now, when the caller passes its
// gate. Errors: CodeNotFound, CodeErased unless he reads all, those of Gate, those of the
// store.
func (t *Teller) Present(ctx context.Context, c calendar.Caller, k calendar.Kind, id calendar.ID) (version int64, erased bool, err error) {
	to := t.to(Listener{Caller: c})
	if err := to.learn(ctx, []calendar.ID{id}); err != nil {
		return 0, false, err
	}
	p := to.known[id]
	if p == nil || p.kind != k {
		return 0, false, calendar.Fail(calendar.CodeNotFound, k)
	}
	return p.version, p.erased, p.gate
}

// Head gives the position of the newest entry.
func (t *Teller) Head(ctx context.Context) (calendar.Position, error) {
	h, err := t.store.Head(ctx, eventstore.Point{})
	return h.Position, err
}

// Wait waits until there is an entry behind a position, see eventstore.Wait.
func (t *Teller) Wait(ctx context.Context, after calendar.Position) (calendar.Position, error) {
	h, err := eventstore.Wait(ctx, t.store, after)
	return h.Position, err
}

// Epoch returns which history the store has, see eventstore.Epoch.
func (t *Teller) Epoch() uint64 { return t.store.Epoch().History }

// Side is one of the two states of a Diff; Version 0 is an empty record.
type Side struct {
	Version  int64
	Position calendar.Position
	Time     string
	Record   *calendar.Record
}

// Diff is what differs between two versions of a record (HISTORY 9).
type Diff struct {
	From, To Side
	Patch    []Operation
	Changes  []ToldChange
	Summary  string
	Named    []calendar.ID // the records that sentences name
}

// Diff compares two versions of a record; 0 for the open one before to, and for the newest
// open one. Errors: those of Present, CodeErased for everybody, CodeVersionNotFound, those
// of Gate.
func (t *Teller) Diff(ctx context.Context, l Listener, k calendar.Kind, id calendar.ID, from, to int64) (*Diff, error) {
	at := t.to(l)
	if err := at.learn(ctx, []calendar.ID{id}); err != nil {
		return nil, err
	}
	p := at.known[id]
	switch {
	case p == nil || p.kind != k:
		return nil, calendar.Fail(calendar.CodeNotFound, k)
	case p.erased:
		return nil, calendar.Fail(calendar.CodeErased, k)
	case p.gate != nil:
		return nil, p.gate
	}
	if to = cmp.Or(to, p.version); to > p.version || from > p.version { // who passes the gate now, passes that of the newest version
		return nil, calendar.Fail(calendar.CodeVersionNotFound, k)
	}
	after, err := at.side(ctx, id, to)
	if err != nil {
		return nil, err
	}
	var before Side
	if from > 0 {
		before, err = at.side(ctx, id, from)
	} else {
		before, err = at.openBefore(ctx, id, to)
	}
	if err != nil {
		return nil, err
	}
	password, err := at.passwordDiffers(ctx, id, before, after)
	if err != nil {
		return nil, err
	}
	d := &Diff{From: before, To: after, Patch: Patch(before.Record, after.Record)}
	moment := after.moment()
	if d.Changes, d.Named, err = at.tellChanges(ctx, Changes(before.Record, after.Record, password), k, after.Position, moment); err != nil {
		return nil, err
	}
	sentences := make([]string, len(d.Changes))
	for i := range d.Changes {
		sentences[i] = d.Changes[i].Sentence
	}
	d.Summary = Summary(Updated, "", sentences, l.Lang)
	return d, nil
}

func (s *Side) moment() time.Time { return s.Record.Changed }

// side gives an open version.
func (t *telling) side(ctx context.Context, id calendar.ID, number int64) (Side, error) {
	entries, err := t.store.Read(ctx, eventstore.Range{Record: id, After: uint64(number - 1), Limit: 1})
	if err != nil {
		return Side{}, err
	}
	if len(entries) == 0 || entries[0].Version != number {
		return Side{}, calendar.Fail(calendar.CodeVersionNotFound, t.known[id].kind)
	}
	v := &version{Entry: &entries[0], next: t.nextOf(&entries[0], time.Time{})}
	if err := t.closed(ctx, v); err != nil {
		return Side{}, err
	}
	return v.side()
}

func (v *version) side() (Side, error) {
	r, err := v.record()
	return Side{Version: v.Version, Position: v.Position, Time: v.Time.Format(TimeLayout), Record: r}, err
}

// openBefore gives the last open version before one, an empty Side for none.
func (t *telling) openBefore(ctx context.Context, id calendar.ID, number int64) (Side, error) {
	var out Side
	err := t.backward(ctx, id, number-1, func(e *eventstore.Entry, next time.Time) (bool, error) {
		v := &version{Entry: e, next: t.nextOf(e, next)}
		open, err := isOpen(t.closed(ctx, v))
		if err == nil && open {
			out, err = v.side()
		}
		return open, err
	})
	return out, err
}

// backward gives the versions of a record from last on down, with when the one after it
// was written, zero where it was not looked at, until use is done.
func (t *Teller) backward(ctx context.Context, id calendar.ID, last int64, use func(e *eventstore.Entry, next time.Time) (done bool, err error)) error {
	var next time.Time
	for size := int64(4); last > 0; size = min(2*size, atOnce) {
		first := max(1, last-size+1)
		entries, err := t.read(ctx, id, first, last, size > 1)
		switch {
		case err != nil:
			return err
		case len(entries) == 0 && size == 1:
			return nil // the store went back behind the walk
		case len(entries) == 0: // they are large
			size = 1
			continue
		}
		for i := len(entries) - 1; i >= 0; i-- {
			if done, err := use(&entries[i], next); done || err != nil {
				return err
			}
			next = entries[i].Time
		}
		last = first - 1
	}
	return nil
}

// passwordDiffers tells whether two states that are protected are so by other passwords.
func (t *telling) passwordDiffers(ctx context.Context, id calendar.ID, a, b Side) (bool, error) {
	if a.Record == nil || b.Record == nil || !a.Record.Fields.Bool("protected") || !b.Record.Fields.Bool("protected") {
		return false, nil
	}
	for after, last := min(a.Version, b.Version), max(a.Version, b.Version); after < last; {
		entries, err := t.store.Read(ctx, eventstore.Range{Record: id, After: uint64(after), Limit: int(min(last-after, atOnce))})
		if err != nil || len(entries) == 0 {
			return false, err
		}
		for i := range entries {
			if entries[i].Secret != nil {
				return true, nil
			}
			after = entries[i].Version
		}
	}
	return false, nil
}
