package calendar

// categoryFields is the table of interface 3.4.1 for categories.
func categoryFields() []Field {
	return []Field{
		termNameField([4]string{
			"类别名称。",
			"Name of the category.",
			"Nom de la catégorie.",
			"Nombre de la categoría.",
		}),
		termDescriptionField([4]string{
			"类别描述,可含安全的 HTML。",
			"Description of the category; safe HTML is kept.",
			"Description de la catégorie ; le HTML sûr est conservé.",
			"Descripción de la categoría; se conserva el HTML seguro.",
		}),
		termSlugField([4]string{
			"类别别名,用于网址;留空则由名称重新生成。",
			"Slug of the category, its part of the URL; made anew from the name when empty.",
			"Identifiant textuel de la catégorie dans l’URL ; refait à partir du nom s’il est vide.",
			"Slug de la categoría, su parte de la URL; vacío, se rehace a partir del nombre.",
		}),
		{
			Name: "parent", Stored: TypeID, Form: FormParent, Declared: "integer", Empty: EmptyClears,
			Doc: [4]string{
				"上级类别的编号;0 表示没有。",
				"Identifier of the parent category; 0 for none.",
				"Identifiant de la catégorie parente ; 0 pour aucune.",
				"Identificador de la categoría superior; 0 si no tiene.",
			},
		},
		languageField(),
	}
}

// tagFields is the table of interface 3.4.1 for tags.
func tagFields() []Field {
	return []Field{
		termNameField([4]string{
			"标签名称。",
			"Name of the tag.",
			"Nom de l’étiquette.",
			"Nombre de la etiqueta.",
		}),
		termDescriptionField([4]string{
			"标签描述,可含安全的 HTML。",
			"Description of the tag; safe HTML is kept.",
			"Description de l’étiquette ; le HTML sûr est conservé.",
			"Descripción de la etiqueta; se conserva el HTML seguro.",
		}),
		termSlugField([4]string{
			"标签别名,用于网址;留空则由名称重新生成。",
			"Slug of the tag, its part of the URL; made anew from the name when empty.",
			"Identifiant textuel de l’étiquette dans l’URL ; refait à partir du nom s’il est vide.",
			"Slug de la etiqueta, su parte de la URL; vacío, se rehace a partir del nombre.",
		}),
		languageField(),
	}
}

func termNameField(doc [4]string) Field {
	return Field{Name: "name", Stored: TypeText, Form: FormName, Declared: "string", Required: true, Translatable: true, Max: maxName, Doc: doc}
}

func termDescriptionField(doc [4]string) Field {
	return Field{Name: "description", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Max: maxDescription, Shown: ShownText, Doc: doc}
}

func termSlugField(doc [4]string) Field {
	return Field{Name: "slug", Stored: TypeString, Form: FormSlug, Declared: "string", Empty: EmptyClears, Doc: doc}
}
