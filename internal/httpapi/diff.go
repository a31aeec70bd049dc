package httpapi

import (
	"context"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/param"
)

const jsonPatch = "application/json-patch+json"

var valueJSONPatch = []string{jsonPatch}

// diffTable are the parameters of the difference of two versions (HISTORY 9).
var diffTable = toldTable{
	versionRow("from", func(q *toldQuery) *int64 { return &q.after }),
	versionRow("to", func(q *toldQuery) *int64 { return &q.before }),
	recordsRow(),
	languageRow,
}

func versionRow(name string, to func(q *toldQuery) *int64) toldRow {
	return param.From("arg.told.", name, 1, func(q *toldQuery, n int64) { *to(q) = n })
}

func recordsRow() toldRow {
	p := toldParam("records", "boolean")
	p.Default, p.Schema = "false", object{"default": false}
	return toldRow{Param: p, Read: func(q *toldQuery, v *param.Value) {
		sent, asked := v.Sent()
		value, ok := calendar.ParseBool(sent)
		if asked && !ok {
			v.Refuse(calendar.ReasonTypeBool)
		}
		q.records = value
	}}
}

func diffRoute(k calendar.Kind) *route {
	return pastRoute(k, "diff", (*call).diff, openapi.Operation{
		Args: diffTable.Params(), Headers: []string{"ETag", headerGroups},
		Content: openapi.Content{"application/json": {Schema: openapi.Ref("Diff")}, jsonPatch: {Schema: openapi.Ref("JSONPatch")}},
	})
}

// diff answers the difference of two versions (HISTORY 9).
func (c *call) diff() error {
	c.fresh = valueAskBack
	if err := c.mayReadPast(); err != nil {
		return err
	}
	var problems calendar.Problems
	q, in := c.readTold(diffTable, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	to := q.before
	if to == noBefore {
		if _, sent := in["to"]; !sent {
			to = 0
		}
	}
	id := c.targetOf().id
	return c.read(&question{turns: c.past, smaller: []string{"from", "to"}, make: func(ctx context.Context, _ stated) (*answer, error) {
		d, err := c.History.Diff(ctx, c.viewer(), c.route.kind, id, q.after, to)
		if err != nil {
			return nil, err
		}
		var shown any = d.Patch
		media := valueJSONPatch
		if weightIn(c.r.Header, []string{jsonPatch}) <= weightIn(c.r.Header, entryFormats[0].media) {
			if !q.records {
				d.From.Record, d.To.Record = nil, nil
			}
			media, shown = valueJSON, d
		}
		body, err := appendJSON(nil, shown)
		if err == nil {
			err = c.fits(body)
		}
		if err != nil {
			return nil, err
		}
		ans := newAnswer(body, media, c.weakTag(string(body)), c.lang)
		groups, whole := groupsOf(id, d.Named)
		ans.add(headerGroups, groups)
		if q.after > 0 && to > 0 && whole {
			c.fresh = c.permanent
		}
		return ans, nil
	}})
}
