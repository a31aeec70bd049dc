package query

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
)

// Param is one row of a parameter table of interface 4: all that is known of a
// parameter stands in it.
type Param struct {
	Name string
	// Declared is the type of the table: "integer", "string", "date" (a text of
	// interface 2.4), "boolean", "number", "array of integer", "array of
	// string", "" untyped.
	Declared  string
	Format    string // "double", "date-time", "" none
	Default   string // declared default as JSON text, "" none
	Enum      []string
	Extension bool
	Required  bool
	Doc       [4]string // in the order of calendar.Langs: cn, en, fr, es

	// Many says that it takes several values, though it is declared as one.
	Many bool
	// Named says that the entries of the list may be slugs or names beside ids.
	Named bool
	// LooksUp says that its check asks the store, so that the same text may mean
	// another thing a moment later.
	LooksUp bool
	// Hides says that a filter by it leaves out the events that the caller gets
	// blanked: they do not show what it asks for.
	Hides bool
	// Schema are the further keywords of its schema in the documentation. PerPage
	// says that the setting of that name is its maximum.
	Schema  map[string]any
	PerPage bool
	// Moving gives the default that moves with the day; nil: none does.
	Moving func(now time.Time, site *time.Location) calendar.Wall

	// cost is what the request costs more for it, when it is sent and good; nil: nothing.
	cost func(q *parser) int
	// ahead puts the row before those that are less ahead, when they are read and
	// refused: the language decides how a search is read, strict_dates how dates are.
	ahead int
	// read checks what was sent, if anything, and puts it into the criteria. What it
	// means beyond its text, by the moment or the store, goes into parser.resolved.
	read func(ctx context.Context, q *parser, p *Param)
	// link changes what links carry and keys hold: what was sent when it is nil.
	link func(q *parser, v any, sent bool) (any, bool)
}

// IsList tells whether the parameter takes several values: sent more than once,
// all of them count (interface 2.1).
func (p *Param) IsList() bool { return p.Many || strings.HasPrefix(p.Declared, "array of ") }

// Params gives the parameter table of a list, in the order of the interface; nil
// for kinds without a list. The caller must not change it.
func Params(k calendar.Kind) []Param {
	if int(k) >= len(tables) {
		return nil
	}
	return tables[k].params
}

// table is the parameter table of a list.
type table struct {
	params []Param
	inTurn []*Param // in the order in which they are read
}

// The tables of interface 4.5, 4.10 and 4.11.
var tables = [calendar.KindTag + 1]table{
	calendar.KindEvent:     newTable(eventParams()),
	calendar.KindVenue:     newTable(linkedParams(calendar.KindVenue)),
	calendar.KindOrganizer: newTable(linkedParams(calendar.KindOrganizer)),
	calendar.KindCategory:  newTable(termParams(calendar.KindCategory)),
	calendar.KindTag:       newTable(termParams(calendar.KindTag)),
}

func newTable(params []Param) table {
	t := table{params, make([]*Param, len(params))}
	for i := range params {
		t.inTurn[i] = &params[i]
	}
	slices.SortStableFunc(t.inTurn, func(a, b *Param) int { return b.ahead - a.ahead })
	return t
}

// Rows that every list has.
func pageParam() Param {
	return Param{Name: "page", Declared: "integer", Default: "1", ahead: 5, read: readPage, link: linkNothing, Schema: map[string]any{"minimum": 1, "maximum": maxPage}, Doc: [4]string{
		"要返回的页码，从 1 开始。",
		"Page of the archive to return, from 1.",
		"Page de l’archive à renvoyer, à partir de 1.",
		"Página del archivo que se devuelve, desde 1.",
	}}
}

func perPageParam(doc [4]string) Param {
	return Param{Name: "per_page", Declared: "integer", Default: `"10"`, ahead: 4, read: readPerPage, link: linkPerPage, Schema: map[string]any{"minimum": 1, "default": defPerPage}, PerPage: true, Doc: doc}
}

func languageParam() Param {
	return Param{Name: "multilang_language", Declared: "string", Enum: calendar.LangNames(), ahead: 6, read: readLanguage, Doc: [4]string{
		"答复所用的语言。",
		"Language selector: the language of the answer.",
		"Sélecteur de langue : la langue de la réponse.",
		"Selector de idioma: el idioma de la respuesta.",
	}}
}

func pointParam() Param {
	return Param{Name: "as_of", Declared: "string", Extension: true, read: readPoint, link: linkPoint, Schema: map[string]any{"minLength": 1}, Doc: [4]string{
		"按此时刻给出列表：日期，或 position:N。",
		"The list as it was at this point in time: a date, or position:N.",
		"La liste telle qu’elle était à ce moment : une date, ou position:N.",
		"La lista tal como era en ese momento: una fecha, o position:N.",
	}}
}

