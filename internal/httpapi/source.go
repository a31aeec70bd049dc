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
	criteria, question, err := c.ask(query.Request{Caller: c.caller, Params: query.ParamsOf("source")})
	if err != nil {
		return err
	}
	question.streams = true
	question.make = func(ctx context.Context, of stated) (*answer, error) {
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
	return c.read(question)
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

func (e *entries) begin(data []byte) []byte { return append(data, '[') }
func (e *entries) end(data []byte) []byte   { return append(data, ']') }

func (e *entries) item(data []byte, view *query.View) ([]byte, error) {
	data = formats.AppendComma(data, e.n)
	e.n++
	e.a.show(&e.event, e.root, e.lang, view)
	t := &e.event.Times
	start, end := e.time(t.Start, t.UTCStart), e.time(t.End, t.UTCEnd)
	if t.AllDay {
		start, end = t.Start.UTC().Format(time.DateOnly), t.End.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	}
	return e.event.Entry(data, e.lang, start, end), nil
}

// time gives a time in the zone of the answer.
func (e *entries) time(wall, utc calendar.Wall) string {
	if e.zone == nil {
		return formats.Instant(wall, utc)
	}
	if e.zone == time.UTC {
		return utc.UTC().Format("2006-01-02T15:04:05Z")
	}
	return formats.Instant(calendar.WallOf(time.Unix(int64(utc), 0).In(e.zone)), utc)
}
