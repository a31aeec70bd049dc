// Package audit has the form in which the log is exported, and checks logs and exports.
package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// exportForm is what the first line of an export begins with.
const exportForm = "export 2"

// first is the first line of an export.
type first struct {
	Daybook string            `json:"daybook"`
	Origin  string            `json:"origin"` // of the newest checkpoint; "": none was signed
	Entries calendar.Position `json:"entries"`
	Head    string            `json:"head"` // of the chain, hexadecimal
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
	SecretSum string            `json:"secret_sha256,omitempty"` // of the secret that the change set, hexadecimal
	Form      int               `json:"form"`                    // of the leaf, always leafForm
	Leaf      string            `json:"leaf"`                    // hexadecimal
	Salts     map[string]string `json:"salts,omitempty"`         // base64, by body
	Redacted  *redacted         `json:"redacted,omitempty"`
}

// redacted is what is left of an erased entry.
type redacted struct {
	By     calendar.Position `json:"by"`
	Hashes map[string]string `json:"hashes,omitempty"` // base64, by body
}

// signed is the line of a checkpoint.
type signed struct {
	Checkpoint string `json:"checkpoint"`
}

// bodies are the names of the bodies of a leaf, in order.
var bodies = [...]string{"actor", "cause", "fields", "state", "secret"}

// leafForm names the one form of leaves (HISTORY 13).
const leafForm = 2

func lineOf(e *eventstore.Entry, leaf [32]byte) line {
	l := line{
		Position: e.Position, Kind: e.Kind.String(), ID: e.ID, Version: e.Version, Time: e.Time, Actor: e.Actor,
		Change: e.Change, Fields: e.Fields, State: e.State,
		Form: leafForm, Leaf: hex.EncodeToString(leaf[:]), Salts: make(map[string]string, len(bodies)),
	}
	if e.Secret != nil {
		sum := sha256.Sum256(e.Secret)
		l.SecretSum = hex.EncodeToString(sum[:])
	}
	for i, name := range bodies {
		if e.Salts[i] != [16]byte{} {
			l.Salts[name] = base64.StdEncoding.EncodeToString(e.Salts[i][:])
		}
	}
	if e.Redacted == nil {
		l.Cause = &e.Cause
		return l
	}
	l.Redacted = &redacted{By: e.Redacted.By, Hashes: make(map[string]string, len(bodies)-1)}
	for i, h := range e.Redacted.Hashes {
		l.Redacted.Hashes[bodies[i+1]] = base64.StdEncoding.EncodeToString(h[:])
	}
	return l
}

// exportPage is how many entries or checkpoints are read at once.
const exportPage = 500

// errErasedMeanwhile says that an export would hold blank entries without their erasure.
var errErasedMeanwhile = errors.New("a record was erased while the export was written; run it again")

// Export writes the log up to its present head: a line that tells what it is, its
// entries in order, the checkpoints that it covers. Secrets are not in it, their SHA-256
// is (HISTORY 16.1).
func Export(ctx context.Context, store eventstore.Verifier, to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<16)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	head, err := store.Head(ctx)
	if err != nil {
		return err
	}
	mark, err := store.Mark(ctx, head)
	if err != nil {
		return err
	}
	newest, err := store.Checkpoint(ctx, 0)
	if err != nil && !errors.Is(err, eventstore.ErrNotFound) {
		return err
	}
	if err := enc.Encode(first{exportForm, newest.Origin, head, hex.EncodeToString(mark.Hash[:])}); err != nil {
		return err
	}
	for after := calendar.Position(0); after < head; {
		entries, err := store.ReadStored(ctx, after, int(min(exportPage, head-after)))
		if err != nil {
			return err
		}
		leaves, err := store.Leaves(ctx, after, len(entries))
		if err != nil {
			return err
		}
		if len(entries) == 0 || len(leaves) != len(entries) {
			return fmt.Errorf("entry %d: %w", after+1, eventstore.ErrDamaged)
		}
		for i := range entries {
			if x := entries[i].Redacted; x != nil && x.By > head { // its erasure is not in the export
				return fmt.Errorf("%w: entry %d", errErasedMeanwhile, entries[i].Position)
			}
			if err := enc.Encode(lineOf(&entries[i], leaves[i])); err != nil {
				return err
			}
		}
		after = entries[len(entries)-1].Position
	}
	for after := calendar.Position(0); ; {
		checkpoints, err := store.Checkpoints(ctx, after, exportPage)
		if err != nil {
			return err
		}
		for i := range checkpoints {
			if after = checkpoints[i].Size; after > head {
				break
			}
			if err := enc.Encode(signed{string(checkpoints[i].Note)}); err != nil {
				return err
			}
		}
		if len(checkpoints) == 0 || after > head {
			return w.Flush()
		}
	}
}

