package httpapi

import (
	"context"

	"daybook/calendar"
)

// opens returns what reports whether a password that the request brings opens an event. Every way
// to send one leads here, so that wrong ones are counted together.
func (call *call) opens(password string) func(context.Context, calendar.ID) (bool, error) {
	return func(ctx context.Context, event calendar.ID) (bool, error) {
		return call.tries.Try(ctx, &call.pass, event, password, call.Commands.CheckPassword)
	}
}
