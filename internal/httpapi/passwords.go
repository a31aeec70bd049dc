package httpapi

import (
	"context"
	"net/http"

	"daybook/calendar"
)

// tryPassword reports whether a password that a request brings opens an event. Every way
// to send one leads here, so that wrong ones are counted together.
func (a *api) tryPassword(ctx context.Context, r *http.Request, event calendar.ID, password string) (bool, error) {
	if password == "" {
		return false, nil
	}
	return a.tries.Try(ctx, &callOf(r).pass, event, func(ctx context.Context) (bool, error) {
		return a.Commands.CheckPassword(ctx, event, password)
	})
}
