package calendar

import "slices"

// venueFields is the table of interface 3.2.1.
func venueFields() []Field {
	fields := []Field{
		{Name: "author", Form: FormAuthor, Links: KindUser},
		{Name: "date", Form: FormDate},
		{Name: "date_utc", Form: FormDate},
		{Name: "venue", Form: FormName, Required: true},
		optionalField("description", FormHTML),
		{Name: "status", Form: FormStatus},
		{Name: "show_map", Form: FormBool, Declared: "string", Default: "null", Empty: EmptyClears, Initial: true},
		{Name: "show_map_link", Form: FormBool, Declared: "string", Default: "null", Empty: EmptyClears, Initial: true},
		optionalField("address", FormDetail),
		optionalField("city", FormDetail),
		optionalField("country", FormDetail),
		optionalField("province", FormDetail),
		optionalField("state", FormDetail),
		optionalField("zip", FormDetail),
		optionalField("phone", FormDetail),
		{Name: "stateprovince", Form: FormDetail, Default: "null", Shown: ShownRegion, Filled: true},
		optionalField("website", FormURL),
		placeImageField(),
		languageField(),
		{Name: "excerpt", Form: FormHTML, Extension: true, Filled: true},
		{Name: "slug", Form: FormSlug, Extension: true},
		{Name: "geo_lat", Form: FormLatitude, Extension: true, Filled: true},
		{Name: "geo_lng", Form: FormLongitude, Extension: true, Filled: true},
	}
	return slices.Concat(fields, internalPostFields())
}

// organizerFields is the table of interface 3.3.1.
func organizerFields() []Field {
	fields := []Field{
		{Name: "author", Form: FormAuthor, Links: KindUser, Default: "null", Empty: EmptyNull},
		{Name: "date", Form: FormDate, Default: "null", Empty: EmptyNull},
		{Name: "date_utc", Form: FormDate, Default: "null", Empty: EmptyNull},
		{Name: "organizer", Form: FormName, Required: true, Default: "null"},
		optionalField("description", FormHTML),
		{Name: "status", Form: FormStatus, Default: "null", Empty: EmptyNull},
		optionalField("phone", FormDetail),
		optionalField("website", FormURL),
		optionalField("email", FormEmail),
		placeImageField(),
		languageField(),
		{Name: "excerpt", Form: FormHTML, Extension: true, Filled: true},
		{Name: "slug", Form: FormSlug, Extension: true},
	}
	return slices.Concat(fields, internalPostFields())
}

// placeImageField is the featured image of a venue or an organizer.
func placeImageField() Field {
	f := optionalField("image", FormImage)
	f.Links = KindImage
	return f
}

// optionalField is a field of a venue or an organizer that may be empty.
func optionalField(name string, form Form) Field {
	return Field{Name: name, Form: form, Default: "null", Filled: true}
}
