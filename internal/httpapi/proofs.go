package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/param"
	"daybook/internal/proof"
)

// patternTile takes every path, so that a wrong form of one is no tile.
const patternTile = "/tile/*"

// proofAnswer reads an answer of a row of proofs: a value that is sent as JSON, or the bytes
// of a media type.
type proofAnswer func(a *api, r *http.Request, q *proofQuery) (media []string, value any, err error)

// proofRoutes are the routes of HISTORY 12.
func proofRoutes() []*route {
	row := func(path, verb string, content openapi.Content, table param.Table[proofQuery], answer proofAnswer) *route {
		return logRoute(path, verb, func(a *api, w http.ResponseWriter, r *http.Request) error { return a.prove(w, r, table, answer) }, openapi.Operation{
			Args: append(table.Params(), languageArgument()), Headers: []string{headerEncoding}, Statuses: []int{403, 404}, Content: content,
		})
	}
	text := openapi.Media{Schema: openapi.Text()}
	tile := row(patternTile, "tile", openapi.Content{"application/octet-stream": {Schema: object{"type": "string", "format": "binary"}}}, nil, (*api).tile)
	tile.Template, tile.Key = "/tile/{level}/{tile}", `/tile/(?P<level>\d+|entries)/(?P<tile>.+)`
	tile.operations[0].Args = slices.Insert(
		tile.operations[0].Args, 0,
		param.Param{Name: "level", In: "path", Type: "string", Text: "arg.tile.level", Required: true, Schema: object{"pattern": "^([0-9]|[1-5][0-9]|6[0-3]|entries)$"}},
		param.Param{Name: "tile", In: "path", Type: "string", Text: "arg.tile.tile", Required: true},
	)
	return []*route{
		row("/checkpoint", "checkpoint", openapi.Content{"text/plain": text}, param.Table[proofQuery]{sizeRow}, (*api).checkpoint),
		row("/checkpoint/keys", "checkpointKeys", openapi.JSON(openapi.Ref("LogKeys")), nil, (*api).checkpointKeys),
		row(
			"/proof/inclusion", "inclusionProof", openapi.Content{"application/json": {Schema: openapi.Ref("InclusionProof")}, "text/plain": text},
			param.Table[proofQuery]{required(positionRow), sizeRow}, (*api).inclusion,
		),
		row("/proof/consistency", "consistencyProof", openapi.JSON(openapi.Ref("ConsistencyProof")), param.Table[proofQuery]{required(fromRow), toRow}, (*api).consistency),
		tile,
	}
}

// proofQuery is what a request for a proof asks for.
type proofQuery struct {
	position, from calendar.Position
	size           calendar.Position // of the tree; 0: that of the newest checkpoint
}

// The parameters of proofs. All have a language besides, which is read before them.
var (
	sizeRow     = proofRow("size", 1, func(q *proofQuery) *calendar.Position { return &q.size })
	positionRow = proofRow("position", 1, func(q *proofQuery) *calendar.Position { return &q.position })
	fromRow     = proofRow("from", 0, func(q *proofQuery) *calendar.Position { return &q.from })
	toRow       = proofRow("to", 1, func(q *proofQuery) *calendar.Position { return &q.size })
)

func proofRow(name string, least int64, to func(*proofQuery) *calendar.Position) param.Row[proofQuery] {
	row := param.From("arg.proof.", name, least, func(q *proofQuery, n int64) { *to(q) = calendar.Position(n) })
	if name == "to" {
		row.Text = "arg.proof.size"
	}
	return row
}

func required(row param.Row[proofQuery]) param.Row[proofQuery] {
	row.Required = true
	return row
}

