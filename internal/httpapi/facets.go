package httpapi

import (
	"strconv"

	"daybook/calendar"
	"daybook/query"
	"daybook/query/readmodel"
)

// facetWords are the labels of the values that are words, by facet and value.
var facetWords = map[string]text{
	"weekday.1": {"星期一", "Monday", "lundi", "lunes"},
	"weekday.2": {"星期二", "Tuesday", "mardi", "martes"},
	"weekday.3": {"星期三", "Wednesday", "mercredi", "miércoles"},
	"weekday.4": {"星期四", "Thursday", "jeudi", "jueves"},
	"weekday.5": {"星期五", "Friday", "vendredi", "viernes"},
	"weekday.6": {"星期六", "Saturday", "samedi", "sábado"},
	"weekday.7": {"星期日", "Sunday", "dimanche", "domingo"},

	"time_of_day.night":     {"凌晨", "Night", "Nuit", "Madrugada"},
	"time_of_day.morning":   {"上午", "Morning", "Matin", "Mañana"},
	"time_of_day.afternoon": {"下午", "Afternoon", "Après-midi", "Tarde"},
	"time_of_day.evening":   {"晚上", "Evening", "Soir", "Noche"},
	"time_of_day.all_day":   {"全天", "All day", "Toute la journée", "Todo el día"},

	"in_language.cn": {"中文", "中文", "中文", "中文"},
	"in_language.en": {"English", "English", "English", "English"},
	"in_language.fr": {"Français", "Français", "Français", "Français"},
	"in_language.es": {"Español", "Español", "Español", "Español"},

	"ticketed.true": yes, "ticketed.false": no,
	"featured.true": yes, "featured.false": no,
	"free.true": yes, "free.false": no,

	"cost_band.free":    {"免费", "Free", "Gratuit", "Gratis"},
	"cost_band.unknown": {"未知", "Unknown", "Inconnu", "Desconocido"},
}

var (
	yes = text{"是", "Yes", "Oui", "Sí"}
	no  = text{"否", "No", "Non", "No"}
)

// appendFacets writes the key facets of a list, nothing where none were asked for.
func appendFacets(b []byte, facets []query.Facet, l calendar.Lang) []byte {
	if facets == nil {
		return b
	}
	b = append(b, `,"facets":{`...)
	for i := range facets {
		f := &facets[i]
		b = appendString(appendComma(b, i), f.Name)
		b = strconv.AppendInt(append(b, `:{"total":`...), int64(f.Total), 10)
		b = append(b, `,"values":[`...)
		for j := range f.Values {
			b = appendFacetValue(appendComma(b, j), f.Name, &f.Values[j], l)
		}
		b = append(b, `]}`...)
	}
	return append(b, '}')
}

func appendFacetValue(b []byte, facet string, v *query.FacetValue, l calendar.Lang) []byte {
	label := v.Label
	if label == "" {
		label = facetWords[facet+"."+v.Value][l]
	}
	b = appendString(append(b, `{"value":`...), v.Value)
	b = appendString(append(b, `,"label":`...), label)
	if facet == "categories" || facet == "tags" {
		b = appendString(append(b, `,"slug":`...), v.Slug)
	}
	if facet == "categories" {
		b = appendID(append(b, `,"parent":`...), v.Parent)
		b = strconv.AppendInt(append(b, `,"level":`...), int64(v.Level), 10)
	}
	if facet == "venue" {
		b = appendString(append(b, `,"city":`...), v.City)
	}
	b = strconv.AppendInt(append(b, `,"count":`...), int64(v.Count), 10)
	return append(strconv.AppendBool(append(b, `,"selected":`...), v.Selected), '}')
}

// appendRepeats writes the key collapsed of a record, with what stands before it.
func appendRepeats(b []byte, g *readmodel.Repeats) []byte {
	b = strconv.AppendInt(append(b, `,"collapsed":{"count":`...), int64(g.Count), 10)
	b = append(b, `,"ids":[`...)
	for i, id := range g.IDs {
		b = appendID(appendComma(b, i), id)
	}
	b = appendWall(b, `],"first_start":`, g.First)
	return append(appendWall(b, `,"last_start":`, g.Last), '}')
}

func writeRepeats(_ *renderer, b []byte, _ *column, s *subject) []byte {
	if s.view == nil || s.view.Repeats == nil {
		return b
	}
	return appendRepeats(b, s.view.Repeats)
}

func facetSchema() object {
	value := shape{
		always:    object{"value": str(), "label": str(), "count": countSchema(), "selected": boolean()},
		sometimes: object{"slug": str(), "parent": integer(), "level": countSchema(), "city": str()},
	}.schema(true)
	return strict(object{"total": countSchema(), "values": list(value)})
}

// facetsSchema is that of the facets of a list, by name.
func facetsSchema() object {
	facets := object{}
	for _, name := range query.Facets {
		facets[name] = schemaRef("Facet")
	}
	return shape{sometimes: facets}.schema(false)
}

func repeatsSchema() object {
	return strict(object{
		"count": object{"type": "integer", "minimum": 1}, "ids": object{"type": "array", "items": integer(), "maxItems": readmodel.MostRepeats},
		"first_start": moment(), "last_start": moment(),
	})
}