func fieldsParam() Param {
	return Param{Name: "_fields", Declared: "array of string", Extension: true, ahead: 3, read: readFields, link: linkFields, Doc: [4]string{
		"每条记录只保留这些顶层字段。",
		"Keep only these top-level fields of each record.",
		"Ne garder que ces champs de premier niveau de chaque fiche.",
		"Conservar solo estos campos de primer nivel de cada registro.",
	}}
}

func statusParam() Param {
	return Param{Name: "status", Declared: "string", Many: true, read: readStatus, Schema: map[string]any{
		"type": "array", "items": map[string]any{"type": "string", "enum": strings.Split(statusWords, ",")},
	}, Doc: [4]string{
		"按发布状态筛选：publish、future、draft、pending、private、trash，可用逗号分隔多个值。",
		"Filter by post status: publish, future, draft, pending, private, trash; several with commas.",
		"Filtrer par état : publish, future, draft, pending, private, trash ; plusieurs séparés par des virgules.",
		"Filtrar por estado: publish, future, draft, pending, private, trash; varios separados por comas.",
	}}
}

func searchParam(doc [4]string) Param {
	return Param{Name: "search", Declared: "string", ahead: 2, read: readSearch, Schema: map[string]any{"minLength": 1, "maxLength": maxSearch}, Doc: doc}
}

