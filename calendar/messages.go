package calendar

import (
	"slices"
	"strconv"
	"strings"
)

// phrase is one message in the order of Langs: cn, en, fr, es. "%1", "%2" stand
// for what the message names.
type phrase [langCount]string

func (p phrase) in(l Lang, args ...string) string {
	if len(args) == 0 {
		return p[l]
	}
	pairs := make([]string, 0, 2*len(args))
	for i, a := range args {
		pairs = append(pairs, "%"+strconv.Itoa(i+1), a)
	}
	return strings.NewReplacer(pairs...).Replace(p[l])
}

// Message gives the text of an error in a language. It names the bad or missing
// fields, but says nothing of why: that is FieldError.Message.
func (e *Error) Message(l Lang) string {
	if p, ok := kindMessages[e.Code][e.Kind]; ok {
		return p.in(l)
	}
	p, ok := messages[e.Code]
	if !ok {
		p = messages[CodeInternal]
	}
	switch e.Code {
	case CodeMissingParam:
		return p.in(l, strings.Join(e.Missing, ", "))
	case CodeInvalidParam:
		names := make([]string, len(e.Fields))
		for i, f := range e.Fields {
			names[i] = f.Field
		}
		return p.in(l, strings.Join(names, ", "))
	default:
		return p.in(l)
	}
}

// Message gives the text of a refused field in a language: "<field>: …". It says
// what would be right.
func (f FieldError) Message(l Lang) string {
	if f.Reason == ReasonInline && len(f.Args) >= 3 {
		inner := FieldError{Field: f.Args[1], Reason: Reason(f.Args[2]), Args: f.Args[3:]}
		return f.Field + ": " + reasonMessages[ReasonInline].in(l, quoted(f.Args[0]), inner.Message(l))
	}
	p, ok := reasonMessages[f.Reason]
	if !ok {
		p = reasonMessages[ReasonEntry]
	}
	args := f.Args
	if slices.Contains(entryReasons[:], f.Reason) && len(args) > 0 {
		args = slices.Clone(args)
		args[0] = quoted(args[0])
	}
	return f.Field + ": " + p.in(l, args...)
}

// entryReasons are those whose first argument is text of the client.
var entryReasons = [...]Reason{
	ReasonEntry, ReasonInline, ReasonTermRight, ReasonUnknownEvent, ReasonUnknownVenue, ReasonUnknownOrganizer,
	ReasonUnknownCategory, ReasonUnknownTag, ReasonUnknownImage, ReasonUnknownUser,
}

// maxQuoted is how much of a client's text a message repeats, in characters.
const maxQuoted = 100

func quoted(s string) string {
	if r := []rune(s); len(r) > maxQuoted {
		s = string(r[:maxQuoted]) + "…"
	}
	return strconv.Quote(s)
}

