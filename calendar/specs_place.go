package calendar

import "slices"

// venueFields is the table of interface 3.2.1.
func venueFields() []Field {
	fields := []Field{
		{Name: "author", Stored: TypeID, Form: FormAuthor, Declared: "integer"},
		publicationField("date", "", EmptyRefused),
		publicationField("date_utc", "", EmptyRefused),
		{Name: "venue", Stored: TypeText, Form: FormName, Declared: "string", Required: true, Translatable: true, Max: maxName},
		{Name: "description", Stored: TypeText, Form: FormHTML, Declared: "string", Default: "null", Empty: EmptyClears, Translatable: true, Max: maxDescription, Filled: true},
		statusField("", EmptyRefused),
		{Name: "show_map", Stored: TypeBool, Form: FormBool, Declared: "string", Default: "null", Empty: EmptyClears, Initial: true},
		{Name: "show_map_link", Stored: TypeBool, Form: FormBool, Declared: "string", Default: "null", Empty: EmptyClears, Initial: true},
		detailField("address"),
		detailField("city"),
		detailField("country"),
		detailField("province"),
		detailField("state"),
		detailField("zip"),
		detailField("phone"),
		{
			Name: "stateprovince", Stored: TypeString, Form: FormDetail, Declared: "string", Default: "null", Empty: EmptyClears, Max: maxDetail,
			Shown: ShownRegion, Filled: true,
		},
		{Name: "website", Stored: TypeString, Form: FormURL, Declared: "string", Default: "null", Empty: EmptyClears, Max: maxURL, Filled: true},
		placeImageField(),
		languageField(),
		{Name: "excerpt", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Extension: true, Max: maxDescription, Filled: true},
		{Name: "slug", Stored: TypeString, Form: FormSlug, Declared: "string", Empty: EmptyClears, Extension: true},
		{Name: "geo_lat", Stored: TypeNumber, Form: FormLatitude, Declared: "number", Empty: EmptyClears, Extension: true, Filled: true},
		{Name: "geo_lng", Stored: TypeNumber, Form: FormLongitude, Declared: "number", Empty: EmptyClears, Extension: true, Filled: true},
	}
	return slices.Concat(fields, keptOfPosts())
}

// organizerFields is the table of interface 3.3.1.
func organizerFields() []Field {
	fields := []Field{
		{Name: "author", Stored: TypeID, Form: FormAuthor, Declared: "integer", Default: "null", Empty: EmptyNull},
		publicationField("date", "null", EmptyNull),
		publicationField("date_utc", "null", EmptyNull),
		{Name: "organizer", Stored: TypeText, Form: FormName, Declared: "string", Required: true, Default: "null", Translatable: true, Max: maxName},
		{Name: "description", Stored: TypeText, Form: FormHTML, Declared: "string", Default: "null", Empty: EmptyClears, Translatable: true, Max: maxDescription, Filled: true},
		statusField("null", EmptyNull),
		detailField("phone"),
		{Name: "website", Stored: TypeString, Form: FormURL, Declared: "string", Default: "null", Empty: EmptyClears, Max: maxURL, Filled: true},
		{Name: "email", Stored: TypeString, Form: FormEmail, Declared: "string", Default: "null", Empty: EmptyClears, Max: maxEmail, Filled: true},
		placeImageField(),
		languageField(),
		{Name: "excerpt", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Extension: true, Max: maxDescription, Filled: true},
		{Name: "slug", Stored: TypeString, Form: FormSlug, Declared: "string", Empty: EmptyClears, Extension: true},
	}
	return slices.Concat(fields, keptOfPosts())
}

// placeImageField is the featured image of a venue or an organizer.
func placeImageField() Field {
	f := imageField()
	f.Default, f.Filled = "null", true
	return f
}

// publicationField is date or date_utc of a venue or an organizer.
func publicationField(name, declaredDefault string, e Empty) Field {
	return Field{Name: name, Stored: TypeWall, Form: FormDate, Declared: "string", Default: declaredDefault, Empty: e}
}

// statusField is the status of a venue or an organizer.
func statusField(declaredDefault string, e Empty) Field {
	return Field{Name: "status", Stored: TypeString, Form: FormStatus, Declared: "string", Default: declaredDefault, Empty: e}
}

// detailField is a detail of a venue or an organizer that may be empty.
func detailField(name string) Field {
	return Field{
		Name: name, Stored: TypeString, Form: FormDetail, Declared: "string", Default: "null",
		Empty: EmptyClears, Max: maxDetail, Filled: true,
	}
}
