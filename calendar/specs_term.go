package calendar

import "slices"

// termFields is the table of interface 3.4.1.
func termFields(own ...Field) []Field {
	fields := []Field{
		{Name: "name", Form: FormName, Required: true},
		{Name: "description", Form: FormHTML, Shown: ShownText},
		{Name: "slug", Form: FormSlug},
	}
	return slices.Concat(fields, own, []Field{languageField()})
}
