package pages

import "daybook/calendar"

// API is the interface as its documentation has it (PAGES.md P11).
type API struct {
	Name       calendar.Text
	Version    string
	Groups     []string // those of the operations
	Operations []Operation
}

// Operation is one of the interface.
type Operation struct {
	Group        string // operations that serve one purpose: "events", "search", "feeds", "history", "writing"
	Method, Path string // below the root of the interface
	Does         calendar.Text
	Extension    bool
}

// serveDocs answers the page of the interface.
func (builder *pageBuilder) serveDocs() {
	state, err := builder.Lists.Generation(builder.ctx)
	if err == nil { // the page is there without the read model, too
		builder.Position = state.Position
	}
	builder.Title, builder.Summary = builder.text("docs.title"), builder.text("docs.summary")
	builder.Heading, builder.Canonical, builder.NoIndex = builder.Title, builder.Route.below(), builder.parametered()
}
