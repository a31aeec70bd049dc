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
func (route *Route) knows(param string) bool {
	if slices.Contains(route.own, param) || route.name != "" && (param == paramPreview || param == paramLanguage) {
		return true
	}
	_, known := listParams[param]
	return route.selects && (param == paramZone || param == paramPast && route.past || known && route.takes(param, route.unit != nil))
}

// takes reports whether a page takes a parameter of lists, and one of a period does.
func (route *Route) takes(param string, inPeriod bool) bool {
	return (route.only == nil || slices.Contains(route.only, param)) && (!inPeriod || !slices.Contains(notInPeriods, param))
}

var notInPeriods = []string{paramPage, paramPerPage, "include"}

// listParams are the parameters of lists that pages take: whether they are lists themselves.
var listParams = func() map[string]bool {
	result := map[string]bool{}
	for _, param := range query.Params("events") {
		if !slices.Contains(outside, param.Name) {
			result[param.Name] = param.IsList()
		}
	}
	return result
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
func (request *Request) Tidy() {
	if request.Preview = request.Route.name != "" && request.Route.name != pageError && isTrue(request.Query.Get(paramPreview)); request.Preview {
		request.Query.Set(paramPreview, "true")
	}
	for sent, values := range request.Query {
		values = slices.DeleteFunc(values, func(text string) bool { return calendar.Trim(text) == "" })
		switch base := baseName(sent); {
		case len(values) == 0:
			delete(request.Query, sent)
		case !request.Route.knows(base):
			request.strange = request.strange || base != paramPage // one of them or many, it is the same page
			delete(request.Query, sent)
		case base == sent && !listParams[base]:
			request.Query[sent] = values[len(values)-1:] // the last one counts
		default:
			request.Query[sent] = values
		}
	}
	maps.DeleteFunc(request.Input, func(param string, value any) bool { return !request.Route.knows(param) || isEmpty(value) })
}

// isTrue reports whether a parameter of pages is true, isBool whether it is one or the other.
func isTrue(text string) bool { return text == "true" || text == "1" }
func isBool(text string) bool { return isTrue(text) || text == "false" || text == "0" }

// Key names what the page of a tidy request shows: another one with this key has the same
// page, as long as the state of the calendar is the same.
func (pages *Pages) Key(request *Request) string {
	days := pages.today(nil).Format(time.DateOnly)
	if zone, ok := calendar.ParseZone(request.Query.Get(paramZone)); ok {
		days += pages.today(&zone).Format(time.DateOnly)
	}
	return strings.Join([]string{request.Base, request.Path, request.Route.proper, request.Route.moved, request.Query.Encode(), strconv.FormatBool(request.strange), days, pages.assets.mark}, "\n")
}

// Methods are those of a path, as Allow has them.
func (route Route) Methods() string {
	switch {
	case route.Unlocks:
		return "GET, HEAD, POST"
	case route.Open:
		return "GET, HEAD, OPTIONS"
	}
	return "GET, HEAD"
}

// Lang is the language of the path.
func (route Route) Lang() calendar.Lang { return route.language }

// moment notes that the page looks otherwise before and after a moment, as badges do.
func (request *Request) moment(instant, now time.Time) {
	switch {
	case instant.After(now):
		if request.until.IsZero() || instant.Before(request.until) {
			request.until = instant
		}
	case instant.After(request.since):
		request.since = instant
	}
}

// minute notes that the page looks otherwise in another minute.
func (request *Request) minute(now time.Time) {
	minute := now.Truncate(time.Minute)
	request.moment(minute, now)
	request.moment(minute.Add(time.Minute), now)
}

// redirect is the answer to a request for a page that is elsewhere, its query kept but for a
// parameter.
func redirect(to, less string) *Answer {
	return &Answer{Status: http.StatusMovedPermanently, Location: to, less: less}
}

// Target is where an answer leads with the query that was sent: requests that differ in what
// pages do not know share one answer.
func (answer *Answer) Target(raw string) string {
	if answer.less != "" {
		raw = without(raw, answer.less)
	}
	if raw == "" {
		return answer.Location
	}
	return answer.Location + "?" + raw
}

// without is the query as sent without a parameter.
func without(raw, param string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(raw, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		return pair == "" || err == nil && plain == param
	}), "&")
}
