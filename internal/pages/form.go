package pages

import (
	"slices"
	"time"

	"daybook/internal/param"
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
func (field field) IsDate() bool {
	_, err := time.Parse(time.DateOnly, field.Value)
	return err == nil || field.Value == ""
}

// form makes the form of a page. With problems all that was sent is in it, each message next to
// its field.
func (builder *pageBuilder) form(facets []facet, problems ...problem) *filterForm {
	route := &builder.Route
	if route.name == pageHome { // it leads to the list, as its links do
		list, _ := Find("/events/")
		route = &list
	}
	form := &filterForm{Action: builder.Href(route.below()), Facets: facets, Open: len(problems) > 0}
	names := []string{"search", paramStart, paramEnd, "city", "featured", "free", paramSort}
	switch {
	case !route.selects:
		names = nil
	case route.unit != nil: // its dates and its order are those of the grid
		names = []string{"search", "city", "featured", "free"}
	case builder.Page == pageSearch:
		names = names[1:]
	}
	var sent params
	if selection := builder.selection; selection != nil {
		sent, form.Count = append(route.named(), selection.asked...), len(selection.selecting())
		if builder.Page != pageHome {
			form.Action = selection.path
		}
		if word := sent.value(paramWhen); slices.Contains(names, paramStart) && slices.Contains(param.Days, word) { // its days stand in the fields
			first, last := param.DaysOf(word, builder.options.Now(), builder.options.Site, builder.options.WeekStart == "sunday")
			sent = sent.without(paramWhen, paramStrict).with(paramStart, first.UTC().Format(time.DateOnly)).with(paramEnd, last.UTC().Format(time.DateOnly)).with(paramOverlap, "true")
		}
	}
	if form.Open {
		sent = append(sent, builder.sent()...)
		for _, linkParam := range sent {
			names = append(names, baseName(linkParam.Name))
		}
	}
	messages := map[string]string{}
	for _, problem := range problems {
		names = append(names, problem.Name)
		messages[problem.Name] = problem.Message
	}
	var shown []string
	if builder.Preview { // all forms keep it
		shown = append(shown, paramPreview)
	}
	for _, facet := range facets {
		shown = append(shown, facet.Name)
	}
	for _, name := range names {
		if !slices.Contains(shown, name) {
			form.Fields = append(form.Fields, field{name, sent.value(name), messages[name]})
			shown = append(shown, name)
		}
	}
	form.Kept = sent.without(shown...)
	return form
}