var messages = map[Code]phrase{
	CodeInvalidParam: {
		"参数无效:%1",
		"Invalid parameters: %1",
		"Paramètres non valides : %1",
		"Parámetros no válidos: %1",
	},
	CodeMissingParam: {
		"缺少参数:%1",
		"Missing parameters: %1",
		"Paramètres manquants : %1",
		"Faltan parámetros: %1",
	},
	CodeInvalidJSON: {
		"请求正文不是有效的 JSON 对象。",
		"The body is not a valid JSON object.",
		"Le corps de la requête n’est pas un objet JSON valide.",
		"El cuerpo no es un objeto JSON válido.",
	},
	CodeUnauthorized: {
		"此操作需要登录。",
		"This needs credentials.",
		"Cette opération demande une authentification.",
		"Esta operación requiere credenciales.",
	},
	CodeForbidden: {
		"您无权执行此操作。",
		"You are not allowed to do this.",
		"Vous n’avez pas le droit de faire cela.",
		"No tiene permiso para hacer esto.",
	},
	CodeForbiddenOrigin: {
		"不接受由其他网站页面发出的写入请求。",
		"Writes that a page of another site sends are refused.",
		"Les écritures envoyées par une page d’un autre site sont refusées.",
		"Se rechazan las escrituras enviadas por una página de otro sitio.",
	},
	CodeInvalidUsername: {
		"未知的用户名。",
		"The user name is unknown.",
		"Le nom d’utilisateur est inconnu.",
		"El nombre de usuario es desconocido.",
	},
	CodeIncorrectPassword: {
		"令牌错误或已撤销。",
		"The token is wrong or withdrawn.",
		"Le jeton est erroné ou révoqué.",
		"El token es incorrecto o ha sido revocado.",
	},
	CodeInvalidCredentials: {
		"无法读取登录凭据。",
		"The credentials cannot be read.",
		"Les identifiants sont illisibles.",
		"No se pueden leer las credenciales.",
	},
	CodePrecondition: {
		"记录已被更改:版本与 If-Match 不符。",
		"The record has changed: its version does not fit If-Match.",
		"L’enregistrement a changé : sa version ne correspond pas à If-Match.",
		"El registro ha cambiado: su versión no coincide con If-Match.",
	},
	CodeKeyReused: {
		"该 Idempotency-Key 已用于另一个请求。",
		"The Idempotency-Key was used for another request.",
		"La clé Idempotency-Key a servi à une autre requête.",
		"La clave Idempotency-Key se usó en otra petición.",
	},
	CodeBodyTooLarge: {
		"请求正文过大。",
		"The body is too large.",
		"Le corps de la requête est trop grand.",
		"El cuerpo es demasiado grande.",
	},
	CodeURITooLong: {
		"请求网址过长。",
		"The URL is too long.",
		"L’URL est trop longue.",
		"La URL es demasiado larga.",
	},
	CodeNoRoute: {
		"没有与网址相符的路径。",
		"No route fits the URL.",
		"Aucune route ne correspond à l’URL.",
		"Ninguna ruta corresponde a la URL.",
	},
	CodeMethodNotAllowed: {
		"此路径不支持该方法。",
		"The path does not have this method.",
		"Ce chemin n’accepte pas cette méthode.",
		"Esta ruta no admite el método.",
	},
	CodeInvalidNamespace: {
		"未知的命名空间。",
		"The namespace is unknown.",
		"L’espace de noms est inconnu.",
		"El espacio de nombres es desconocido.",
	},
	CodePositionNotReached: {
		"列表尚未到达所要求的位置,请稍后再试。",
		"The list has not reached the position yet; try again later.",
		"La liste n’a pas encore atteint la position ; réessayez plus tard.",
		"La lista aún no ha alcanzado la posición; inténtelo más tarde.",
	},
	CodeUnavailable: {
		"服务暂时不可用,请稍后再试。",
		"The service is unavailable for now; try again later.",
		"Le service est momentanément indisponible ; réessayez plus tard.",
		"El servicio no está disponible por ahora; inténtelo más tarde.",
	},
	CodeTooManyRequests: {
		"请求过多,请稍后再试。",
		"Too many requests; try again later.",
		"Trop de requêtes ; réessayez plus tard.",
		"Demasiadas peticiones; inténtelo más tarde.",
	},
	CodeInternal: {
		"服务内部出错。",
		"The service has made an error.",
		"Le service a rencontré une erreur.",
		"Se ha producido un error en el servicio.",
	},
	CodeTermExists: {
		"同名的项目已存在。",
		"A term of this name exists already.",
		"Un terme de ce nom existe déjà.",
		"Ya existe un término con este nombre.",
	},
	CodeNotHierarchical: {
		"标签没有上级。",
		"Tags have no parent.",
		"Les étiquettes n’ont pas de parent.",
		"Las etiquetas no tienen superior.",
	},
	CodeNoLongerAvailable: {
		"该活动已不可用。",
		"The event is no longer available.",
		"L’événement n’est plus disponible.",
		"El evento ya no está disponible.",
	},
	CodeNotAccessible: {
		"您无权读取该记录。",
		"You may not read the record.",
		"Vous n’avez pas accès à cet enregistrement.",
		"No tiene acceso a este registro.",
	},
	CodePasswordProtected: {
		"该活动受密码保护。",
		"The event is protected by a password.",
		"L’événement est protégé par un mot de passe.",
		"El evento está protegido con contraseña.",
	},
	CodeInTrash: {
		"该记录已在回收站中。",
		"The record is in the trash already.",
		"L’enregistrement est déjà dans la corbeille.",
		"El registro ya está en la papelera.",
	},
	CodeNotFound: {
		"未找到该记录。",
		"The record was not found.",
		"L’enregistrement est introuvable.",
		"No se ha encontrado el registro.",
	},
	CodePageNotFound: {
		"列表没有这一页。",
		"The list has no such page.",
		"La liste n’a pas cette page.",
		"La lista no tiene esa página.",
	},
	CodeVersionNotFound: {
		"该记录没有这个版本。",
		"The record has no such version.",
		"L’enregistrement n’a pas cette version.",
		"El registro no tiene esa versión.",
	},
	CodeAsOfTooLarge: {
		"那时的记录太多，无法给出列表。",
		"There were too many records then to list them.",
		"Il y avait alors trop d’enregistrements pour en dresser la liste.",
		"Había entonces demasiados registros para hacer la lista.",
	},
	CodeAsOfNotReady: {
		"那时的列表还在准备中，请稍后再试。",
		"The list of that time is being prepared; try again soon.",
		"La liste de ce moment est en préparation ; réessayez bientôt.",
		"La lista de ese momento se está preparando; vuelva a intentarlo pronto.",
	},
	CodeErased: {
		"该记录已被永久清除。",
		"The record was erased for good.",
		"L’enregistrement a été effacé définitivement.",
		"El registro se ha borrado definitivamente.",
	},
	CodeNoCheckpoint: {
		"没有这个大小的已签名检查点。",
		"No checkpoint was signed for this.",
		"Aucun point de contrôle n’a été signé pour cela.",
		"No se ha firmado ningún punto de control para esto.",
	},
	CodeNoTile: {
		"日志没有这个数据块。",
		"The log has no such tile.",
		"Le journal n’a pas cette tuile.",
		"El registro de cambios no tiene esa tesela.",
	},
	CodeSelectionTooLarge: {
		"一次答复容不下这么多活动；请分页读取。",
		"These are more events than one answer may have; read them by pages.",
		"Il y a plus d’événements qu’une réponse ne peut en contenir ; lisez-les par pages.",
		"Son más eventos de los que caben en una respuesta; léalos por páginas.",
	},
	CodeQueryTooCostly: {
		"请求一次要求过多；请分成几个请求。",
		"The request asks for too much at once; split it into several.",
		"La requête demande trop à la fois ; répartissez-la en plusieurs.",
		"La solicitud pide demasiado a la vez; divídala en varias.",
	},
}