// eventParams is the table of interface 4.5.
func eventParams() []Param {
	return []Param{
		pageParam(),
		perPageParam([4]string{
			"每页的活动数；超过上限时按上限计。",
			"Events per page; more than the maximum is lowered to it.",
			"Événements par page ; au-delà du maximum, le maximum s’applique.",
			"Eventos por página; por encima del máximo se aplica el máximo.",
		}),
		{Name: "start_date", Declared: "string", Format: "date-time", read: edge{start: true, lower: true, equal: true, floor: true}.read, Moving: startOfWindow, link: linkStart, Doc: [4]string{
			"在此日期或之后开始的活动；默认为当天。",
			"Events that start on this date or later; the current date by default.",
			"Événements qui commencent à cette date ou plus tard ; par défaut la date du jour.",
			"Eventos que empiezan en esta fecha o después; por defecto, la fecha actual.",
		}},
		{Name: "end_date", Declared: "string", Format: "date-time", read: edge{equal: true}.read, Moving: endOfWindow, link: linkEnd, Doc: [4]string{
			"在此日期或之前结束的活动；默认为当天起两年后。",
			"Events that end on this date or before; by default two years after the current date.",
			"Événements qui finissent à cette date ou avant ; par défaut deux ans après la date du jour.",
			"Eventos que terminan en esta fecha o antes; por defecto, dos años después de la fecha actual.",
		}},
		{Name: "starts_before", Declared: "date", read: edge{start: true}.read, Doc: [4]string{
			"在此日期之前开始的活动。",
			"Events that start before this date.",
			"Événements qui commencent avant cette date.",
			"Eventos que empiezan antes de esta fecha.",
		}},
		{Name: "starts_after", Declared: "date", read: edge{start: true, lower: true}.read, Doc: [4]string{
			"在此日期之后开始的活动。",
			"Events that start after this date.",
			"Événements qui commencent après cette date.",
			"Eventos que empiezan después de esta fecha.",
		}},
		{Name: "ends_before", Declared: "date", read: edge{}.read, Doc: [4]string{
			"在此日期之前结束的活动。",
			"Events that end before this date.",
			"Événements qui finissent avant cette date.",
			"Eventos que terminan antes de esta fecha.",
		}},
		{Name: "ends_after", Declared: "date", read: edge{lower: true}.read, Doc: [4]string{
			"在此日期之后结束的活动。",
			"Events that end after this date.",
			"Événements qui finissent après cette date.",
			"Eventos que terminan después de esta fecha.",
		}},
		{Name: "strict_dates", Default: `"false"`, ahead: 1, read: readSwitch(func(r *criteria) *sw { return &r.strict }), Schema: map[string]any{"default": false}, Doc: [4]string{
			"true：所给日期为精确时间；false：包含整天。",
			"true: the given dates are exact times; false: whole days are included.",
			"true : les dates données sont des heures exactes ; false : les jours entiers sont compris.",
			"true: las fechas dadas son horas exactas; false: se incluyen los días enteros.",
		}},
		searchParam([4]string{
			"标题、描述和摘要中须包含的文字。",
			"Text that title, description or excerpt must contain.",
			"Texte que le titre, la description ou l’extrait doit contenir.",
			"Texto que debe contener el título, la descripción o el extracto.",
		}),
		{Name: "categories", Declared: "array of integer", Named: true, LooksUp: true, Hides: true, read: readNamed(calendar.KindCategory, func(r *criteria) *[]calendar.ID { return &r.categories }), Doc: [4]string{
			"活动属于这些分类或其子分类之一：编号、别名或名称。",
			"Events with one of these categories or of their descendants: identifiers, slugs or names.",
			"Événements d’une de ces catégories ou de leurs descendantes : identifiants, slugs ou noms.",
			"Eventos de una de estas categorías o de sus descendientes: identificadores, slugs o nombres.",
		}},
		{Name: "tags", Declared: "array of integer", Named: true, LooksUp: true, Hides: true, read: readNamed(calendar.KindTag, func(r *criteria) *[]calendar.ID { return &r.tags }), Doc: [4]string{
			"活动带有这些标签之一：编号、别名或名称。",
			"Events with one of these tags: identifiers, slugs or names.",
			"Événements portant une de ces étiquettes : identifiants, slugs ou noms.",
			"Eventos con una de estas etiquetas: identificadores, slugs o nombres.",
		}},
		{Name: "venue", Declared: "array of integer", LooksUp: true, Hides: true, read: readKnown(calendar.KindVenue, func(r *criteria) *[]calendar.ID { return &r.venues }), Doc: [4]string{
			"活动在这些场地之一举行：场地编号。",
			"Events linked to one of these venues: venue identifiers.",
			"Événements liés à un de ces lieux : identifiants de lieux.",
			"Eventos vinculados a uno de estos lugares: identificadores de lugares.",
		}},
		{Name: "organizer", Declared: "array of integer", LooksUp: true, Hides: true, read: readKnown(calendar.KindOrganizer, func(r *criteria) *[]calendar.ID { return &r.organizers }), Doc: [4]string{
			"活动由这些主办方之一举办：主办方编号。",
			"Events linked to one of these organizers: organizer identifiers.",
			"Événements liés à un de ces organisateurs : identifiants d’organisateurs.",
			"Eventos vinculados a uno de estos organizadores: identificadores de organizadores.",
		}},
		{Name: "featured", Declared: "boolean", Hides: true, read: readSwitch(func(r *criteria) *sw { return &r.featured }), Doc: [4]string{
			"true：只要推荐活动；false：只要非推荐活动。",
			"true: only featured events; false: only events that are not featured.",
			"true : seulement les événements mis en avant ; false : seulement les autres.",
			"true: solo eventos destacados; false: solo los no destacados.",
		}},
		statusParam(),
		{Name: "geoloc", Declared: "boolean", Hides: true, read: readSwitch(func(r *criteria) *sw { return &r.geoloc }), Doc: [4]string{
			"true：只要场地有坐标的活动；false：只要场地没有坐标的活动。",
			"true: only events whose venue has coordinates; false: only events without such a venue.",
			"true : seulement les événements dont le lieu a des coordonnées ; false : seulement les autres.",
			"true: solo eventos cuyo lugar tiene coordenadas; false: solo los demás.",
		}},
		{Name: "geoloc_lat", Declared: "number", Format: "double", Hides: true, read: readLat, Schema: map[string]any{"minimum": -maxLat, "maximum": maxLat}, Doc: [4]string{
			"场地附近一点的纬度，须与 geoloc_lng 同时给出。",
			"Latitude of the place that the venue is near to; together with geoloc_lng.",
			"Latitude du point près duquel se trouve le lieu ; avec geoloc_lng.",
			"Latitud del punto cercano al lugar; junto con geoloc_lng.",
		}},
		{Name: "geoloc_lng", Declared: "number", Format: "double", Hides: true, read: readLng, Schema: map[string]any{"minimum": -maxLng, "maximum": maxLng}, Doc: [4]string{
			"场地附近一点的经度，须与 geoloc_lat 同时给出。",
			"Longitude of the place that the venue is near to; together with geoloc_lat.",
			"Longitude du point près duquel se trouve le lieu ; avec geoloc_lat.",
			"Longitud del punto cercano al lugar; junto con geoloc_lat.",
		}},
		{Name: "geoloc_radius", Declared: "number", Format: "double", Default: strconv.Itoa(defRadius), Extension: true, read: readRadius, Schema: map[string]any{"exclusiveMinimum": 0, "maximum": maxRadius}, Doc: [4]string{
			"与该点的最大距离，单位为公里。",
			"Largest distance from that place, in kilometres.",
			"Distance maximale à ce point, en kilomètres.",
			"Distancia máxima a ese punto, en kilómetros.",
		}},
		{Name: "include", Declared: "array of integer", read: readIDs, Doc: [4]string{
			"只返回这些编号的活动；忽略日期条件。",
			"Only the events with these identifiers; date filters are ignored.",
			"Seulement les événements de ces identifiants ; les filtres de date sont ignorés.",
			"Solo los eventos con estos identificadores; se ignoran los filtros de fecha.",
		}},
		{Name: "post_parent", Declared: "integer", LooksUp: true, Hides: true, read: readRecord(calendar.KindEvent, func(r *criteria) *calendar.ID { return &r.postParent }), Doc: [4]string{
			"该编号活动的子活动。",
			"Children of the event with this identifier.",
			"Enfants de l’événement de cet identifiant.",
			"Hijos del evento con este identificador.",
		}},
		{Name: "ticketed", Declared: "boolean", Hides: true, read: readSwitch(func(r *criteria) *sw { return &r.ticketed }), Doc: [4]string{
			"true：只要售票活动；false：只要不售票的活动。",
			"true: only events with tickets; false: only events without.",
			"true : seulement les événements avec billets ; false : seulement ceux sans billets.",
			"true: solo eventos con entradas; false: solo eventos sin entradas.",
		}},
		pointParam(),
		languageParam(),
		fieldsParam(),
		{Name: "format", Declared: "string", Enum: Formats, Extension: true, read: readWord(func(o *Output, word string) { o.Format = word }), Doc: [4]string{
			"答复的格式；路径中的后缀优先。",
			"Format of the answer; an ending in the path wins over it.",
			"Format de la réponse ; un suffixe dans le chemin l’emporte.",
			"Formato de la respuesta; una terminación en la ruta prevalece.",
		}},
		{Name: "features", Declared: "string", Default: `"events"`, Enum: []string{"events", "venues"}, Extension: true, read: readWord(func(o *Output, word string) { o.Venues = word == "venues" }), Doc: [4]string{
			"GeoJSON 的要素：每个活动一个，或每个场地一个。",
			"Features of GeoJSON: one for each event, or one for each venue.",
			"Entités de GeoJSON : une par événement, ou une par lieu.",
			"Elementos de GeoJSON: uno por evento o uno por lugar.",
		}},
		{Name: "csv_bom", Declared: "boolean", Default: "false", Extension: true, read: readFlag(func(o *Output) *bool { return &o.BOM }), Doc: [4]string{
			"true：CSV 以字节顺序标记开头，供电子表格使用。",
			"true: CSV begins with a byte order mark, for spreadsheets.",
			"true : le CSV commence par un indicateur d’ordre des octets, pour les tableurs.",
			"true: el CSV empieza con una marca de orden de bytes, para hojas de cálculo.",
		}},
		{Name: "csv_raw", Declared: "boolean", Default: "false", Extension: true, read: readFlag(func(o *Output) *bool { return &o.Raw }), Doc: [4]string{
			"true：CSV 中看似公式的文字前不加撇号。",
			"true: no apostrophe is put before texts of CSV that look like a formula.",
			"true : aucune apostrophe n’est mise devant les textes du CSV qui ressemblent à une formule.",
			"true: no se antepone un apóstrofo a los textos del CSV que parecen una fórmula.",
		}},
		{Name: "overlap", Declared: "boolean", Extension: true, ahead: 1, read: readSwitch(func(r *criteria) *sw { return &r.overlap }), Doc: [4]string{
			"true：start_date 与 end_date 构成一个时间窗，与之重叠的活动都算，包括正在进行的。",
			"true: start_date and end_date are a window that events overlap, so running events are in.",
			"true : start_date et end_date forment une fenêtre que les événements chevauchent ; ceux en cours y sont.",
			"true: start_date y end_date son un intervalo con el que coinciden los eventos; los que están en curso entran.",
		}},
		{Name: "month", Declared: "array of string", Extension: true, read: readMonths, Schema: map[string]any{"items": map[string]any{"type": "string", "pattern": `^[0-9]{4}-(0[1-9]|1[0-2])$`}}, Doc: [4]string{
			"在这些月份之一开始的活动（活动自身的当地时间）：YYYY-MM。",
			"Events that start in one of these months, on their own wall clock: YYYY-MM.",
			"Événements qui commencent dans un de ces mois, à leur propre heure : YYYY-MM.",
			"Eventos que empiezan en uno de estos meses, según su propia hora: YYYY-MM.",
		}},
		{Name: "weekday", Declared: "array of string", Extension: true, read: readWeekdays, Doc: [4]string{
			"在一周中这些日子之一开始的活动（活动自身的当地时间）：1 为星期一至 7 为星期日，或 monday、mon 等。",
			"Events that start on one of these days, on their own wall clock: 1 (Monday) to 7, or monday, mon and so on.",
			"Événements qui commencent un de ces jours, à leur propre heure : 1 (lundi) à 7, ou monday, mon, etc.",
			"Eventos que empiezan en uno de estos días, según su propia hora: 1 (lunes) a 7, o monday, mon, etc.",
		}},
		{Name: "time_of_day", Declared: "array of string", Extension: true, Hides: true, read: readTimesOfDay, Doc: [4]string{
			"在这些时段之一开始的活动：night（0 时起）、morning（6 时起）、afternoon（12 时起）、evening（18 时起）、all_day，或 HH:MM-HH:MM。",
			"Events that start at one of these times: night (from 00:00), morning (06:00), afternoon (12:00), evening (18:00), all_day, or HH:MM-HH:MM.",
			"Événements qui commencent à un de ces moments : night (dès 00:00), morning (06:00), afternoon (12:00), evening (18:00), all_day, ou HH:MM-HH:MM.",
			"Eventos que empiezan a una de estas horas: night (desde 00:00), morning (06:00), afternoon (12:00), evening (18:00), all_day, o HH:MM-HH:MM.",
		}},
		{Name: "duration_min", Declared: "integer", Extension: true, Hides: true, read: readDuration(func(r *criteria) **int64 { return &r.shortest }), Schema: map[string]any{"minimum": 0, "maximum": maxDuration}, Doc: [4]string{
			"活动至少持续的分钟数；全天活动每天计 1440 分钟。",
			"Events that last at least this many minutes; all-day events count 1,440 a day.",
			"Événements qui durent au moins ce nombre de minutes ; une journée entière en compte 1 440.",
			"Eventos que duran al menos estos minutos; los de día completo cuentan 1440 por día.",
		}},
		{Name: "duration_max", Declared: "integer", Extension: true, Hides: true, read: readDuration(func(r *criteria) **int64 { return &r.longest }), Schema: map[string]any{"minimum": 0, "maximum": maxDuration}, Doc: [4]string{
			"活动至多持续的分钟数；不得小于 duration_min。",
			"Events that last at most this many minutes; not less than duration_min.",
			"Événements qui durent au plus ce nombre de minutes ; pas moins que duration_min.",
			"Eventos que duran como máximo estos minutos; no menos que duration_min.",
		}},
		{Name: "in_language", Declared: "array of string", Enum: calendar.LangNames(), Extension: true, read: readInLanguage, Doc: [4]string{
			"有这些语言之一的文字的活动。",
			"Events that have a text in one of these languages.",
			"Événements qui ont un texte dans une de ces langues.",
			"Eventos que tienen un texto en uno de estos idiomas.",
		}},
		{Name: "city", Declared: "array of string", Extension: true, Hides: true, read: readPlaces(func(r *criteria) *[]string { return &r.cities }), Doc: [4]string{
			"场地位于这些城市之一的活动；不区分大小写与重音。含逗号的值以 city[]= 发送。",
			"Events with a venue in one of these cities, case and accents aside. A value with a comma is sent as city[]=.",
			"Événements dont un lieu est dans une de ces villes, sans égard à la casse ni aux accents. Une valeur avec virgule s’envoie par city[]=.",
			"Eventos con un lugar en una de estas ciudades, sin distinguir mayúsculas ni acentos. Un valor con coma se envía como city[]=.",
		}},
		{Name: "country", Declared: "array of string", Extension: true, Hides: true, read: readPlaces(func(r *criteria) *[]string { return &r.countries }), Doc: [4]string{
			"场地位于这些国家之一的活动；不区分大小写与重音。含逗号的值以 country[]= 发送。",
			"Events with a venue in one of these countries, case and accents aside. A value with a comma is sent as country[]=.",
			"Événements dont un lieu est dans un de ces pays, sans égard à la casse ni aux accents. Une valeur avec virgule s’envoie par country[]=.",
			"Eventos con un lugar en uno de estos países, sin distinguir mayúsculas ni acentos. Un valor con coma se envía como country[]=.",
		}},
		{Name: "bbox", Declared: "array of number", Extension: true, Hides: true, read: readBox, link: linkBox, Schema: map[string]any{"minItems": 4, "maxItems": 4}, Doc: [4]string{
			"场地位于此矩形内的活动：西、南、东、北，以度为单位；西大于东时跨越 180 度经线。",
			"Events with a venue in this box: west, south, east, north in degrees; west above east crosses longitude 180.",
			"Événements dont un lieu est dans ce rectangle : ouest, sud, est, nord en degrés ; ouest supérieur à est traverse la longitude 180.",
			"Eventos con un lugar en este rectángulo: oeste, sur, este, norte en grados; oeste mayor que este cruza la longitud 180.",
		}},
		{Name: "free", Declared: "boolean", Extension: true, Hides: true, read: readSwitch(func(r *criteria) *sw { return &r.free }), Doc: [4]string{
			"true：只要免费活动，即有费用且全部为零或“免费”之类的词；false：只要其他活动。",
			"true: only free events, of which every cost is zero or a word for that; false: all others.",
			"true : seulement les événements gratuits, dont chaque tarif est zéro ou un mot équivalent ; false : tous les autres.",
			"true: solo eventos gratuitos, cuyos precios son todos cero o una palabra equivalente; false: todos los demás.",
		}},
		{Name: "cost_band", Declared: "array of string", Extension: true, Hides: true, read: readCostBands, Doc: [4]string{
			"最低费用在这些区间之一的活动：free、unknown、A-B（A 含、B 不含）或 A-。",
			"Events of which the lowest cost is in one of these bands: free, unknown, A-B (A included, B not) or A-.",
			"Événements dont le tarif le plus bas est dans une de ces tranches : free, unknown, A-B (A compris, B exclu) ou A-.",
			"Eventos cuyo precio más bajo está en uno de estos tramos: free, unknown, A-B (A incluido, B no) o A-.",
		}},
		{Name: "sort", Declared: "string", Enum: []string{"start", "relevance", "distance", "published", "modified"}, Extension: true, read: readSort, cost: costOfSort, Doc: [4]string{
			"排序依据：start 为开始时间，relevance 为与搜索的相符程度，distance 为与 geoloc_lat、geoloc_lng 所指地点的距离，published 为发布时间，modified 为最后修改时间。",
			"What to order by: start, relevance (how well the search fits), distance (from geoloc_lat and geoloc_lng), published (the publication date) or modified (the last change).",
			"Critère de tri : start (le début), relevance (la pertinence pour la recherche), distance (depuis geoloc_lat et geoloc_lng), published (la date de publication) ou modified (la dernière modification).",
			"Criterio de orden: start (el comienzo), relevance (la relevancia para la búsqueda), distance (desde geoloc_lat y geoloc_lng), published (la fecha de publicación) o modified (el último cambio).",
		}},
		{Name: "order", Declared: "string", Extension: true, read: readDirection, link: linkDirection, Doc: [4]string{
			"sort 的方向：asc 为升序（start 与 distance 的默认值），desc 为降序（其他的默认值；relevance 只能如此）。没有 sort 时不起作用。",
			"Direction of sort: asc (the default of start and distance) or desc (of the others; relevance has no other). Without sort it has no effect.",
			"Sens de sort : asc (par défaut pour start et distance) ou desc (pour les autres ; relevance n’en a pas d’autre). Sans sort, sans effet.",
			"Sentido de sort: asc (por defecto con start y distance) o desc (con los demás; relevance no tiene otro). Sin sort no tiene efecto.",
		}},
		{Name: "typos", Declared: "string", Default: `"off"`, Enum: []string{"off", "auto", "on"}, Extension: true, read: readTypos, cost: costOfTypos, Doc: [4]string{
			"搜索词是否可以有错字（四个字母起一处，八个字母起两处）：off 不可以，on 可以，auto 仅在没有其他结果时可以。",
			"Whether words of the search may have typos (from four letters on one, from eight on two): off no, on yes, auto only where nothing is found otherwise.",
			"Si les mots de la recherche peuvent avoir des fautes de frappe (une dès quatre lettres, deux dès huit) : off non, on oui, auto seulement quand rien d’autre n’est trouvé.",
			"Si las palabras de la búsqueda pueden tener erratas (una desde cuatro letras, dos desde ocho): off no, on sí, auto solo cuando no se encuentra nada más.",
		}},
		{Name: "highlight", Declared: "boolean", Default: "false", Extension: true, read: readFlag(func(o *Output) *bool { return &o.Highlight }), cost: costOfHighlight, Doc: [4]string{
			"true：有 search 时，每条记录带有 highlight，其中符合搜索的词以 <mark> 标出。",
			"true: with search each record has the key highlight, in which the words that fit stand in <mark>.",
			"true : avec search, chaque fiche a la clé highlight, où les mots trouvés sont entre <mark>.",
			"true: con search, cada registro tiene la clave highlight, con las palabras halladas entre <mark>.",
		}},
		{Name: "highlight_length", Declared: "integer", Default: strconv.Itoa(defHighlight), Extension: true, read: readHighlightLength, Schema: map[string]any{"minimum": minHighlight, "maximum": maxHighlight}, Doc: [4]string{
			"highlight 中摘要与描述片段的最大字符数。",
			"Most characters of the parts of excerpt and description in highlight.",
			"Nombre maximal de caractères des passages de l’extrait et de la description dans highlight.",
			"Máximo de caracteres de los fragmentos del extracto y de la descripción en highlight.",
		}},
		{Name: "facets", Declared: "array of string", Enum: Facets, Extension: true, read: readFacets, cost: func(q *parser) int { return len(q.run.facets) }, Doc: [4]string{
			"要统计的筛选项：对每个值给出活动数，统计时不计该参数自身的条件。",
			"Facets to count: how many events have each value, the condition of the parameter itself left out.",
			"Facettes à compter : le nombre d’événements de chaque valeur, sans la condition du paramètre lui-même.",
			"Facetas que se cuentan: cuántos eventos tienen cada valor, sin la condición del propio parámetro.",
		}},
		{Name: "facet_limit", Declared: "integer", Default: strconv.Itoa(defFacetLimit), Extension: true, read: readFacetLimit, Schema: map[string]any{"minimum": 1, "maximum": maxFacetLimit}, Doc: [4]string{
			"按数量排序的筛选项最多给出的值数；已选的值总会给出。",
			"How many values of a facet that is ordered by count are given; chosen ones always are.",
			"Nombre de valeurs données d’une facette triée par nombre ; celles choisies le sont toujours.",
			"Cuántos valores se dan de una faceta ordenada por cantidad; los elegidos se dan siempre.",
		}},
		{Name: "facet_query", Declared: "string", Extension: true, read: readFacetQuery, Schema: map[string]any{"pattern": `^\s*(` + strings.Join(askedFacets, "|") + `):\s*\S`}, Doc: [4]string{
			"只保留标签含此文字的值，形如 city:mun；该筛选项须在 facets 中。",
			"Keep the values of which the label contains a text, as city:mun; facets has to name the facet.",
			"Ne garder que les valeurs dont le libellé contient un texte, comme city:mun ; facets doit nommer la facette.",
			"Conservar los valores cuya etiqueta contiene un texto, como city:mun; facets debe nombrar la faceta.",
		}},
		{Name: "collapse", Declared: "string", Enum: []string{"repeats"}, Extension: true, read: readCollapse, cost: func(*parser) int { return 2 }, Doc: [4]string{
			"repeats：标题文字与场地相同的活动只给出一个，并附 collapsed。",
			"repeats: of events with the same words in the title and the same venues only one is given, with collapsed.",
			"repeats : des événements de mêmes mots dans le titre et de mêmes lieux, un seul est donné, avec collapsed.",
			"repeats: de los eventos con las mismas palabras en el título y los mismos lugares solo se da uno, con collapsed.",
		}},
		{Name: "cursor", Declared: "string", Extension: true, read: readCursor, Schema: map[string]any{"minLength": 1, "maxLength": maxCursor}, Doc: [4]string{
			"逐步读取整个列表：* 开始，之后为上一步给出的 next_cursor。不能与 page 一起使用。",
			"Reads the whole list in steps: * begins, then the next_cursor of the step before. Not together with page.",
			"Lit toute la liste par étapes : * pour commencer, puis le next_cursor de l’étape précédente. Pas avec page.",
			"Lee toda la lista por pasos: * para empezar y luego el next_cursor del paso anterior. No junto con page.",
		}},
	}
}

