package past

import (
	"context"
	"fmt"
	"maps"
	"time"

	"daybook/calendar"
)

// Contents are what a List answers from.
type Contents struct {
	Position calendar.Position
	Time     time.Time
	Digest   string // of all records
	Versions map[calendar.ID]int64
	// Closed are the records that not everybody gets now, and why.
	Closed map[calendar.ID]string
}

// Contents gives what the list answers from, or ErrMoved.
func (l *List) Contents(ctx context.Context) (*Contents, error) {
	release, err := l.held()
	if err != nil {
		return nil, err
	}
	defer release()
	m := l.image
	shown, err := m.index.Visible(ctx)
	if err != nil {
		return nil, err
	}
	digest, err := m.index.Digest(ctx)
	if err != nil {
		return nil, err
	}
	is := m.reach.Load()
	if shown.Position != is.Position {
		return nil, fmt.Errorf("the index shows position %d, the image %d", shown.Position, is.Position)
	}
	c := &Contents{is.Position, is.Time, fmt.Sprintf("%v %x", digest.Counts, digest.Sum), map[calendar.ID]int64{}, map[calendar.ID]string{}}
	maps.Copy(c.Versions, m.versions)
	for id, r := range m.closed {
		if _, ours := m.versions[id]; ours {
			c.Closed[id] = fmt.Sprint(r.Deleted, r.Fields)
		}
	}
	return c, nil
}

// Tend does at once what Run does while nobody asks.
func (s *Service) Tend(ctx context.Context) { s.tend(ctx) }
