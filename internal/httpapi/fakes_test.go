package httpapi

import (
	"context"

	"daybook/calendar"
	"daybook/command"
	"daybook/query"
)

// Fakes of the four parts: each function that a test sets is called, the others
// answer with nothing.

type fakeCommands struct {
	do    func(verb string, r command.Request) (command.Result, error)
	kept  func(answer []byte)
	opens func(password string) bool
}

func (f fakeCommands) Create(_ context.Context, r command.Request) (command.Result, error) {
	return f.do("create", r)
}

func (f fakeCommands) Update(_ context.Context, r command.Request) (command.Result, error) {
	return f.do("update", r)
}

func (f fakeCommands) Delete(_ context.Context, r command.Request) (command.Result, error) {
	return f.do("delete", r)
}

func (f fakeCommands) KeepAnswer(_ context.Context, _ command.Request, _ command.Result, answer []byte) error {
	f.kept(answer)
	return nil
}

func (f fakeCommands) CheckPassword(_ context.Context, _ calendar.ID, password string) (bool, error) {
	return f.opens(password), nil
}

type fakeQueries struct {
	parse      func(r query.Request) (*query.Criteria, error)
	await      func(least calendar.Position) error
	generation func() (query.Generation, error)
	run        func() (*query.List, error)
	read       func(id calendar.ID, slug string) (*calendar.Record, error)
}

func (f fakeQueries) Parse(_ context.Context, r query.Request) (*query.Criteria, error) {
	if f.parse != nil {
		return f.parse(r)
	}
	return &query.Criteria{Kind: r.Kind, Lang: r.Lang, Caller: r.Caller, Page: 1, PerPage: 10}, nil
}

func (f fakeQueries) Await(_ context.Context, _ calendar.Caller, least calendar.Position) error {
	if f.await != nil {
		return f.await(least)
	}
	return nil
}

func (f fakeQueries) Generation(context.Context) (query.Generation, error) {
	if f.generation != nil {
		return f.generation()
	}
	return query.Generation{Position: 1}, nil
}

func (f fakeQueries) Run(context.Context, *query.Criteria) (*query.List, error) { return f.run() }

func (f fakeQueries) Whole(context.Context, ...*query.View) (bool, error) { return true, nil }

func (f fakeQueries) Glance(context.Context, calendar.ID, calendar.Lang) (query.View, bool) {
	return query.View{}, false
}

func (f fakeQueries) AwaitCounts(context.Context, *calendar.Record, calendar.Position) {}

func (f fakeQueries) View(_ context.Context, _ calendar.Caller, r *calendar.Record, _ calendar.Lang) (query.View, error) {
	return query.View{Record: r, Status: calendar.Status(r.Fields.String("status"))}, nil
}

func (f fakeQueries) Read(_ context.Context, _ calendar.Kind, id calendar.ID, slug string, _ calendar.Caller,
	_ func(ctx context.Context, id calendar.ID) (bool, error),
) (*calendar.Record, error) {
	return f.read(id, slug)
}

type fakeRecords struct{}

func (fakeRecords) Head(context.Context) (calendar.Position, error) { return 1, nil }

type fakeUsers struct{ caller calendar.Caller }

func (f fakeUsers) Authenticate(_ context.Context, authorization string) (calendar.Caller, error) {
	switch authorization {
	case "":
		return calendar.Caller{}, nil
	case "Bearer good":
		return f.caller, nil
	default:
		return calendar.Caller{}, calendar.Fail(calendar.CodeIncorrectPassword, 0)
	}
}

// tagRecord is a small record with id 5 to answer with.
func tagRecord(name string) *calendar.Record {
	return &calendar.Record{ID: 5, Kind: calendar.KindTag, Version: 3, Home: calendar.LangEN, Fields: calendar.Fields{
		"name": calendar.Text{calendar.LangEN: name}, "slug": "s",
	}}
}
