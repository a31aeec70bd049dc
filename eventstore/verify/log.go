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
type Before func(entry *eventstore.Entry) ([]byte, error)

// Log checks entries in order: dense positions and versions, each one's leaf, the fold of
// changes into states, and that what is blank was erased. What does not fit is a finding,
// and so is an error of the sequence that is ErrDamaged; any other one is returned. Of a
// secret its SHA-256 is enough.
func Log(entries iter.Seq2[*eventstore.Entry, error], before Before) (Findings, error) {
	log := newLog(before)
	for entry, err := range entries {
		if err == nil {
			err = log.check(entry)
		}
		if err != nil {
			return log.findings(err)
		}
	}
	return log.findings(nil)
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
	*eventstore.Held // after its last entry, with the SHA-256 of its Record

	present      bool              // a state of it was found
	plain, blank calendar.Position // first entries that are not and are redacted; 0: none
	by           calendar.Position // of the entry that redacted
}

// digest returns the SHA-256 of the JSON of a state.
func digest(state []byte) []byte {
	sum := sha256.Sum256(state)
	return sum[:]
}

func newLog(before Before) *log {
	return &log{
		Findings: Findings{Result: Intact}, before: before,
		records: map[calendar.ID]*record{}, decoded: map[calendar.ID]*calendar.Record{},
	}
}

// findings checks that what is blank was erased, and returns what was found by a run that
// ended with an error or nil.
func (log *log) findings(err error) (Findings, error) {
	var first *record
	for _, checked := range log.records {
		if checked.blank != 0 && (first == nil || checked.blank < first.blank) {
			first = checked
		}
	}
	if err == nil && first != nil {
		err = eventstore.Damaged(first.blank, "it is blank, and entry %d did not erase its record", first.by)
	}
	if log.Result == Intact && len(log.Erasures) > 0 {
		log.Result = Redacted
	}
	err = log.Damage(err)
	return log.Findings, err
}

// check checks the next entry.
func (log *log) check(entry *eventstore.Entry) error {
	checked := log.records[entry.ID]
	if checked == nil {
		checked = &record{}
		log.records[entry.ID] = checked
	}
	held, err := entry.After(checked.Held)
	switch {
	case entry.Position != log.Entries+1:
		return eventstore.Damaged(log.Entries+1, "it is missing, the next one is %d", entry.Position)
	case eventstore.Leaf(entry) != entry.Leaf:
		return entry.Damaged("it does not fit its leaf")
	case err != nil:
		return entry.Damaged("%v", err)
	}
	held.Record, checked.Held = digest(entry.State), held
	if entry.Redacted != nil {
		err = log.checkBlank(entry, checked)
	} else {
		err = log.checkFold(entry, checked)
		checked.plain = cmp.Or(checked.plain, entry.Position)
	}
	if err != nil {
		return err
	}
	if log.Entries = entry.Position; entry.Position == entry.Commit.Last {
		log.Head = entry.Commit.Hash
	}
	return nil
}

// checkBlank notes an entry that is redacted.
func (log *log) checkBlank(entry *eventstore.Entry, record *record) error {
	if record.blank == 0 {
		record.blank, record.by = entry.Position, entry.Redacted.By
	}
	if entry.Redacted.By != record.by {
		return entry.Damaged("it is blank by entry %d, and entry %d of its record by entry %d", entry.Redacted.By, record.blank, record.by)
	}
	log.Redacted++
	if !entry.Blank() {
		log.incomplete(entry.Position, entry)
	}
	return nil
}

// incomplete notes that something is left at a position of the record of an entry, which
// was erased.
func (log *log) incomplete(position calendar.Position, entry *eventstore.Entry) {
	if log.Result == Intact {
		log.Result, log.Position = Incomplete, position
		log.Why = fmt.Sprintf("its record was erased and it is not blank, run again: daybook erase %s %d", entry.Kind, entry.ID)
	}
}

// checkFold checks that the fields that an entry changed give its state.
func (log *log) checkFold(entry *eventstore.Entry, record *record) error {
	stored, err := calendar.DecodeRecord(entry.State)
	if err != nil {
		return entry.Damaged("state: %v", err)
	}
	change, err := calendar.DecodeChange(entry.Change, entry.ID, stored.Home, entry.Fields)
	if err != nil {
		return entry.Damaged("change: %v", err)
	}
	before := log.decoded[entry.ID]
	switch {
	case record.Erased:
		// What an erasure leaves of a record is left when it is erased again.
		before = &calendar.Record{ID: entry.ID, Kind: entry.Kind, Version: entry.Version - 1, Home: stored.Home, Fields: stored.Fields}
		if record.plain != 0 {
			log.incomplete(record.plain, entry)
		}
		if record.by == entry.Position {
			record.blank = 0
		}
		log.Erasures = append(log.Erasures, Erasure{entry.Position, entry.Kind.String(), entry.ID, entry.Cause.Reason})
	case record.blank != 0: // what it follows is gone
		return nil
	case before == nil && entry.Version > 1:
		state, err := log.before(entry)
		if err != nil || state == nil {
			return err
		}
		if before, err = calendar.DecodeRecord(state); err != nil {
			return entry.Damaged("state before it: %v", err)
		}
	}
	folded, err := calendar.Apply(before, change, entry.Time)
	if err != nil {
		return entry.Damaged("%v", err)
	}
	if want, err := calendar.EncodeRecord(folded); err != nil || !bytes.Equal(want, entry.State) || record.Erased && len(change.Fields) > 0 {
		return entry.Damaged("folding the changes of record %d does not give the stored record", entry.ID)
	}
	if len(log.decoded) >= maxDecoded {
		clear(log.decoded)
	}
	log.decoded[entry.ID] = stored
	return nil
}
