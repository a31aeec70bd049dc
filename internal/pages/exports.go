package pages

import (
	"cmp"
	"strings"
	"time"
)

// exportAddresses is a selection, or an event, as others get it (PAGES.md P3.4): what templates write
// its addresses with.
type exportAddresses struct {
	List    string // where the interface lists it, without an ending or a slash
	JSON    string // the page of that list
	Query   string // of the other formats
	Lasting string // without a window that the page has put, so that a subscription goes on
	Source  string // of calendar widgets, "" where their route cannot tell it
	Element params // attributes of the embedded calendar
}

// noEvent is an id that no event has.
const noEvent = "9007199254740991"

// drawer makes that of the selection of the page.
func (builder *pageBuilder) drawer() *exportAddresses {
	selection, address := builder.selection, "/events"
	var of params
	if kind := selection.kind.Kind; selection.kind.ID != 0 {
		address = "/" + kind.Collection() + "/" + selection.kind.ID.String() + address
		name := kind.String()
		if kind.IsTerm() {
			name = kind.Collection()
		}
		of = of.with(name, selection.kind.ID.String())
	}
	sent := params(selection.criteria.Exact())
	lasting := sent.without(shapes...)
	if selection.moving() {
		lasting = lasting.without(window...)
	}
	if selection.only != nil {
		sent = sent.with("include", cmp.Or(strings.Join(selection.only, ","), noEvent))
	}
	addresses := &exportAddresses{List: builder.Root() + address, Query: sent.without(shaping...).String(), Lasting: lasting.String(), Element: sent.without(shapes...)}
	addresses.JSON = sent.link(addresses.List+"/", selection.page)
	if selection.moving() {
		lasting = lasting.without(paramOverlap)
		from, until, ok := selection.criteria.Range()
		if ok && (selection.only == nil || builder.zone != nil) && (of == nil || !selection.asked.has(of[0].Name)) {
			source := append(params{{Name: "start", Value: from}, {Name: "end", Value: until}}, of...)
			addresses.Source = builder.Root() + "/events/calendar" + append(source, lasting...).String()
		}
		switch builder.Page {
		case pageWeek, pageDay:
		case pageMonth:
			addresses.Element = lasting.with("date", selection.over.first.Format(time.DateOnly)).with(paramView, "month")
		default:
			addresses.Element = lasting
		}
	}
	addresses.Element = append(of, addresses.Element...)
	return addresses
}

// webcal is an address for programs that subscribe to it.
func webcal(text string) string {
	_, rest, _ := strings.Cut(text, "://")
	return "webcal://" + rest
}
