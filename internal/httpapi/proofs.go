package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/param"
	"daybook/internal/proof"
)

// patternTile takes every path, so that a wrong form of one is no tile.
const patternTile = "/tile/*"

// proofAnswer reads the answer to a request for a proof: a value that is sent as JSON, or the
// bytes of a media type.
type proofAnswer func(a *api, r *http.Request, q *pastQuery) (media []string, value any, err error)

// proofRoutes are the routes of HISTORY 12.
func proofRoutes() []*route {
	row := func(path, verb string, content openapi.Content, read proofAnswer, rows ...pastRow) *route {
		of := &pastRead{table: append(rows, languageRow), answer: read.prove, proof: true}
		return logRoute(path, verb, of.serve, openapi.Operation{
			Args: of.table.Params(), Headers: []string{headerEncoding}, Statuses: []int{403, 404}, Content: content,
		})
	}
	text := openapi.Media{Schema: openapi.Text()}
	size, to := proofRow("size", "size", 1, func(q *pastQuery) *int64 { return &q.to }), proofRow("to", "size", 1, func(q *pastQuery) *int64 { return &q.to })
	position := proofRow("position", "position", 1, func(q *pastQuery) *int64 { return &q.position })
	from := proofRow("from", "from", 0, func(q *pastQuery) *int64 { return &q.from })
	position.Required, from.Required = true, true
	tile := row(patternTile, "tile", openapi.Content{"application/octet-stream": {Schema: object{"type": "string", "format": "binary"}}}, (*api).tile)
	tile.Template, tile.Key = "/tile/{level}/{tile}", `/tile/(?P<level>\d+|entries)/(?P<tile>.+)`
	tile.operations[0].Args = slices.Insert(
		tile.operations[0].Args, 0,
		param.Param{Name: "level", In: "path", Type: "string", Text: "arg.tile.level", Required: true, Schema: object{"pattern": "^([0-9]|[1-5][0-9]|6[0-3]|entries)$"}},
		param.Param{Name: "tile", In: "path", Type: "string", Text: "arg.tile.tile", Required: true},
	)
	return []*route{
		row("/checkpoint", "checkpoint", openapi.Content{"text/plain": text}, (*api).checkpoint, size),
		row("/checkpoint/keys", "checkpointKeys", openapi.JSON(openapi.Ref("LogKeys")), (*api).checkpointKeys),
		row("/proof/inclusion", "inclusionProof", openapi.Content{"application/json": {Schema: openapi.Ref("InclusionProof")}, "text/plain": text}, (*api).inclusion, position, size),
		row("/proof/consistency", "consistencyProof", openapi.JSON(openapi.Ref("ConsistencyProof")), (*api).consistency, from, to),
		tile,
	}
}

func proofRow(name, text string, least int64, to func(*pastQuery) *int64) pastRow {
	row := numberRow(name, least, to)
	row.Text = "arg.proof." + text
	return row
}

// prove makes the answer to a request for a proof.
func (read proofAnswer) prove(a *api, _ context.Context, r *http.Request, q *pastQuery) (*answer, error) {
	media, value, err := read(a, r, q)
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
func (a *api) checkpoint(r *http.Request, q *pastQuery) (media []string, value any, err error) {
	c, err := a.Proofs.Checkpoint(r.Context(), calendar.Position(q.to))
	return valueText, c.Note, err
}

// checkpointKeys answers which keys signed the log (HISTORY 12.4).
func (a *api) checkpointKeys(r *http.Request, _ *pastQuery) (media []string, value any, err error) {
	c, err := a.Proofs.Checkpoint(r.Context(), 0)
	if err != nil {
		return nil, nil, err
	}
	keys, err := proof.ReadKeys(&c)
	return valueJSON, keys, err
}

// treeOf returns the newest checkpoint, and the size of the tree that a proof is for. It
// refuses one beyond that checkpoint and a number beyond the tree.
func (a *api) treeOf(ctx context.Context, q *pastQuery, name, size string, number, least int64) (newest eventstore.Checkpoint, to calendar.Position, err error) {
	if newest, err = a.Proofs.Checkpoint(ctx, 0); err != nil {
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
func (a *api) inclusion(r *http.Request, q *pastQuery) (media []string, value any, err error) {
	ctx, position := r.Context(), calendar.Position(q.position)
	newest, size, err := a.treeOf(ctx, q, "position", "size", q.position, 1)
	if err != nil {
		return nil, nil, err
	}
	signed, asText := newest, weightIn(r.Header, []string{"text/plain"}) > weightIn(r.Header, []string{"application/json"})
	if asText && size < newest.Size {
		if signed, err = a.Proofs.Checkpoint(ctx, size); err != nil {
			return nil, nil, err
		}
	}
	hashes, root, err := a.Proofs.Inclusion(ctx, position, size)
	if err != nil {
		return nil, nil, err
	}
	if asText {
		return valueText, proof.Text(q.position-1, hashes, signed.Note), nil
	}
	out := proof.Inclusion{Origin: newest.Origin, Position: position, Index: position - 1, Size: size, Root: root, Hashes: hashes}
	if out.Leaf, err = a.Proofs.Leaf(ctx, position); err != nil {
		return nil, nil, err
	}
	if c := callOf(r); a.mayReadPast(c) == nil {
		out.Opening, err = a.Proofs.Opening(ctx, a.History, c.caller, position)
	}
	return valueJSON, out, err
}

// consistency answers the proof that the log only grew (HISTORY 12.5).
func (a *api) consistency(r *http.Request, q *pastQuery) (media []string, value any, err error) {
	newest, to, err := a.treeOf(r.Context(), q, "from", "to", q.from, 0)
	if err != nil {
		return nil, nil, err
	}
	out := proof.Consistency{Origin: newest.Origin, From: calendar.Position(q.from), To: to}
	out.Hashes, out.FromRoot, out.ToRoot, err = a.Proofs.Consistency(r.Context(), out.From, to)
	return valueJSON, out, err
}

// tile answers a tile of the tree of the newest checkpoint (HISTORY 12.2).
func (a *api) tile(r *http.Request, _ *pastQuery) (media []string, value any, err error) {
	c := callOf(r)
	level, path, _ := strings.Cut(strings.TrimPrefix(c.loc.rest, strings.TrimSuffix(patternTile, "*")), "/")
	t, err := proof.ParseTile(level, path)
	if err != nil {
		return nil, nil, err
	}
	newest, err := a.Proofs.Checkpoint(r.Context(), 0)
	if errors.Is(err, proof.ErrNoCheckpoint) {
		err = proof.ErrNoTile
	}
	if err != nil {
		return nil, nil, err
	}
	b, err := a.Proofs.Tile(r.Context(), t, newest.Size)
	if err == nil && t.W == proof.TileWidth {
		c.fresh = valueForever
	}
	return valueBytes, b, err
}
