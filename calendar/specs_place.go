package calendar

import "slices"

// venueFields is the table of interface 3.2.1.
func venueFields() []Field {
	fields := []Field{
		{Name: "author", Form: FormAuthor, Links: KindUser},
		{Name: "date", Form: FormDate},
		{Name: "date_utc", Form: FormDate},
		{Name: "venue", Form: FormName, Required: true},
		{Name: "description", Form: FormHTML, Default: "null", Filled: true},
		{Name: "status", Form: FormStatus},
		{Name: "show_map", Form: FormBool, Declared: "string", Default: "null", Empty: EmptyClears, Initial: true},
		{Name: "show_map_link", Form: FormBool, Declared: "string", Default: "null", Empty: EmptyClears, Initial: true},
		detailField("address"),
		detailField("city"),
		detailField("country"),
		detailField("province"),
		detailField("state"),
		detailField("zip"),
		detailField("phone"),
		{Name: "stateprovince", Form: FormDetail, Default: "null", Shown: ShownRegion, Filled: true},
		{Name: "website", Form: FormURL, Default: "null", Filled: true},
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
		{Name: "description", Form: FormHTML, Default: "null", Filled: true},
		{Name: "status", Form: FormStatus, Default: "null", Empty: EmptyNull},
		detailField("phone"),
		{Name: "website", Form: FormURL, Default: "null", Filled: true},
		{Name: "email", Form: FormEmail, Default: "null", Filled: true},
		placeImageField(),
		languageField(),
		{Name: "excerpt", Form: FormHTML, Extension: true, Filled: true},
		{Name: "slug", Form: FormSlug, Extension: true},
	}
	return slices.Concat(fields, internalPostFields())
}

// placeImageField is the featured image of a venue or an organizer.
func placeImageField() Field {
	f := imageField()
	f.Default, f.Filled = "null", true
	return f
}

// detailField is a detail of a venue or an organizer that may be empty.
func detailField(name string) Field {
	return Field{Name: name, Form: FormDetail, Default: "null", Filled: true}
}
