// Package audit has the form in which the log is exported, and checks logs and exports.
package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/verify"
)

// exportForm is what the first line of an export begins with.
const exportForm = "export 2"

// first is the first line of an export.
type first struct {
	Daybook string            `json:"daybook"`
	Origin  string            `json:"origin"` // of the newest checkpoint; "": none was signed
	Entries calendar.Position `json:"entries"`
	Head    verify.Hash       `json:"head"` // of the chain
}

// line is an entry as an export has it: all that its leaf is made from.
type line struct {
	Position calendar.Position `json:"position"`
	Kind     string            `json:"kind"`
	ID       calendar.ID       `json:"id"`
	Version  int64             `json:"version"`
	Time     time.Time         `json:"time"`
	Actor    calendar.ID       `json:"actor"` // user, 0 the service itself
	// A redacted entry has no cause, fields and state.
	Cause     *eventstore.Cause `json:"cause,omitempty"`
	Change    string            `json:"change"`
	Fields    json.RawMessage   `json:"fields,omitempty"`        // what changed
	State     json.RawMessage   `json:"state,omitempty"`         // the record after it
	SecretSum *verify.Hash      `json:"secret_sha256,omitempty"` // of the secret that the change set
	Form      int               `json:"form"`                    // of the leaf, always leafForm
	Leaf      verify.Hash       `json:"leaf"`
	Salts     map[string][]byte `json:"salts,omitempty"` // by body
	Redacted  *redactedEntry    `json:"redacted,omitempty"`
}

// redactedEntry is what is left of an erased entry.
type redactedEntry struct {
	By     calendar.Position `json:"by"`
	Hashes map[string][]byte `json:"hashes,omitempty"` // by body
}

// bodies are the names of the bodies of a leaf, in order.
var bodies = [...]string{"actor", "cause", "fields", "state", "secret"}

// leafForm names the one form of leaves (HISTORY 13).
const leafForm = 2

func lineOf(entry *eventstore.Entry) line {
	l := line{
		Position: entry.Position, Kind: entry.Kind.String(), ID: entry.ID, Version: entry.Version, Time: entry.Time, Actor: entry.Actor,
		Change: entry.Change, Fields: entry.Fields, State: entry.State, SecretSum: (*verify.Hash)(entry.SecretHash()),
		Form: leafForm, Leaf: entry.Leaf, Salts: map[string][]byte{},
	}
	for i, name := range bodies {
		if salt := entry.Salts.Of(i); [16]byte(salt) != [16]byte{} {
			l.Salts[name] = salt
		}
	}
	if entry.Redacted == nil {
		l.Cause = &entry.Cause
		return l
	}
	l.Redacted = &redactedEntry{By: entry.Redacted.By, Hashes: map[string][]byte{}}
	for i := range entry.Redacted.Hashes {
		l.Redacted.Hashes[bodies[i+1]] = entry.Redacted.Hashes[i][:]
	}
	return l
}

// entry returns the entry of a line that lineOf made. Of any other text it is one whose
// line is another text.
func (line *line) entry() *eventstore.Entry {
	kind, _ := calendar.ParseKind(line.Kind)
	entry := &eventstore.Entry{
		Position: line.Position, Kind: kind, ID: line.ID, Version: line.Version, Time: line.Time, Actor: line.Actor,
		Change: line.Change, Fields: line.Fields, State: line.State, Leaf: line.Leaf, SecretSum: (*[32]byte)(line.SecretSum),
	}
	if line.Cause != nil {
		entry.Cause = *line.Cause
	}
	for i, name := range bodies {
		copy(entry.Salts.Of(i), line.Salts[name])
	}
	if line.Redacted != nil {
		entry.Redacted = &eventstore.Redacted{By: line.Redacted.By}
		for i := range entry.Redacted.Hashes {
			copy(entry.Redacted.Hashes[i][:], line.Redacted.Hashes[bodies[i+1]])
		}
	}
	return entry
}

func newEncoder(writer io.Writer) *json.Encoder {
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	return encoder
}

// Export writes the log up to its present head: a line that says what it is, its
// entries in order, the checkpoints that it covers. Secrets are not in it, their SHA-256
// is (HISTORY 16.1).
func Export(ctx context.Context, store eventstore.Store, target io.Writer) error {
	writer := bufio.NewWriterSize(target, 1<<16)
	encoder := newEncoder(writer)
	head, err := store.Head(ctx, eventstore.Point{})
	if err != nil {
		return err
	}
	newest, err := eventstore.CheckpointAt(ctx, store, 0)
	if err != nil {
		return err
	}
	if err := encoder.Encode(first{exportForm, newest.Origin, head.Position, head.Hash}); err != nil {
		return err
	}
	for entry, err := range eventstore.Log(ctx, store, head.Position) {
		if err == nil && entry.Redacted != nil && entry.Redacted.By > head.Position { // its erasure is not in the export
			err = fmt.Errorf("the record of entry %d was erased while the export was written; run it again", entry.Position)
		}
		if err == nil {
			err = encoder.Encode(lineOf(entry))
		}
		if err != nil {
			return err
		}
	}
	for checkpoint, err := range eventstore.Checkpoints(ctx, store, head.Position) {
		if err == nil {
			err = encoder.Encode(map[string]string{"checkpoint": string(checkpoint.Note)})
		}
		if err != nil {
			return err
		}
	}
	return writer.Flush()
}

// reader reads an export line by line.
type reader struct {
	first

	lines *bufio.Reader

	// What entries gathers.
	leaves leaves
	notes  [][]byte
	states map[calendar.ID][]byte // after the last entry of each record
}

// next reads a line; io.EOF behind the last.
func (reader *reader) next(to any) ([]byte, error) {
	raw, err := reader.lines.ReadBytes('\n')
	if err != nil && (!errors.Is(err, io.EOF) || len(raw) == 0) {
		return nil, err
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return nil, reader.damaged("its line cannot be read: %v", err)
	}
	return raw, nil
}

// damaged returns what is wrong with the next entry.
func (reader *reader) damaged(format string, args ...any) error {
	return eventstore.Damaged(calendar.Position(len(reader.leaves))+1, format, args...)
}

// entries yields the entries.
func (reader *reader) entries(yield func(*eventstore.Entry, error) bool) {
	for {
		var l struct {
			line
			Checkpoint string
		}
		raw, err := reader.next(&l)
		switch {
		case errors.Is(err, io.EOF) && len(reader.leaves) == int(reader.Entries):
			return
		case errors.Is(err, io.EOF):
			err = reader.damaged("the file tells of %d entries and holds %d", reader.Entries, len(reader.leaves))
		case err == nil && l.Checkpoint != "":
			reader.notes = append(reader.notes, []byte(l.Checkpoint))
			continue
		}
		entry := l.entry()
		// Texts may be read that no export has.
		var same bytes.Buffer
		if err == nil && (newEncoder(&same).Encode(lineOf(entry)) != nil || !bytes.Equal(same.Bytes(), raw)) {
			err = reader.damaged("its line is not written as an export writes it")
		}
		if !yield(entry, err) || err != nil {
			return
		}
		reader.leaves, reader.states[entry.ID] = append(reader.leaves, entry.Leaf), entry.State
	}
}
