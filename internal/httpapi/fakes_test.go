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
	do    func(verb string, r command.Request) (command.Result, error)
	opens func(password string) bool
	hang  hanging
}

// hanging names the method that waits for the end of its request.
type hanging string

func (h hanging) wait(ctx context.Context, method string) error {
	if string(h) != method {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (f fakeCommands) Create(ctx context.Context, request command.Request) (command.Result, error) {
	if err := f.hang.wait(ctx, "Create"); err != nil {
		return command.Result{}, err
	}
	return f.do("create", request)
}

func (f fakeCommands) Update(_ context.Context, request command.Request) (command.Result, error) {
	return f.do("update", request)
}

func (f fakeCommands) Delete(ctx context.Context, request command.Request) (command.Result, error) {
	if err := f.hang.wait(ctx, "Delete"); err != nil {
		return command.Result{}, err
	}
	return f.do("delete", request)
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
	protected  bool // Read asks for the password
	hang       hanging
}

func (f fakeQueries) Parse(ctx context.Context, request query.Request) (*query.Criteria, error) {
	if err := f.hang.wait(ctx, "Parse"); err != nil {
		return nil, err
	}
	if f.parse != nil {
		return f.parse(request)
	}
	return &query.Criteria{Kind: request.Kind, Lang: request.Lang, Caller: request.Caller, Page: 1, PerPage: 10}, nil
}

func (f fakeQueries) Await(ctx context.Context, _ calendar.Caller, least calendar.Position) (calendar.Position, error) {
	if err := f.hang.wait(ctx, "Await"); err != nil {
		return 0, err
	}
	if f.await != nil {
		return 0, f.await(least) // its lists have no position
	}
	return 0, nil
}

// shownAt is what lists show at a position.
func shownAt(position calendar.Position) readmodel.Shown {
	return readmodel.Shown{Mark: calendar.Mark{Position: position}}
}

func (f fakeQueries) Generation(ctx context.Context) (query.Generation, error) {
	if err := f.hang.wait(ctx, "Generation"); err != nil {
		return query.Generation{}, err
	}
	if f.generation != nil {
		return f.generation()
	}
	return query.Generation{Shown: shownAt(1)}, nil
}

func (f fakeQueries) Run(ctx context.Context, _ *query.Criteria) (*query.List, error) {
	if err := f.hang.wait(ctx, "Run"); err != nil {
		return nil, err
	}
	return f.run()
}

func (f fakeQueries) Afford(int) error { return nil }
func (f fakeQueries) Suggest(context.Context, *query.Criteria) ([]query.Suggested, calendar.Position, error) {
	return nil, 0, nil
}

func (f fakeQueries) Several(ctx context.Context, all []*query.Criteria, use func(int, *query.List) error) error {
	for i, criteria := range all {
		list, err := f.Run(ctx, criteria)
		if err != nil {
			return err
		}
		if err := use(i, list); err != nil {
			return err
		}
	}
	return nil
}

func (f fakeQueries) Clusters(context.Context, *query.Criteria) (*query.Clusters, error) {
	return nil, nil //nolint:nilnil // nobody asks
}

func (f fakeQueries) Whole(context.Context, *query.Criteria) (*query.Whole, error) {
	return nil, readmodel.ErrUnavailable
}

func (f fakeQueries) AwaitCounts(context.Context, *calendar.Record, calendar.Position) {}

func (f fakeQueries) View(ctx context.Context, _ calendar.Caller, record *calendar.Record, _ calendar.Lang, _ query.Embeds, _ query.Moment) (query.View, error) {
	err := f.hang.wait(ctx, "View")
	return query.View{Record: record, Status: calendar.Status(record.Fields.String("status"))}, err
}

func (f fakeQueries) Read(ctx context.Context, _ calendar.Kind, id calendar.ID, slug string, caller calendar.Caller, lang calendar.Lang, embeds query.Embeds,
	verify func(ctx context.Context, id calendar.ID) (bool, error),
) (query.View, error) {
	if err := f.hang.wait(ctx, "Read"); err != nil {
		return query.View{}, err
	}
	if f.protected {
		if _, err := verify(ctx, id); err != nil {
			return query.View{}, err
		}
	}
	record, err := f.read(id, slug)
	if err != nil {
		return query.View{}, err
	}
	return f.View(ctx, caller, record, lang, embeds, query.Moment{})
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

func (f fakeUsers) Authenticate(ctx context.Context, authorization string) (calendar.Caller, error) {
	if err := f.hang.wait(ctx, "Authenticate"); err != nil {
		return calendar.Caller{}, err
	}
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
