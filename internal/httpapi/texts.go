package httpapi

import "daybook/calendar"

// text is a human text in the order of calendar.Langs: cn, en, fr, es.
type text = [4]string

// in gives a text of the catalog in a language.
func in(id string, l calendar.Lang) string { return texts[id][l] }

// texts are the human texts of the index and the documentation that the field
// and parameter tables do not have.
var texts = map[string]text{
	"title": {
		"daybook 活动日历", "daybook events calendar", "Calendrier d’événements daybook", "Calendario de eventos daybook",
	},
	"description": {
		"活动、场地、组织者、活动类别和活动标签的 REST 接口，四种语言。",
		"REST interface for events, venues, organizers, event categories and event tags, in four languages.",
		"Interface REST pour les événements, lieux, organisateurs, catégories et étiquettes, en quatre langues.",
		"Interfaz REST para eventos, lugares, organizadores, categorías y etiquetas de eventos, en cuatro idiomas.",
	},

	"role.subscriber": {
		"读取已发布的内容。", "Reads what is published.", "Lit ce qui est publié.", "Lee lo publicado.",
	},
	"role.contributor": {
		"撰写自己的内容，但不能发布。", "Writes own posts and never publishes them.",
		"Rédige ses propres contenus sans jamais les publier.", "Escribe contenidos propios y nunca los publica.",
	},
	"role.author": {
		"发布自己的内容，管理类别。", "Publishes own posts and manages categories.",
		"Publie ses propres contenus et gère les catégories.", "Publica contenidos propios y gestiona categorías.",
	},
	"role.editor": {
		"管理所有内容、类别和标签。", "Manages all posts, categories and tags.",
		"Gère tous les contenus, catégories et étiquettes.", "Gestiona todos los contenidos, categorías y etiquetas.",
	},
	"role.administrator": {
		"在此接口中与编辑相同。", "In this interface as the editor.",
		"Dans cette interface, comme l’éditeur.", "En esta interfaz, como el editor.",
	},
	"role.auditor": {
		"读取所有记录，不写入任何内容。", "Reads every record and writes nothing.",
		"Lit chaque fiche et n’écrit rien.", "Lee todos los registros y no escribe nada.",
	},
	"arg.language": {
		"文本的语言。", "Language of texts.", "Langue des textes.", "Idioma de los textos.",
	},
	"arg.namespace": {
		"要显示的命名空间。", "Namespace to show.", "Espace de noms à montrer.", "Espacio de nombres que se muestra.",
	},
	"arg.context": {
		"答复的范围。", "Scope of the answer.", "Portée de la réponse.", "Alcance de la respuesta.",
	},
	"arg.fields": {
		"记录只保留这些顶层字段。", "Keep only these top-level fields of the record.",
		"Ne garder que ces champs de premier niveau de la fiche.", "Conservar solo estos campos de primer nivel del registro.",
	},
	"arg.id.event":     {"活动编号。", "Event identifier.", "Identifiant de l’événement.", "Identificador del evento."},
	"arg.id.venue":     {"场地编号。", "Venue identifier.", "Identifiant du lieu.", "Identificador del lugar."},
	"arg.id.organizer": {"组织者编号。", "Organizer identifier.", "Identifiant de l’organisateur.", "Identificador del organizador."},
	"arg.id.category":  {"类别编号。", "Category identifier.", "Identifiant de la catégorie.", "Identificador de la categoría."},
	"arg.id.tag":       {"标签编号。", "Tag identifier.", "Identifiant de l’étiquette.", "Identificador de la etiqueta."},
	"arg.slug.event":   {"活动别名。", "Event slug.", "Slug de l’événement.", "Slug del evento."},
	"arg.slug.venue":   {"场地别名。", "Venue slug.", "Slug du lieu.", "Slug del lugar."},
	"arg.slug.organizer": {
		"组织者别名。", "Organizer slug.", "Slug de l’organisateur.", "Slug del organizador.",
	},
	"arg.format": {
		"答复的格式；路径中的后缀优先。", "Format of the answer; an ending in the path wins over it.",
		"Format de la réponse ; un suffixe dans le chemin l’emporte.", "Formato de la respuesta; una terminación en la ruta prevalece.",
	},
	"arg.ending": {
		"路径后缀所指的答复格式。", "Format of the answer, as the ending of the path.",
		"Format de la réponse, en suffixe du chemin.", "Formato de la respuesta, como terminación de la ruta.",
	},
	"op.feed.event": {
		"以所指格式列出活动；不分页时一次给出全部。", "List events in a format; without paging all of them at once.",
		"Lister les événements dans un format ; sans pagination, tous à la fois.", "Listar eventos en un formato; sin paginación, todos a la vez.",
	},
	"op.export.event": {
		"以所指格式读取一个活动。", "Read one event in a format.", "Lire un événement dans un format.", "Leer un evento en un formato.",
	},
	"op.clusters.event": {
		"地图的活动聚合：按网格合并场地的 GeoJSON。", "Clusters of a map: venues of events by the squares of a grid, as GeoJSON.",
		"Groupes d’une carte : les lieux des événements par cases d’une grille, en GeoJSON.", "Grupos de un mapa: los lugares de los eventos por las casillas de una cuadrícula, en GeoJSON.",
	},
	"op.source.event": {
		"日历组件的活动来源：某一范围内的活动数组。", "Event source of calendar widgets: the events of a range as an array.",
		"Source d’événements des composants de calendrier : les événements d’un intervalle, en tableau.", "Fuente de eventos de calendarios en páginas: los eventos de un intervalo, en una matriz.",
	},
	"op.suggest": {
		"按已输入的文字建议活动、场地、组织者、类别和标签。", "Suggest events, venues, organizers, categories and tags for what was typed so far.",
		"Proposer événements, lieux, organisateurs, catégories et étiquettes pour ce qui a été saisi.", "Sugerir eventos, lugares, organizadores, categorías y etiquetas para lo escrito hasta ahora.",
	},
	"op.search.event": {
		"一次请求中的多个活动搜索；POST 在此只是读取。", "Several searches of events in one request; POST only reads here.",
		"Plusieurs recherches d’événements en une requête ; POST ne fait ici que lire.", "Varias búsquedas de eventos en una petición; POST aquí solo lee.",
	},
	"arg.searches": {
		"1 至 20 个搜索，各是一个对象，带有活动列表的参数；结果依次给出。正文按 JSON 读取，不论媒体类型。",
		"1 to 20 searches, each an object with the parameters of the list of events; the results come in their order. The body is read as JSON whatever its media type.",
		"1 à 20 recherches, chacune un objet avec les paramètres de la liste d’événements ; les résultats suivent leur ordre. Le corps est lu comme du JSON, quel que soit son type de média.",
		"De 1 a 20 búsquedas, cada una un objeto con los parámetros de la lista de eventos; los resultados siguen su orden. El cuerpo se lee como JSON sea cual sea su tipo de medio.",
	},
	"header.Content-Disposition": {
		"其他格式的答复：文件名。", "Of other formats than JSON: name of the file.", "Des autres formats que JSON : nom du fichier.", "De formatos distintos de JSON: nombre del archivo.",
	},
	"arg.password.read": {
		"受保护活动的访问密码。", "Access password of a protected event.",
		"Mot de passe d’accès d’un événement protégé.", "Contraseña de acceso de un evento protegido.",
	},
	"arg.password.delete": {
		"访问密码；对删除没有作用。", "Access password; it has no effect here.",
		"Mot de passe d’accès ; sans effet ici.", "Contraseña de acceso; aquí no tiene efecto.",
	},
	"default.start_date": {
		"默认为站点时区的当天 23:59:00；除非 strict_dates 为真，按整天计算。",
		"Default: the current date of the site at 23:59:00, widened to the whole day unless strict_dates is true.",
		"Par défaut : la date du jour du site à 23:59:00, élargie au jour entier sauf si strict_dates est vrai.",
		"Por defecto: la fecha actual del sitio a las 23:59:00, ampliada al día entero salvo si strict_dates es verdadero.",
	},
	"default.end_date": {
		"默认为站点时区当天起两年后的 23:59:59。",
		"Default: two years after the current date of the site, at 23:59:59.",
		"Par défaut : deux ans après la date du jour du site, à 23:59:59.",
		"Por defecto: dos años después de la fecha actual del sitio, a las 23:59:59.",
	},

	"arg.header.If-None-Match": {
		"已有答复的 ETag；仍然有效时答 304。", "ETags of answers at hand; 304 when one is still right.",
		"ETags des réponses déjà reçues ; 304 si l’une est encore valable.", "ETags de respuestas que ya se tienen; 304 si alguna sigue siendo válida.",
	},
	"arg.header.If-Modified-Since": {
		"已有答复的 Last-Modified；相同时答 304。", "Last-Modified of the answer at hand; 304 when it is the same.",
		"Last-Modified de la réponse déjà reçue ; 304 s’il est le même.", "Last-Modified de la respuesta que ya se tiene; 304 si es el mismo.",
	},
	"arg.header.If-Match": {
		"记录须处于的版本的 ETag；不符时答 412。", "ETags of the version that the record must have; else 412.",
		"ETags de la version que la fiche doit avoir ; sinon 412.", "ETags de la versión que debe tener el registro; si no, 412.",
	},
	"arg.header.Idempotency-Key": {
		"请求的唯一键：同一键的同一请求只写一次。", "Key of the request: the same request with the same key is written once.",
		"Clé de la requête : une même requête avec la même clé n’est écrite qu’une fois.", "Clave de la petición: la misma petición con la misma clave se escribe una sola vez.",
	},
	"arg.header.Daybook-Min-Position": {
		"列表等待，直到显示到此位置的变更。", "The list waits until it shows the changes up to this position.",
		"La liste attend de montrer les changements jusqu’à cette position.", "La lista espera hasta mostrar los cambios hasta esta posición.",
	},

	"arg.header.Last-Event-ID": {
		"最后收到的条目的位置；从其后继续。", "Position of the last entry that came; the stream goes on behind it.",
		"Position de la dernière entrée reçue ; le flux continue après elle.", "Posición de la última entrada recibida; el flujo continúa tras ella.",
	},
	"arg.header.Daybook-Reason": {
		"更改的原因：百分号编码的 UTF-8；参数 reason 优先。", "Why the change is made, as percent-encoded UTF-8; the parameter reason wins.",
		"Raison du changement, en UTF-8 encodé en pourcentage ; le paramètre reason l’emporte.", "Motivo del cambio, en UTF-8 codificado con porcentajes; el parámetro reason prevalece.",
	},
	"arg.reason": {
		"更改的原因；记入历史，不属于记录。", "Why the change is made: kept in the history, no part of the record.",
		"Raison du changement : gardée dans l’historique, hors de la fiche.", "Motivo del cambio: se guarda en el historial, no en el registro.",
	},
	"arg.told.order": {
		"desc：最新的在前；asc：最旧的在前。", "desc: newest first; asc: oldest first.",
		"desc : les plus récents d’abord ; asc : les plus anciens d’abord.", "desc: los más recientes primero; asc: los más antiguos primero.",
	},
	"arg.told.after": {
		"只要大于此值的版本或位置。", "Only versions or positions greater than this.",
		"Seulement les versions ou positions supérieures.", "Solo versiones o posiciones mayores que esta.",
	},
	"arg.told.before": {
		"只要小于此值的版本或位置。", "Only versions or positions smaller than this.",
		"Seulement les versions ou positions inférieures.", "Solo versiones o posiciones menores que esta.",
	},
	"arg.told.limit": {
		"每页的条目数；超过 1000 时按 1000 计。", "Entries per page; more than 1000 is lowered to it.",
		"Entrées par page ; au-delà de 1000, 1000 s’applique.", "Entradas por página; por encima de 1000 se aplica 1000.",
	},
	"arg.told.action": {
		"只要这些操作的条目。", "Only entries of these actions.", "Seulement les entrées de ces actions.", "Solo entradas de estas acciones.",
	},
	"arg.told.field": {
		"只要更改了这些字段之一的条目。", "Only entries that change one of these fields.",
		"Seulement les entrées qui changent un de ces champs.", "Solo entradas que cambian uno de estos campos.",
	},
	"arg.told.kind": {
		"只要这些种类的记录；image 和 user 仅供管理员和审计员。", "Only records of these kinds; image and user are for administrators and auditors.",
		"Seulement les fiches de ces types ; image et user pour administrateurs et auditeurs.", "Solo registros de estos tipos; image y user para administradores y auditores.",
	},
	"arg.told.id": {
		"只要这些编号的记录。", "Only records with these identifiers.", "Seulement les fiches de ces identifiants.", "Solo registros con estos identificadores.",
	},
	"arg.told.actor": {
		"只要这些用户的更改，0 为服务本身；仅供编辑、管理员和审计员。", "Only changes by these users, 0 the service itself; for editors, administrators and auditors.",
		"Seulement les changements de ces utilisateurs, 0 le service ; pour éditeurs, administrateurs et auditeurs.", "Solo cambios de estos usuarios, 0 el propio servicio; para editores, administradores y auditores.",
	},
	"arg.told.since": {
		"只要此时刻或之后的条目。", "Only entries of this time or later.", "Seulement les entrées de ce moment ou après.", "Solo entradas de este momento o posteriores.",
	},
	"arg.told.until": {
		"只要此时刻之前的条目。", "Only entries before this time.", "Seulement les entrées d’avant ce moment.", "Solo entradas anteriores a este momento.",
	},
	"arg.told.format": {
		"答复的格式；优先于 Accept。", "Format of the answer; it wins over Accept.", "Format de la réponse ; il l’emporte sur Accept.", "Formato de la respuesta; prevalece sobre Accept.",
	},
	"arg.told.from": {
		"比较的起始版本；默认为 to 之前可读的版本。", "Version to compare from; by default the one before to that may be read.",
		"Version de départ ; par défaut celle d’avant to qui peut être lue.", "Versión de partida; por defecto la anterior a to que se puede leer.",
	},
	"arg.told.to": {
		"比较的目标版本；默认为最新的可读版本。", "Version to compare with; by default the newest that may be read.",
		"Version d’arrivée ; par défaut la plus récente qui peut être lue.", "Versión de llegada; por defecto la más reciente que se puede leer.",
	},
	"arg.told.records": {
		"true：from 和 to 带有整条记录。", "true: from and to carry the whole record.", "true : from et to portent la fiche entière.", "true: from y to llevan el registro entero.",
	},

	"op.timemap": {
		"列出一条记录的版本的网址。", "List the URLs of the versions of one record.", "Lister les URL des versions d’une fiche.", "Listar las URL de las versiones de un registro.",
	},
	"op.history": {
		"列出一条记录的历史。", "List the history of one record.", "Lister l’historique d’une fiche.", "Listar el historial de un registro.",
	},
	"op.diff": {
		"比较一条记录的两个版本。", "Compare two versions of one record.", "Comparer deux versions d’une fiche.", "Comparar dos versiones de un registro.",
	},
	"op.changes": {
		"列出所有记录的更改。", "List the changes of all records.", "Lister les changements de toutes les fiches.", "Listar los cambios de todos los registros.",
	},
	"op.stream": {
		"跟随更改的事件流。", "Follow the changes as a stream of events.", "Suivre les changements en flux d’événements.", "Seguir los cambios como flujo de eventos.",
	},
	"arg.as_of.single": {
		"按此时刻给出记录：日期、position:N，或（按编号时）version:N。", "The record as it was at this point in time: a date, position:N, or by id version:N.",
		"La fiche telle qu’elle était à ce moment : une date, position:N, ou par identifiant version:N.", "El registro tal como era en ese momento: una fecha, position:N o, por identificador, version:N.",
	},
	"arg.header.Accept-Datetime": {
		"给出该时刻的记录或列表（RFC 7089）；有 as_of 时忽略。", "The record or list as it was at this time (RFC 7089); ignored with as_of.",
		"La fiche ou la liste telle qu’elle était à cette date (RFC 7089) ; ignoré avec as_of.", "El registro o la lista tal como era en esa fecha (RFC 7089); se ignora con as_of.",
	},

	"op.index": {"列出所有路由。", "List the routes.", "Lister les routes.", "Listar las rutas."},
	"op.doc":   {"读取本文档。", "Read this document.", "Lire ce document.", "Leer este documento."},
	"op.checkpoint": {
		"读取日志的已签名检查点。", "Read the signed checkpoint of the log.",
		"Lire le point de contrôle signé du journal.", "Leer el punto de control firmado del registro de cambios.",
	},
	"op.checkpointKeys": {
		"读取签名检查点的密钥。", "Read which keys signed the checkpoints.",
		"Lire quelles clés ont signé les points de contrôle.", "Leer qué claves firmaron los puntos de control.",
	},
	"op.inclusionProof": {
		"证明日志包含某个条目。", "Prove that an entry is in the log.",
		"Prouver qu’une entrée figure dans le journal.", "Demostrar que una entrada está en el registro de cambios.",
	},
	"op.consistencyProof": {
		"证明日志只增不改。", "Prove that the log only grew.",
		"Prouver que le journal n’a fait que croître.", "Demostrar que el registro de cambios solo ha crecido.",
	},
	"op.tile": {
		"读取哈希树的一个数据块，或一组条目的叶。", "Read a tile of the tree, or the leaves of a bundle of entries.",
		"Lire une tuile de l’arbre, ou les feuilles d’un lot d’entrées.", "Leer una tesela del árbol, o las hojas de un lote de entradas.",
	},
	"arg.proof.size": {
		"树的大小；默认为最新检查点的大小。", "Size of the tree; that of the newest checkpoint by default.",
		"Taille de l’arbre ; par défaut celle du dernier point de contrôle.", "Tamaño del árbol; por omisión, el del último punto de control.",
	},
	"arg.proof.position": {
		"条目的位置，从 1 开始。", "Position of the entry, from 1.", "Position de l’entrée, à partir de 1.", "Posición de la entrada, desde 1.",
	},
	"arg.proof.from": {
		"较早的树的大小，从 0 开始。", "Size of the earlier tree, from 0.", "Taille de l’arbre antérieur, à partir de 0.", "Tamaño del árbol anterior, desde 0.",
	},
	"arg.tile.level": {
		"层，0 到 63，或 entries：条目的叶。", "Level, 0 to 63, or entries: leaves of entries.",
		"Niveau, de 0 à 63, ou entries : feuilles des entrées.", "Nivel, de 0 a 63, o entries: hojas de las entradas.",
	},
	"arg.tile.tile": {
		"数据块的编号，三位一段（x001/234）；不满时后接 .p/ 和宽度。", "Number of the tile in groups of three digits (x001/234); a partial one is followed by .p/ and its width.",
		"Numéro de la tuile par groupes de trois chiffres (x001/234) ; une tuile partielle est suivie de .p/ et de sa largeur.",
		"Número de la tesela en grupos de tres cifras (x001/234); una parcial va seguida de .p/ y su anchura.",
	},
	"op.options": {
		"说明此路径的方法和参数。", "Tell the methods and parameters of this path.",
		"Indiquer les méthodes et paramètres de ce chemin.", "Indicar los métodos y parámetros de esta ruta.",
	},
	"op.list.event":     {"列出活动。", "List events.", "Lister les événements.", "Listar eventos."},
	"op.list.venue":     {"列出场地。", "List venues.", "Lister les lieux.", "Listar lugares."},
	"op.list.organizer": {"列出组织者。", "List organizers.", "Lister les organisateurs.", "Listar organizadores."},
	"op.list.category":  {"列出活动类别。", "List event categories.", "Lister les catégories.", "Listar categorías."},
	"op.list.tag":       {"列出活动标签。", "List event tags.", "Lister les étiquettes.", "Listar etiquetas."},
	"op.create.event":   {"创建活动。", "Create an event.", "Créer un événement.", "Crear un evento."},
	"op.create.venue":   {"创建场地。", "Create a venue.", "Créer un lieu.", "Crear un lugar."},
	"op.create.organizer": {
		"创建组织者。", "Create an organizer.", "Créer un organisateur.", "Crear un organizador.",
	},
	"op.create.category": {"创建活动类别。", "Create an event category.", "Créer une catégorie.", "Crear una categoría."},
	"op.create.tag":      {"创建活动标签。", "Create an event tag.", "Créer une étiquette.", "Crear una etiqueta."},
	"op.read.event":      {"读取一个活动。", "Read one event.", "Lire un événement.", "Leer un evento."},
	"op.read.venue":      {"读取一个场地。", "Read one venue.", "Lire un lieu.", "Leer un lugar."},
	"op.read.organizer":  {"读取一个组织者。", "Read one organizer.", "Lire un organisateur.", "Leer un organizador."},
	"op.read.category":   {"读取一个活动类别。", "Read one event category.", "Lire une catégorie.", "Leer una categoría."},
	"op.read.tag":        {"读取一个活动标签。", "Read one event tag.", "Lire une étiquette.", "Leer una etiqueta."},
	"op.update.event": {
		"更新一个活动；未发送的字段保持不变。", "Update one event; what is not sent stays.",
		"Modifier un événement ; ce qui n’est pas envoyé reste.", "Modificar un evento; lo que no se envía permanece.",
	},
	"op.update.venue": {
		"更新一个场地；未发送的字段保持不变。", "Update one venue; what is not sent stays.",
		"Modifier un lieu ; ce qui n’est pas envoyé reste.", "Modificar un lugar; lo que no se envía permanece.",
	},
	"op.update.organizer": {
		"更新一个组织者；未发送的字段保持不变。", "Update one organizer; what is not sent stays.",
		"Modifier un organisateur ; ce qui n’est pas envoyé reste.", "Modificar un organizador; lo que no se envía permanece.",
	},
	"op.update.category": {
		"更新一个活动类别；未发送的字段保持不变。", "Update one event category; what is not sent stays.",
		"Modifier une catégorie ; ce qui n’est pas envoyé reste.", "Modificar una categoría; lo que no se envía permanece.",
	},
	"op.update.tag": {
		"更新一个活动标签；未发送的字段保持不变。", "Update one event tag; what is not sent stays.",
		"Modifier une étiquette ; ce qui n’est pas envoyé reste.", "Modificar una etiqueta; lo que no se envía permanece.",
	},
	"op.delete.event": {
		"把活动移入回收站。", "Move an event to the trash.", "Mettre un événement à la corbeille.", "Mover un evento a la papelera.",
	},
	"op.delete.venue": {
		"把场地移入回收站。", "Move a venue to the trash.", "Mettre un lieu à la corbeille.", "Mover un lugar a la papelera.",
	},
	"op.delete.organizer": {
		"把组织者移入回收站。", "Move an organizer to the trash.", "Mettre un organisateur à la corbeille.", "Mover un organizador a la papelera.",
	},
	"op.delete.category": {
		"永久删除活动类别。", "Delete an event category for ever.", "Supprimer définitivement une catégorie.", "Eliminar definitivamente una categoría.",
	},
	"op.delete.tag": {
		"永久删除活动标签。", "Delete an event tag for ever.", "Supprimer définitivement une étiquette.", "Eliminar definitivamente una etiqueta.",
	},

	"status.200": {"成功。", "Done.", "Fait.", "Hecho."},
	"status.201": {"已创建；或已有的相同记录。", "Created, or the equal record that is there.", "Créé, ou la fiche égale déjà présente.", "Creado, o el registro igual que ya existe."},
	"status.304": {"客户端已有的答复仍然有效。", "The answer at hand is still right.", "La réponse déjà reçue est encore valable.", "La respuesta que ya se tiene sigue siendo válida."},
	"status.400": {"参数或正文有误。", "Bad parameters or body.", "Paramètres ou corps incorrects.", "Parámetros o cuerpo incorrectos."},
	"status.401": {"凭据缺失或有误。", "Credentials missing or wrong.", "Identifiants absents ou erronés.", "Credenciales ausentes o erróneas."},
	"status.403": {"调用者无权进行此操作。", "The caller may not do this.", "L’appelant n’en a pas le droit.", "El solicitante no tiene permiso."},
	"status.404": {"没有这样的记录、版本或页。", "No such record, version or page.", "Aucune fiche, version ou page de ce nom.", "No existe tal registro, versión o página."},
	"status.410": {"已在回收站中，或已被永久清除。", "In the trash already, or erased for good.", "Déjà à la corbeille, ou effacé définitivement.", "Ya está en la papelera, o borrado definitivamente."},
	"status.412": {"If-Match 与版本不符。", "If-Match does not fit the version.", "If-Match ne correspond pas à la version.", "If-Match no corresponde a la versión."},
	"status.413": {"正文过大。", "The body is too large.", "Le corps est trop grand.", "El cuerpo es demasiado grande."},
	"status.414": {"请求行过长。", "The request line is too long.", "La ligne de requête est trop longue.", "La línea de petición es demasiado larga."},
	"status.422": {"该键已用于另一个请求，或那时的记录太多。", "The key was used with another request, or there were too many records then.", "La clé a servi à une autre requête, ou il y avait alors trop de fiches.", "La clave se usó con otra petición, o había entonces demasiados registros."},
	"status.429": {"请求过多；请稍后重试。", "Too many requests; try again later.", "Trop de requêtes ; réessayer plus tard.", "Demasiadas peticiones; reinténtelo más tarde."},
	"status.500": {"服务内部错误。", "A fault of the service.", "Une faute du service.", "Un fallo del servicio."},
	"status.503": {"服务暂不可用或位置尚未到达；请稍后重试。", "Not available now, or position not reached; try again later.", "Indisponible pour l’instant, ou position non atteinte ; réessayer plus tard.", "No disponible ahora, o posición no alcanzada; reinténtelo más tarde."},

	"body": {
		"记录的字段；也可放在查询字符串中。", "Fields of the record; they may stand in the query string too.",
		"Champs de la fiche ; ils peuvent aussi figurer dans la requête.", "Campos del registro; también pueden ir en la cadena de consulta.",
	},
	"basic":  {"用户名和令牌。", "User name and token.", "Nom d’utilisateur et jeton.", "Nombre de usuario y token."},
	"bearer": {"令牌。", "Token.", "Jeton.", "Token."},

	"header.Content-Language":       {"答复的语言。", "Language of the answer.", "Langue de la réponse.", "Idioma de la respuesta."},
	"header.X-Content-Type-Options": {"总是 nosniff。", "Always nosniff.", "Toujours nosniff.", "Siempre nosniff."},
	"header.Content-Encoding": {
		"zstd 或 gzip：较长的读取答复，Accept-Encoding 接受时；带凭据或密码时从不使用。",
		"zstd or gzip, on longer answers to reads where Accept-Encoding takes it; never with credentials or a password.",
		"zstd ou gzip, pour les réponses plus longues aux lectures si Accept-Encoding l’accepte ; jamais avec identifiants ou mot de passe.",
		"zstd o gzip, en respuestas más largas a lecturas si Accept-Encoding lo admite; nunca con credenciales o contraseña.",
	},
	"header.Vary": {"答复所依据的请求头。", "Request headers that the answer depends on.", "En-têtes dont dépend la réponse.", "Cabeceras de las que depende la respuesta."},
	"header.Cache-Control": {
		"带凭据或活动密码的请求：no-store, private；其他读取：public, no-cache，或按服务设置为 public, max-age；503 和 429：no-store。",
		"no-store, private for requests with credentials or with the password of an event; else public, no-cache on reads, or public, max-age where the service is set so; no-store on 503 and 429.",
		"no-store, private pour les requêtes avec identifiants ou avec le mot de passe d’un événement ; sinon public, no-cache pour les lectures, ou public, max-age si le service est réglé ainsi ; no-store pour 503 et 429.",
		"no-store, private para peticiones con credenciales o con la contraseña de un evento; si no, public, no-cache en lecturas, o public, max-age si el servicio está configurado así; no-store en 503 y 429.",
	},
	"header.Allow":                         {"此路径对调用者开放的方法。", "Methods of the path that are open to the caller.", "Méthodes du chemin ouvertes à l’appelant.", "Métodos de la ruta abiertos al solicitante."},
	"header.X-Total":                       {"符合条件的记录总数。", "Number of records that fit.", "Nombre de fiches correspondantes.", "Número de registros que encajan."},
	"header.X-TotalPages":                  {"总页数。", "Number of pages.", "Nombre de pages.", "Número de páginas."},
	"header.Link":                          {"其他页和版本的链接（RFC 8288）。", "Links to other pages and versions (RFC 8288).", "Liens vers les autres pages et versions (RFC 8288).", "Enlaces a otras páginas y versiones (RFC 8288)."},
	"header.ETag":                          {"答复的版本标记。", "Entity tag of the answer.", "Étiquette d’entité de la réponse.", "Etiqueta de entidad de la respuesta."},
	"header.Last-Modified":                 {"记录最后一次写入的时间。", "Moment of the last write of the record.", "Moment de la dernière écriture de la fiche.", "Momento de la última escritura del registro."},
	"header.Daybook-Position":              {"最后变更的位置；列表：显示到的位置。", "Position of the last change; of lists: up to which they show all changes.", "Position du dernier changement ; des listes : jusqu’où elles les montrent tous.", "Posición del último cambio; en listas: hasta dónde los muestran todos."},
	"header.Memento-Datetime":              {"所显示的时刻（RFC 7089）。", "The moment that is shown (RFC 7089).", "Le moment montré (RFC 7089).", "El momento que se muestra (RFC 7089)."},
	"header.Content-Location":              {"Accept-Datetime：此答复的网址。", "Accept-Datetime: URL of the answer.", "Accept-Datetime : URL de la réponse.", "Accept-Datetime: URL de la respuesta."},
	"header.Cache-Groups":                  {"答复所用的记录（RFC 9875）。", "The records that the answer is made from (RFC 9875).", "Les fiches dont la réponse est faite (RFC 9875).", "Los registros de los que está hecha la respuesta (RFC 9875)."},
	"header.Location":                      {"新记录的网址。", "URL of the new record.", "URL de la nouvelle fiche.", "URL del registro nuevo."},
	"header.Idempotency-Replayed":          {"true：重复的第一次答复。", "true: the first answer, repeated.", "true : la première réponse, répétée.", "true: la primera respuesta, repetida."},
	"header.WWW-Authenticate":              {"接受的凭据方式。", "Schemes of credentials that are taken.", "Schémas d’identification acceptés.", "Esquemas de credenciales admitidos."},
	"header.Retry-After":                   {"多少秒后重试。", "Seconds to wait before the next try.", "Secondes à attendre avant de réessayer.", "Segundos de espera antes de reintentar."},
	"header.RateLimit-Limit":               {"有请求限制时：每分钟的请求数。", "Where requests are limited: how many a minute.", "Si les requêtes sont limitées : leur nombre par minute.", "Si las peticiones están limitadas: cuántas por minuto."},
	"header.RateLimit-Remaining":           {"有请求限制时：还剩多少。", "Where requests are limited: how many are left.", "Si les requêtes sont limitées : combien il en reste.", "Si las peticiones están limitadas: cuántas quedan."},
	"header.RateLimit-Reset":               {"有请求限制时：本时段还有多少秒。", "Where requests are limited: seconds until the present span ends.", "Si les requêtes sont limitées : secondes jusqu’à la fin de la période.", "Si las peticiones están limitadas: segundos hasta el fin del periodo."},
	"header.Access-Control-Allow-Origin":   {"允许读取答复的来源。", "Origins that may read the answer.", "Origines qui peuvent lire la réponse.", "Orígenes que pueden leer la respuesta."},
	"header.Access-Control-Expose-Headers": {"脚本可读取的答复头。", "Headers that scripts may read.", "En-têtes lisibles par les scripts.", "Cabeceras legibles por los scripts."},
	"header.Access-Control-Allow-Methods":  {"预检：允许的方法。", "Preflight: methods that are allowed.", "Pré-requête : méthodes permises.", "Comprobación previa: métodos permitidos."},
	"header.Access-Control-Allow-Headers":  {"预检：允许的请求头。", "Preflight: headers that are allowed.", "Pré-requête : en-têtes permis.", "Comprobación previa: cabeceras permitidas."},
	"header.Access-Control-Max-Age":        {"预检结果的有效秒数。", "Preflight: seconds that it holds.", "Pré-requête : durée de validité en secondes.", "Comprobación previa: segundos de validez."},
}
