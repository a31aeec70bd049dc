package pages

import (
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
}

// Operations is how many there are.
func (b *docsBody) Operations() (n int) {
	for i := range b.Groups {
		n += len(b.Groups[i].Operations)
	}
	return n
}

// Group names a group of operations.
func (l *look) Group(name string) string { return l.text("docs." + name) }

// serveDocs answers the page of the interface.
func (l *look) serveDocs() {
	state, err := l.Lists.Generation(l.ctx)
	if err == nil { // the page is there without the read model, too
		l.Position = state.Position
	}
	l.Title, l.Heading, l.Canonical = l.text("docs.title"), l.text("docs.title"), l.Route.below()
	l.Summary = l.text("docs.summary")
	l.NoIndex = l.parametered()
	l.Body = &docsBody{l.o.API}
}
