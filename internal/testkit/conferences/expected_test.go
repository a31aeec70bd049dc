package conferences

import (
	"io"
	"strings"
	"time"
)

// Live is a conference that lives after the last change of a history, as the
// service should hold it.
type Live struct {
	ID          int64
	Title       string
	Website     string
	Start, End  string // YYYY-MM-DD
	Description string // HTML
	Place       Place  // as it was typed first for its key
	Topic       string
	Tags        []string
	Author      int       // who made it
	Created     time.Time // when
	Changed     time.Time // last change
	Changes     int       // how many there were
}

// Impossible is a change that no calendar can take.
type Impossible struct {
	Seq, ID int64
	Why     string
}

// Expected folds a history by itself, without the service: the conferences that
// live after it, by id, and the changes that are impossible because their dates
// are none or the end lies before the start, or because nothing is there.
func Expected(history io.Reader) (live map[int64]*Live, impossible []Impossible, err error) {
	live = map[int64]*Live{}
	places := map[string]Place{}
	err = Read(history, func(c Change) error {
		at := time.Unix(c.At, 0).UTC()
		before := live[c.ID]
		if c.Action == "removed" {
			if before == nil {
				impossible = append(impossible, Impossible{c.Seq, c.ID, "removed and never there"})
			}
			delete(live, c.ID)
			return nil
		}
		r := c.Record
		if p := r.Place(); p != (Place{}) {
			if _, known := places[p.Key()]; !known {
				places[p.Key()] = p
			}
		}
		start, end := r.start(), r.end()
		if !isDay(start) || !isDay(end) || end < start {
			impossible = append(impossible, Impossible{c.Seq, c.ID, start + " to " + end})
			return nil
		}
		l := &Live{
			ID: c.ID, Title: plain(r.Name), Website: r.website(), Start: start, End: end, Description: r.description(),
			Topic: strings.TrimSpace(c.Topic), Tags: r.Tags(),
			Author: c.Author, Created: at, Changed: at, Changes: 1,
		}
		if p := r.Place(); p != (Place{}) {
			l.Place = places[p.Key()]
		}
		if before != nil {
			l.Author, l.Created, l.Changes = before.Author, before.Created, before.Changes+1
		}
		live[c.ID] = l
		return nil
	})
	return live, impossible, err
}

func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
