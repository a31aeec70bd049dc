package httpapi

import (
	"context"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

// calendarSource answers the events of a range as an array for calendar widgets.
func (c *call) calendarSource() error {
	criteria, q, err := c.ask(query.Request{Caller: c.caller, Params: query.ParamsOf("source")})
	if err != nil {
		return err
	}
	q.streams = true
	q.make = func(ctx context.Context, of stated) (*answer, error) {
		if err := c.knowStore(ctx); err != nil {
			return nil, err
		}
		selection, err := c.selectEvents(ctx, criteria, c.o.CalendarLimit)
		if err != nil {
			return nil, err
		}
		ans := newAnswer(nil, valueJSON, c.weakTag(of.key), criteria.Lang)
		ans.show(selection.Position())
		c.addTotals(ans, selection.Total())
		ans.selection = selection
		ans.open = func() (encoder, error) {
			return &entries{a: c.api, root: c.root, lang: criteria.Lang, zone: criteria.Zone()}, nil
		}
		return ans, nil
	}
	return c.read(q)
}

// entries writes the elements of the array.
type entries struct {
	a     *api
	root  *root
	lang  calendar.Lang
	zone  *time.Location // nil: that of each event
	n     int
	event formats.Event
}

func (e *entries) begin(b []byte) []byte { return append(b, '[') }
func (e *entries) end(b []byte) []byte   { return append(b, ']') }

func (e *entries) item(b []byte, v *query.View) ([]byte, error) {
	b = formats.AppendComma(b, e.n)
	e.n++
	e.a.show(&e.event, e.root, e.lang, v)
	t := &e.event.Times
	start, end := e.time(t.Start, t.UTCStart), e.time(t.End, t.UTCEnd)
	if t.AllDay {
		start, end = t.Start.UTC().Format(time.DateOnly), t.End.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	}
	return e.event.Entry(b, e.lang, start, end), nil
}

// time gives a time in the zone of the answer.
func (e *entries) time(w, utc calendar.Wall) string {
	if e.zone == nil {
		return formats.Instant(w, utc)
	}
	if e.zone == time.UTC {
		return utc.UTC().Format("2006-01-02T15:04:05Z")
	}
	return formats.Instant(calendar.WallOf(time.Unix(int64(utc), 0).In(e.zone)), utc)
}