// kindMessages are the messages whose words depend on the kind.
var kindMessages = map[Code]map[Kind]phrase{
	CodeTermExists: {
		KindCategory: {
			"该上级类别下已有同名类别。",
			"A category of this name exists already under this parent.",
			"Une catégorie de ce nom existe déjà sous ce parent.",
			"Ya existe una categoría con este nombre bajo la misma superior.",
		},
		KindTag: {
			"同名标签已存在。",
			"A tag of this name exists already.",
			"Une étiquette de ce nom existe déjà.",
			"Ya existe una etiqueta con este nombre.",
		},
	},
	CodeNotAccessible: {
		KindEvent: {
			"您无权读取该活动。",
			"You may not read the event.",
			"Vous n’avez pas accès à cet événement.",
			"No tiene acceso a este evento.",
		},
		KindVenue: {
			"您无权读取该场地。",
			"You may not read the venue.",
			"Vous n’avez pas accès à ce lieu.",
			"No tiene acceso a este lugar.",
		},
		KindOrganizer: {
			"您无权读取该组织者。",
			"You may not read the organizer.",
			"Vous n’avez pas accès à cet organisateur.",
			"No tiene acceso a este organizador.",
		},
	},
	CodeInTrash: {
		KindEvent: {
			"该活动已在回收站中。",
			"The event is in the trash already.",
			"L’événement est déjà dans la corbeille.",
			"El evento ya está en la papelera.",
		},
		KindVenue: {
			"该场地已在回收站中。",
			"The venue is in the trash already.",
			"Le lieu est déjà dans la corbeille.",
			"El lugar ya está en la papelera.",
		},
		KindOrganizer: {
			"该组织者已在回收站中。",
			"The organizer is in the trash already.",
			"L’organisateur est déjà dans la corbeille.",
			"El organizador ya está en la papelera.",
		},
	},
	CodeNotFound: {
		KindEvent: {
			"未找到该活动。",
			"The event was not found.",
			"L’événement est introuvable.",
			"No se ha encontrado el evento.",
		},
		KindVenue: {
			"未找到该场地。",
			"The venue was not found.",
			"Le lieu est introuvable.",
			"No se ha encontrado el lugar.",
		},
		KindOrganizer: {
			"未找到该组织者。",
			"The organizer was not found.",
			"L’organisateur est introuvable.",
			"No se ha encontrado el organizador.",
		},
		KindCategory: {
			"未找到该类别。",
			"The category was not found.",
			"La catégorie est introuvable.",
			"No se ha encontrado la categoría.",
		},
		KindTag: {
			"未找到该标签。",
			"The tag was not found.",
			"L’étiquette est introuvable.",
			"No se ha encontrado la etiqueta.",
		},
	},
	CodePageNotFound: {
		KindEvent: {
			"活动列表没有这一页。",
			"The list of events has no such page.",
			"La liste des événements n’a pas cette page.",
			"La lista de eventos no tiene esa página.",
		},
		KindVenue: {
			"场地列表没有这一页。",
			"The list of venues has no such page.",
			"La liste des lieux n’a pas cette page.",
			"La lista de lugares no tiene esa página.",
		},
		KindOrganizer: {
			"组织者列表没有这一页。",
			"The list of organizers has no such page.",
			"La liste des organisateurs n’a pas cette page.",
			"La lista de organizadores no tiene esa página.",
		},
	},
}
