package past

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
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
func (s *Service) Contents(ctx context.Context, then Then) (*Contents, error) {
	head, err := s.store.Head(ctx, eventstore.Point{})
	if err != nil {
		return nil, err
	}
	k, err := s.keyOf(ctx, asked{then.Point, head.Position, head.Epoch, false})
	if err != nil {
		return nil, err
	}
	p := s.find(k)
	documents, err := readmodel.Get(ctx, p.index, p.ids)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, id := range p.ids {
		d := documents[id]
		fmt.Fprintln(sum, d.Position, d.Record.Kind, string(d.Body))
	}
	c := &Contents{k.Position, hex.EncodeToString(sum.Sum(nil)), p.ids, map[calendar.ID]string{}}
	for id, r := range p.closed {
		c.Closed[id] = fmt.Sprint(r.Deleted, r.Fields)
	}
	return c, nil
}
