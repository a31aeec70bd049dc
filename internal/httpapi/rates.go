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
	// The limiter gives a moment; the header has seconds from now on.
	if instant, err := strconv.ParseInt(call.header.Get(headerRateReset), 10, 64); err == nil {
		call.header[headerRateReset] = []string{strconv.FormatInt(max(instant-time.Now().Unix(), 0), 10)} // by the clock of the limiter
	}
	if over {
		call.header[headerRateRemaining] = []string{"0"}
		return refusal(calendar.CodeTooManyRequests)
	}
	return nil
}
