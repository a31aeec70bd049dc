package pages

import (
	"context"
	"net/http"

	"daybook/calendar"
)

// API is the interface as its documentation has it (PAGES.md P11).
type API struct {
	Name    calendar.Text
	Version string
	Groups  []OperationGroup
}

// OperationGroup is operations that serve one purpose.
type OperationGroup struct {
	Name       string // "events", "search", "feeds", "history", "writing"
	Operations []Operation
}

// Operation is one of the interface.
type Operation struct {
	Method, Path string // below the root of the interface
	Does         calendar.Text
	Extension    bool
}

// docsBody is the page of the interface.
type docsBody struct {
	API

	Root string // URL of the interface
}

// Operations is how many there are.
func (b *docsBody) Operations() (n int) {
	for i := range b.Groups {
		n += len(b.Groups[i].Operations)
	}
	return n
}

// Group names a group of operations.
func (l *layout) Group(name string) string { return word("docs."+name, l.Lang) }

// serveDocs answers the page of the interface.
func (p *Pages) serveDocs(ctx context.Context, l *layout) (*Answer, error) {
	state, err := p.Lists.Generation(ctx)
	if err == nil { // the page is there without the read model, too
		l.Position = state.Position
	}
	l.Title, l.Heading, l.Canonical = word("docs.title", l.Lang), word("docs.title", l.Lang), l.r.Route.below()
	l.Summary = word("docs.summary", l.Lang)
	l.NoIndex = l.r.parametered()
	l.Body = &docsBody{p.o.API, l.absolute(l.Lang, p.o.Namespace)}
	return p.render(l, http.StatusOK)
}
