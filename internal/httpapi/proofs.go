package httpapi

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/formats"
	"daybook/internal/proof"
)

// proofAnswer reads the answer to a request for a proof: a value that is sent as JSON, or the
// bytes of a media type.
type proofAnswer func(c *call, query *pastQuery) (media []string, value any, err error)

// proofRead is a read of a proof.
func proofRead(read proofAnswer, rows ...pastRow) *pastRead {
	return &pastRead{table: append(rows, languageRow), answer: read.prove, proof: true}
}

func proofRow(name, text string, least int64, to func(*pastQuery) *int64) pastRow {
	row := numberRow(name, least, to)
	row.Text = "arg.proof." + text
	return row
}

func required(row pastRow) pastRow {
	row.Required = true
	return row
}

func sizeOf(pastQuery *pastQuery) *int64 { return &pastQuery.to }

// prove makes the answer to a request for a proof.
func (read proofAnswer) prove(_ context.Context, call *call, pastQuery *pastQuery) (*answer, error) {
	media, value, err := read(call, pastQuery)
	switch {
	case errors.Is(err, proof.ErrNoCheckpoint):
		return nil, calendar.Fail(calendar.CodeNoCheckpoint, 0)
	case errors.Is(err, proof.ErrNoTile):
		return nil, calendar.Fail(calendar.CodeNoTile, 0)
	case errors.Is(err, eventstore.ErrHistory): // it goes over to another one just now
		return nil, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	if err != nil {
		return nil, err
	}
	body, ready := value.([]byte)
	if !ready {
		body = formats.AppendJSON(nil, value)
	}
	return newAnswer(body, media, "", pastQuery.lang), nil
}

// checkpoint answers the signed head of the log (HISTORY 12.3).
func (call *call) checkpoint(pastQuery *pastQuery) (media []string, value any, err error) {
	signed, err := call.Proofs.Checkpoint(call.request.Context(), calendar.Position(pastQuery.to))
	return valueText, signed.Note, err
}

// checkpointKeys answers which keys signed the log (HISTORY 12.4).
func (call *call) checkpointKeys(_ *pastQuery) (media []string, value any, err error) {
	newest, err := call.Proofs.Checkpoint(call.request.Context(), 0)
	if err != nil {
		return nil, nil, err
	}
	keys, err := proof.ReadKeys(&newest)
	return valueJSON, keys, err
}

// treeOf returns the newest checkpoint, and the size of the tree that a proof is for. It
// refuses one beyond that checkpoint and a number beyond the tree.
func (call *call) treeOf(ctx context.Context, pastQuery *pastQuery, name, size string, number, least int64) (newest eventstore.Checkpoint, position calendar.Position, err error) {
	if newest, err = call.Proofs.Checkpoint(ctx, 0); err != nil {
		return newest, 0, err
	}
	position = cmp.Or(calendar.Position(pastQuery.to), newest.Size)
	if position > newest.Size {
		pastQuery.problems.Add(size, calendar.ReasonRange, "1", newest.Size.String())
	}
	if most := min(position, newest.Size); number > int64(most) {
		pastQuery.problems.Add(name, calendar.ReasonRange, strconv.FormatInt(least, 10), most.String())
	}
	return newest, position, pastQuery.problems.Err()
}

// inclusion answers the proof that an entry is in the log (HISTORY 12.5).
func (call *call) inclusion(pastQuery *pastQuery) (media []string, value any, err error) {
	ctx, position := call.request.Context(), calendar.Position(pastQuery.position)
	newest, size, err := call.treeOf(ctx, pastQuery, "position", "size", pastQuery.position, 1)
	if err != nil {
		return nil, nil, err
	}
	signed, asText := newest, weightIn(call.request.Header, []string{"text/plain"}) > weightIn(call.request.Header, []string{"application/json"})
	if asText && size < newest.Size {
		if signed, err = call.Proofs.Checkpoint(ctx, size); err != nil {
			return nil, nil, err
		}
	}
	hashes, root, err := call.Proofs.Inclusion(ctx, position, size)
	if err != nil {
		return nil, nil, err
	}
	if asText {
		return valueText, proof.Text(pastQuery.position-1, hashes, signed.Note), nil
	}
	out := proof.Inclusion{Origin: newest.Origin, Position: position, Index: position - 1, Size: size, Root: root, Hashes: hashes}
	if out.Leaf, err = call.Proofs.Leaf(ctx, position); err != nil {
		return nil, nil, err
	}
	if call.mayReadPast() == nil {
		out.Opening, err = call.Proofs.Opening(ctx, call.History, call.caller, position)
	}
	return valueJSON, out, err
}

// consistency answers the proof that the log only grew (HISTORY 12.5).
func (call *call) consistency(pastQuery *pastQuery) (media []string, value any, err error) {
	newest, position, err := call.treeOf(call.request.Context(), pastQuery, "from", "to", pastQuery.from, 0)
	if err != nil {
		return nil, nil, err
	}
	out := proof.Consistency{Origin: newest.Origin, From: calendar.Position(pastQuery.from), To: position}
	out.Hashes, out.FromRoot, out.ToRoot, err = call.Proofs.Consistency(call.request.Context(), out.From, position)
	return valueJSON, out, err
}

// tile answers a tile of the tree of the newest checkpoint (HISTORY 12.2).
func (call *call) tile(_ *pastQuery) (media []string, value any, err error) {
	level, path, _ := strings.Cut(strings.TrimPrefix(call.loc.rest, "/tile/"), "/")
	t, err := proof.ParseTile(level, path)
	if err != nil {
		return nil, nil, err
	}
	newest, err := call.Proofs.Checkpoint(call.request.Context(), 0)
	if errors.Is(err, proof.ErrNoCheckpoint) {
		err = proof.ErrNoTile
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := call.Proofs.Tile(call.request.Context(), t, newest.Size)
	if err == nil && t.W == proof.TileWidth {
		call.fresh = valueForever
	}
	return valueBytes, data, err
}
