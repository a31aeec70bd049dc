package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/ground/cache"
	"daybook/internal/httpapi/admit"
	"daybook/query"
)

// whole is a list of events that is answered over all pages, and sent while it is made.
type whole struct {
	c          *call
	criteria   *query.Criteria
	generation query.Generation
	asked      cache.Key
}

// sendWhole answers a list over all pages: 304 when the client has it.
func (a *api) sendWhole(ctx context.Context, w http.ResponseWriter, r *http.Request, s *whole) error {
	c := s.c
	key := c.key(listKey, s.generation, 0, s.asked)
	l := &listing{root: c.root, criteria: s.criteria, address: c.address(), list: &query.List{Position: s.generation.Position}}
	if err := a.dress(ctx, c, l, s.generation); err != nil {
		return err
	}
	known := a.has(r, c, a.weakTag(key), l.feed.Modified)
	var selection *query.Whole
	err := c.inTurn(ctx, a.turns, func() (err error) {
		if r.Method == http.MethodGet && !known && !c.pass.Enter(admit.Whole, 1) {
			return calendar.Fail(calendar.CodeUnavailable, 0)
		}
		if l.list.Total, err = a.Queries.Count(ctx, s.criteria); err != nil {
			return err
		}
		if l.list.Total > a.o.ExportLimit {
			return &calendar.Error{Code: calendar.CodeSelectionTooLarge, Total: l.list.Total, Limit: a.o.ExportLimit}
		}
		if known {
			return nil
		}
		selection, err = a.openWhole(ctx, s, l)
		return err
	})
	if err != nil {
		return err
	}
	if known {
		l.list.TotalPages = min(l.list.Total, 1)
		return a.sendAnswer(w, r, a.listAnswer(c, l, nil, a.weakTag(key)))
	}
	defer selection.Close()
	key = c.key(listKey, s.generation, 0, s.asked)
	if err := a.dress(ctx, c, l, s.generation); err != nil {
		return err
	}
	l.feed.Facets = appendFacets(nil, selection.Facets(), l.criteria.Lang)
	ctx = c.client // it may take as long as the client takes it
	if err := a.survey(ctx, s, l, selection); err != nil {
		return err
	}
	l.list.Position, l.list.TotalPages, l.feed.Total = selection.Position(), min(l.list.Total, 1), l.list.Total
	l.list.Spelling = selection.Spelling()
	out := &sending{a: a, w: w, r: r, c: c, ans: a.listAnswer(c, l, nil, a.weakTag(key)), b: make([]byte, 0, streamBytes)}
	err = out.write(c.format.open(a, l), func(use func(*query.View) error) error { return selection.Each(ctx, use) })
	switch {
	case err == nil && !out.begun && r.Method == http.MethodGet:
		ans := a.listAnswer(c, l, out.b, a.weakTag(key))
		if now, err := a.Queries.Generation(ctx); err == nil && now == s.generation && ans.position >= now.Position {
			ans.key = key
			a.answers.Set(key, ans)
		}
		return a.sendAnswer(w, r, ans)
	case err == nil && !out.begun:
		return a.sendAnswer(w, r, a.listAnswer(c, l, out.b, a.weakTag(key)))
	default:
		return out.close(err)
	}
}

// has tells whether the client has an answer with a tag.
func (a *api) has(r *http.Request, c *call, etag string, modified time.Time) bool {
	_, same := acceptanceOf(r, c, leastEncoded).noneMatch(r.Header, etag)
	return same || a.unmodified(r, c, modified)
}

// openWhole opens the selection, in the state that lists show then.
func (a *api) openWhole(ctx context.Context, s *whole, l *listing) (*query.Whole, error) {
	c := s.criteria
	for try := 0; ; try++ {
		selection, now, err := a.reachedWhole(ctx, s.c, c)
		if err != nil {
			return nil, err
		}
		if now == s.generation || try == maxReopens {
			l.list.Total = selection.Total()
			return selection, nil
		}
		selection.Close()
		s.generation = now
	}
}

// reachedWhole opens a selection that is not older than what was waited for, and gives the
// state that lists show then.
func (a *api) reachedWhole(ctx context.Context, c *call, criteria *query.Criteria) (*query.Whole, query.Generation, error) {
	for try := 0; ; try++ {
		selection, err := a.Queries.Whole(ctx, criteria)
		if err != nil {
			return nil, query.Generation{}, err
		}
		now, err := a.reachedState(ctx, c)
		if err == nil && try == maxReopens {
			err = c.late(selection.Position())
		}
		if err == nil && (selection.Position() >= c.reached || try == maxReopens) {
			return selection, now, nil
		}
		selection.Close()
		if err != nil {
			return nil, now, err
		}
	}
}

