package calendar

// categoryFields is the table of interface 3.4.1 for categories.
func categoryFields() []Field {
	return []Field{
		termNameField(),
		termDescriptionField(),
		termSlugField(),
		{Name: "parent", Stored: TypeID, Form: FormParent, Declared: "integer", Empty: EmptyClears},
		languageField(),
	}
}

// tagFields is the table of interface 3.4.1 for tags.
func tagFields() []Field {
	return []Field{
		termNameField(),
		termDescriptionField(),
		termSlugField(),
		languageField(),
	}
}

func termNameField() Field {
	return Field{Name: "name", Stored: TypeText, Form: FormName, Declared: "string", Required: true, Translatable: true, Max: maxName}
}

func termDescriptionField() Field {
	return Field{Name: "description", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Max: maxDescription, Shown: ShownText}
}

func termSlugField() Field {
	return Field{Name: "slug", Stored: TypeString, Form: FormSlug, Declared: "string", Empty: EmptyClears}
}
