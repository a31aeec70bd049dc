package telemetry

import (
	"context"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/query"
)

// failing are queries that answer every list with an error.
type failing struct {
	httpapi.Queries
	err error
}

func (f failing) Run(context.Context, *query.Criteria) (*query.List, error) { return nil, f.err }

func criteria(kind calendar.Kind) *query.Criteria { return &query.Criteria{Kind: kind} }