// survey finds out what stands before and behind the events, where the format needs it.
func (a *api) survey(ctx context.Context, s *whole, l *listing, selection *query.Whole) error {
	if !s.c.format.Surveys {
		return nil
	}
	f := &l.feed
	zones, err := selection.Zones(ctx)
	if err != nil {
		return err
	}
	for name, span := range zones {
		f.Zones.AddSpan(a.renderer.Zone(name), span.Start, span.End)
	}
	if a.o.TombstoneDays > 0 && !s.criteria.Status && !s.criteria.Search {
		err = selection.Gone(ctx, a.o.Now().AddDate(0, 0, -a.o.TombstoneDays), func(r *calendar.Record) {
			stone := formats.Tombstone{Times: a.timesOf(r, false), ID: r.ID, UID: a.uid(r.ID.String()), Version: r.Version, Touched: r.Changed}
			f.Tombstones = append(f.Tombstones, stone)
			f.Zones.Add(&stone.Times)
		})
	}
	a.closeSurvey(f, l.list.Total)
	return err
}

// sending sends an answer while it is made. What fits into its buffer is left to the
// caller, so that short answers are sent as any other.
type sending struct {
	a     *api
	w     http.ResponseWriter
	r     *http.Request
	c     *call
	ans   *answer // its headers
	b     []byte  // not sent yet
	begun bool
	out   io.Writer
	coder io.Closer // nil: sent as it is
}

const (
	// streamBytes is how much is gathered before it is sent.
	streamBytes = 64 << 10
	// takeTime is how long a client may take nothing, and how long sending may wait for it
	// beside the time that what it took needs at takeRate, in bytes a second.
	takeTime = 30 * time.Second
	takeRate = 10_000
	// takeBytes is how much is offered to a client at a time.
	takeBytes = 16 << 10
)

// errGone says that the client takes no more.
var errGone = errors.New("client is gone")

// errHead ends the writing of an answer whose headers are all that is wanted.
var errHead = errors.New("headers only")

// write writes a list.
func (s *sending) write(e encoder, each func(func(*query.View) error) error) error {
	s.b = e.begin(s.b)
	err := each(func(v *query.View) (err error) {
		if s.b, err = e.item(s.b, v); err != nil || len(s.b) < streamBytes {
			return err
		}
		return s.flush()
	})
	if err != nil {
		return err
	}
	s.b = e.end(s.b)
	if s.begun {
		return s.flush()
	}
	return nil
}

// flush sends what is there, led by the headers.
func (s *sending) flush() error {
	if !s.begun {
		if err := s.begin(); err != nil {
			return err
		}
	}
	_, err := s.out.Write(s.b)
	s.b = s.b[:0]
	if err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

func (s *sending) begin() error {
	accepts := acceptanceOf(s.r, s.c, len(s.b))
	h := s.w.Header()
	for i := range s.ans.headers {
		h[s.ans.headers[i].name] = s.ans.headers[i].value
	}
	if shown := s.a.modifiedShown(s.c, s.ans.modified); shown != "" {
		h[headerModified] = []string{shown}
	}
	h[headerType] = s.ans.media
	if accepts.best != encodingNone {
		h[headerEncoding] = valuesEncoding[accepts.best]
	}
	if s.c.pass.Stage() == admit.Work {
		s.c.pass.Leave() // sending holds no slot of those who are worked for
	}
	s.begun = true
	s.a.status(s.w, s.r, http.StatusOK)
	if s.r.Method == http.MethodHead {
		return errHead
	}
	s.out = &patient{w: s.w, control: http.NewResponseController(s.w)}
	switch accepts.best {
	case encodingZstd:
		z, err := zstd.NewWriter(s.out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return err
		}
		s.out, s.coder = z, z
	case encodingNone, encodings:
	case encodingGzip:
		z, err := gzip.NewWriterLevel(s.out, gzip.BestSpeed)
		if err != nil {
			return err
		}
		s.out, s.coder = z, z
	}
	return nil
}

// close ends the sending. An answer that is not whole is cut off where the client sees it.
func (s *sending) close(err error) error {
	switch {
	case errors.Is(err, errHead):
		return nil
	case err != nil && !s.begun:
		return err
	case err == nil && s.coder != nil:
		if err = s.coder.Close(); err != nil {
			err = fmt.Errorf("%w: %w", errGone, err)
		}
	}
	if err != nil {
		if !errors.Is(err, errGone) && s.r.Context().Err() == nil {
			s.a.o.Log.WarnContext(s.r.Context(), "answer cut off", "path", s.r.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	_ = http.NewResponseController(s.w).SetWriteDeadline(time.Time{}) // the next answer has its own
	return nil
}

// patient writes to a client that may take its time, but neither stop nor be slower than
// takeRate for long.
type patient struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sent    int
	waited  time.Duration
}

func (p *patient) Write(b []byte) (n int, err error) {
	for n < len(b) {
		from := time.Now() // the deadline is of the connection, so by its clock
		left := takeTime + time.Duration(p.sent)*time.Second/takeRate - p.waited
		_ = p.control.SetWriteDeadline(from.Add(min(takeTime, left)))
		k, err := p.w.Write(b[n:min(len(b), n+takeBytes)])
		p.sent += k
		p.waited += time.Since(from)
		if n += k; err != nil {
			return n, err
		}
	}
	return n, nil
}
