package calendar

import "slices"

// eventFields is the table of interface 3.1.1.
func eventFields() []Field {
	return slices.Concat([]Field{
		{Name: "author", Form: FormAuthor, Links: KindUser, Stays: true},
		{Name: "date", Form: FormDate, Stays: true},
		{Name: "date_utc", Form: FormDate, Stays: true},
		{Name: "title", Form: FormName, Required: true, Stays: true},
		{Name: "description", Form: FormHTML},
		{Name: "slug", Form: FormSlug, Stays: true},
		{Name: "excerpt", Form: FormHTML},
		{Name: "status", Form: FormStatus, Stays: true},
		{Name: "timezone", Form: FormZone, Stays: true},
		{Name: "all_day", Form: FormBool, Default: "false"},
		{Name: "start_date", Form: FormDate, Required: true, Shown: ShownMoment, Stays: true},
		{Name: "end_date", Form: FormDate, Required: true, Shown: ShownMoment, Stays: true},
		{Name: "image", Form: FormImage, Links: KindImage},
		{Name: "cost", Form: FormCost},
		{Name: "website", Form: FormEventURL, Default: "null"},
		{Name: "show_map", Form: FormBool, Initial: true},
		{Name: "show_map_link", Form: FormBool, Initial: true},
		{Name: "hide_from_listings", Form: FormBool},
		{Name: "sticky", Form: FormBool},
		{Name: "featured", Form: FormBool},
		{Name: "categories", Form: FormTerms, Default: "null", Links: KindCategory},
		{Name: "tags", Form: FormTerms, Default: "null", Links: KindTag},
		{Name: "venue", Form: FormLinks, Default: "null", Links: KindVenue, Shown: ShownFirst},
		{Name: "organizer", Form: FormLinks, Default: "null", Links: KindOrganizer},
		languageField(),
		{Name: "password", Form: FormPassword, NotBySlug: true},
		{Name: "ticketed", Form: FormBool, Extension: true},
		{
			Name: "event_status", Form: FormWord, Default: `"scheduled"`,
			Extension: true, Enum: EventStatuses(), Stays: true,
		},
		{Name: "event_status_reason", Form: FormDetail, Extension: true, Max: maxEventStatusReason},
		{Name: "post_parent", Form: FormParent, Extension: true, Links: KindEvent},
		computedTime("utc_start_date", ShownMoment),
		computedTime("utc_end_date", ShownMoment),
	}, internalPostFields(), []Field{internalField("protected", TypeBool)})
}