// errExport says that a file is no export.
var errExport = errors.New("it is no export of daybook")

// reader reads an export line by line.
type reader struct {
	r   *bufio.Reader
	n   int    // number of the line that was read last
	raw []byte // it
	first
}

func newReader(from io.Reader) (*reader, error) {
	r := &reader{r: bufio.NewReaderSize(from, 1<<16)}
	var f first
	if more, err := r.next(&f); err != nil || !more || f.Daybook != exportForm {
		return nil, fmt.Errorf("%w: its first line does not tell %q", errExport, exportForm)
	}
	r.first = f
	return r, nil
}

// next reads a line; false behind the last.
func (r *reader) next(to any) (bool, error) {
	b, err := r.r.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(b) == 0 {
		return false, nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	r.n++
	r.raw = b
	if err := json.Unmarshal(b, to); err != nil {
		return false, fmt.Errorf("line %d: %w: %w", r.n, eventstore.ErrDamaged, err)
	}
	return true, nil
}

// entry gives the entry of a line, its leaf, and the SHA-256 of its secret.
func (l *line) entry() (e *eventstore.Entry, leaf [32]byte, secret *[32]byte, err error) {
	kind, known := calendar.ParseKind(l.Kind)
	if !known {
		return nil, leaf, nil, fmt.Errorf("kind %q", l.Kind)
	}
	e = &eventstore.Entry{
		Position: l.Position, Kind: kind, ID: l.ID, Version: l.Version, Time: l.Time, Actor: l.Actor,
		Change: l.Change, Fields: l.Fields, State: l.State,
	}
	if l.Cause != nil {
		e.Cause = *l.Cause
	}
	if err := into(leaf[:], l.Leaf, hex.DecodeString); err != nil {
		return nil, leaf, nil, fmt.Errorf("leaf: %w", err)
	}
	if l.SecretSum != "" {
		secret = new([32]byte)
		if err := into(secret[:], l.SecretSum, hex.DecodeString); err != nil {
			return nil, leaf, nil, fmt.Errorf("secret_sha256: %w", err)
		}
	}
	if l.Form != leafForm {
		return nil, leaf, nil, fmt.Errorf("form %d", l.Form)
	}
	for i, name := range bodies {
		if s, there := l.Salts[name]; there {
			if err := into(e.Salts[i][:], s, base64.StdEncoding.DecodeString); err != nil {
				return nil, leaf, nil, fmt.Errorf("salts: %w", err)
			}
		}
	}
	if l.Redacted != nil {
		e.Redacted = &eventstore.Redacted{By: l.Redacted.By}
		for i := range e.Redacted.Hashes {
			if s, there := l.Redacted.Hashes[bodies[i+1]]; there {
				if err := into(e.Redacted.Hashes[i][:], s, base64.StdEncoding.DecodeString); err != nil {
					return nil, leaf, nil, fmt.Errorf("hashes: %w", err)
				}
			}
		}
	}
	return e, leaf, secret, nil
}

// same tells whether an entry is written as a line, to the byte: texts may be read that
// no export has.
func same(raw []byte, e *eventstore.Entry, leaf [32]byte, secret *[32]byte) bool {
	l := lineOf(e, leaf)
	if secret != nil {
		l.SecretSum = hex.EncodeToString(secret[:])
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	return enc.Encode(l) == nil && bytes.Equal(b.Bytes(), raw)
}

// into decodes a text of just the length of to.
func into(to []byte, s string, decode func(string) ([]byte, error)) error {
	b, err := decode(s)
	if err != nil {
		return err
	}
	if len(b) != len(to) {
		return fmt.Errorf("%d bytes, not %d", len(b), len(to))
	}
	copy(to, b)
	return nil
}
