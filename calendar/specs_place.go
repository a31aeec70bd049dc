package calendar

import "slices"

// venueFields is the table of interface 3.2.1.
func venueFields() []Field {
	fields := []Field{
		{
			Name: "author", Stored: TypeID, Form: FormAuthor, Declared: "integer",
			Doc: [4]string{
				"场地作者的用户编号。",
				"Author of the venue: the identifier of a user.",
				"Auteur du lieu : l’identifiant d’un utilisateur.",
				"Autor del lugar: el identificador de un usuario.",
			},
		},
		publicationField("date", "", EmptyRefused),
		publicationField("date_utc", "", EmptyRefused),
		{
			Name: "venue", Stored: TypeText, Form: FormName, Declared: "string", Required: true, Translatable: true, Max: maxName,
			Doc: [4]string{
				"场地名称。",
				"Name of the venue.",
				"Nom du lieu.",
				"Nombre del lugar.",
			},
		},
		{
			Name: "description", Stored: TypeText, Form: FormHTML, Declared: "string", Default: "null", Empty: EmptyClears, Translatable: true, Max: maxDescription, Filled: true,
			Doc: [4]string{
				"场地描述,可含安全的 HTML。",
				"Description of the venue; safe HTML is kept.",
				"Description du lieu ; le HTML sûr est conservé.",
				"Descripción del lugar; se conserva el HTML seguro.",
			},
		},
		statusField("", EmptyRefused),
		{
			Name: "show_map", Stored: TypeBool, Form: FormBool, Declared: "string", Default: "null", Empty: EmptyClears, Initial: true,
			Doc: [4]string{
				"与该场地关联的活动是否显示地图。",
				"Whether events linked to the venue show a map.",
				"Indique si les événements liés au lieu affichent une carte.",
				"Indica si los eventos vinculados al lugar muestran un mapa.",
			},
		},
		{
			Name: "show_map_link", Stored: TypeBool, Form: FormBool, Declared: "string", Default: "null", Empty: EmptyClears, Initial: true,
			Doc: [4]string{
				"与该场地关联的活动是否显示地图链接。",
				"Whether events linked to the venue show a map link.",
				"Indique si les événements liés au lieu affichent un lien vers une carte.",
				"Indica si los eventos vinculados al lugar muestran un enlace a un mapa.",
			},
		},
		detailField("address", [4]string{
			"场地地址。",
			"Address of the venue.",
			"Adresse du lieu.",
			"Dirección del lugar.",
		}),
		detailField("city", [4]string{
			"场地所在城市。",
			"City of the venue.",
			"Ville du lieu.",
			"Ciudad del lugar.",
		}),
		detailField("country", [4]string{
			"场地所在国家。",
			"Country of the venue.",
			"Pays du lieu.",
			"País del lugar.",
		}),
		detailField("province", [4]string{
			"场地所在省份。",
			"Province of the venue.",
			"Province du lieu.",
			"Provincia del lugar.",
		}),
		detailField("state", [4]string{
			"场地所在州。",
			"State of the venue.",
			"État ou région du lieu.",
			"Estado del lugar.",
		}),
		detailField("zip", [4]string{
			"场地邮政编码。",
			"ZIP or postal code of the venue.",
			"Code postal du lieu.",
			"Código postal del lugar.",
		}),
		detailField("phone", [4]string{
			"场地电话号码。",
			"Phone number of the venue.",
			"Numéro de téléphone du lieu.",
			"Número de teléfono del lugar.",
		}),
		{
			Name: "stateprovince", Stored: TypeString, Form: FormDetail, Declared: "string", Default: "null", Empty: EmptyClears, Max: maxDetail,
			Shown: ShownRegion, Filled: true,
			Doc: [4]string{
				"场地所在州或省;留空则由其他字段得出。",
				"State or province of the venue; derived from the other fields when empty.",
				"État ou province du lieu ; déduit des autres champs s’il est vide.",
				"Estado o provincia del lugar; vacío, se deduce de los otros campos.",
			},
		},
		{
			Name: "website", Stored: TypeString, Form: FormURL, Declared: "string", Default: "null", Empty: EmptyClears, Max: maxURL, Filled: true,
			Doc: [4]string{
				"场地网站:完整的 http 或 https 网址。",
				"Website of the venue: an absolute http or https URL.",
				"Site web du lieu : une URL http ou https absolue.",
				"Sitio web del lugar: una URL http o https absoluta.",
			},
		},
		placeImageField(),
		languageField(),
		{
			Name: "excerpt", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Extension: true, Max: maxDescription, Filled: true,
			Doc: [4]string{
				"场地摘要。",
				"Excerpt of the venue.",
				"Extrait du lieu.",
				"Extracto del lugar.",
			},
		},
		{
			Name: "slug", Stored: TypeString, Form: FormSlug, Declared: "string", Empty: EmptyClears, Extension: true,
			Doc: [4]string{
				"场地别名,用于网址;留空则由名称重新生成。",
				"Slug of the venue, its part of the URL; made anew from the name when empty.",
				"Identifiant textuel du lieu dans l’URL ; refait à partir du nom s’il est vide.",
				"Slug del lugar, su parte de la URL; vacío, se rehace a partir del nombre.",
			},
		},
		{
			Name: "geo_lat", Stored: TypeNumber, Form: FormLatitude, Declared: "number", Empty: EmptyClears, Extension: true, Filled: true,
			Doc: [4]string{
				"场地纬度,-90 到 90 度;须与 geo_lng 成对。",
				"Latitude of the venue, -90 to 90 degrees; together with geo_lng.",
				"Latitude du lieu, de -90 à 90 degrés ; avec geo_lng.",
				"Latitud del lugar, de -90 a 90 grados; junto con geo_lng.",
			},
		},
		{
			Name: "geo_lng", Stored: TypeNumber, Form: FormLongitude, Declared: "number", Empty: EmptyClears, Extension: true, Filled: true,
			Doc: [4]string{
				"场地经度,-180 到 180 度;须与 geo_lat 成对。",
				"Longitude of the venue, -180 to 180 degrees; together with geo_lat.",
				"Longitude du lieu, de -180 à 180 degrés ; avec geo_lat.",
				"Longitud del lugar, de -180 a 180 grados; junto con geo_lat.",
			},
		},
	}
	return slices.Concat(fields, keptOfPosts())
}

