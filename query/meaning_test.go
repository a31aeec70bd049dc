package query

import (
	"errors"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// What tests next to the package have of it.

// Meaning gives a service over records of which lists are those of readmodel.Match, at
// worldNow; the others are over an index that holds the same.
func Meaning(tb testing.TB, records []*calendar.Record) (meaning *Service, over func(readmodel.Index) *Service) {
	tb.Helper()
	meaning, _, _, _ = setup(tb, records)
	return meaning, func(index readmodel.Index) *Service {
		s, _, _, _ := setup(tb, records)
		s.index = index
		return s
	}
}

// Fill writes records into an index behind a position, and waits until they are visible.
func Fill(tb testing.TB, index readmodel.Index, after calendar.Position, records ...*calendar.Record) {
	tb.Helper()
	batch := readmodel.Batch{Mark: calendar.Mark{Position: after}}
	for _, r := range records {
		body, err := calendar.EncodeRecord(r)
		if err != nil {
			tb.Fatal(err)
		}
		r.Sum = calendar.SumOf(body)
		batch.Mark.Position++
		batch.Documents = append(batch.Documents, readmodel.Document{Position: batch.Mark.Position, Record: r, Body: body})
	}
	perDocument, err := index.Write(tb.Context(), batch)
	if err := errors.Join(append(perDocument, err)...); err != nil {
		tb.Fatal(err)
	}
	if err := index.Wait(tb.Context(), batch.Mark.Position); err != nil {
		tb.Fatal(err)
	}
}

// Event, Record and English make records, Lines reads a file; see event, record, english and
// readLines.
var (
	Event   = event
	Record  = record
	English = english
	Lines   = readLines
)

// Venue makes a venue in a place.
func Venue(tb testing.TB, id calendar.ID, lat, lng float64) *calendar.Record {
	tb.Helper()
	return record(tb, calendar.KindVenue, id, "Venue", fields{"geo_lat": lat, "geo_lng": lng})
}

// Ask parses and runs a list of events.
func Ask(tb testing.TB, s *Service, sent string, l calendar.Lang, c calendar.Caller) (*List, *Criteria, error) {
	tb.Helper()
	criteria, err := s.Parse(tb.Context(), Request{Kind: calendar.KindEvent, Input: input(sent), Lang: l, Caller: c})
	if err != nil {
		return nil, nil, err
	}
	list, err := s.Run(tb.Context(), criteria)
	return list, criteria, err
}