// prove answers a request for a proof, which the setting allows to a caller (HISTORY 4.3).
func (a *api) prove(w http.ResponseWriter, r *http.Request, table param.Table[proofQuery], answer proofAnswer) error {
	c := callOf(r)
	c.fresh = valueAskBack
	if err := a.mayReadPast(c); err != nil && a.o.PublicHistory != PublicHistoryProofs {
		return err
	}
	var (
		q        proofQuery
		problems calendar.Problems
	)
	v := param.NewValue(inputOf(c.query, table.IsList), &problems)
	c.lang = v.Language(c.loc.lang)
	table.Read(v, &q)
	if err := cmp.Or(v.Missing(), problems.Err()); err != nil {
		return err
	}
	media, value, err := answer(a, r, &q)
	switch {
	case errors.Is(err, proof.ErrNoCheckpoint):
		return calendar.Fail(calendar.CodeNoCheckpoint, 0)
	case errors.Is(err, proof.ErrNoTile):
		return calendar.Fail(calendar.CodeNoTile, 0)
	case errors.Is(err, eventstore.ErrHistory): // it goes over to another one just now
		return calendar.Fail(calendar.CodeUnavailable, 0)
	case err != nil:
		return err
	}
	body, ready := value.([]byte)
	if !ready {
		if body, err = appendJSON(nil, value); err != nil {
			return err
		}
	}
	return a.sendAnswer(w, r, newAnswer(body, media, "", c.lang))
}

// checkpoint answers the signed head of the log (HISTORY 12.3).
func (a *api) checkpoint(r *http.Request, q *proofQuery) (media []string, value any, err error) {
	c, err := a.Proofs.Checkpoint(r.Context(), q.size)
	return valueText, c.Note, err
}

// checkpointKeys answers which keys signed the log (HISTORY 12.4).
func (a *api) checkpointKeys(r *http.Request, _ *proofQuery) (media []string, value any, err error) {
	c, err := a.Proofs.Checkpoint(r.Context(), 0)
	if err != nil {
		return nil, nil, err
	}
	keys, err := proof.ReadKeys(&c)
	return valueJSON, keys, err
}

// checkSize fills in the size of the tree that a proof is for, refuses one beyond the newest
// checkpoint and a number beyond the tree, and returns that checkpoint.
func (a *api) checkSize(ctx context.Context, q *proofQuery, size, name string, number calendar.Position, least string) (eventstore.Checkpoint, error) {
	newest, err := a.Proofs.Checkpoint(ctx, 0)
	if err != nil {
		return newest, err
	}
	q.size = cmp.Or(q.size, newest.Size)
	var problems calendar.Problems
	if q.size > newest.Size {
		problems.Add(size, calendar.ReasonRange, "1", newest.Size.String())
	}
	if most := min(q.size, newest.Size); number > most {
		problems.Add(name, calendar.ReasonRange, least, most.String())
	}
	return newest, problems.Err()
}

// inclusion answers the proof that an entry is in the log (HISTORY 12.5).
func (a *api) inclusion(r *http.Request, q *proofQuery) (media []string, value any, err error) {
	ctx := r.Context()
	newest, err := a.checkSize(ctx, q, "size", "position", q.position, "1")
	if err != nil {
		return nil, nil, err
	}
	signed, asText := newest, weightIn(r.Header, []string{"text/plain"}) > weightIn(r.Header, []string{"application/json"})
	if asText && q.size < newest.Size {
		if signed, err = a.Proofs.Checkpoint(ctx, q.size); err != nil {
			return nil, nil, err
		}
	}
	hashes, root, err := a.Proofs.Inclusion(ctx, q.position, q.size)
	if err != nil {
		return nil, nil, err
	}
	if asText {
		return valueText, proof.Text(int64(q.position)-1, hashes, signed.Note), nil
	}
	out := proof.Inclusion{Origin: newest.Origin, Position: q.position, Index: q.position - 1, Size: q.size, Root: root, Hashes: hashes}
	if out.Leaf, err = a.Proofs.Leaf(ctx, q.position); err != nil {
		return nil, nil, err
	}
	if c := callOf(r); a.mayReadPast(c) == nil {
		out.Opening, err = a.Proofs.Opening(ctx, a.History, c.caller, q.position)
	}
	return valueJSON, out, err
}

// consistency answers the proof that the log only grew (HISTORY 12.5).
func (a *api) consistency(r *http.Request, q *proofQuery) (media []string, value any, err error) {
	newest, err := a.checkSize(r.Context(), q, "to", "from", q.from, "0")
	if err != nil {
		return nil, nil, err
	}
	out := proof.Consistency{Origin: newest.Origin, From: q.from, To: q.size}
	out.Hashes, out.FromRoot, out.ToRoot, err = a.Proofs.Consistency(r.Context(), q.from, q.size)
	return valueJSON, out, err
}

// tile answers a tile of the tree of the newest checkpoint (HISTORY 12.2).
func (a *api) tile(r *http.Request, _ *proofQuery) (media []string, value any, err error) {
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
