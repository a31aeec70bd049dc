package pages

import (
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// filterForm is form#filters of a page: what was sent stands in it, with the messages of
// what was sent badly.
type filterForm struct {
	Action string
	Fields []formField
	Facets []facet
	Kept   []query.LinkParam // sent along, not shown
	Count  string            // of the filters that are set, "" for none
	Open   bool
}

// formField is one field of a form.
type formField struct {
	ID, Name, Label, Type, Value string
	Options                      []option // of a choice
	Problem                      string   // message about the value, "" for none
}

// fieldsOf are the parameters that have a field on each page that takes them; of a period
// the dates and the order are those of its grid.
var fieldsOf = []string{"search", paramStart, paramEnd, "city", "featured", "free", paramSort}

// form makes the form of a page. With problems all that was sent is in it, each message beside
// its field.
func (l *look) form(facets []facet, problems ...problem) *filterForm {
	route := &l.Route
	if l.Page == pageHome { // it leads to the list, as its links do
		list, _ := Find("/events/")
		route = &list
	}
	f := &filterForm{Action: l.Href(route.below()), Facets: facets, Open: len(problems) > 0}
	inPeriod := route.unit != nil
	var kept params
	if s := l.sel; s != nil {
		if kept = append(route.named(), s.asked...); l.Page != pageHome {
			f.Action = s.path
		}
		if n := len(s.asked.without(shapes...).without(paramPast, paramZone)); n > 0 {
			f.Count = l.number(n)
		}
	}
	faceted := func(name string) bool {
		return slices.ContainsFunc(facets, func(f facet) bool { return f.Name == name })
	}
	var shown []string
	add := func(name string, always bool) {
		values := slices.Concat(l.Query[name], l.Query[name+"[]"])
		value := strings.Join(slices.DeleteFunc(values, func(v string) bool { return calendar.Trim(v) == "" }), ",")
		bad := slices.IndexFunc(problems, func(p problem) bool { return baseName(p.Field) == name })
		if slices.Contains(shown, name) || faceted(name) || bad < 0 && value == "" && !always {
			return
		}
		shown = append(shown, name)
		field := l.field(name, value)
		if bad >= 0 {
			field.Problem = problems[bad].Message
		}
		f.Fields = append(f.Fields, field)
	}
	for _, name := range fieldsOf {
		switch own := slices.Contains([]string{paramStart, paramEnd, paramSort}, name); {
		case !route.selects || !route.takes(name, inPeriod), inPeriod && own, name == "search" && l.Page == pageSearch:
		default:
			add(name, true)
		}
	}
	if f.Open {
		for _, param := range query.Params(calendar.KindEvent) {
			if _, known := listParams[param.Name]; known && route.selects && route.takes(param.Name, inPeriod) {
				add(param.Name, false)
			}
		}
		for _, name := range slices.Concat(route.own, []string{paramPast}, names(problems)) {
			add(name, false)
		}
		return f
	}
	if word := kept.value(paramWhen); slices.Contains(shown, paramStart) && slices.Contains(query.Days, word) { // its days stand in the fields
		first, last := query.DaysOf(word, l.o.Now(), l.o.Site, l.o.Sunday)
		kept = kept.without(paramWhen, paramStrict).with(paramOverlap, "true")
		for i := range f.Fields {
			switch field := &f.Fields[i]; field.Name {
			case paramStart:
				field.Value = first.UTC().Format(time.DateOnly)
			case paramEnd:
				field.Value = last.UTC().Format(time.DateOnly)
			}
		}
	}
	f.Kept = slices.DeleteFunc(slices.Clone(kept), func(p query.LinkParam) bool {
		return slices.Contains(shown, baseName(p.Name)) || faceted(baseName(p.Name))
	})
	return f
}

// names are those of the fields of problems.
func names(problems []problem) []string {
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = p.Name()
	}
	return out
}

// field makes the field of a parameter.
func (l *look) field(name, value string) formField {
	f := formField{ID: "filter-" + name, Name: name, Label: l.filterName(name), Type: "text", Value: value}
	choice := func(values ...string) {
		f.Options = []option{{Label: l.text("filter.any"), Selected: value == ""}}
		known := value == ""
		for _, v := range values {
			label := l.facetLabel(name, query.FacetValue{Value: v})
			if name == paramSort {
				label = l.text("sort." + v)
			}
			known = known || v == value
			f.Options = append(f.Options, option{Value: v, Label: label, Selected: v == value})
		}
		if !known { // what was sent stays in the form
			f.Options = append(f.Options, option{Value: value, Label: value, Selected: true})
		}
	}
	switch name {
	case "search":
		f.Type = "search"
	case paramStart, paramEnd:
		if _, err := time.Parse(time.DateOnly, value); err == nil || value == "" {
			f.Type = "date"
		}
	case "featured", "free":
		choice("true", "false")
	case paramSort:
		standard := "start"
		if l.Route.name == pageSearch && l.Query.Get("search") != "" {
			standard = "relevance"
		}
		values := []string{"relevance", "start", "published", "modified"}
		if l.Query.Get("geoloc_lat") != "" {
			values = append(values, "distance")
		}
		choice(slices.DeleteFunc(values, func(v string) bool { return v == standard && v != value })...)
		f.Options[0].Label = l.text("sort." + standard)
	}
	return f
}
