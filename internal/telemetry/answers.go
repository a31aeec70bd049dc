package telemetry

import (
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"daybook/internal/httpapi"
)

// noRoute is the value of the label route where no route fits: raw paths are
// never labels.
const noRoute = "none"

// methods are the values of the label method; whatever else a client sends is
// the last one.
var methods = [...]string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions, "other",
}

// methodNumber gives the place in methods.
func methodNumber(method string) int {
	for i := range len(methods) - 1 {
		if methods[i] == method {
			return i
		}
	}
	return len(methods) - 1
}

// Statuses are counted by number up to lastStatus; others as 0.
const lastStatus = 599

// cell is what an answer counts in, found without looking up labels.
type cell struct {
	count prometheus.Counter
	took  prometheus.Observer
}

// cells are the cells of one route and method by status, made when the first
// answer comes, so that there are no series of what never happens.
type cells [lastStatus + 1]atomic.Pointer[cell]

// answers gives what counts the answers of one route; "" for no route.
func (m *Metrics) answers(route string) func(httpapi.Answered) {
	if route == "" {
		route = noRoute
	}
	var byMethod [len(methods)]atomic.Pointer[cells]
	return func(a httpapi.Answered) {
		n := methodNumber(a.Method)
		all := byMethod[n].Load()
		if all == nil {
			byMethod[n].CompareAndSwap(nil, new(cells))
			all = byMethod[n].Load()
		}
		status := a.Status
		if status < 0 || status > lastStatus {
			status = 0
		}
		c := all[status].Load()
		if c == nil { // two at once make the same
			c = &cell{
				m.requests.WithLabelValues(route, methods[n], strconv.Itoa(status)),
				m.duration.WithLabelValues(route, methods[n]),
			}
			all[status].Store(c)
		}
		c.count.Inc()
		c.took.Observe(a.Took.Seconds())
		if a.Cache != httpapi.CacheNone {
			m.cache[a.Cache].Inc()
		}
		if a.Code != "" {
			if known := m.errors[a.Code]; known != nil {
				known.Inc()
			} else {
				m.unknown.Inc()
			}
		}
	}
}
