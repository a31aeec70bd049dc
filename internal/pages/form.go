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

// fieldsOf are the parameters that have a field on each page that takes them.
var fieldsOf = []string{"search", paramStart, paramEnd, "city", "featured", "free", paramSort}

// form makes the form of a selection.
func (l *layout) form(facets []facet) *filterForm {
	s := l.sel
	f := &filterForm{Action: s.path, Facets: facets}
	faceted := func(name string) bool {
		return slices.ContainsFunc(facets, func(f facet) bool { return f.Name == name })
	}
	n := 0
	for _, a := range s.asked {
		if !slices.Contains(shapes, baseName(a.Name)) && a.Name != paramPast && a.Name != paramZone {
			n++
		}
	}
	if n > 0 {
		f.Count = l.say.number(n)
	}
	shown := []string{}
	for _, name := range fieldsOf {
		inPeriod := s.over.set
		if !l.r.Route.takes(name, inPeriod) || faceted(name) || inPeriod && slices.Contains([]string{paramStart, paramEnd, paramSort}, name) {
			continue
		}
		shown = append(shown, name)
		f.Fields = append(f.Fields, l.field(name, s.asked.value(name)))
	}
	kept := s.asked
	if word := s.asked.value(paramWhen); slices.Contains(query.Days, word) { // its days stand in the fields
		first, last := query.DaysOf(word, l.p.o.Now(), l.p.o.Site, l.p.o.Sunday)
		kept = kept.without(paramWhen).with(paramOverlap, "true")
		for i := range f.Fields {
			switch f.Fields[i].Name {
			case paramStart:
				f.Fields[i].Value = first.UTC().Format(time.DateOnly)
			case paramEnd:
				f.Fields[i].Value = last.UTC().Format(time.DateOnly)
			}
		}
	}
	f.Kept = slices.DeleteFunc(slices.Clone(kept), func(p query.LinkParam) bool {
		return slices.Contains(shown, baseName(p.Name)) || faceted(baseName(p.Name))
	})
	return f
}

// field makes the field of a parameter.
func (l *layout) field(name, value string) formField {
	f := formField{ID: "filter-" + name, Name: name, Label: l.filterName(name), Type: "text", Value: value}
	choice := func(values ...string) {
		f.Options = []option{{Label: word("filter.any", l.Lang), Selected: value == ""}}
		known := value == ""
		for _, v := range values {
			label := l.facetLabel(name, query.FacetValue{Value: v})
			if name == paramSort {
				label = word("sort."+v, l.Lang)
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
		if l.r.Route.name == pageSearch && l.r.Query.Get("search") != "" {
			standard = "relevance"
		}
		values := []string{"relevance", "start", "published", "modified"}
		if l.r.Query.Get("geoloc_lat") != "" {
			values = append(values, "distance")
		}
		choice(slices.DeleteFunc(values, func(v string) bool { return v == standard && v != value })...)
		f.Options[0].Label = word("sort."+standard, l.Lang)
	}
	return f
}

// badForm is the form of a page whose parameters were refused: all that was sent is in it,
// each message beside its field.
func (l *layout) badForm(problems []problem) *filterForm {
	f := &filterForm{Action: l.Href(l.r.Route.below()), Open: true}
	sent := func(name string) string {
		values := slices.Concat(l.r.Query[name], l.r.Query[name+"[]"])
		return strings.Join(slices.DeleteFunc(values, func(v string) bool { return calendar.Trim(v) == "" }), ",")
	}
	bad := func(name string) int {
		return slices.IndexFunc(problems, func(p problem) bool { return baseName(p.Field) == name })
	}
	done := map[string]bool{}
	add := func(name string, always bool) {
		value, at := sent(name), bad(name)
		if done[name] || at < 0 && value == "" && !always {
			return
		}
		done[name] = true
		field := l.field(name, value)
		if at >= 0 {
			field.Problem = problems[at].Message
		}
		f.Fields = append(f.Fields, field)
	}
	selects := l.r.Route.selects
	inPeriod := l.r.Route.unit != nil
	for _, name := range fieldsOf {
		if selects && l.r.Route.takes(name, inPeriod) && (!inPeriod || !slices.Contains([]string{paramStart, paramEnd, paramSort}, name)) {
			add(name, true)
		}
	}
	for i := range query.Params(calendar.KindEvent) {
		if name := query.Params(calendar.KindEvent)[i].Name; selects && l.r.Route.takes(name, inPeriod) {
			add(name, false)
		}
	}
	if l.r.Route.name == pageHistory {
		add(paramFrom, true)
		add(paramTo, true)
	}
	add(paramZone, false)
	if l.r.Route.past {
		add(paramPast, false)
	}
	for _, p := range problems {
		add(baseName(p.Field), false)
	}
	return f
}
