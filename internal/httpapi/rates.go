package httpapi

import (
	"strconv"
	"time"

	"daybook/calendar"
)

// rateWindow is the span that requests are counted in. It slides: of the span before, as
// much counts as the present one lacks.
const rateWindow = time.Minute

// The headers of a rate limit, in the spelling of net/http.
const (
	headerRateLimit     = "Ratelimit-Limit"
	headerRateRemaining = "Ratelimit-Remaining"
	headerRateReset     = "Ratelimit-Reset"
)

// count counts a request once, of its user, or without one of its address, and refuses it above
// the limit.
func (call *call) count() error {
	if call.rates == nil || call.counted {
		return nil
	}
	call.counted = true
	key := "user " + call.caller.ID.String()
	if call.caller.ID == 0 {
		key = "address " + call.pass.Address.String()
	}
	over := call.rates.OnLimit(call.writer, call.request, key)
	call.header[headerRateReset] = []string{strconv.Itoa(60 - time.Now().Second())} // by the clock of the limiter, whose spans are minutes
	if over {
		call.header[headerRateRemaining] = []string{"0"}
		return refusal(calendar.CodeTooManyRequests)
	}
	return nil
}
