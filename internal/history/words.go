package history

import "daybook/calendar"

// words are a text in the order of calendar.Langs: cn, en, fr, es.
type words [len(calendar.Langs)]string

// The punctuation of sentences (HISTORY 6).
var (
	colon     = words{"：", ": ", " : ", ": "}
	semicolon = words{"；", "; ", "; ", "; "}
	comma     = words{"，", ", ", ", ", ", "}
	listed    = words{"、", ", ", ", ", ", "} // between the elements of a list
	opening   = words{"“", "“", "«\u00a0", "«"}
	closing   = words{"”", "”", "\u00a0»", "»"}
)

// Action is what an entry did, as it is shown to a caller (HISTORY 5).
type Action string

// The actions: the last parts of changes, and for a version of which the caller may not
// read the one before.
const (
	Created   Action = calendar.Created
	Published Action = "published"
	Updated   Action = calendar.Updated
	Trashed   Action = calendar.Trashed
	Restored  Action = calendar.Restored
	Deleted   Action = calendar.Deleted
	Erased    Action = calendar.Erased
)

// Actions are all actions.
var Actions = [...]Action{Created, Published, Updated, Trashed, Restored, Deleted, Erased}

// actionWords begin summaries (HISTORY 6.1).
var actionWords = map[Action]words{
	Created:   {"创建", "Created", "Création", "Creación"},
	Published: {"发布", "Published", "Publication", "Publicación"},
	Updated:   {"修改", "Changed", "Modification", "Modificación"},
	Trashed:   {"移入回收站", "Moved to the trash", "Mise à la corbeille", "Envío a la papelera"},
	Restored:  {"恢复", "Restored", "Restauration", "Restauración"},
	Deleted:   {"删除", "Deleted", "Suppression", "Eliminación"},
	Erased:    {"清除", "Erased", "Effacement", "Borrado"},
}

// blankWords are the summary of a redacted entry.
var blankWords = words{"内容已清除", "Content erased", "Contenu effacé", "Contenido borrado"}

// step is what became of a value.
type step uint8

const (
	came step = iota // there was none before
	turned
	went
)

// stepWords are the phrases of a value that came, turned into another one, or went
// (HISTORY 6.2). A and B stand for the values after and before.
var stepWords = [...]words{
	came:   {"A", "A", "A", "A"},
	turned: {"由 B 改为 A", "from B to A", "de B à A", "de B a A"},
	went:   {"删除 B", "removed, was B", "suppression de B", "eliminación de B"},
}

// htmlWords are those of description and excerpt, passwordWords those of the password,
// which show no value.
var (
	htmlWords = [...]words{
		came:   {"已添加文本", "text added", "texte ajouté", "texto añadido"},
		turned: {"文本已修改", "text changed", "texte modifié", "texto modificado"},
		went:   {"文本已删除", "text removed", "texte supprimé", "texto eliminado"},
	}
	passwordWords = [...]words{
		came:   {"已设置", "set", "défini", "establecida"},
		turned: {"已更改", "changed", "modifié", "cambiada"},
		went:   {"已删除", "removed", "supprimé", "eliminada"},
	}
)

// The words of links: before ids that came, before ids that went, and for another order.
var (
	addedWords   = words{"添加 ", "added ", "ajout de ", "adición de "}
	removedWords = words{"移除 ", "removed ", "retrait de ", "retirada de "}
	orderWords   = words{"顺序已更改", "order changed", "ordre modifié", "orden cambiado"}
)

// boolWords are no and yes; statusWords the statuses (HISTORY 6.3).
var (
	boolWords   = [2]words{{"否", "no", "non", "no"}, {"是", "yes", "oui", "sí"}}
	statusWords = map[calendar.Status]words{
		calendar.StatusPublish: {"已发布", "published", "publié", "publicado"},
		calendar.StatusFuture:  {"定时发布", "scheduled", "programmé", "programado"},
		calendar.StatusDraft:   {"草稿", "draft", "brouillon", "borrador"},
		calendar.StatusPending: {"待审", "pending", "en attente", "pendiente"},
		calendar.StatusPrivate: {"私密", "private", "privé", "privado"},
		calendar.StatusTrash:   {"回收站", "trash", "corbeille", "papelera"},
	}
)

// wallForms are days: D, M and Y stand for the numbers of day, month and year, N for the
// name of the month.
var wallForms = words{"Y年M月D日", "D N Y", "D N Y", "D de N de Y"}

// months are their names in running text; cn has numbers.
var months = [len(calendar.Langs)][12]string{
	calendar.LangEN: {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	calendar.LangFR: {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
	calendar.LangES: {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
}

// labels name fields in sentences (HISTORY 6.4); one that is not here has its own name.
var labels = map[string]words{
	"title":              {"标题", "title", "titre", "título"},
	"name":               {"名称", "name", "nom", "nombre"},
	"description":        {"描述", "description", "description", "descripción"},
	"excerpt":            {"摘要", "excerpt", "extrait", "extracto"},
	"slug":               {"别名", "slug", "slug", "slug"},
	"status":             {"发布状态", "status", "statut", "estado de publicación"},
	"timezone":           {"时区", "time zone", "fuseau horaire", "zona horaria"},
	"all_day":            {"全天", "all day", "toute la journée", "todo el día"},
	"start_date":         {"开始时间", "start", "début", "inicio"},
	"end_date":           {"结束时间", "end", "fin", "fin"},
	"image":              {"图片", "image", "image", "imagen"},
	"cost":               {"费用", "cost", "prix", "precio"},
	"website":            {"网站", "website", "site web", "sitio web"},
	"email":              {"电子邮箱", "e-mail", "e-mail", "correo electrónico"},
	"show_map":           {"显示地图", "show map", "afficher la carte", "mostrar mapa"},
	"show_map_link":      {"显示地图链接", "show map link", "afficher le lien de la carte", "mostrar enlace al mapa"},
	"hide_from_listings": {"列表中隐藏", "hidden from lists", "masqué des listes", "oculto en los listados"},
	"sticky":             {"置顶", "sticky", "épinglé", "fijado"},
	"featured":           {"推荐", "featured", "mis en avant", "destacado"},
	"ticketed":           {"门票", "tickets", "billetterie", "entradas"},
	"categories":         {"类别", "categories", "catégories", "categorías"},
	"tags":               {"标签", "tags", "étiquettes", "etiquetas"},
	"venue":              {"场地", "venues", "lieux", "lugares"},
	"organizer":          {"组织者", "organizers", "organisateurs", "organizadores"},
	"post_parent":        {"上级活动", "parent event", "événement parent", "evento superior"},
	"parent":             {"上级类别", "parent category", "catégorie parente", "categoría superior"},
	"password":           {"密码", "password", "mot de passe", "contraseña"},
	"author":             {"作者", "author", "auteur", "autor"},
	"date":               {"发布日期", "publication date", "date de publication", "fecha de publicación"},
	"phone":              {"电话", "phone", "téléphone", "teléfono"},
	"address":            {"地址", "address", "adresse", "dirección"},
	"city":               {"城市", "city", "ville", "ciudad"},
	"country":            {"国家", "country", "pays", "país"},
	"province":           {"省份", "province", "province", "provincia"},
	"state":              {"州", "state", "État", "estado"},
	"zip":                {"邮政编码", "postal code", "code postal", "código postal"},
	"stateprovince":      {"州或省", "state or province", "État ou province", "estado o provincia"},
	"geo_lat":            {"纬度", "latitude", "latitude", "latitud"},
	"geo_lng":            {"经度", "longitude", "longitude", "longitud"},
}