// organizerFields is the table of interface 3.3.1.
func organizerFields() []Field {
	fields := []Field{
		{
			Name: "author", Stored: TypeID, Form: FormAuthor, Declared: "integer", Default: "null", Empty: EmptyNull,
			Doc: [4]string{
				"组织者记录作者的用户编号。",
				"Author of the organizer: the identifier of a user.",
				"Auteur de l’organisateur : l’identifiant d’un utilisateur.",
				"Autor del organizador: el identificador de un usuario.",
			},
		},
		publicationField("date", "null", EmptyNull),
		publicationField("date_utc", "null", EmptyNull),
		{
			Name: "organizer", Stored: TypeText, Form: FormName, Declared: "string", Required: true, Default: "null", Translatable: true, Max: maxName,
			Doc: [4]string{
				"组织者名称。",
				"Name of the organizer.",
				"Nom de l’organisateur.",
				"Nombre del organizador.",
			},
		},
		{
			Name: "description", Stored: TypeText, Form: FormHTML, Declared: "string", Default: "null", Empty: EmptyClears, Translatable: true, Max: maxDescription, Filled: true,
			Doc: [4]string{
				"组织者描述,可含安全的 HTML。",
				"Description of the organizer; safe HTML is kept.",
				"Description de l’organisateur ; le HTML sûr est conservé.",
				"Descripción del organizador; se conserva el HTML seguro.",
			},
		},
		statusField("null", EmptyNull),
		detailField("phone", [4]string{
			"组织者电话号码。",
			"Phone number of the organizer.",
			"Numéro de téléphone de l’organisateur.",
			"Número de teléfono del organizador.",
		}),
		{
			Name: "website", Stored: TypeString, Form: FormURL, Declared: "string", Default: "null", Empty: EmptyClears, Max: maxURL, Filled: true,
			Doc: [4]string{
				"组织者网站:完整的 http 或 https 网址。",
				"Website of the organizer: an absolute http or https URL.",
				"Site web de l’organisateur : une URL http ou https absolue.",
				"Sitio web del organizador: una URL http o https absoluta.",
			},
		},
		{
			Name: "email", Stored: TypeString, Form: FormEmail, Declared: "string", Default: "null", Empty: EmptyClears, Max: maxEmail, Filled: true,
			Doc: [4]string{
				"组织者电子邮件地址。",
				"E-mail address of the organizer.",
				"Adresse électronique de l’organisateur.",
				"Correo electrónico del organizador.",
			},
		},
		placeImageField(),
		languageField(),
		{
			Name: "excerpt", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Extension: true, Max: maxDescription, Filled: true,
			Doc: [4]string{
				"组织者摘要。",
				"Excerpt of the organizer.",
				"Extrait de l’organisateur.",
				"Extracto del organizador.",
			},
		},
		{
			Name: "slug", Stored: TypeString, Form: FormSlug, Declared: "string", Empty: EmptyClears, Extension: true,
			Doc: [4]string{
				"组织者别名,用于网址;留空则由名称重新生成。",
				"Slug of the organizer, its part of the URL; made anew from the name when empty.",
				"Identifiant textuel de l’organisateur dans l’URL ; refait à partir du nom s’il est vide.",
				"Slug del organizador, su parte de la URL; vacío, se rehace a partir del nombre.",
			},
		},
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
	doc := [4]string{
		"发布日期,按站点时区。",
		"Publication date in the time zone of the site.",
		"Date de publication dans le fuseau horaire du site.",
		"Fecha de publicación en la zona horaria del sitio.",
	}
	if name == "date_utc" {
		doc = [4]string{
			"发布日期(UTC)。",
			"Publication date in UTC.",
			"Date de publication en UTC.",
			"Fecha de publicación en UTC.",
		}
	}
	return Field{Name: name, Stored: TypeWall, Form: FormDate, Declared: "string", Default: declaredDefault, Empty: e, Doc: doc}
}

// statusField is the status of a venue or an organizer.
func statusField(declaredDefault string, e Empty) Field {
	return Field{
		Name: "status", Stored: TypeString, Form: FormStatus, Declared: "string", Default: declaredDefault, Empty: e,
		Doc: [4]string{
			"发布状态:publish、future、draft、pending 或 private。",
			"Post status: publish, future, draft, pending or private.",
			"État de publication : publish, future, draft, pending ou private.",
			"Estado de publicación: publish, future, draft, pending o private.",
		},
	}
}

// detailField is a detail of a venue or an organizer that may be empty.
func detailField(name string, doc [4]string) Field {
	return Field{
		Name: name, Stored: TypeString, Form: FormDetail, Declared: "string", Default: "null",
		Empty: EmptyClears, Max: maxDetail, Filled: true, Doc: doc,
	}
}
