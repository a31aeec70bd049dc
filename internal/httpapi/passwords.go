package httpapi

import (
	"context"

	"daybook/calendar"
)

// tryPassword reports whether a password that a request brings opens an event. Every way
// to send one leads here, so that wrong ones are counted together.
func (call *call) tryPassword(ctx context.Context, event calendar.ID, password string) (bool, error) {
	if password == "" {
		return false, nil
	}
	return call.tries.Try(ctx, &call.pass, event, func(ctx context.Context) (bool, error) {
		return call.Commands.CheckPassword(ctx, event, password)
	})
}