// withoutProtected ends the description of what leaves events with a password out.
var withoutProtected = [4]string{
	"有密码的活动不计。",
	" Events with a password do not count.",
	" Les événements à mot de passe ne comptent pas.",
	" Los eventos con contraseña no cuentan.",
}

// linkedParams is the table of interface 4.10.
func linkedParams(k calendar.Kind) []Param {
	perPage := [4]string{
		"每页的场地数；超过上限时按上限计。",
		"Venues per page; more than the maximum is lowered to it.",
		"Lieux par page ; au-delà du maximum, le maximum s’applique.",
		"Lugares por página; por encima del máximo se aplica el máximo.",
	}
	search := [4]string{
		"名称、描述、摘要、地址信息、电话或网站中须包含的文字。",
		"Text that name, description, excerpt, address details, phone or website must contain.",
		"Texte que le nom, la description, l’extrait, l’adresse, le téléphone ou le site web doit contenir.",
		"Texto que debe contener el nombre, la descripción, el extracto, la dirección, el teléfono o el sitio web.",
	}
	event := [4]string{
		"与该编号活动相关的场地。",
		"Venues related to the event with this identifier.",
		"Lieux liés à l’événement de cet identifiant.",
		"Lugares relacionados con el evento de este identificador.",
	}
	hasEvents := [4]string{
		"true：只要有活动的场地；false：只要没有活动的场地。",
		"true: only venues with events; false: only venues without.",
		"true : seulement les lieux qui ont des événements ; false : seulement ceux qui n’en ont pas.",
		"true: solo lugares con eventos; false: solo lugares sin eventos.",
	}
	upcoming := [4]string{
		"true：只要有正在进行或即将举行的活动的场地。",
		"true: only venues with running or coming events.",
		"true : seulement les lieux qui ont des événements en cours ou à venir.",
		"true: solo lugares con eventos en curso o próximos.",
	}
	if k == calendar.KindOrganizer {
		perPage = [4]string{
			"每页的主办方数；超过上限时按上限计。",
			"Organizers per page; more than the maximum is lowered to it.",
			"Organisateurs par page ; au-delà du maximum, le maximum s’applique.",
			"Organizadores por página; por encima del máximo se aplica el máximo.",
		}
		search = [4]string{
			"名称、描述、摘要、电话、电子邮件或网站中须包含的文字。",
			"Text that name, description, excerpt, phone, e-mail or website must contain.",
			"Texte que le nom, la description, l’extrait, le téléphone, l’adresse électronique ou le site web doit contenir.",
			"Texto que debe contener el nombre, la descripción, el extracto, el teléfono, el correo electrónico o el sitio web.",
		}
		event = [4]string{
			"与该编号活动相关的主办方。",
			"Organizers related to the event with this identifier.",
			"Organisateurs liés à l’événement de cet identifiant.",
			"Organizadores relacionados con el evento de este identificador.",
		}
		hasEvents = [4]string{
			"true：只要有活动的主办方；false：只要没有活动的主办方。",
			"true: only organizers with events; false: only organizers without.",
			"true : seulement les organisateurs qui ont des événements ; false : seulement ceux qui n’en ont pas.",
			"true: solo organizadores con eventos; false: solo organizadores sin eventos.",
		}
		upcoming = [4]string{
			"true：只要有正在进行或即将举行的活动的主办方。",
			"true: only organizers with running or coming events.",
			"true : seulement les organisateurs qui ont des événements en cours ou à venir.",
			"true: solo organizadores con eventos en curso o próximos.",
		}
	}
	for _, doc := range []*[4]string{&hasEvents, &upcoming} {
		for i, rest := range withoutProtected {
			doc[i] += rest
		}
	}
	return []Param{
		pageParam(),
		perPageParam(perPage),
		searchParam(search),
		{Name: "event", Declared: "integer", LooksUp: true, read: readEvent, Doc: event},
		{Name: "has_events", read: readSwitch(func(r *criteria) *sw { return &r.hasEvents }), Doc: hasEvents},
		{Name: "only_with_upcoming", Default: "false", read: readUpcoming, Doc: upcoming},
		statusParam(),
		pointParam(),
		languageParam(),
		fieldsParam(),
	}
}

