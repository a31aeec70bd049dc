package httpapi

import (
	"context"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

// calendarSource answers the events of a range as an array for calendar widgets.
func (call *call) calendarSource() error {
	criteria, question, err := call.ask(query.Request{Caller: call.caller, Params: query.ParamsOf("source")})
	if err != nil {
		return err
	}
	question.streams = true
	question.make = func(ctx context.Context, state answerState) (*answer, error) {
		if err := call.knowStore(ctx); err != nil {
			return nil, err
		}
		selection, err := call.selectEvents(ctx, criteria, call.o.CalendarLimit)
		if err != nil {
			return nil, err
		}
		ans := newAnswer(nil, valueJSON, call.weakTag(state.key), criteria.Lang)
		ans.show(selection.Position)
		call.addTotals(ans, selection.Total)
		ans.selection = selection
		ans.open = func() (encoder, error) {
			return &entries{api: call.api, root: call.root, lang: criteria.Lang, zone: criteria.Zone()}, nil
		}
		return ans, nil
	}
	return call.read(question)
}

// entries writes the elements of the array.
type entries struct {
	api   *api
	root  *root
	lang  calendar.Lang
	zone  *time.Location // nil: that of each event
	n     int
	event formats.Event
}

func (entries *entries) begin(data []byte) []byte { return append(data, '[') }
func (entries *entries) end(data []byte) []byte   { return append(data, ']') }

func (entries *entries) item(data []byte, view *query.View) ([]byte, error) {
	data = formats.AppendComma(data, entries.n)
	entries.n++
	entries.api.show(&entries.event, entries.root, entries.lang, view)
	times := &entries.event.Times
	start, end := entries.time(times.Start, times.UTCStart), entries.time(times.End, times.UTCEnd)
	if times.AllDay {
		start, end = times.Start.UTC().Format(time.DateOnly), times.End.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	}
	return entries.event.Entry(data, entries.lang, start, end), nil
}

// time gives a time in the zone of the answer.
func (entries *entries) time(wall, utc calendar.Wall) string {
	if entries.zone == nil {
		return formats.Instant(wall, utc)
	}
	if entries.zone == time.UTC {
		return utc.UTC().Format("2006-01-02T15:04:05Z")
	}
	return formats.Instant(calendar.WallOf(time.Unix(int64(utc), 0).In(entries.zone)), utc)
}
