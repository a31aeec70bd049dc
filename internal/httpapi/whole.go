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

// sendWhole answers a list of events over all pages: 304 when the client has it, else it is
// sent while it is made.
func (c *call) sendWhole(ctx context.Context, criteria *query.Criteria, asked cache.Key, of stated) error {
	l := &listing{root: c.root, criteria: criteria, address: c.address(), list: &query.List{Position: of.Position}}
	if err := c.dress(ctx, l, of.Generation); err != nil {
		return err
	}
	_, known := c.acceptanceOf(leastEncoded).noneMatch(c.r.Header, c.weakTag(of.key))
	known = known || c.unmodified(l.feed.Modified)
	var selection *query.Whole
	err := c.inTurn(ctx, c.turns, func() (err error) {
		if c.r.Method == http.MethodGet && !known && !c.pass.Enter(admit.Whole, 1) {
			return calendar.Fail(calendar.CodeUnavailable, 0)
		}
		if l.list.Total, err = c.Queries.Count(ctx, criteria); err != nil {
			return err
		}
		if l.list.Total > c.o.ExportLimit {
			return &calendar.Error{Code: calendar.CodeSelectionTooLarge, Total: l.list.Total, Limit: c.o.ExportLimit}
		}
		if known {
			return nil
		}
		selection, of.Generation, err = c.openWhole(ctx, criteria)
		return err
	})
	if err != nil {
		return err
	}
	if known {
		l.list.TotalPages = min(l.list.Total, 1)
		return c.sendAnswer(c.listAnswer(l, nil, c.weakTag(of.key)))
	}
	defer selection.Close()
	of.key = c.key(listKey, of.Generation, 0, asked)
	if err := c.dress(ctx, l, of.Generation); err != nil {
		return err
	}
	total := selection.Total()
	*l.list = query.List{Position: selection.Position(), Total: total, TotalPages: min(total, 1), Spelling: selection.Spelling()}
	l.feed.Facets, l.feed.Total = appendFacets(nil, selection.Facets(), criteria.Lang), total
	if err := c.survey(c.client, l, selection); err != nil {
		return err
	}
	answerOf := func(body []byte) *answer { return c.listAnswer(l, body, c.weakTag(of.key)) }
	return c.sendSelection(of, answerOf, c.format.open(c.api, l), selection)
}

// openWhole opens a selection that is not older than what was waited for, and returns the
// state that lists show then.
func (c *call) openWhole(ctx context.Context, criteria *query.Criteria) (*query.Whole, query.Generation, error) {
	for try := 0; ; try++ {
		state, err := c.reachedState(ctx)
		if err != nil {
			return nil, state, err
		}
		selection, err := c.Queries.Whole(ctx, criteria)
		if err != nil {
			return nil, state, err
		}
		now, err := c.Queries.Generation(ctx)
		if err == nil && try == maxReopens {
			err = c.late(selection.Position())
		}
		if err == nil && (try == maxReopens || now == state && selection.Position() >= c.reached) {
			return selection, state, nil
		}
		selection.Close()
		if err != nil {
			return nil, state, err
		}
	}
}

// survey finds out what stands before and behind the events, where the format needs it.
func (c *call) survey(ctx context.Context, l *listing, selection *query.Whole) error {
	if !c.format.Surveys {
		return nil
	}
	f := &l.feed
	zones, err := selection.Zones(ctx)
	if err != nil {
		return err
	}
	for name, span := range zones {
		f.Zones.AddSpan(c.renderer.Zone(name), span.Start, span.End)
	}
	if c.o.TombstoneDays > 0 && !l.criteria.Status && !l.criteria.Search {
		err = selection.Gone(ctx, c.o.Now().AddDate(0, 0, -c.o.TombstoneDays), func(r *calendar.Record) {
			stone := formats.Tombstone{Times: c.timesOf(r, false), ID: r.ID, UID: c.uid(r.ID.String()), Version: r.Version, Touched: r.Changed}
			f.Tombstones = append(f.Tombstones, stone)
			f.Zones.Add(&stone.Times)
		})
	}
	c.closeSurvey(f, l.list.Total)
	return err
}

// sendSelection sends the events of a selection. An answer that fits into a buffer is sent as
// any other, and cached unless the state went over to another one. It may take as long as the
// client takes it.
func (c *call) sendSelection(of stated, answerOf func(body []byte) *answer, e encoder, selection *query.Whole) error {
	out := &sending{a: c.api, w: c.w, r: c.r, c: c, ans: answerOf(nil), b: make([]byte, 0, streamBytes)}
	out.b = e.begin(out.b)
	err := selection.Each(c.client, func(v *query.View) (err error) {
		if out.b, err = e.item(out.b, v); err != nil || len(out.b) < streamBytes {
			return err
		}
		return out.flush()
	})
	if err == nil {
		if out.b = e.end(out.b); out.begun {
			err = out.flush()
		}
	}
	if err != nil || out.begun {
		return out.close(err)
	}
	ans := answerOf(out.b)
	if now, err := c.Queries.Generation(c.client); err == nil && now == of.Generation && ans.position >= now.Position && c.r.Method == http.MethodGet {
		ans.key = of.key
		c.answers.Set(of.key, ans)
	}
	return c.sendAnswer(ans)
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
	out   io.WriteCloser // encodes it
}

const (
	// streamBytes is how much is gathered before it is sent.
	streamBytes = 64 << 10
	// takeTime is how long a client may take nothing, and how long sending may wait for it
	// next to the time that what it took needs at takeRate, in bytes a second.
	takeTime = 30 * time.Second
	takeRate = 10_000
	// takeBytes is how much is offered to a client at a time.
	takeBytes = 16 << 10
)

// errGone says that the client takes no more.
var errGone = errors.New("client is gone")

// errHead ends the writing of an answer whose headers are all that is wanted.
var errHead = errors.New("headers only")

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

func (s *sending) begin() (err error) {
	e := s.c.acceptanceOf(len(s.b)).best
	h := s.w.Header()
	s.c.setHeaders(h, s.ans)
	h[headerType] = s.ans.media
	setEncoding(h, e)
	if s.c.pass.Stage() == admit.Work {
		s.c.pass.Leave() // sending holds no slot of those who are worked for
	}
	s.begun = true
	s.c.writeStatus(http.StatusOK)
	if s.r.Method == http.MethodHead {
		return errHead
	}
	s.out, err = newEncoder(&patient{w: s.w, control: http.NewResponseController(s.w)}, e, zstd.SpeedFastest, gzip.BestSpeed)
	return err
}

// close ends the sending. An answer that is not whole is cut off where the client sees it.
func (s *sending) close(err error) error {
	switch {
	case errors.Is(err, errHead):
		return nil
	case err != nil && !s.begun:
		return err
	case err == nil:
		if err = s.out.Close(); err != nil {
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
