package httpapi

import (
	"context"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore/memstore"
	"daybook/internal/access"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
)

// Fakes of the four parts: each function that a test sets is called, the others
// answer with nothing.

type fakeCommands struct {
	do    func(verb string, request command.Request) (command.Result, error)
	opens func(password string) bool
	hang  hanging
}

// hanging names the method that waits for the end of its request.
type hanging string

func (hanging hanging) wait(ctx context.Context, method string) error {
	if string(hanging) != method {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (fakeCommands fakeCommands) Create(ctx context.Context, request command.Request) (command.Result, error) {
	if err := fakeCommands.hang.wait(ctx, "Create"); err != nil {
		return command.Result{}, err
	}
	return fakeCommands.do("create", request)
}

func (fakeCommands fakeCommands) Update(_ context.Context, request command.Request) (command.Result, error) {
	return fakeCommands.do("update", request)
}

func (fakeCommands fakeCommands) Delete(ctx context.Context, request command.Request) (command.Result, error) {
	if err := fakeCommands.hang.wait(ctx, "Delete"); err != nil {
		return command.Result{}, err
	}
	return fakeCommands.do("delete", request)
}

func (fakeCommands fakeCommands) CheckPassword(_ context.Context, _ calendar.ID, password string) (bool, error) {
	return fakeCommands.opens(password), nil
}

type fakeQueries struct {
	Queries // of what no test asks

	parse      func(request query.Request) (*query.Criteria, error)
	await      func(least calendar.Position) error
	generation func() (query.Generation, error)
	run        func() (*query.List, error)
	read       func(id calendar.ID, slug string) (*calendar.Record, error)
	protected  bool // Read asks for the password
	hang       hanging
}

func (fakeQueries fakeQueries) Parse(ctx context.Context, request query.Request) (*query.Criteria, error) {
	if err := fakeQueries.hang.wait(ctx, "Parse"); err != nil {
		return nil, err
	}
	if fakeQueries.parse != nil {
		return fakeQueries.parse(request)
	}
	return &query.Criteria{Request: request, Page: 1, PerPage: 10}, nil
}

func (fakeQueries fakeQueries) Await(ctx context.Context, _ calendar.Caller, least calendar.Position) (calendar.Position, error) {
	if err := fakeQueries.hang.wait(ctx, "Await"); err != nil {
		return 0, err
	}
	if fakeQueries.await != nil {
		return 0, fakeQueries.await(least) // its lists have no position
	}
	return 0, nil
}

// shownAt is what lists show at a position.
func shownAt(position calendar.Position) readmodel.VisibleState {
	return readmodel.VisibleState{Mark: calendar.Mark{Position: position}}
}

func (fakeQueries fakeQueries) Generation(ctx context.Context) (query.Generation, error) {
	if err := fakeQueries.hang.wait(ctx, "Generation"); err != nil {
		return query.Generation{}, err
	}
	if fakeQueries.generation != nil {
		return fakeQueries.generation()
	}
	return query.Generation{VisibleState: shownAt(1)}, nil
}

func (fakeQueries fakeQueries) Run(ctx context.Context, _ *query.Criteria) (*query.List, error) {
	if err := fakeQueries.hang.wait(ctx, "Run"); err != nil {
		return nil, err
	}
	return fakeQueries.run()
}

func (fakeQueries fakeQueries) Afford(int) error { return nil }
func (fakeQueries fakeQueries) Several(ctx context.Context, all []*query.Criteria, use func(int, *query.List) error) error {
	for i, criteria := range all {
		list, err := fakeQueries.Run(ctx, criteria)
		if err != nil {
			return err
		}
		if err := use(i, list); err != nil {
			return err
		}
	}
	return nil
}

func (fakeQueries fakeQueries) Whole(context.Context, *query.Criteria) (*query.Selection, error) {
	return nil, readmodel.ErrUnavailable
}

func (fakeQueries fakeQueries) AwaitCounts(context.Context, *calendar.Record, calendar.Position) {}

func (fakeQueries fakeQueries) View(ctx context.Context, _ calendar.Caller, record *calendar.Record, _ calendar.Lang, _ query.Embeds, _ query.Moment) (query.View, error) {
	err := fakeQueries.hang.wait(ctx, "View")
	return query.View{Record: record, Status: calendar.Status(record.Fields.String("status"))}, err
}

func (fakeQueries fakeQueries) Read(ctx context.Context, _ calendar.Kind, id calendar.ID, slug string, caller calendar.Caller, lang calendar.Lang, embeds query.Embeds,
	verify func(ctx context.Context, id calendar.ID) (bool, error),
) (query.View, error) {
	if err := fakeQueries.hang.wait(ctx, "Read"); err != nil {
		return query.View{}, err
	}
	if fakeQueries.protected {
		if _, err := verify(ctx, id); err != nil {
			return query.View{}, err
		}
	}
	record, err := fakeQueries.read(id, slug)
	if err != nil {
		return query.View{}, err
	}
	return fakeQueries.View(ctx, caller, record, lang, embeds, query.Moment{})
}

// fakeRecords reads a store with one entry.
func fakeRecords() *command.Records {
	service := command.New(memstore.New(), &calendar.Rules{Site: time.UTC, Clean: htmltext.New()}, access.NewHasher(), time.Now)
	if _, err := service.Create(context.Background(), command.Request{
		Kind: calendar.KindTag, Input: calendar.Input{"name": "first"}, Caller: calendar.Caller{ID: 1, Role: calendar.Administrator},
	}); err != nil {
		panic(err)
	}
	return service.Records()
}

type fakeUsers struct {
	caller calendar.Caller
	hang   hanging
}

func (fakeUsers fakeUsers) Authenticate(ctx context.Context, authorization string) (calendar.Caller, error) {
	if err := fakeUsers.hang.wait(ctx, "Authenticate"); err != nil {
		return calendar.Caller{}, err
	}
	switch authorization {
	case "":
		return calendar.Caller{}, nil
	case "Bearer good":
		return fakeUsers.caller, nil
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
