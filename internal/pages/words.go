package pages

import (
	"strings"

	"daybook/calendar"
)

// message is a text in the order of calendar.Langs: cn, en, fr, es. %s stands for what is
// put in.
type message [len(calendar.Langs)]string

// counted is how a language counts a thing, %s being the number.
type counted struct{ one, many, other string }

// word gives a text of the table.
func word(key string, l calendar.Lang) string { return words[key][l] }

// text gives one with what stands in it.
func (l *layout) text(key string, args ...string) string { return fill(word(key, l.Lang), args...) }

func fill(s string, args ...string) string {
	for _, a := range args {
		s = strings.Replace(s, "%s", a, 1)
	}
	return s
}

// count writes how many there are of a thing.
func (l *layout) count(thing string, n int) string {
	forms := counts[thing][l.Lang]
	s := forms.other
	switch l.say.plural(n) {
	case one:
		s = forms.one
	case many:
		s = forms.many
	case other:
	}
	return fill(s, l.say.number(n))
}

// counts are the things that are counted, cn, en, fr, es.
var counts = map[string][len(calendar.Langs)]counted{
	"events": {
		{other: "%s 个活动"},
		{one: "%s event", other: "%s events"},
		{one: "%s événement", many: "%s d’événements", other: "%s événements"},
		{one: "%s evento", many: "%s de eventos", other: "%s eventos"},
	},
	"venues": {
		{other: "%s 个场地"},
		{one: "%s venue", other: "%s venues"},
		{one: "%s lieu", many: "%s de lieux", other: "%s lieux"},
		{one: "%s lugar", many: "%s de lugares", other: "%s lugares"},
	},
	"organizers": {
		{other: "%s 个主办方"},
		{one: "%s organizer", other: "%s organizers"},
		{one: "%s organisateur", many: "%s d’organisateurs", other: "%s organisateurs"},
		{one: "%s organizador", many: "%s de organizadores", other: "%s organizadores"},
	},
	"categories": {
		{other: "%s 个分类"},
		{one: "%s category", other: "%s categories"},
		{one: "%s catégorie", many: "%s de catégories", other: "%s catégories"},
		{one: "%s categoría", many: "%s de categorías", other: "%s categorías"},
	},
	"operations": {
		{other: "%s 项操作"},
		{one: "%s operation", other: "%s operations"},
		{one: "%s opération", many: "%s d’opérations", other: "%s opérations"},
		{one: "%s operación", many: "%s de operaciones", other: "%s operaciones"},
	},
	"tags": {
		{other: "%s 个标签"},
		{one: "%s tag", other: "%s tags"},
		{one: "%s étiquette", many: "%s d’étiquettes", other: "%s étiquettes"},
		{one: "%s etiqueta", many: "%s de etiquetas", other: "%s etiquetas"},
	},
}

