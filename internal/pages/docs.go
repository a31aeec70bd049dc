package pages

import (
	"context"
	"net/http"

	"daybook/calendar"
)

// Operation is one of the interface, as its documentation has it (PAGES.md P11).
type Operation struct {
	Method, Path string
	Does         calendar.Text
	Extension    bool
}

type docsBody struct {
	Document string // path of the OpenAPI document
	Count    string
	Rows     []docsRow
}

type docsRow struct{ Method, Path, Does, Extension string }

// serveDocs answers the page of the interface.
func (p *Pages) serveDocs(ctx context.Context, l *layout) (*Answer, error) {
	state, err := p.Lists.Generation(ctx)
	if err == nil { // the page is there without the read model, too
		l.Position = state.Position
	}
	l.Title, l.Heading, l.Canonical = word("docs.title", l.Lang), word("docs.title", l.Lang), l.r.Route.below()
	l.Summary = word("docs.text", l.Lang)
	l.NoIndex = l.r.parametered()
	root := l.r.Path + segments[l.Lang] + p.o.Namespace
	b := &docsBody{Document: root + "/doc", Count: l.count("operations", len(p.o.Operations)), Rows: make([]docsRow, 0, len(p.o.Operations))}
	for i := range p.o.Operations {
		op := &p.o.Operations[i]
		row := docsRow{Method: op.Method, Path: root + op.Path, Does: op.Does[l.Lang], Extension: word("value.no", l.Lang)}
		if op.Extension {
			row.Extension = word("value.yes", l.Lang)
		}
		b.Rows = append(b.Rows, row)
	}
	l.Body = b
	return p.render(l, http.StatusOK)
}
