package query

import (
	"context"
	"errors"

	"daybook/calendar"
	"daybook/query/readmodel"
)

var errNotBuilt = errors.New("not built yet")

// criteria is what Run needs.
type criteria struct{}

// Service answers list requests and makes views.
type Service struct {
	index   readmodel.Index
	records Records
	o       Options
}

// New makes a Service; it starts nothing.
func New(index readmodel.Index, records Records, o Options) (*Service, error) {
	return &Service{index: index, records: records, o: o}, nil
}

// Parse checks the parameters of a list request and resolves dates, names and
// ids. Refused parameters come back all at once as *calendar.Error.
func (s *Service) Parse(ctx context.Context, r Request) (*Criteria, error) { return nil, errNotBuilt }

// Await waits until lists show position min, or gives *calendar.Error with
// CodePositionNotReached after the longest wait. With min 0 and a caller that is
// not anonymous it waits for the store's head of now, and goes on without an
// error when the wait ends first.
func (s *Service) Await(ctx context.Context, c calendar.Caller, min calendar.Position) error {
	return errNotBuilt
}

// Generation gives the present generation; cheap.
func (s *Service) Generation(ctx context.Context) (Generation, error) {
	return Generation{}, errNotBuilt
}

// Run answers the criteria. A page past the end of a list of posts is
// *calendar.Error with CodePageNotFound.
func (s *Service) Run(ctx context.Context, c *Criteria) (*List, error) { return nil, errNotBuilt }

// View makes the view of a record from the store, for single reads and answers
// of writes: linked records come from the store, counts from the read model.
// Protected events are not blanked here: the caller of View checks the right
// to read first.
func (s *Service) View(ctx context.Context, c calendar.Caller, r *calendar.Record, l calendar.Lang) (View, error) {
	return View{}, errNotBuilt
}

// Read finds one record for a single read, by id or slug, and checks that the
// caller may read it, in the order of interface 7.2 and 7.3. The password is
// checked by verify, which is called for protected events only.
func (s *Service) Read(ctx context.Context, k calendar.Kind, id calendar.ID, slug string, c calendar.Caller,
	verify func(ctx context.Context, id calendar.ID) (bool, error),
) (*calendar.Record, error) {
	return nil, errNotBuilt
}
