package demo

import "daybook/calendar"

// The order of texts is that of calendar.Langs: cn, en, fr, es.

type city struct {
	name, country, street, zone, currency string
	lat, lng                              float64 // degrees
	lang                                  calendar.Lang
	halls                                 []string
}

var cities = []city{
	{"Boston", "United States", "Quay Street", "America/New_York", "$", 42.3601, -71.0589, calendar.LangEN, []string{"River Hall", "Harbor Playhouse", "Common Pavilion"}},
	{"London", "United Kingdom", "Canal Road", "Europe/London", "£", 51.5074, -0.1278, calendar.LangEN, []string{"Foundry Rooms", "Canal Theatre"}},
	{"Sydney", "Australia", "Wharf Road", "Australia/Sydney", "$", -33.8688, 151.2093, calendar.LangEN, []string{"Wharf Nine", "Botanic Stage"}},
	{"Paris", "France", "rue du Marché", "Europe/Paris", "€", 48.8566, 2.3522, calendar.LangFR, []string{"Salle des Quais", "Théâtre du Marché", "Halle aux Livres"}},
	{"Lyon", "France", "quai des Tanneurs", "Europe/Paris", "€", 45.7640, 4.8357, calendar.LangFR, []string{"Maison du Fleuve"}},
	{"Madrid", "España", "calle de la Luna", "Europe/Madrid", "€", 40.4168, -3.7038, calendar.LangES, []string{"Sala Luna", "Teatro del Mercado"}},
	{"México", "México", "avenida del Bosque", "America/Mexico_City", "$", 19.4326, -99.1332, calendar.LangES, []string{"Foro del Bosque", "Casa de la Música"}},
	{"北京", "中国", "湖滨路", "Asia/Shanghai", "¥", 39.9042, 116.4074, calendar.LangCN, []string{"湖滨音乐厅", "城南剧场"}},
	{"上海", "中国", "江边路", "Asia/Shanghai", "¥", 31.2304, 121.4737, calendar.LangCN, []string{"江边艺术中心"}},
}

var organizers = []struct {
	name, about string
	lang        calendar.Lang
}{
	{"Arts Trust", "Concerts and exhibitions in public places.", calendar.LangEN},
	{"Open Code Circle", "Meetings for people who write software.", calendar.LangEN},
	{"Les Amis du Livre", "Lectures et rencontres autour du livre.", calendar.LangFR},
	{"Asociación Río Vivo", "Caminatas y conciertos junto al río.", calendar.LangES},
	{"城市文化协会", "组织音乐会、展览和读书会。", calendar.LangCN},
	{"Night Runners", "Running after work, whatever the weather.", calendar.LangEN},
}

var categories = []struct {
	names         [4]string
	about, parent string
}{
	{[4]string{"音乐", "Music", "Musique", "Música"}, "Everything one listens to.", ""},
	{[4]string{"爵士乐", "Jazz", "Jazz vocal et instrumental", "Jazz en vivo"}, "Jazz and what is near to it.", "Music"},
	{[4]string{"古典音乐", "Classical", "Classique", "Clásica"}, "Orchestras and chamber music.", "Music"},
	{[4]string{"文学", "Literature", "Littérature", "Literatura"}, "Readings and book fairs.", ""},
	{[4]string{"技术", "Technology", "Technologie", "Tecnología"}, "Talks and workshops.", ""},
	{[4]string{"运动", "Sport", "Sport et plein air", "Deporte"}, "For those who take part.", ""},
	{[4]string{"美食", "Food", "Cuisine", "Gastronomía"}, "Markets and tastings.", ""},
	{[4]string{"家庭", "Family", "Famille", "Familia"}, "For children and those who bring them.", ""},
}

var tags = []string{"open air", "free entry", "evening", "weekend", "beginners", "wheelchair access", "live stream", "registration"}

type theme struct {
	category     string
	title, about [4]string
}

var themes = []theme{
	{
		"Jazz",
		[4]string{"%s码头爵士之夜", "Quay jazz night in %s", "Nuit du jazz à %s", "Noche de jazz en %s"},
		[4]string{"三支乐队在水边演奏。", "Three bands play by the water until late.", "Trois groupes jouent au bord de l'eau.", "Tres bandas tocan junto al agua."},
	},
	{
		"Classical",
		[4]string{"%s室内音乐会", "Chamber concert, %s", "Concert de musique de chambre, %s", "Concierto de cámara, %s"},
		[4]string{"弦乐四重奏演奏新旧作品。", "A string quartet plays works old and new.", "Un quatuor à cordes joue des œuvres anciennes et nouvelles.", "Un cuarteto de cuerda toca obras antiguas y nuevas."},
	},
	{
		"Literature",
		[4]string{"%s读书会", "Book evening in %s", "Soirée du livre à %s", "Velada literaria en %s"},
		[4]string{"作者朗读并回答问题。", "Authors read and answer questions.", "Des auteurs lisent et répondent aux questions.", "Autoras y autores leen y responden preguntas."},
	},
	{
		"Technology",
		[4]string{"%s软件工程聚会", "Software engineering meetup %s", "Rencontre de génie logiciel à %s", "Encuentro de ingeniería de software en %s"},
		[4]string{"两场演讲，然后讨论。", "Two talks on databases and testing, then discussion.", "Deux exposés sur les bases de données et les tests, puis discussion.", "Dos charlas sobre bases de datos y pruebas, y luego debate."},
	},
	{
		"Sport",
		[4]string{"%s晨跑", "Morning run in %s", "Course matinale à %s", "Carrera matutina en %s"},
		[4]string{"五公里，速度随意。", "Five kilometres at everyone's own pace.", "Cinq kilomètres, chacun à son rythme.", "Cinco kilómetros, cada cual a su ritmo."},
	},
	{
		"Food",
		[4]string{"%s周末美食市集", "Street food market, %s", "Marché gourmand de %s", "Mercado gastronómico de %s"},
		[4]string{"来自本地厨房的小吃。", "Small dishes from local kitchens.", "De petits plats de cuisines locales.", "Pequeños platos de cocinas locales."},
	},
	{
		"Family",
		[4]string{"%s儿童木偶剧", "Puppet theatre for children, %s", "Théâtre de marionnettes à %s", "Teatro de títeres en %s"},
		[4]string{"适合四岁以上的孩子。", "For children from four years on.", "Pour les enfants dès quatre ans.", "Para niños a partir de cuatro años."},
	},
}

var closing = [4]string{"请提前十分钟到场。", "Please come ten minutes early.", "Merci d'arriver dix minutes à l'avance.", "Por favor, lleguen diez minutos antes."}
