package httpapi

import (
	"context"

	"daybook/internal/history"
	"daybook/internal/param"
)

const jsonPatch = "application/json-patch+json"

var valueJSONPatch = []string{jsonPatch}

// diffRead is the difference of two versions (HISTORY 9).
var diffRead = pastRead{
	table: pastTable{
		numberRow("from", 1, func(q *pastQuery) *int64 { return &q.from }),
		numberRow("to", 1, func(q *pastQuery) *int64 { return &q.to }),
		recordsRow(),
		languageRow,
	},
	answer: answerDiff, smaller: []string{"from", "to"},
}

func recordsRow() pastRow {
	row := pastRowOf("records", "boolean", func(q *pastQuery, value *param.Value) { q.records, _ = value.Bool() })
	row.Default, row.Schema = "false", object{"default": false}
	return row
}

// diff answers the difference of two versions.
func answerDiff(ctx context.Context, c *call, q *pastQuery) (*answer, error) {
	id := c.targetOf().id
	diff, err := c.History.Diff(ctx, c.viewer(), c.route.kind, id, q.from, q.to)
	if err != nil {
		return nil, err
	}
	if !q.records {
		diff.From.Members, diff.To.Members = nil, nil
	}
	media, shown := valueJSON, any(diff)
	if weightIn(c.r.Header, valueJSONPatch) > weightIn(c.r.Header, entryFormats[0].media) {
		media, shown = valueJSONPatch, diff.Patch
	}
	body, err := history.Marshal(shown)
	if err == nil {
		err = c.fits(body)
	}
	if err != nil {
		return nil, err
	}
	ans := newAnswer(body, media, c.weakTag(string(body)), c.lang)
	if ans.name(id, diff.Named) && q.from > 0 && q.to > 0 {
		c.fresh = c.permanent
	}
	return ans, nil
}
