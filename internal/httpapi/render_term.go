package httpapi

import (
	"strconv"

	"daybook/calendar"
	"daybook/query"
)

// appendTerm writes a term (3.4.2) in its own or in the nested shape.
func (p *renderer) appendTerm(b []byte, t query.TermView, nested bool) []byte {
	r := t.Record
	name, shown := r.Name(p.lang)
	description, _ := r.Fields.Text("description").In(p.lang, r.Home)
	parent := r.Fields.ID("parent")
	b = append(b, `{"id":`...)
	b = appendID(b, r.ID)
	b = append(b, `,"name":`...)
	b = appendName(b, name)
	b = append(b, `,"slug":`...)
	b = appendString(b, r.Slug())
	b = append(b, `,"taxonomy":"event_`...)
	b = append(b, r.Kind.String()...)
	b = append(b, `","description":`...)
	b = appendString(b, description)
	b = append(b, `,"count":`...)
	b = strconv.AppendInt(b, int64(t.Count), 10)
	if nested || r.Kind == calendar.KindCategory {
		b = append(b, `,"parent":`...)
		b = appendID(b, parent)
	}
	if !nested {
		b = append(b, `,"url":`...)
		b = appendString(b, p.root.page(r, ""))
	}
	b = appendLanguages(b, r, shown)
	collection := p.root.collection(r.Kind)
	b = append(b, `,"urls":{"self":`...)
	b = appendString(b, collection+"/"+r.ID.String())
	b = append(b, `,"collection":`...)
	b = appendString(b, collection)
	if parent != 0 {
		b = append(b, `,"up":`...)
		b = appendString(b, collection+"/"+parent.String())
	}
	return append(b, "}}"...)
}
