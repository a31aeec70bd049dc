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

// proofRoutes are the routes of HISTORY 12.
func proofRoutes() []*route {
	row := func(path, verb string, content openapi.Content, do work, args ...param.Param) *route {
		return logRoute(path, verb, func(a *api, w http.ResponseWriter, r *http.Request) error {
			c := callOf(r)
			c.fresh = valueAskBack
			if err := a.mayReadProofs(c); err != nil {
				return err
			}
			return do(a, w, r)
		}, openapi.Operation{
			Args: append(slices.Clip(args), languageArgument()), Headers: []string{headerEncoding}, Statuses: []int{403, 404}, Content: content,
		})
	}
	text := openapi.Media{Schema: openapi.Text()}
	tile := row(
		patternTile, "tile", openapi.Content{"application/octet-stream": {Schema: object{"type": "string", "format": "binary"}}}, (*api).tile,
		param.Param{Name: "level", In: "path", Type: "string", Text: "arg.tile.level", Required: true, Schema: object{"pattern": "^([0-9]|[1-5][0-9]|6[0-3]|entries)$"}},
		param.Param{Name: "tile", In: "path", Type: "string", Text: "arg.tile.tile", Required: true},
	)
	tile.Template, tile.Key = "/tile/{level}/{tile}", `/tile/(?P<level>\d+|entries)/(?P<tile>.+)`
	return []*route{
		row("/checkpoint", "checkpoint", openapi.Content{"text/plain": text}, (*api).checkpoint, checkpointTable.Params()...),
		row("/checkpoint/keys", "checkpointKeys", openapi.JSON(openapi.Ref("LogKeys")), (*api).checkpointKeys),
		row(
			"/proof/inclusion", "inclusionProof", openapi.Content{"application/json": {Schema: openapi.Ref("InclusionProof")}, "text/plain": text}, (*api).inclusion,
			inclusionTable.Params()...,
		),
		row("/proof/consistency", "consistencyProof", openapi.JSON(openapi.Ref("ConsistencyProof")), (*api).consistency, consistencyTable.Params()...),
		tile,
	}
}