// words are all texts of pages but those of records (PAGES.md P4.4).
var words = map[string]message{
	"skip":         {"跳到正文", "Skip to content", "Aller au contenu", "Saltar al contenido"},
	"today":        {"今天", "Today", "Aujourd’hui", "Hoy"},
	"nav.name":     {"日历视图", "Calendar views", "Vues du calendrier", "Vistas del calendario"},
	"nav.site":     {"网站", "Site", "Site", "Sitio"},
	"nav.list":     {"活动", "Events", "Événements", "Eventos"},
	"nav.month":    {"月", "Month", "Mois", "Mes"},
	"nav.week":     {"周", "Week", "Semaine", "Semana"},
	"nav.day":      {"日", "Day", "Jour", "Día"},
	"nav.map":      {"地图", "Map", "Carte", "Mapa"},
	"nav.docs":     {"接口", "API", "API", "API"},
	"nav.home":     {"首页", "Home", "Accueil", "Inicio"},
	"nav.crumbs":   {"所在位置", "You are here", "Vous êtes ici", "Usted está aquí"},
	"menu":         {"语言、时区与外观", "Language, zone, theme", "Langue, fuseau, thème", "Idioma, zona, tema"},
	"language":     {"语言", "Language", "Langue", "Idioma"},
	"theme":        {"外观", "Theme", "Thème", "Tema"},
	"theme.auto":   {"跟随系统", "As the system", "Comme le système", "Como el sistema"},
	"theme.light":  {"浅色", "Light", "Clair", "Claro"},
	"theme.dark":   {"深色", "Dark", "Sombre", "Oscuro"},
	"zone":         {"时间按", "Times in", "Heures en", "Horas en"},
	"zone.event":   {"各活动的当地时间", "local time of each event", "heure locale de chaque événement", "hora local de cada evento"},
	"zone.told":    {"时间均为 %s", "Times are in %s", "Les heures sont en %s", "Las horas son de %s"},
	"zone.apply":   {"应用", "Apply", "Appliquer", "Aplicar"},
	"zone.browser": {"我的时区", "my zone", "mon fuseau", "mi zona"},

	"search":        {"搜索", "Search", "Rechercher", "Buscar"},
	"search.title":  {"搜索活动", "Search events", "Rechercher des événements", "Buscar eventos"},
	"search.label":  {"搜索活动", "Search events", "Rechercher des événements", "Buscar eventos"},
	"filters":       {"筛选", "Filters", "Filtres", "Filtros"},
	"filters.apply": {"应用筛选", "Apply filters", "Appliquer les filtres", "Aplicar filtros"},
	"filters.set":   {"已用的筛选", "Active filters", "Filtres actifs", "Filtros activos"},
	"filter.remove": {"去掉：%s", "Remove %s", "Retirer %s", "Quitar %s"},

	"filter.search":           {"文字", "Text", "Texte", "Texto"},
	"filter.start_date":       {"从", "From", "Du", "Desde"},
	"filter.end_date":         {"到", "To", "Au", "Hasta"},
	"filter.categories":       {"分类", "Category", "Catégorie", "Categoría"},
	"filter.tags":             {"标签", "Tag", "Étiquette", "Etiqueta"},
	"filter.venue":            {"场地", "Venue", "Lieu", "Lugar"},
	"filter.organizer":        {"主办方", "Organizer", "Organisateur", "Organizador"},
	"filter.city":             {"城市", "City", "Ville", "Ciudad"},
	"filter.country":          {"国家", "Country", "Pays", "País"},
	"filter.month":            {"月份", "Month", "Mois", "Mes"},
	"filter.weekday":          {"星期", "Weekday", "Jour", "Día de la semana"},
	"filter.time_of_day":      {"时段", "Time of day", "Moment de la journée", "Momento del día"},
	"filter.featured":         {"推荐", "Featured", "À la une", "Destacado"},
	"filter.ticketed":         {"需购票", "Tickets", "Billets", "Entradas"},
	"filter.free":             {"免费", "Free", "Gratuit", "Gratis"},
	"filter.cost_band":        {"费用", "Cost", "Prix", "Precio"},
	"filter.in_language":      {"语言", "Language", "Langue", "Idioma"},
	"filter.tz":               {"时区", "Time zone", "Fuseau horaire", "Zona horaria"},
	"filter.as_of":            {"时间点", "Point in time", "Moment", "Momento"},
	"filter.past":             {"往期", "Past events", "Événements passés", "Eventos pasados"},
	"filter.page":             {"页码", "Page", "Page", "Página"},
	"filter.per_page":         {"每页数量", "Events per page", "Événements par page", "Eventos por página"},
	"filter.starts_before":    {"开始早于", "Starts before", "Commence avant", "Empieza antes de"},
	"filter.starts_after":     {"开始晚于", "Starts after", "Commence après", "Empieza después de"},
	"filter.ends_before":      {"结束早于", "Ends before", "Finit avant", "Termina antes de"},
	"filter.ends_after":       {"结束晚于", "Ends after", "Finit après", "Termina después de"},
	"filter.strict_dates":     {"精确时间", "Exact times", "Heures exactes", "Horas exactas"},
	"filter.status":           {"状态", "Status", "Statut", "Estado"},
	"filter.geoloc":           {"有坐标", "With coordinates", "Avec coordonnées", "Con coordenadas"},
	"filter.geoloc_lat":       {"纬度", "Latitude", "Latitude", "Latitud"},
	"filter.geoloc_lng":       {"经度", "Longitude", "Longitude", "Longitud"},
	"filter.geoloc_radius":    {"半径（公里）", "Radius in kilometres", "Rayon en kilomètres", "Radio en kilómetros"},
	"filter.include":          {"只含这些活动", "Only these events", "Seulement ces événements", "Solo estos eventos"},
	"filter.post_parent":      {"属于", "Part of", "Fait partie de", "Parte de"},
	"filter.overlap":          {"包括正在进行的", "Running ones too", "Aussi ceux en cours", "También los que están en curso"},
	"filter.duration_min":     {"最短时长（分钟）", "Minutes at least", "Minutes au moins", "Minutos como mínimo"},
	"filter.duration_max":     {"最长时长（分钟）", "Minutes at most", "Minutes au plus", "Minutos como máximo"},
	"filter.bbox":             {"地图区域", "Area of the map", "Zone de la carte", "Área del mapa"},
	"filter.sort":             {"排序", "Order", "Ordre", "Orden"},
	"filter.order":            {"方向", "Direction", "Sens", "Sentido"},
	"filter.facets":           {"统计项", "Counts", "Décomptes", "Recuentos"},
	"filter.facet_limit":      {"统计项数量", "Values of counts", "Valeurs des décomptes", "Valores de los recuentos"},
	"filter.facet_query":      {"统计项文字", "Text of counts", "Texte des décomptes", "Texto de los recuentos"},
	"filter.collapse":         {"重复的活动", "Repeats", "Répétitions", "Repeticiones"},
	"filter.typos":            {"拼写错误", "Typing errors", "Fautes de frappe", "Erratas"},
	"filter.highlight":        {"标记结果", "Marks", "Mise en évidence", "Resaltado"},
	"filter.highlight_length": {"摘录长度", "Length of snippets", "Longueur des extraits", "Longitud de los extractos"},
	"filter.any":              {"不限", "Any", "Indifférent", "Cualquiera"},

	"sort.relevance": {"相关程度", "Best fit", "Pertinence", "Relevancia"},
	"sort.start":     {"开始时间", "Start", "Début", "Inicio"},
	"sort.published": {"发布时间", "Newly published", "Publication récente", "Publicación reciente"},
	"sort.modified":  {"更改时间", "Newly changed", "Modification récente", "Modificación reciente"},
	"sort.distance":  {"距离", "Distance", "Distance", "Distancia"},

	"map.in":     {"放大", "Zoom in", "Agrandir", "Acercar"},
	"map.out":    {"缩小", "Zoom out", "Réduire", "Alejar"},
	"map.close":  {"关闭", "Close", "Fermer", "Cerrar"},
	"map.here":   {"搜索此区域", "Search here", "Chercher ici", "Buscar aquí"},
	"map.near":   {"在我附近", "Near me", "Près de moi", "Cerca de mí"},
	"facet.more": {"更多", "More", "Plus", "Más"},

	"value.night":     {"夜间", "Night", "Nuit", "Madrugada"},
	"value.morning":   {"上午", "Morning", "Matin", "Mañana"},
	"value.afternoon": {"下午", "Afternoon", "Après-midi", "Tarde"},
	"value.evening":   {"晚上", "Evening", "Soir", "Noche"},
	"value.all_day":   {"全天", "All day", "Toute la journée", "Todo el día"},
	"value.free":      {"免费", "Free", "Gratuit", "Gratis"},
	"value.unknown":   {"未知", "Not known", "Inconnu", "Desconocido"},
	"value.yes":       {"是", "Yes", "Oui", "Sí"},
	"value.no":        {"否", "No", "Non", "No"},

	"list.title":    {"近期活动", "Coming events", "Événements à venir", "Próximos eventos"},
	"list.running":  {"正在进行", "Now on", "En ce moment", "Ahora"},
	"list.past":     {"往期活动", "Past events", "Événements passés", "Eventos pasados"},
	"list.coming":   {"近期活动", "Coming events", "Événements à venir", "Próximos eventos"},
	"list.featured": {"推荐活动", "Featured events", "À la une", "Eventos destacados"},
	"list.found":    {"搜索结果", "Results", "Résultats", "Resultados"},

	"map.title":         {"地图上的活动", "Events on the map", "Événements sur la carte", "Eventos en el mapa"},
	"category.children": {"下级分类", "Subcategories", "Sous-catégories", "Subcategorías"},

	"month.title": {"月历", "Month", "Mois", "Mes"},
	"month.more":  {"另有 %s 个", "+%s more", "+%s autres", "+%s más"},
	"week.band":   {"全天与多日", "All day and longer", "Journée et plus", "Todo el día y más"},

	"step.name":     {"时间导航", "Time", "Période", "Periodo"},
	"step.previous": {"上一段：%s", "Previous: %s", "Précédent\u00a0: %s", "Anterior: %s"},
	"step.next":     {"下一段：%s", "Next: %s", "Suivant\u00a0: %s", "Siguiente: %s"},

	"pager":          {"分页", "Pages", "Pages", "Páginas"},
	"pager.page":     {"第 %s 页", "Page %s", "Page %s", "Página %s"},
	"pager.previous": {"上一页", "Previous", "Précédente", "Anterior"},
	"pager.next":     {"下一页", "Next", "Suivante", "Siguiente"},

	"empty.list":          {"暂无近期活动。", "There are no coming events.", "Il n’y a pas d’événement à venir.", "No hay próximos eventos."},
	"empty.past":          {"没有往期活动。", "There are no past events.", "Il n’y a pas d’événement passé.", "No hay eventos pasados."},
	"empty.filtered":      {"没有符合条件的活动。", "No event fits.", "Aucun événement ne correspond.", "Ningún evento coincide."},
	"empty.period":        {"这段时间没有活动。", "There is nothing on at this time.", "Il n’y a rien à cette période.", "No hay nada en este periodo."},
	"empty.without":       {"去掉：%s", "Without %s", "Sans %s", "Sin %s"},
	"empty.without_words": {"去掉搜索文字", "Without the words of the search", "Sans les mots de la recherche", "Sin las palabras de la búsqueda"},
	"empty.all":           {"全部近期活动", "All coming events", "Tous les événements à venir", "Todos los próximos eventos"},
	"empty.next":          {"之后的活动：%s", "Next event: %s", "Prochain événement\u00a0: %s", "Próximo evento: %s"},
	"empty.last":          {"之前的活动：%s", "Last event before: %s", "Dernier événement avant\u00a0: %s", "Último evento anterior: %s"},

	"event.all_day":     {"全天", "All day", "Toute la journée", "Todo el día"},
	"event.description": {"介绍", "Description", "Description", "Descripción"},
	"event.version":     {"第 %s 版，更改于 %s", "Version %s, changed %s", "Version %s, modifiée le %s", "Versión %s, modificada el %s"},
	"event.history":     {"更改记录", "History", "Historique", "Historial"},
	"event.picture":     {"查看图片", "See the picture", "Voir l’image", "Ver la imagen"},
	"event.more_at":     {"同一场地的活动", "More at this venue", "Aussi dans ce lieu", "Más en este lugar"},
	"event.parent":      {"属于", "Part of", "Fait partie de", "Parte de"},
	"event.children":    {"子活动", "Programme", "Programme", "Programa"},
	"event.places":      {"其他场地", "Further venues", "Autres lieux", "Otros lugares"},
	"event.facts":       {"详情", "Details", "Détails", "Detalles"},
	"event.where":       {"地点", "Where", "Où", "Dónde"},
	"event.when":        {"时间", "When", "Quand", "Cuándo"},
	"event.map":         {"在地图上查看", "See on a map", "Voir sur une carte", "Ver en un mapa"},
	"event.copy":        {"复制链接", "Copy link", "Copier le lien", "Copiar enlace"},
	"copied":            {"已复制", "Copied", "Copié", "Copiado"},
	"copy":              {"复制", "Copy", "Copier", "Copiar"},
	"external":          {"（外部网站）", "(another site)", "(autre site)", "(otro sitio)"},

	"history.version": {"第 %s 版", "Version %s", "Version %s", "Versión %s"},
	"history.by":      {"由 %s 更改", "by %s", "par %s", "por %s"},
	"history.details": {"详细更改", "What changed", "Ce qui a changé", "Qué cambió"},
	"history.see":     {"查看当时的页面", "See the page as it was", "Voir la page telle qu’elle était", "Ver la página como era"},
	"history.field":   {"字段", "Field", "Champ", "Campo"},
	"history.before":  {"之前", "Before", "Avant", "Antes"},
	"history.after":   {"之后", "After", "Après", "Después"},
	"history.removed": {"删除", "removed", "supprimé", "eliminado"},
	"history.added":   {"添加", "added", "ajouté", "añadido"},
	"history.same":    {"自 %s以来未更改。", "Not changed since %s.", "Pas modifié depuis le %s.", "Sin cambios desde el %s."},
	"compare":         {"比较两个版本", "Compare two versions", "Comparer deux versions", "Comparar dos versiones"},
	"compare.from":    {"从版本", "From version", "De la version", "De la versión"},
	"compare.to":      {"到版本", "To version", "À la version", "A la versión"},
	"compare.submit":  {"比较", "Compare", "Comparer", "Comparar"},
	"compare.heading": {"从第 %s 版到第 %s 版", "From version %s to version %s", "De la version %s à la version %s", "De la versión %s a la versión %s"},
	"then.text":       {"这是第 %s 版，写于 %s。", "This is version %s, of %s.", "Ceci est la version %s, du %s.", "Esta es la versión %s, del %s."},
	"then.present":    {"查看当前页面", "See the present page", "Voir la page actuelle", "Ver la página actual"},

	"badge.now":       {"正在进行", "Now on", "En ce moment", "Ahora"},
	"badge.past":      {"已结束", "Past", "Passé", "Pasado"},
	"badge.featured":  {"推荐", "Featured", "À la une", "Destacado"},
	"badge.protected": {"需密码", "Protected", "Protégé", "Protegido"},
	"badge.version":   {"旧版本", "Earlier version", "Ancienne version", "Versión anterior"},

	"fact.cost":       {"费用", "Cost", "Prix", "Precio"},
	"fact.website":    {"网站", "Website", "Site web", "Sitio web"},
	"fact.organizer":  {"主办方", "Organizer", "Organisateur", "Organizador"},
	"fact.categories": {"分类", "Categories", "Catégories", "Categorías"},
	"fact.tags":       {"标签", "Tags", "Étiquettes", "Etiquetas"},
	"fact.timezone":   {"时区", "Time zone", "Fuseau horaire", "Zona horaria"},
	"fact.phone":      {"电话", "Phone", "Téléphone", "Teléfono"},
	"fact.email":      {"电子邮件", "E-mail", "Courriel", "Correo electrónico"},
	"fact.address":    {"地址", "Address", "Adresse", "Dirección"},
	"fact.point":      {"坐标", "Coordinates", "Coordonnées", "Coordenadas"},

	"unlock.label":  {"密码", "Password", "Mot de passe", "Contraseña"},
	"unlock.submit": {"打开", "Open", "Ouvrir", "Abrir"},
	"unlock.text":   {"此活动受密码保护。", "This event is protected by a password.", "Cet événement est protégé par un mot de passe.", "Este evento está protegido por una contraseña."},
	"unlock.wrong":  {"密码不正确。", "This is not the password.", "Ce n’est pas le mot de passe.", "Esa no es la contraseña."},

	"preview":        {"预览", "Preview", "Aperçu", "Vista previa"},
	"preview.status": {"预览：%s", "Preview: %s", "Aperçu : %s", "Vista previa: %s"},
	"preview.user":   {"用户：%s", "seen by %s", "vu par %s", "vista por %s"},
	"status.publish": {"已发布", "published", "publié", "publicado"},
	"status.future":  {"定时发布", "scheduled", "programmé", "programado"},
	"status.draft":   {"草稿", "draft", "brouillon", "borrador"},
	"status.pending": {"待审核", "pending review", "en attente de relecture", "pendiente de revisión"},
	"status.private": {"私密", "private", "privé", "privado"},
	"status.trash":   {"已移至回收站", "in the trash", "dans la corbeille", "en la papelera"},

	"calendar.add":       {"加入日历", "Add to calendar", "Ajouter à l’agenda", "Añadir al calendario"},
	"calendar.file":      {"iCalendar 文件", "iCalendar file", "Fichier iCalendar", "Archivo iCalendar"},
	"subscribe":          {"订阅", "Subscribe", "S’abonner", "Suscribirse"},
	"subscribe.calendar": {"日历程序", "Calendar program", "Logiciel d’agenda", "Programa de calendario"},
	"subscribe.url":      {"订阅地址", "Address of the feed", "Adresse du flux", "Dirección del canal"},
	"selection":          {"以其他格式获取", "This selection as …", "Cette sélection en…", "Esta selección como…"},
	"selection.embed":    {"嵌入代码", "Embedding", "Intégration", "Incrustar"},

	"directory.venues":     {"场地", "Venues", "Lieux", "Lugares"},
	"directory.organizers": {"主办方", "Organizers", "Organisateurs", "Organizadores"},
	"directory.categories": {"分类", "Categories", "Catégories", "Categorías"},
	"directory.tags":       {"标签", "Tags", "Étiquettes", "Etiquetas"},
	"directory.name":       {"目录", "Directories", "Répertoires", "Índices"},
	"directory.empty":      {"这里还没有内容。", "There is nothing here yet.", "Il n’y a encore rien ici.", "Aún no hay nada aquí."},

	"docs.title":     {"接口文档", "API", "API", "API"},
	"docs.text":      {"下面可以查看并试用本日历的接口。", "Read and try the interface of this calendar below.", "Consultez et essayez ci-dessous l’interface de ce calendrier.", "Consulte y pruebe a continuación la interfaz de este calendario."},
	"docs.document":  {"OpenAPI 文档（JSON）", "OpenAPI document (JSON)", "Document OpenAPI (JSON)", "Documento OpenAPI (JSON)"},
	"docs.routes":    {"全部路径", "All routes", "Toutes les routes", "Todas las rutas"},
	"docs.method":    {"方法", "Method", "Méthode", "Método"},
	"docs.path":      {"路径", "Path", "Chemin", "Ruta"},
	"docs.does":      {"用途", "What it does", "Ce qu’elle fait", "Qué hace"},
	"docs.extension": {"扩展", "Extension", "Extension", "Extensión"},

	"error.400":  {"有些内容无法理解。", "Something was not understood.", "Quelque chose n’a pas été compris.", "Algo no se entendió."},
	"error.401":  {"预览需要登录。", "Previews need a user and a token.", "Un aperçu demande un utilisateur et un jeton.", "Las vistas previas requieren un usuario y un token."},
	"error.403":  {"不允许。", "This is not allowed.", "Ce n’est pas autorisé.", "No está permitido."},
	"error.404":  {"没有这个页面。", "There is no such page.", "Cette page n’existe pas.", "Esta página no existe."},
	"error.405":  {"此页面不接受这种请求。", "This page does not take such requests.", "Cette page n’accepte pas ce type de requête.", "Esta página no acepta ese tipo de solicitud."},
	"error.410":  {"已不再提供。", "This is no longer available.", "Ce n’est plus disponible.", "Ya no está disponible."},
	"error.413":  {"发送的内容过大。", "What was sent is too large.", "L’envoi est trop volumineux.", "Lo enviado es demasiado grande."},
	"error.414":  {"地址过长。", "The address is too long.", "L’adresse est trop longue.", "La dirección es demasiado larga."},
	"error.429":  {"尝试次数过多，请稍后再试。", "Too many tries. Please wait a minute.", "Trop d’essais. Patientez une minute.", "Demasiados intentos. Espere un minuto."},
	"error.500":  {"出了点问题。", "Something went wrong.", "Une erreur s’est produite.", "Algo ha fallado."},
	"error.503":  {"暂时无法显示，请稍后再试。", "This cannot be shown at the moment. Please try again soon.", "Affichage impossible pour le moment. Réessayez bientôt.", "No se puede mostrar por ahora. Inténtelo de nuevo pronto."},
	"error.list": {"近期活动", "Coming events", "Événements à venir", "Próximos eventos"},
}
