package past

import (
	"context"
	"fmt"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// Contents are what a List answers from.
type Contents struct {
	Position calendar.Position
	Digest   string // of all records
	IDs      []calendar.ID
	// Closed are the records that not everybody may read now, and why.
	Closed map[calendar.ID]string
}

// Contents returns what lists of a point are answered from, which were asked for before.
func (service *Service) Contents(ctx context.Context, then PointInTime) (*Contents, error) {
	head, err := service.store.Head(ctx, eventstore.Point{})
	if err != nil {
		return nil, err
	}
	last, err := service.store.Head(ctx, then.Point)
	if err != nil {
		return nil, err
	}
	p := service.find(func(p *point) bool { return p.asked == pointKey{then.Point, head.Position, head.Epoch, false} })
	records, err := records{p.index}.Load(ctx, p.ids...)
	if err != nil {
		return nil, err
	}
	digest := ""
	for _, record := range records {
		digest += fmt.Sprintln(record.ID, record.Version, record.Sum)
	}
	contents := &Contents{last.Position, digest, p.ids, map[calendar.ID]string{}}
	for id, record := range p.closed {
		contents.Closed[id] = fmt.Sprint(record.Deleted, record.Fields)
	}
	return contents, nil
}

// ReadLeft makes the point of all entries up to a position, and calls leave when the first
// record of it is decoded.
func (service *Service) ReadLeft(ctx context.Context, position calendar.Position, leave func()) error {
	now := service.options.Query.Now
	service.options.Query.Now = func() time.Time {
		leave()
		return now()
	}
	_, err := service.read(ctx, pointKey{Point: eventstore.Point{Position: position, Time: now()}})
	return err
}
