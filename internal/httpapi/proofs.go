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
func (asked *readParams) plain(value any) *answer {
	return asked.newAnswer(formats.AppendJSON(nil, value), valueJSON, "")
}

// checkpoint answers the signed head of the log (HISTORY 12.3).
func (asked *readParams) checkpoint(ctx context.Context) (*answer, error) {
	signed, err := asked.Proofs.Checkpoint(ctx, calendar.Position(asked.numbers["size"]))
	return asked.newAnswer(signed.Note, valueText, ""), err
}

// checkpointKeys answers which keys signed the log (HISTORY 12.4).
func (asked *readParams) checkpointKeys(ctx context.Context) (*answer, error) {
	newest, err := asked.Proofs.Checkpoint(ctx, 0)
	if err != nil {
		return nil, err
	}
	keys, err := proof.ReadKeys(&newest)
	return asked.plain(keys), err
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
func (asked *readParams) inclusion(ctx context.Context) (*answer, error) {
	position := calendar.Position(asked.numbers["position"])
	newest, size, err := asked.treeOf(ctx, "position", "size", 1)
	if err != nil {
		return nil, err
	}
	signed, asText := newest, asked.prefers("text/plain")
	if asText && size < newest.Size {
		if signed, err = asked.Proofs.Checkpoint(ctx, size); err != nil {
			return nil, err
		}
	}
	hashes, root, err := asked.Proofs.Inclusion(ctx, position, size)
	if err != nil {
		return nil, err
	}
	if asText {
		return asked.newAnswer(proof.Text(int64(position)-1, hashes, signed.Note), valueText, ""), nil
	}
	inclusion := proof.Inclusion{Origin: newest.Origin, Position: position, Index: position - 1, Size: size, Root: root, Hashes: hashes}
	if inclusion.Leaf, err = asked.Proofs.Leaf(ctx, position); err != nil {
		return nil, err
	}
	if asked.mayReadPast() == nil {
		inclusion.Opening, err = asked.Proofs.Opening(ctx, asked.History, asked.caller, position)
	}
	return asked.plain(inclusion), err
}

// consistency answers the proof that the log only grew (HISTORY 12.5).
func (asked *readParams) consistency(ctx context.Context) (*answer, error) {
	newest, position, err := asked.treeOf(ctx, "from", "to", 0)
	if err != nil {
		return nil, err
	}
	consistency := proof.Consistency{Origin: newest.Origin, From: calendar.Position(asked.numbers["from"]), To: position}
	consistency.Hashes, consistency.FromRoot, consistency.ToRoot, err = asked.Proofs.Consistency(ctx, consistency.From, position)
	return asked.plain(consistency), err
}

// tile answers a tile of the tree of the newest checkpoint (HISTORY 12.2).
func (asked *readParams) tile(ctx context.Context) (*answer, error) {
	level, path, _ := strings.Cut(strings.TrimPrefix(asked.location.rest, "/tile/"), "/")
	t, err := proof.ParseTile(level, path)
	if err != nil {
		return nil, err
	}
	newest, err := asked.Proofs.Checkpoint(ctx, 0)
	if errors.Is(err, proof.ErrNoCheckpoint) {
		err = proof.ErrNoTile
	}
	if err != nil {
		return nil, err
	}
	data, err := asked.Proofs.Tile(ctx, t, newest.Size)
	if err == nil && t.W == proof.TileWidth {
		asked.fresh = valueForever
	}
	return asked.newAnswer(data, valueBytes, ""), err
}
