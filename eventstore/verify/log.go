package verify

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"iter"

	"daybook/calendar"
	"daybook/eventstore"
)

// Before returns the state that the record of an entry had before it, for records that are
// not in memory any more; nil when it was erased since the check began.
type Before func(e *eventstore.Entry) ([]byte, error)

// Log checks entries in order: dense positions and versions, each one's leaf, the fold of
// changes into states, and that what is blank was erased. What does not fit is a finding,
// and so is an error of the sequence that is ErrDamaged; any other one is returned. Of a
// secret its SHA-256 is enough.
func Log(entries iter.Seq2[eventstore.Entry, error], before Before) (Findings, error) {
	l := newLog(before)
	for e, err := range entries {
		if err == nil {
			err = l.check(&e)
		}
		if err != nil {
			return l.findings(err)
		}
	}
	return l.findings(nil)
}

// maxDecoded bounds the records that are decoded in memory.
const maxDecoded = 10_000

// log is one run through a log.
type log struct {
	Findings

	before  Before
	records map[calendar.ID]*record
	decoded map[calendar.ID]*calendar.Record
}

// record is what has to be known of a record.
type record struct {
	position calendar.Position // as version and state, of its last entry
	version  int64
	state    [32]byte // SHA-256
	kind     calendar.Kind
	secret   [32]byte // SHA-256, of no bytes without one
	erased   bool
	present  bool // a state of it was found

	plain, blank calendar.Position // first entries that are not and are redacted; 0: none
	by           calendar.Position // of the entry that redacted
}

func newLog(before Before) *log {
	return &log{
		Findings: Findings{Result: Intact}, before: before,
		records: map[calendar.ID]*record{}, decoded: map[calendar.ID]*calendar.Record{},
	}
}

// findings checks that what is blank was erased, and returns what was found by a run that
// ended with an error or nil.
func (l *log) findings(err error) (Findings, error) {
	var first *record
	for _, r := range l.records {
		if r.blank != 0 && (first == nil || r.blank < first.blank) {
			first = r
		}
	}
	if err == nil && first != nil {
		err = eventstore.Damaged(first.blank, "it is blank, and entry %d did not erase its record", first.by)
	}
	if l.Result == Intact && len(l.Erasures) > 0 {
		l.Result = Redacted
	}
	err = l.Damage(err)
	return l.Findings, err
}

// check checks the next entry.
func (l *log) check(e *eventstore.Entry) error {
	r := l.records[e.ID]
	if r == nil {
		r = &record{kind: e.Kind, secret: sha256.Sum256(nil)}
		l.records[e.ID] = r
	}
	switch {
	case e.Position != l.Entries+1:
		return eventstore.Damaged(l.Entries+1, "it is missing, the next one is %d", e.Position)
	case eventstore.Leaf(e) != e.Leaf:
		return eventstore.Damaged(e.Position, "it does not fit its leaf")
	case e.Version != r.version+1 || e.Kind != r.kind:
		return eventstore.Damaged(e.Position, "version %d of %s %d follows version %d of a %s", e.Version, e.Kind, e.ID, r.version, r.kind)
	case r.erased:
		return eventstore.Damaged(e.Position, "record %d was erased before it", e.ID)
	}
	r.position, r.version, r.state, r.secret = e.Position, e.Version, sha256.Sum256(e.State), *cmp.Or(e.SecretHash(), &r.secret)
	var err error
	if e.Redacted != nil {
		err = l.checkBlank(e, r)
	} else {
		err = l.checkFold(e, r)
		r.plain = cmp.Or(r.plain, e.Position)
	}
	if err == nil {
		l.Entries = e.Position
	}
	return err
}

// checkBlank notes an entry that is redacted.
func (l *log) checkBlank(e *eventstore.Entry, r *record) error {
	if r.blank == 0 {
		r.blank, r.by = e.Position, e.Redacted.By
	}
	if e.Redacted.By != r.by {
		return eventstore.Damaged(e.Position, "it is blank by entry %d, and entry %d of its record by entry %d", e.Redacted.By, r.blank, r.by)
	}
	l.Redacted++
	if !e.Blank() {
		l.incomplete(e.Position, e)
	}
	return nil
}

// incomplete notes that something is left at a position of the record of an entry, which
// was erased.
func (l *log) incomplete(p calendar.Position, of *eventstore.Entry) {
	if l.Result == Intact {
		l.Result, l.Position = Incomplete, p
		l.Why = fmt.Sprintf("its record was erased and it is not blank, run again: daybook erase %s %d", of.Kind, of.ID)
	}
}

// checkFold checks that the fields that an entry changed give its state.
func (l *log) checkFold(e *eventstore.Entry, r *record) error {
	stored, err := calendar.DecodeRecord(e.State)
	if err != nil {
		return eventstore.Damaged(e.Position, "state: %v", err)
	}
	change, err := calendar.DecodeChange(e.Change, e.ID, stored.Home, e.Fields)
	if err != nil {
		return eventstore.Damaged(e.Position, "change: %v", err)
	}
	before := l.decoded[e.ID]
	switch {
	case e.Change == eventstore.ErasedChange(e.Kind):
		// What an erasure leaves of a record is left when it is erased again.
		before = &calendar.Record{ID: e.ID, Kind: e.Kind, Version: e.Version - 1, Home: stored.Home, Fields: stored.Fields}
		if r.erased = true; r.plain != 0 {
			l.incomplete(r.plain, e)
		}
		if r.by == e.Position {
			r.blank = 0
		}
		l.Erasures = append(l.Erasures, Erasure{e.Position, e.Kind.String(), e.ID, e.Cause.Reason})
	case r.blank != 0: // what it follows is gone
		return nil
	case before == nil && e.Version > 1:
		state, err := l.before(e)
		if err != nil || state == nil {
			return err
		}
		if before, err = calendar.DecodeRecord(state); err != nil {
			return eventstore.Damaged(e.Position, "state before it: %v", err)
		}
	}
	folded, err := calendar.Apply(before, change, e.Time)
	if err != nil {
		return eventstore.Damaged(e.Position, "%v", err)
	}
	if want, err := calendar.EncodeRecord(folded); err != nil || !bytes.Equal(want, e.State) || r.erased && len(change.Fields) > 0 {
		return eventstore.Damaged(e.Position, "folding the changes of record %d does not give the stored record", e.ID)
	}
	if len(l.decoded) >= maxDecoded {
		clear(l.decoded)
	}
	l.decoded[e.ID] = stored
	return nil
}
