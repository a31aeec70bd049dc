package httpapi

import (
	"context"

	"daybook/internal/formats"
)

const jsonPatch = "application/json-patch+json"

var valueJSONPatch = []string{jsonPatch}

// diff answers the difference of two versions (HISTORY 9).
func (asked *readParams) diff(ctx context.Context) (*answer, error) {
	id, from, to := asked.targetOf().id, asked.numbers["from"], asked.numbers["to"]
	diff, err := asked.History.Diff(ctx, asked.viewer(), asked.route.kind, id, from, to)
	if err != nil {
		return nil, err
	}
	if !asked.records {
		diff.From.Members, diff.To.Members = nil, nil
	}
	media, shown := valueJSON, any(diff)
	if weightIn(asked.request.Header, valueJSONPatch) > weightIn(asked.request.Header, entryFormats[0].media) {
		media, shown = valueJSONPatch, diff.Patch
	}
	body := formats.AppendJSON(nil, shown)
	if err := asked.fits(body); err != nil {
		return nil, err
	}
	ans := newAnswer(body, media, asked.weakTag(string(body)), asked.lang)
	if ans.name(id, diff.Named) && from > 0 && to > 0 {
		asked.fresh = asked.permanent
	}
	return ans, nil
}
