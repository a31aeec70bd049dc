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
	"daybook/internal/httpapi/admit"
	"daybook/query"
)

// makeWhole makes the answer to a list of events over all pages. A client that may have it
// already takes no place among the answers that are sent until it turns out that it has not.
func (c *call) makeWhole(ctx context.Context, criteria *query.Criteria, of stated) (*answer, error) {
	if len(c.r.Header["If-None-Match"])+len(c.r.Header["If-Modified-Since"]) == 0 {
		if err := c.enterWhole(); err != nil {
			return nil, err
		}
	}
	l := &listing{root: c.root, criteria: criteria, address: c.address()}
	if err := c.dress(ctx, l, of.Generation); err != nil {
		return nil, err
	}
	selection, err := c.selectEvents(ctx, criteria, c.o.ExportLimit)
	if err != nil {
		return nil, err
	}
	total := selection.Total()
	l.list = &query.List{Position: selection.Position(), Total: total, TotalPages: min(total, 1), Spelling: selection.Spelling()}
	l.feed.Facets, l.feed.Total = appendFacets(nil, selection.Facets(), criteria.Lang), total
	ans := c.listAnswer(l, nil, c.weakTag(of.key))
	ans.selection = selection
	ans.open = func() (encoder, error) {
		if err := c.enterWhole(); err != nil {
			return nil, err
		}
		return c.format.open(c.api, l), c.survey(c.client, l, selection)
	}
	return ans, nil
}

// enterWhole gives a request a place among the answers over all pages, which HEAD needs not.
func (c *call) enterWhole() error {
	if c.r.Method == http.MethodGet && c.pass.Stage() != admit.Whole && !c.pass.Enter(admit.Whole, 1) {
		return calendar.Fail(calendar.CodeUnavailable, 0)
	}
	return nil
}

// selectEvents opens a selection of at most so many events.
func (c *call) selectEvents(ctx context.Context, criteria *query.Criteria, limit int) (*query.Whole, error) {
	selection, err := c.Queries.Whole(ctx, criteria)
	if err != nil {
		return nil, err
	}
	if total := selection.Total(); total > limit {
		selection.Close()
		return nil, &calendar.Error{Code: calendar.CodeSelectionTooLarge, Total: total, Limit: limit}
	}
	return selection, nil
}

// survey finds out what stands before and behind the events, where the format needs it.
func (c *call) survey(ctx context.Context, l *listing, selection *query.Whole) error {
	if !c.format.Surveys {
		return nil
	}
	feed := &l.feed
	zones, err := selection.Zones(ctx)
	if err != nil {
		return err
	}
	for name, span := range zones {
		feed.Zones.AddSpan(c.renderer.Zone(name), span.Start, span.End)
	}
	if c.o.TombstoneDays > 0 && !l.criteria.Status && !l.criteria.Search {
		err = selection.Gone(ctx, c.o.Now().AddDate(0, 0, -c.o.TombstoneDays), func(record *calendar.Record) {
			stone := formats.Tombstone{Times: c.timesOf(record, false), ID: record.ID, UID: c.uid(record.ID.String()), Version: record.Version, Touched: record.Changed}
			feed.Tombstones = append(feed.Tombstones, stone)
			feed.Zones.Add(&stone.Times)
		})
	}
	c.closeSurvey(feed, l.list.Total)
	return err
}

// sendSelection sends an answer with a selection. One that fits into a buffer is sent as any
// other, and cached. It may take as long as the client takes it.
func (c *call) sendSelection(ans *answer) error {
	selection := ans.selection
	defer selection.Close()
	ans.selection = nil
	encoder, err := ans.open()
	if err != nil {
		return err
	}
	out := &sending{call: c, ans: ans, b: encoder.begin(make([]byte, 0, streamBytes))}
	err = selection.Each(c.client, func(view *query.View) (err error) {
		if out.b, err = encoder.item(out.b, view); err != nil || len(out.b) < streamBytes {
			return err
		}
		return out.flush()
	})
	if err == nil {
		if out.b = encoder.end(out.b); out.begun {
			err = out.flush()
		}
	}
	if err != nil || out.begun {
		return out.close(err)
	}
	if ans.body, ans.open = newBody(out.b), nil; ans.key != "" {
		c.answers.Set(ans.key, ans)
	}
	return c.sendAnswer(ans)
}

// sending sends an answer while it is made. What fits into its buffer is left to the
// caller, so that short answers are sent as any other.
type sending struct {
	*call
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
	encoding := s.acceptanceOf(len(s.b)).best
	header := s.w.Header()
	status := s.setHeaders(header, s.ans)
	header[headerType] = s.ans.media
	setEncoding(header, encoding)
	if s.pass.Stage() == admit.Work {
		s.pass.Leave() // sending holds no slot of those who are worked for
	}
	s.begun = true
	s.writeStatus(status)
	if s.r.Method == http.MethodHead {
		return errHead
	}
	s.out, err = newEncoder(&patient{w: s.w, control: http.NewResponseController(s.w)}, encoding, zstd.SpeedFastest, gzip.BestSpeed)
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
			s.o.Log.WarnContext(s.r.Context(), "answer cut off", "path", s.r.URL.Path, "error", err)
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

func (p *patient) Write(data []byte) (n int, err error) {
	for n < len(data) {
		from := time.Now() // the deadline is of the connection, so by its clock
		left := takeTime + time.Duration(p.sent)*time.Second/takeRate - p.waited
		_ = p.control.SetWriteDeadline(from.Add(min(takeTime, left)))
		k, err := p.w.Write(data[n:min(len(data), n+takeBytes)])
		p.sent += k
		p.waited += time.Since(from)
		if n += k; err != nil {
			return n, err
		}
	}
	return n, nil
}