// termParams is the table of interface 4.11; parent is a row of categories only.
func termParams(k calendar.Kind) []Param {
	params := []Param{
		pageParam(),
		perPageParam([4]string{
			"每页的词条数；超过上限时按上限计。",
			"Terms per page; more than the maximum is lowered to it.",
			"Termes par page ; au-delà du maximum, le maximum s’applique.",
			"Términos por página; por encima del máximo se aplica el máximo.",
		}),
		searchParam([4]string{
			"名称或别名中须包含的文字。",
			"Text that name or slug must contain.",
			"Texte que le nom ou le slug doit contenir.",
			"Texto que debe contener el nombre o el slug.",
		}),
		{Name: "exclude", Declared: "array of integer", Named: true, LooksUp: true, read: readSlugs(func(r *criteria) *[]calendar.ID { return &r.exclude }), Doc: [4]string{
			"要排除的词条：编号或别名。",
			"Terms to leave out: identifiers or slugs.",
			"Termes à écarter : identifiants ou slugs.",
			"Términos que se excluyen: identificadores o slugs.",
		}},
		{Name: "include", Declared: "array of integer", Named: true, LooksUp: true, read: readSlugs(func(r *criteria) *[]calendar.ID { return &r.include }), Doc: [4]string{
			"只返回这些词条：编号或别名。",
			"Only these terms: identifiers or slugs.",
			"Seulement ces termes : identifiants ou slugs.",
			"Solo estos términos: identificadores o slugs.",
		}},
		{Name: "order", Declared: "string", read: readOrder, Doc: [4]string{
			"排序方向：asc 为升序（默认），其他文字为降序。",
			"Direction of the order: asc is ascending (the default), any other text descending.",
			"Sens du tri : asc est croissant (par défaut), tout autre texte décroissant.",
			"Sentido del orden: asc es ascendente (por defecto), cualquier otro texto descendente.",
		}},
		{Name: "orderby", Declared: "string", read: readText(func(r *criteria) *string { return &r.orderBy }), Doc: [4]string{
			"排序依据：name（默认）、id、slug、count、description、include 或 none。",
			"What to order by: name (the default), id, slug, count, description, include or none.",
			"Critère de tri : name (par défaut), id, slug, count, description, include ou none.",
			"Criterio de orden: name (por defecto), id, slug, count, description, include o none.",
		}},
		{Name: "hide_empty", Declared: "boolean", Default: `"1"`, read: readSwitch(func(r *criteria) *sw { return &r.hideEmpty }), Schema: map[string]any{"default": true}, Doc: [4]string{
			"是否隐藏没有活动的词条；其下有使用中分类的分类会保留。",
			"Whether terms without events are left out; categories above a used one stay.",
			"Écarter ou non les termes sans événements ; les catégories au-dessus d’une catégorie utilisée restent.",
			"Si se excluyen los términos sin eventos; las categorías por encima de una usada permanecen.",
		}},
	}
	if k == calendar.KindCategory {
		params = append(params, Param{Name: "parent", Declared: "integer", LooksUp: true, read: readRecord(calendar.KindCategory, func(r *criteria) *calendar.ID { return &r.parent }), Doc: [4]string{
			"该编号分类的直接子分类。",
			"Direct children of the category with this identifier.",
			"Enfants directs de la catégorie de cet identifiant.",
			"Hijos directos de la categoría con este identificador.", //nolint:misspell // Spanish
		}})
	}
	return append(
		params,
		Param{Name: "post", Declared: "integer", LooksUp: true, read: readEvent, Doc: [4]string{
			"该编号活动的词条。",
			"Terms of the event with this identifier.",
			"Termes de l’événement de cet identifiant.",
			"Términos del evento con este identificador.",
		}},
		Param{Name: "event", Declared: "integer", LooksUp: true, read: readEvent, Doc: [4]string{
			"该编号活动的词条；与 post 同义，优先于 post。",
			"Terms of the event with this identifier; the same as post, and wins over it.",
			"Termes de l’événement de cet identifiant ; comme post, et l’emporte sur lui.",
			"Términos del evento con este identificador; igual que post, y prevalece sobre él.",
		}},
		Param{Name: "slug", Declared: "string", read: readSlug, Doc: [4]string{
			"别名与此完全相同的词条。",
			"The term with exactly this slug.",
			"Le terme qui a exactement ce slug.",
			"El término con exactamente este slug.",
		}},
		pointParam(),
		languageParam(),
		fieldsParam(),
	)
}
