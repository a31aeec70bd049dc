package httpapi

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"daybook/calendar"
)

// Answered is what Options.Observe is told of one answer.
type Answered struct {
	Route  string // its pattern, "" for none
	Status int    // 499 when the client went away, 0 when the connection was cut
	Took   time.Duration
	Cache  CacheUse
	Code   calendar.Code // of an error, "" for none
}

// CacheUse is what the cache of whole answers did for a read.
type CacheUse string

// The uses of the cache.
const (
	CacheNone   CacheUse = ""       // nothing was asked of it
	CacheHit    CacheUse = "hit"    // the answer was there
	CacheMiss   CacheUse = "miss"   // the answer was made
	CacheShared CacheUse = "shared" // another request was making it at the time
	CacheStale  CacheUse = "stale"  // the last good answer, while the read model is out of reach
)

// ErrorCodes are the codes that an error may have, sorted.
func ErrorCodes() []calendar.Code { return slices.Sorted(maps.Keys(statuses)) }

// RequestID returns the id of the request that a context belongs to, "" when it
// belongs to none.
func RequestID(ctx context.Context) string {
	if request, ok := ctx.Value(callKey{}).(*call); ok {
		return request.id[0]
	}
	return ""
}

// finish logs and reports the answer to a request.
func (call *call) finish(report func(Answered)) {
	answered := Answered{Status: call.status, Took: call.Now().Sub(call.started), Cache: call.cache, Code: call.code}
	if call.route != nil {
		answered.Route = call.route.Template
	}
	if ctx := call.context; call.Log.Enabled(ctx, slog.LevelDebug) {
		call.Log.DebugContext(ctx, "request answered", "method", call.request.Method, "route", answered.Route, "status", answered.Status, "duration", answered.Took)
	}
	if report != nil {
		report(answered)
	}
}

// log is the log for what is wrong with a request.
func (call *call) log() *slog.Logger {
	return call.Log.With("method", call.request.Method, "path", call.request.URL.Path)
}
