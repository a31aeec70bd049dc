package calendar

import "slices"

// eventFields is the table of interface 3.1.1.
func eventFields() []Field {
	return slices.Concat([]Field{
		{Name: "author", Stored: TypeID, Form: FormAuthor, Declared: "integer", Stays: true},
		{Name: "date", Stored: TypeWall, Form: FormDate, Declared: "string", Stays: true},
		{Name: "date_utc", Stored: TypeWall, Form: FormDate, Declared: "string", Stays: true},
		{Name: "title", Stored: TypeText, Form: FormName, Declared: "string", Required: true, Translatable: true, Max: maxName, Stays: true},
		{Name: "description", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Max: maxDescription},
		{Name: "slug", Stored: TypeString, Form: FormSlug, Declared: "string", Empty: EmptyClears, Stays: true},
		{Name: "excerpt", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Max: maxDescription},
		{Name: "status", Stored: TypeString, Form: FormStatus, Declared: "string", Stays: true},
		{Name: "timezone", Stored: TypeString, Form: FormZone, Declared: "string", Empty: EmptyClears, Stays: true},
		{Name: "all_day", Stored: TypeBool, Form: FormBool, Declared: "boolean", Default: "false"},
		{Name: "start_date", Stored: TypeWall, Form: FormDate, Declared: "string", Required: true, Shown: ShownMoment, Stays: true},
		{Name: "end_date", Stored: TypeWall, Form: FormDate, Declared: "string", Required: true, Shown: ShownMoment, Stays: true},
		imageField(),
		{Name: "cost", Stored: TypeStrings, Form: FormCost, Empty: EmptyClears},
		{Name: "website", Stored: TypeString, Form: FormEventURL, Default: "null", Empty: EmptyClears, Max: maxURL},
		{Name: "show_map", Stored: TypeBool, Form: FormBool, Declared: "boolean", Initial: true},
		{Name: "show_map_link", Stored: TypeBool, Form: FormBool, Declared: "boolean", Initial: true},
		{Name: "hide_from_listings", Stored: TypeBool, Form: FormBool, Declared: "boolean"},
		{Name: "sticky", Stored: TypeBool, Form: FormBool, Declared: "boolean"},
		{Name: "featured", Stored: TypeBool, Form: FormBool, Declared: "boolean"},
		{Name: "categories", Stored: TypeIDs, Form: FormTerms, Declared: "array of integer", Default: "null", Empty: EmptyClears},
		{Name: "tags", Stored: TypeIDs, Form: FormTerms, Declared: "array of integer", Default: "null", Empty: EmptyClears},
		{Name: "venue", Stored: TypeIDs, Form: FormLinks, Declared: "array of integer", Default: "null", Empty: EmptyClears, Shown: ShownFirst},
		{Name: "organizer", Stored: TypeIDs, Form: FormLinks, Declared: "array of integer", Default: "null", Empty: EmptyClears},
		languageField(),
		{Name: "password", Form: FormPassword, Declared: "string", Empty: EmptyClears, Max: MaxPassword, NotBySlug: true},
		{Name: "ticketed", Stored: TypeBool, Form: FormBool, Declared: "boolean", Extension: true},
		{
			Name: "event_status", Stored: TypeString, Form: FormWord, Declared: "string", Default: `"scheduled"`, Empty: EmptyClears,
			Extension: true, Enum: EventStatuses(), Stays: true,
		},
		{Name: "event_status_reason", Stored: TypeString, Form: FormDetail, Declared: "string", Empty: EmptyClears, Extension: true, Max: maxEventStatusReason},
		{Name: "post_parent", Stored: TypeID, Form: FormParent, Declared: "integer", Empty: EmptyClears, Extension: true},
		computed("utc_start_date", ShownMoment),
		computed("utc_end_date", ShownMoment),
	}, keptOfPosts(), []Field{kept("protected", TypeBool)})
}

// imageField is the featured image of a post.
func imageField() Field {
	return Field{Name: "image", Stored: TypeID, Form: FormImage, Declared: "string", Empty: EmptyClears, Max: maxURL}
}
