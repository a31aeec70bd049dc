package httpapi

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/internal/proof"
)

// proofAnswer reads the answer to a request for a proof: a value that is sent as JSON, or the
// bytes of a media type.
type proofAnswer func(c *call, q *pastQuery) (media []string, value any, err error)

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

func sizeOf(q *pastQuery) *int64 { return &q.to }

// prove makes the answer to a request for a proof.
func (read proofAnswer) prove(_ context.Context, c *call, q *pastQuery) (*answer, error) {
	media, value, err := read(c, q)
	switch {
	case errors.Is(err, proof.ErrNoCheckpoint):
		return nil, calendar.Fail(calendar.CodeNoCheckpoint, 0)
	case errors.Is(err, proof.ErrNoTile):
		return nil, calendar.Fail(calendar.CodeNoTile, 0)
	case errors.Is(err, eventstore.ErrHistory): // it goes over to another one just now
		return nil, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	body, ready := value.([]byte)
	if err == nil && !ready {
		body, err = history.Marshal(value)
	}
	if err != nil {
		return nil, err
	}
	return newAnswer(body, media, "", q.lang), nil
}

// checkpoint answers the signed head of the log (HISTORY 12.3).
func (c *call) checkpoint(q *pastQuery) (media []string, value any, err error) {
	signed, err := c.Proofs.Checkpoint(c.r.Context(), calendar.Position(q.to))
	return valueText, signed.Note, err
}

// checkpointKeys answers which keys signed the log (HISTORY 12.4).
func (c *call) checkpointKeys(_ *pastQuery) (media []string, value any, err error) {
	newest, err := c.Proofs.Checkpoint(c.r.Context(), 0)
	if err != nil {
		return nil, nil, err
	}
	keys, err := proof.ReadKeys(&newest)
	return valueJSON, keys, err
}

// treeOf returns the newest checkpoint, and the size of the tree that a proof is for. It
// refuses one beyond that checkpoint and a number beyond the tree.
func (c *call) treeOf(ctx context.Context, q *pastQuery, name, size string, number, least int64) (newest eventstore.Checkpoint, to calendar.Position, err error) {
	if newest, err = c.Proofs.Checkpoint(ctx, 0); err != nil {
		return newest, 0, err
	}
	to = cmp.Or(calendar.Position(q.to), newest.Size)
	if to > newest.Size {
		q.problems.Add(size, calendar.ReasonRange, "1", newest.Size.String())
	}
	if most := min(to, newest.Size); number > int64(most) {
		q.problems.Add(name, calendar.ReasonRange, strconv.FormatInt(least, 10), most.String())
	}
	return newest, to, q.problems.Err()
}

// inclusion answers the proof that an entry is in the log (HISTORY 12.5).
func (c *call) inclusion(q *pastQuery) (media []string, value any, err error) {
	ctx, position := c.r.Context(), calendar.Position(q.position)
	newest, size, err := c.treeOf(ctx, q, "position", "size", q.position, 1)
	if err != nil {
		return nil, nil, err
	}
	signed, asText := newest, weightIn(c.r.Header, []string{"text/plain"}) > weightIn(c.r.Header, []string{"application/json"})
	if asText && size < newest.Size {
		if signed, err = c.Proofs.Checkpoint(ctx, size); err != nil {
			return nil, nil, err
		}
	}
	hashes, root, err := c.Proofs.Inclusion(ctx, position, size)
	if err != nil {
		return nil, nil, err
	}
	if asText {
		return valueText, proof.Text(q.position-1, hashes, signed.Note), nil
	}
	out := proof.Inclusion{Origin: newest.Origin, Position: position, Index: position - 1, Size: size, Root: root, Hashes: hashes}
	if out.Leaf, err = c.Proofs.Leaf(ctx, position); err != nil {
		return nil, nil, err
	}
	if c.mayReadPast() == nil {
		out.Opening, err = c.Proofs.Opening(ctx, c.History, c.caller, position)
	}
	return valueJSON, out, err
}

// consistency answers the proof that the log only grew (HISTORY 12.5).
func (c *call) consistency(q *pastQuery) (media []string, value any, err error) {
	newest, to, err := c.treeOf(c.r.Context(), q, "from", "to", q.from, 0)
	if err != nil {
		return nil, nil, err
	}
	out := proof.Consistency{Origin: newest.Origin, From: calendar.Position(q.from), To: to}
	out.Hashes, out.FromRoot, out.ToRoot, err = c.Proofs.Consistency(c.r.Context(), out.From, to)
	return valueJSON, out, err
}

// tile answers a tile of the tree of the newest checkpoint (HISTORY 12.2).
func (c *call) tile(_ *pastQuery) (media []string, value any, err error) {
	level, path, _ := strings.Cut(strings.TrimPrefix(c.loc.rest, "/tile/"), "/")
	t, err := proof.ParseTile(level, path)
	if err != nil {
		return nil, nil, err
	}
	newest, err := c.Proofs.Checkpoint(c.r.Context(), 0)
	if errors.Is(err, proof.ErrNoCheckpoint) {
		err = proof.ErrNoTile
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := c.Proofs.Tile(c.r.Context(), t, newest.Size)
	if err == nil && t.W == proof.TileWidth {
		c.fresh = valueForever
	}
	return valueBytes, data, err
}
