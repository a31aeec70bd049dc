package pages

import (
	"maps"
	"slices"
	"time"

	"daybook/query"
)

// filterForm is form#filters of a page: what was sent stands in it, with the messages of
// what was sent badly.
type filterForm struct {
	Action string
	Fields []field
	Facets []facet
	Kept   params // sent along, not shown
	Count  int    // of the filters that are set
	Open   bool
}

// field is one field of a form.
type field struct{ Name, Value, Problem string }

// IsDate reports whether a field for dates can show the value.
func (f field) IsDate() bool {
	_, err := time.Parse(time.DateOnly, f.Value)
	return err == nil || f.Value == ""
}

// form makes the form of a page. With problems all that was sent is in it, each message beside
// its field.
func (l *look) form(facets []facet, problems ...problem) *filterForm {
	route := &l.Route
	if route.name == pageHome { // it leads to the list, as its links do
		list, _ := Find("/events/")
		route = &list
	}
	f := &filterForm{Action: l.Href(route.below()), Facets: facets, Open: len(problems) > 0}
	names := []string{"search", paramStart, paramEnd, "city", "featured", "free", paramSort}
	switch {
	case !route.selects:
		names = nil
	case route.unit != nil: // its dates and its order are those of the grid
		names = []string{"search", "city", "featured", "free"}
	case l.Page == pageSearch:
		names = names[1:]
	}
	var sent params
	if s := l.sel; s != nil {
		sent, f.Count = append(route.named(), s.asked...), len(s.selecting())
		if l.Page != pageHome {
			f.Action = s.path
		}
		if word := sent.value(paramWhen); slices.Contains(names, paramStart) && slices.Contains(query.Days, word) { // its days stand in the fields
			first, last := query.DaysOf(word, l.o.Now(), l.o.Site, l.o.Sunday)
			sent = sent.without(paramWhen, paramStrict).with(paramStart, first.UTC().Format(time.DateOnly)).with(paramEnd, last.UTC().Format(time.DateOnly)).with(paramOverlap, "true")
		}
	}
	if f.Open {
		for _, name := range slices.Sorted(maps.Keys(l.Query)) {
			for _, text := range l.Query[name] {
				sent = append(sent, query.LinkParam{Name: name, Value: text})
			}
			names = append(names, baseName(name))
		}
		for _, p := range problems {
			names = append(names, p.Name)
		}
	}
	faceted := make([]string, 0, len(facets)+1)
	if l.Preview { // all forms keep it
		faceted = append(faceted, paramPreview)
	}
	for _, facet := range facets {
		faceted = append(faceted, facet.Name)
	}
	for i, name := range names {
		if slices.Contains(faceted, name) || slices.Contains(names[:i], name) {
			continue
		}
		at := field{Name: name, Value: sent.value(name)}
		for _, p := range problems {
			if p.Name == name {
				at.Problem = p.Message
			}
		}
		f.Fields = append(f.Fields, at)
	}
	f.Kept = sent.without(append(names, faceted...)...)
	return f
}
