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

// plain is an answer with a value as JSON.
func (call *call) plain(value any) *answer {
	return call.newAnswer(formats.AppendJSON(nil, value), valueJSON, "")
}

// checkpoint answers the signed head of the log (HISTORY 12.3).
func (call *call) checkpoint(ctx context.Context) (*answer, error) {
	signed, err := call.Proofs.Checkpoint(ctx, calendar.Position(call.numbers["size"]))
	return call.newAnswer(signed.Note, valueText, ""), err
}

// checkpointKeys answers which keys signed the log (HISTORY 12.4).
func (call *call) checkpointKeys(ctx context.Context) (*answer, error) {
	newest, err := call.Proofs.Checkpoint(ctx, 0)
	if err != nil {
		return nil, err
	}
	keys, err := proof.ReadKeys(&newest)
	return call.plain(keys), err
}

// treeOf returns the newest checkpoint, and the size of the tree that a proof is for. It
// refuses one beyond that checkpoint and a number beyond the tree.
func (call *call) treeOf(ctx context.Context, name, size string, least int64) (newest eventstore.Checkpoint, position calendar.Position, err error) {
	if newest, err = call.Proofs.Checkpoint(ctx, 0); err != nil {
		return newest, 0, err
	}
	position = cmp.Or(calendar.Position(call.numbers[size]), newest.Size)
	if position > newest.Size {
		call.problems.Add(size, calendar.ReasonRange, "1", newest.Size.String())
	}
	if most := min(position, newest.Size); call.numbers[name] > int64(most) {
		call.problems.Add(name, calendar.ReasonRange, strconv.FormatInt(least, 10), most.String())
	}
	return newest, position, call.problems.Err()
}

// inclusion answers the proof that an entry is in the log (HISTORY 12.5).
func (call *call) inclusion(ctx context.Context) (*answer, error) {
	position := calendar.Position(call.numbers["position"])
	newest, size, err := call.treeOf(ctx, "position", "size", 1)
	if err != nil {
		return nil, err
	}
	signed, asText := newest, call.prefers("text/plain")
	if asText && size < newest.Size {
		if signed, err = call.Proofs.Checkpoint(ctx, size); err != nil {
			return nil, err
		}
	}
	inclusion, err := call.Proofs.Inclusion(ctx, position, size)
	if err != nil {
		return nil, err
	}
	if asText {
		return call.newAnswer(inclusion.Text(signed.Note), valueText, ""), nil
	}
	if inclusion.Origin = newest.Origin; call.mayReadPast() == nil {
		inclusion.Opening, err = call.Proofs.Opening(ctx, call.History, call.caller, position)
	}
	return call.plain(inclusion), err
}

// consistency answers the proof that the log only grew (HISTORY 12.5).
func (call *call) consistency(ctx context.Context) (*answer, error) {
	newest, position, err := call.treeOf(ctx, "from", "to", 0)
	if err != nil {
		return nil, err
	}
	consistency, err := call.Proofs.Consistency(ctx, calendar.Position(call.numbers["from"]), position)
	consistency.Origin = newest.Origin
	return call.plain(consistency), err
}

// tile answers a tile of the tree of the newest checkpoint (HISTORY 12.2).
func (call *call) tile(ctx context.Context) (*answer, error) {
	level, path, _ := strings.Cut(strings.TrimPrefix(call.location.rest, "/tile/"), "/")
	t, err := proof.ParseTile(level, path)
	if err != nil {
		return nil, err
	}
	newest, err := call.Proofs.Checkpoint(ctx, 0)
	if errors.Is(err, proof.ErrNoCheckpoint) {
		err = proof.ErrNoTile
	}
	if err != nil {
		return nil, err
	}
	data, err := call.Proofs.Tile(ctx, t, newest.Size)
	if err == nil && t.W == proof.TileWidth {
		call.fresh = valueForever
	}
	return call.newAnswer(data, valueBytes, ""), err
}