// mayReadProofs tells whether the setting lets a caller read proofs (HISTORY 4.3).
func (a *api) mayReadProofs(c *call) error {
	if a.o.PublicHistory == PublicHistoryProofs {
		return nil
	}
	return a.mayReadPast(c)
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

	checkpointTable  = param.Table[proofQuery]{sizeRow}
	inclusionTable   = param.Table[proofQuery]{required(positionRow), sizeRow}
	consistencyTable = param.Table[proofQuery]{required(fromRow), toRow}
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

// readProof reads the parameters of a proof.
func (c *call) readProof(table param.Table[proofQuery]) (q proofQuery, err error) {
	var problems calendar.Problems
	in := inputOf(c.query, table.IsList)
	c.lang = calendar.Language(in, c.loc.lang, &problems)
	v := param.NewValue(in, &problems)
	table.Read(v, &q)
	if err := v.Missing(); err != nil {
		return q, err
	}
	return q, problems.Err()
}

// upTo refuses a number above a greatest one.
func upTo(problems *calendar.Problems, name string, n, most calendar.Position, least string) {
	if n > most {
		problems.Add(name, calendar.ReasonRange, least, most.String())
	}
}

// proofError is what a client gets to know of an error of Proofs.
func proofError(err error) error {
	switch {
	case errors.Is(err, proof.ErrNoCheckpoint):
		return calendar.Fail(calendar.CodeNoCheckpoint, 0)
	case errors.Is(err, proof.ErrNoTile):
		return calendar.Fail(calendar.CodeNoTile, 0)
	case errors.Is(err, eventstore.ErrHistory): // it goes over to another one just now
		return calendar.Fail(calendar.CodeUnavailable, 0)
	default:
		return err
	}
}

// sendProof sends an answer to a reader of proofs.
func (a *api) sendProof(w http.ResponseWriter, r *http.Request, media []string, body []byte) error {
	h := w.Header()
	h[headerLanguage] = []string{callOf(r).lang.Tag()}
	h[headerType] = media
	a.send(w, r, http.StatusOK, body)
	return nil
}

func (a *api) sendProofJSON(w http.ResponseWriter, r *http.Request, v any) error {
	b, err := appendJSON(nil, v)
	if err != nil {
		return err
	}
	return a.sendProof(w, r, valueJSON, b)
}

// checkpoint answers the signed head of the log (HISTORY 12.3).
func (a *api) checkpoint(w http.ResponseWriter, r *http.Request) error {
	q, err := callOf(r).readProof(checkpointTable)
	if err != nil {
		return err
	}
	c, err := a.Proofs.Checkpoint(r.Context(), q.size)
	if err != nil {
		return proofError(err)
	}
	return a.sendProof(w, r, valueText, c.Note)
}

// checkpointKeys answers which keys signed the log (HISTORY 12.4).
func (a *api) checkpointKeys(w http.ResponseWriter, r *http.Request) error {
	if _, err := callOf(r).readProof(nil); err != nil {
		return err
	}
	c, err := a.Proofs.Checkpoint(r.Context(), 0)
	if err != nil {
		return proofError(err)
	}
	keys, err := proof.ReadKeys(&c)
	if err != nil {
		return err
	}
	return a.sendProofJSON(w, r, keys)
}

// newestFor returns the newest checkpoint, which no proof goes beyond, and fills in the size
// of the tree that a proof is for.
func (a *api) newestFor(ctx context.Context, q *proofQuery, name string, problems *calendar.Problems) (eventstore.Checkpoint, error) {
	newest, err := a.Proofs.Checkpoint(ctx, 0)
	if err != nil {
		return newest, proofError(err)
	}
	q.size = cmp.Or(q.size, newest.Size)
	upTo(problems, name, q.size, newest.Size, "1")
	return newest, nil
}

// inclusion answers the proof that an entry is in the log (HISTORY 12.5).
func (a *api) inclusion(w http.ResponseWriter, r *http.Request) error {
	c, ctx := callOf(r), r.Context()
	q, err := c.readProof(inclusionTable)
	if err != nil {
		return err
	}
	var problems calendar.Problems
	newest, err := a.newestFor(ctx, &q, "size", &problems)
	if err != nil {
		return err
	}
	position, size := q.position, q.size
	upTo(&problems, "position", position, min(size, newest.Size), "1")
	if err := problems.Err(); err != nil {
		return err
	}
	signed := newest
	if wantsText(r.Header) && size < newest.Size {
		if signed, err = a.Proofs.Checkpoint(ctx, size); err != nil {
			return proofError(err)
		}
	}
	hashes, root, err := a.Proofs.Inclusion(ctx, position, size)
	if err != nil {
		return proofError(err)
	}
	if wantsText(r.Header) {
		return a.sendProof(w, r, valueText, proof.Text(int64(position)-1, hashes, signed.Note))
	}
	out := proof.Inclusion{Origin: newest.Origin, Position: position, Index: position - 1, Size: size, Root: root, Hashes: hashes}
	if out.Leaf, err = a.Proofs.Leaf(ctx, position); err != nil {
		return proofError(err)
	}
	if a.mayReadPast(c) == nil {
		if out.Opening, err = a.Proofs.Opening(ctx, c.caller, position, a.o.Now()); err != nil {
			return proofError(err)
		}
	}
	return a.sendProofJSON(w, r, out)
}

// wantsText tells whether Accept weighs text/plain more than JSON.
func wantsText(h http.Header) bool {
	return weightIn(h, []string{"text/plain"}) > weightIn(h, []string{"application/json"})
}

// consistency answers the proof that the log only grew (HISTORY 12.5).
func (a *api) consistency(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	q, err := callOf(r).readProof(consistencyTable)
	if err != nil {
		return err
	}
	var problems calendar.Problems
	newest, err := a.newestFor(ctx, &q, "to", &problems)
	if err != nil {
		return err
	}
	from, to := q.from, q.size
	upTo(&problems, "from", from, min(to, newest.Size), "0")
	if err := problems.Err(); err != nil {
		return err
	}
	out := proof.Consistency{Origin: newest.Origin, From: from, To: to}
	var fromRoot, toRoot proof.Hash
	if out.Hashes, fromRoot, toRoot, err = a.Proofs.Consistency(ctx, from, to); err != nil {
		return proofError(err)
	}
	out.FromRoot, out.ToRoot = fromRoot, toRoot
	return a.sendProofJSON(w, r, out)
}

// tile answers a tile of the tree of the newest checkpoint (HISTORY 12.2).
func (a *api) tile(w http.ResponseWriter, r *http.Request) error {
	c, ctx := callOf(r), r.Context()
	if _, err := c.readProof(nil); err != nil {
		return err
	}
	level, path, _ := strings.Cut(strings.TrimPrefix(c.loc.rest, strings.TrimSuffix(patternTile, "*")), "/")
	t, err := proof.ParseTile(level, path)
	if err != nil {
		return proofError(err)
	}
	newest, err := a.Proofs.Checkpoint(ctx, 0)
	if errors.Is(err, proof.ErrNoCheckpoint) {
		err = proof.ErrNoTile
	}
	if err != nil {
		return proofError(err)
	}
	b, err := a.Proofs.Tile(ctx, t, newest.Size)
	if err != nil {
		return proofError(err)
	}
	if t.W == proof.TileWidth {
		c.fresh = valueForever
	}
	return a.sendProof(w, r, valueBytes, b)
}
