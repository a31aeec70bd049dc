package pages

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// knows reports whether the page knows a parameter, by its name without brackets. Others are
// in no link, no key and no page (PAGES.md P1.2).
func (r *Route) knows(param string) bool {
	if slices.Contains(r.own, param) || r.name != "" && (param == paramPreview || param == paramLanguage) {
		return true
	}
	_, known := listParams[param]
	return r.selects && (param == paramZone || param == paramPast && r.past || known && r.takes(param, r.unit != nil))
}

// takes reports whether a page takes a parameter of lists, and one of a period does.
func (r *Route) takes(param string, inPeriod bool) bool {
	return (r.only == nil || slices.Contains(r.only, param)) && (!inPeriod || !slices.Contains(notInPeriods, param))
}

var notInPeriods = []string{paramPage, paramPerPage, "include"}

// listParams are the parameters of lists that pages take: whether they are lists themselves.
var listParams = func() map[string]bool {
	out := map[string]bool{}
	for _, p := range query.Params(calendar.KindEvent) {
		if !slices.Contains(outside, p.Name) {
			out[p.Name] = p.IsList()
		}
	}
	return out
}()

// baseName is the name of a parameter without its brackets.
func baseName(sent string) string {
	if base, _, nested := strings.Cut(sent, "["); nested && strings.HasSuffix(sent, "]") {
		return base
	}
	return sent
}

// Tidy takes out of a request what the page does not know, and what is empty: forms send
// empty fields.
func (r *Request) Tidy() {
	if r.Preview = r.Route.name != "" && r.Route.name != pageError && isTrue(r.Query.Get(paramPreview)); r.Preview {
		r.Query.Set(paramPreview, "true")
	}
	for sent, values := range r.Query {
		values = slices.DeleteFunc(values, func(text string) bool { return calendar.Trim(text) == "" })
		switch base := baseName(sent); {
		case len(values) == 0:
			delete(r.Query, sent)
		case !r.Route.knows(base):
			r.strange = r.strange || base != paramPage // one of them or many, it is the same page
			delete(r.Query, sent)
		case base == sent && !listParams[base]:
			r.Query[sent] = values[len(values)-1:] // the last one counts
		default:
			r.Query[sent] = values
		}
	}
	maps.DeleteFunc(r.Input, func(param string, value any) bool { return !r.Route.knows(param) || isEmpty(value) })
}

// isTrue reports whether a parameter of pages is true, isBool whether it is one or the other.
func isTrue(text string) bool { return text == "true" || text == "1" }
func isBool(text string) bool { return isTrue(text) || text == "false" || text == "0" }

// Key names what the page of a tidy request shows: another one with this key has the same
// page, as long as the state of the calendar is the same.
func (p *Pages) Key(request *Request) string {
	days := p.today(nil).Format(time.DateOnly)
	if zone, ok := calendar.ParseZone(request.Query.Get(paramZone)); ok {
		days += p.today(&zone).Format(time.DateOnly)
	}
	return strings.Join([]string{request.Base, request.Path, request.Route.proper, request.Route.moved, request.Query.Encode(), strconv.FormatBool(request.strange), days, p.assets.mark}, "\n")
}

// Methods are those of a path, as Allow has them.
func (r Route) Methods() string {
	switch {
	case r.Unlocks:
		return "GET, HEAD, POST"
	case r.Open:
		return "GET, HEAD, OPTIONS"
	}
	return "GET, HEAD"
}

// Lang is the language of the path.
func (r Route) Lang() calendar.Lang { return r.lang }

// moment notes that the page looks otherwise before and after a moment, as badges do.
func (r *Request) moment(at, now time.Time) {
	switch {
	case at.After(now):
		if r.until.IsZero() || at.Before(r.until) {
			r.until = at
		}
	case at.After(r.since):
		r.since = at
	}
}

// minute notes that the page looks otherwise in another minute.
func (r *Request) minute(now time.Time) {
	minute := now.Truncate(time.Minute)
	r.moment(minute, now)
	r.moment(minute.Add(time.Minute), now)
}

// redirect is the answer to a request for a page that is elsewhere, its query kept but for a
// parameter.
func redirect(to, less string) *Answer {
	return &Answer{Status: http.StatusMovedPermanently, Location: to, less: less}
}

// Target is where an answer leads with the query that was sent: requests that differ in what
// pages do not know share one answer.
func (a *Answer) Target(raw string) string {
	if a.less != "" {
		raw = without(raw, a.less)
	}
	if raw == "" {
		return a.Location
	}
	return a.Location + "?" + raw
}

// without is the query as sent without a parameter.
func without(raw, param string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(raw, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		return pair == "" || err == nil && plain == param
	}), "&")
}
