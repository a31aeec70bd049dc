package command

import (
	"context"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/htmltext"
)

// checkTerm refuses a new term of a name that exists, and a parent of a tag.
func (d *decision) checkTerm(ctx context.Context, c calendar.Change) error {
	if !c.Kind.IsTerm() {
		return nil
	}
	parent := c.Fields.ID("parent")
	name, _ := c.Fields.Text(c.Kind.NameField()).In(d.lang, c.Home)
	same, err := d.sameName(ctx, c.Kind, htmltext.NameKey(name))
	if err != nil {
		return err
	}
	for _, rec := range same {
		if rec.Fields.ID("parent") == parent {
			return &calendar.Error{Code: calendar.CodeTermExists, Kind: c.Kind, TermID: rec.ID}
		}
	}
	if err := d.checkFlat(); err != nil || parent == 0 {
		return err
	}
	return d.guardPlaces(parent)
}

// checkFlat refuses a parent of a tag.
func (d *decision) checkFlat() error {
	if _, sent := d.r.Input["parent"]; sent && d.r.Kind == calendar.KindTag {
		return calendar.Fail(calendar.CodeNotHierarchical, d.r.Kind)
	}
	return nil
}

// guardPlaces holds the write to the places of the categories that a decision about the
// tree looked at, so that two moves at the same time make no cycle and nothing is put below
// a category that ends meanwhile.
func (d *decision) guardPlaces(parent calendar.ID) error {
	if parent != 0 && d.above[parent] == nil {
		return fmt.Errorf("parent %d is gone: %w", parent, eventstore.ErrConflict)
	}
	for _, rec := range d.above {
		d.guard(calendar.PlaceName(rec), 1)
	}
	return nil
}

// adopt moves the child categories of one that is deleted to its parent.
func (d *decision) adopt(ctx context.Context, rec *calendar.Record) error {
	if rec.Kind != calendar.KindCategory {
		return nil
	}
	name := calendar.ChildrenName(rec.ID)
	found, err := d.s.store.Find(ctx, eventstore.Lookup{Names: []calendar.Name{name}})
	if err != nil {
		return fmt.Errorf("find children of category %d: %w", rec.ID, err)
	}
	d.guard(name, len(found.Named[0]))
	children, err := d.s.records.Load(ctx, found.Named[0]...)
	if err != nil {
		return err
	}
	var parent any
	// The parent cannot end meanwhile without a change of rec, its child.
	if above := rec.Fields.ID("parent"); above != 0 {
		parent = above
	}
	for _, child := range children {
		if child == nil || child.Fields.ID("parent") != rec.ID {
			return fmt.Errorf("children of category %d: %w", rec.ID, eventstore.ErrConflict)
		}
		if _, err := d.add(child, calendar.Change{
			Name: calendar.KindCategory.String() + "." + calendar.Updated, Kind: calendar.KindCategory, ID: child.ID,
			Fields: calendar.Fields{"parent": parent},
		}); err != nil {
			return err
		}
	}
	return nil
}
