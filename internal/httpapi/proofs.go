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
type proofAnswer func(asked *readParams) (media []string, value any, err error)

// proofRead is a read of a proof.
func proofRead(read proofAnswer) *pastRead {
	return &pastRead{proof: true, answer: func(asked *readParams, _ context.Context) (*answer, error) { return asked.prove(read) }}
}

// prove makes the answer to a request for a proof.
func (asked *readParams) prove(read proofAnswer) (*answer, error) {
	media, value, err := read(asked)
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
	return newAnswer(body, media, "", asked.lang), nil
}

// checkpoint answers the signed head of the log (HISTORY 12.3).
func (asked *readParams) checkpoint() (media []string, value any, err error) {
	signed, err := asked.Proofs.Checkpoint(asked.request.Context(), calendar.Position(asked.numbers["size"]))
	return valueText, signed.Note, err
}

// checkpointKeys answers which keys signed the log (HISTORY 12.4).
func (asked *readParams) checkpointKeys() (media []string, value any, err error) {
	newest, err := asked.Proofs.Checkpoint(asked.request.Context(), 0)
	if err != nil {
		return nil, nil, err
	}
	keys, err := proof.ReadKeys(&newest)
	return valueJSON, keys, err
}

// treeOf returns the newest checkpoint, and the size of the tree that a proof is for. It
// refuses one beyond that checkpoint and a number beyond the tree.
func (asked *readParams) treeOf(ctx context.Context, name, size string, least int64) (newest eventstore.Checkpoint, position calendar.Position, err error) {
	if newest, err = asked.Proofs.Checkpoint(ctx, 0); err != nil {
		return newest, 0, err
	}
	position = cmp.Or(calendar.Position(asked.numbers[size]), newest.Size)
	if position > newest.Size {
		asked.problems.Add(size, calendar.ReasonRange, "1", newest.Size.String())
	}
	if most := min(position, newest.Size); asked.numbers[name] > int64(most) {
		asked.problems.Add(name, calendar.ReasonRange, strconv.FormatInt(least, 10), most.String())
	}
	return newest, position, asked.problems.Err()
}

// inclusion answers the proof that an entry is in the log (HISTORY 12.5).
func (asked *readParams) inclusion() (media []string, value any, err error) {
	ctx, position := asked.request.Context(), calendar.Position(asked.numbers["position"])
	newest, size, err := asked.treeOf(ctx, "position", "size", 1)
	if err != nil {
		return nil, nil, err
	}
	signed, asText := newest, weightIn(asked.request.Header, []string{"text/plain"}) > weightIn(asked.request.Header, []string{"application/json"})
	if asText && size < newest.Size {
		if signed, err = asked.Proofs.Checkpoint(ctx, size); err != nil {
			return nil, nil, err
		}
	}
	hashes, root, err := asked.Proofs.Inclusion(ctx, position, size)
	if err != nil {
		return nil, nil, err
	}
	if asText {
		return valueText, proof.Text(int64(position)-1, hashes, signed.Note), nil
	}
	out := proof.Inclusion{Origin: newest.Origin, Position: position, Index: position - 1, Size: size, Root: root, Hashes: hashes}
	if out.Leaf, err = asked.Proofs.Leaf(ctx, position); err != nil {
		return nil, nil, err
	}
	if asked.mayReadPast() == nil {
		out.Opening, err = asked.Proofs.Opening(ctx, asked.History, asked.caller, position)
	}
	return valueJSON, out, err
}

// consistency answers the proof that the log only grew (HISTORY 12.5).
func (asked *readParams) consistency() (media []string, value any, err error) {
	newest, position, err := asked.treeOf(asked.request.Context(), "from", "to", 0)
	if err != nil {
		return nil, nil, err
	}
	out := proof.Consistency{Origin: newest.Origin, From: calendar.Position(asked.numbers["from"]), To: position}
	out.Hashes, out.FromRoot, out.ToRoot, err = asked.Proofs.Consistency(asked.request.Context(), out.From, position)
	return valueJSON, out, err
}

// tile answers a tile of the tree of the newest checkpoint (HISTORY 12.2).
func (asked *readParams) tile() (media []string, value any, err error) {
	level, path, _ := strings.Cut(strings.TrimPrefix(asked.loc.rest, "/tile/"), "/")
	t, err := proof.ParseTile(level, path)
	if err != nil {
		return nil, nil, err
	}
	newest, err := asked.Proofs.Checkpoint(asked.request.Context(), 0)
	if errors.Is(err, proof.ErrNoCheckpoint) {
		err = proof.ErrNoTile
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := asked.Proofs.Tile(asked.request.Context(), t, newest.Size)
	if err == nil && t.W == proof.TileWidth {
		asked.fresh = valueForever
	}
	return valueBytes, data, err
}
