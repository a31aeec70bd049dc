package calendar

import "slices"

// eventFields is the table of interface 3.1.1.
func eventFields() []Field {
	return slices.Concat([]Field{
		{
			Name: "author", Stored: TypeID, Form: FormAuthor, Declared: "integer", Stays: true,
			Doc: [4]string{
				"活动作者的用户编号。",
				"Author of the event: the identifier of a user.",
				"Auteur de l’événement : l’identifiant d’un utilisateur.",
				"Autor del evento: el identificador de un usuario.",
			},
		},
		{
			Name: "date", Stored: TypeWall, Form: FormDate, Declared: "string", Stays: true,
			Doc: [4]string{
				"发布日期和时间,按站点时区。",
				"Publication date and time in the time zone of the site.",
				"Date et heure de publication dans le fuseau horaire du site.",
				"Fecha y hora de publicación en la zona horaria del sitio.",
			},
		},
		{
			Name: "date_utc", Stored: TypeWall, Form: FormDate, Declared: "string", Stays: true,
			Doc: [4]string{
				"发布日期和时间(UTC)。",
				"Publication date and time in UTC.",
				"Date et heure de publication en UTC.",
				"Fecha y hora de publicación en UTC.",
			},
		},
		{
			Name: "title", Stored: TypeText, Form: FormName, Declared: "string", Required: true, Translatable: true, Max: maxName, Stays: true,
			Doc: [4]string{
				"活动标题。",
				"Title of the event.",
				"Titre de l’événement.",
				"Título del evento.",
			},
		},
		{
			Name: "description", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Max: maxDescription,
			Doc: [4]string{
				"活动描述,可含安全的 HTML。",
				"Description of the event; safe HTML is kept.",
				"Description de l’événement ; le HTML sûr est conservé.",
				"Descripción del evento; se conserva el HTML seguro.",
			},
		},
		{
			Name: "slug", Stored: TypeString, Form: FormSlug, Declared: "string", Empty: EmptyClears, Stays: true,
			Doc: [4]string{
				"活动别名,用于网址;留空则由标题重新生成。",
				"Slug of the event, its part of the URL; made anew from the title when empty.",
				"Identifiant textuel de l’événement dans l’URL ; refait à partir du titre s’il est vide.",
				"Slug del evento, su parte de la URL; vacío, se rehace a partir del título.",
			},
		},
		{
			Name: "excerpt", Stored: TypeText, Form: FormHTML, Declared: "string", Empty: EmptyClears, Translatable: true, Max: maxDescription,
			Doc: [4]string{
				"活动摘要。",
				"Excerpt of the event.",
				"Extrait de l’événement.",
				"Extracto del evento.",
			},
		},
		{
			Name: "status", Stored: TypeString, Form: FormStatus, Declared: "string", Stays: true,
			Doc: [4]string{
				"发布状态:publish、future、draft、pending 或 private。",
				"Post status: publish, future, draft, pending or private.",
				"État de publication : publish, future, draft, pending ou private.",
				"Estado de publicación: publish, future, draft, pending o private.",
			},
		},
		{
			Name: "timezone", Stored: TypeString, Form: FormZone, Declared: "string", Empty: EmptyClears, Stays: true,
			Doc: [4]string{
				"活动时区:IANA 名称、UTC 或与 UTC 的时差;留空则用站点时区。",
				"Time zone of the event: an IANA name, UTC or an offset from UTC; the zone of the site when empty.",
				"Fuseau horaire de l’événement : un nom IANA, UTC ou un décalage par rapport à UTC ; celui du site s’il est vide.",
				"Zona horaria del evento: un nombre IANA, UTC o un desfase respecto a UTC; vacío, la del sitio.",
			},
		},
		{
			Name: "all_day", Stored: TypeBool, Form: FormBool, Declared: "boolean", Default: "false",
			Doc: [4]string{
				"活动是否持续全天。",
				"Whether the event lasts the whole day.",
				"Indique si l’événement dure toute la journée.",
				"Indica si el evento dura todo el día.",
			},
		},
		{
			Name: "start_date", Stored: TypeWall, Form: FormDate, Declared: "string", Required: true, Shown: ShownMoment, Stays: true,
			Doc: [4]string{
				"开始日期和时间,按活动时区。",
				"Start date and time in the time zone of the event.",
				"Date et heure de début dans le fuseau horaire de l’événement.",
				"Fecha y hora de inicio en la zona horaria del evento.",
			},
		},
		{
			Name: "end_date", Stored: TypeWall, Form: FormDate, Declared: "string", Required: true, Shown: ShownMoment, Stays: true,
			Doc: [4]string{
				"结束日期和时间,按活动时区;不得早于开始。",
				"End date and time in the time zone of the event; not before the start.",
				"Date et heure de fin dans le fuseau horaire de l’événement ; pas avant le début.",
				"Fecha y hora de fin en la zona horaria del evento; no antes del inicio.",
			},
		},
		imageField(),
		{
			Name: "cost", Stored: TypeStrings, Form: FormCost, Empty: EmptyClears,
			Doc: [4]string{
				"活动费用:一个文本、一个数字,或由它们组成的列表。",
				"Cost of the event: a text, a number, or a list of these.",
				"Prix de l’événement : un texte, un nombre, ou une liste de ceux-ci.",
				"Precio del evento: un texto, un número o una lista de ellos.",
			},
		},
		{
			Name: "website", Stored: TypeString, Form: FormEventURL, Default: "null", Empty: EmptyClears, Max: maxURL,
			Doc: [4]string{
				"活动网站:完整的 http 或 https 网址。",
				"Website of the event: an absolute http or https URL.",
				"Site web de l’événement : une URL http ou https absolue.",
				"Sitio web del evento: una URL http o https absoluta.",
			},
		},
		{
			Name: "show_map", Stored: TypeBool, Form: FormBool, Declared: "boolean", Initial: true,
			Doc: [4]string{
				"是否显示地图。",
				"Whether to show a map.",
				"Indique s’il faut afficher une carte.",
				"Indica si se muestra un mapa.",
			},
		},
		{
			Name: "show_map_link", Stored: TypeBool, Form: FormBool, Declared: "boolean", Initial: true,
			Doc: [4]string{
				"是否显示地图链接。",
				"Whether to show a map link.",
				"Indique s’il faut afficher un lien vers une carte.",
				"Indica si se muestra un enlace a un mapa.",
			},
		},
		{
			Name: "hide_from_listings", Stored: TypeBool, Form: FormBool, Declared: "boolean",
			Doc: [4]string{
				"是否在列表中隐藏;仍可按编号和别名读取。",
				"Whether to hide the event in listings; it stays readable by id and slug.",
				"Indique s’il faut masquer l’événement dans les listes ; il reste lisible par identifiant et par slug.",
				"Indica si el evento se oculta en los listados; sigue siendo legible por identificador y por slug.",
			},
		},
		{
			Name: "sticky", Stored: TypeBool, Form: FormBool, Declared: "boolean",
			Doc: [4]string{
				"是否在日历视图中置顶;不改变任何排序。",
				"Whether the event is sticky in the calendar view; no order is changed.",
				"Indique si l’événement est épinglé dans la vue calendrier ; aucun ordre ne change.",
				"Indica si el evento está fijado en la vista de calendario; no cambia ningún orden.",
			},
		},
		{
			Name: "featured", Stored: TypeBool, Form: FormBool, Declared: "boolean",
			Doc: [4]string{
				"是否为推荐活动;不改变任何排序。",
				"Whether the event is featured on the site; no order is changed.",
				"Indique si l’événement est mis en avant sur le site ; aucun ordre ne change.",
				"Indica si el evento está destacado en el sitio; no cambia ningún orden.",
			},
		},
		{
			Name: "categories", Stored: TypeIDs, Form: FormTerms, Declared: "array of integer", Default: "null", Empty: EmptyClears,
			Doc: [4]string{
				"活动类别的编号、别名或名称。",
				"Event categories: identifiers, slugs or names.",
				"Catégories de l’événement : identifiants, slugs ou noms.",
				"Categorías del evento: identificadores, slugs o nombres.",
			},
		},
		{
			Name: "tags", Stored: TypeIDs, Form: FormTerms, Declared: "array of integer", Default: "null", Empty: EmptyClears,
			Doc: [4]string{
				"活动标签的编号、别名或名称。",
				"Event tags: identifiers, slugs or names.",
				"Étiquettes de l’événement : identifiants, slugs ou noms.",
				"Etiquetas del evento: identificadores, slugs o nombres.",
			},
		},
		{
			Name: "venue", Stored: TypeIDs, Form: FormLinks, Declared: "array of integer", Default: "null", Empty: EmptyClears, Shown: ShownFirst,
			Doc: [4]string{
				"活动场地:编号或场地数据。",
				"Venues of the event: identifiers or the data of venues.",
				"Lieux de l’événement : identifiants ou données de lieux.",
				"Lugares del evento: identificadores o datos de lugares.",
			},
		},
		{
			Name: "organizer", Stored: TypeIDs, Form: FormLinks, Declared: "array of integer", Default: "null", Empty: EmptyClears,
			Doc: [4]string{
				"活动组织者:编号或组织者数据。",
				"Organizers of the event: identifiers or the data of organizers.",
				"Organisateurs de l’événement : identifiants ou données d’organisateurs.",
				"Organizadores del evento: identificadores o datos de organizadores.",
			},
		},
		languageField(),
		{
			Name: "password", Form: FormPassword, Declared: "string", Empty: EmptyClears, Max: MaxPassword, NotBySlug: true,
			Doc: [4]string{
				"活动密码;留空则取消密码。不会返回。",
				"Password of the event; removed when empty. It is never answered.",
				"Mot de passe de l’événement ; supprimé s’il est vide. Il n’est jamais renvoyé.",
				"Contraseña del evento; vacía, se elimina. Nunca se devuelve.",
			},
		},
		{
			Name: "ticketed", Stored: TypeBool, Form: FormBool, Declared: "boolean", Extension: true,
			Doc: [4]string{
				"活动是否有门票。",
				"Whether the event has tickets.",
				"Indique si l’événement a une billetterie.",
				"Indica si el evento tiene entradas.",
			},
		},
		{
			Name: "post_parent", Stored: TypeID, Form: FormParent, Declared: "integer", Empty: EmptyClears, Extension: true,
			Doc: [4]string{
				"上级活动的编号;0 表示没有。",
				"Identifier of the parent event; 0 for none.",
				"Identifiant de l’événement parent ; 0 pour aucun.",
				"Identificador del evento superior; 0 si no tiene.",
			},
		},
		computed("utc_start_date", ShownMoment),
		computed("utc_end_date", ShownMoment),
	}, keptOfPosts(), []Field{kept("protected", TypeBool)})
}

// imageField is the featured image of a post.
func imageField() Field {
	return Field{
		Name: "image", Stored: TypeID, Form: FormImage, Declared: "string", Empty: EmptyClears, Max: maxURL,
		Doc: [4]string{
			"特色图片的编号或网址。",
			"Featured image: its identifier or URL.",
			"Image mise en avant : son identifiant ou son URL.",
			"Imagen destacada: su identificador o su URL.",
		},
	}
}
