package httpapi

import (
	"context"

	"daybook/internal/formats"
	"daybook/internal/param"
)

const jsonPatch = "application/json-patch+json"

var valueJSONPatch = []string{jsonPatch}

// diffRead is the difference of two versions (HISTORY 9).
var diffRead = pastRead{
	table: pastTable{
		numberRow("from", 1, func(query *pastQuery) *int64 { return &query.from }),
		numberRow("to", 1, func(query *pastQuery) *int64 { return &query.to }),
		recordsRow(),
		languageRow,
	},
	answer: answerDiff, smaller: []string{"from", "to"},
}

func recordsRow() pastRow {
	row := pastRowOf("records", "boolean", func(query *pastQuery, value *param.Value) { query.records, _ = value.Bool() })
	row.Default, row.Schema = "false", object{"default": false}
	return row
}

// diff answers the difference of two versions.
func answerDiff(ctx context.Context, call *call, pastQuery *pastQuery) (*answer, error) {
	id := call.targetOf().id
	diff, err := call.History.Diff(ctx, call.viewer(), call.route.kind, id, pastQuery.from, pastQuery.to)
	if err != nil {
		return nil, err
	}
	if !pastQuery.records {
		diff.From.Members, diff.To.Members = nil, nil
	}
	media, shown := valueJSON, any(diff)
	if weightIn(call.request.Header, valueJSONPatch) > weightIn(call.request.Header, entryFormats[0].media) {
		media, shown = valueJSONPatch, diff.Patch
	}
	body := formats.AppendJSON(nil, shown)
	if err := call.fits(body); err != nil {
		return nil, err
	}
	ans := newAnswer(body, media, call.weakTag(string(body)), call.lang)
	if ans.name(id, diff.Named) && pastQuery.from > 0 && pastQuery.to > 0 {
		call.fresh = call.permanent
	}
	return ans, nil
}
