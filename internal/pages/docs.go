package pages

import "daybook/calendar"

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

// serveDocs answers the page of the interface.
func (l *pageBuilder) serveDocs() {
	state, err := l.Lists.Generation(l.ctx)
	if err == nil { // the page is there without the read model, too
		l.Position = state.Position
	}
	l.Title, l.Summary = l.text("docs.title"), l.text("docs.summary")
	l.Heading, l.Canonical, l.NoIndex = l.Title, l.Route.below(), l.parametered()
}
