package command

import (
	"cmp"
	"context"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
)

// checkTerm refuses a new term of a name that exists, and a parent of a tag.
func (decision *decision) checkTerm(ctx context.Context, change calendar.Change) error {
	if !change.Kind.IsTerm() {
		return nil
	}
	shown, _ := change.Fields.Text(change.Kind.NameField()).In(decision.language, change.Home)
	for _, record := range decision.sameName(ctx, nameOf(change.Kind, shown)) {
		if record.Fields.ID("parent") == change.Fields.ID("parent") {
			return &calendar.Error{Code: calendar.CodeTermExists, Kind: change.Kind, TermID: record.ID}
		}
	}
	return cmp.Or(decision.Err, decision.checkFlat())
}

// checkFlat refuses a parent of a tag.
func (decision *decision) checkFlat() error {
	if _, sent := decision.request.Input["parent"]; sent && decision.request.Kind == calendar.KindTag {
		return calendar.Fail(calendar.CodeNotHierarchical, decision.request.Kind)
	}
	return nil
}

// adopt moves the child categories of one that is deleted to its parent.
func (decision *decision) adopt(ctx context.Context, record *calendar.Record) error {
	if record.Kind != calendar.KindCategory {
		return nil
	}
	name := calendar.ChildrenName(record.ID)
	found, err := decision.service.store.Find(ctx, eventstore.Lookup{Names: []calendar.Name{name}})
	if err != nil {
		return fmt.Errorf("find children of category %d: %w", record.ID, err)
	}
	decision.guard(name, len(found.Named[0]))
	children, err := decision.service.records.Load(ctx, found.Named[0]...)
	if err != nil {
		return err
	}
	for _, child := range children {
		if child == nil || child.Fields.ID("parent") != record.ID {
			return fmt.Errorf("children of category %d: %w", record.ID, eventstore.ErrConflict)
		}
		// The parent cannot end meanwhile without a change of record, its child.
		if _, err := decision.add(child, calendar.Change{
			Name: calendar.KindCategory.String() + "." + calendar.Updated, Kind: calendar.KindCategory, ID: child.ID,
			Fields: calendar.Fields{"parent": record.Fields["parent"]},
		}); err != nil {
			return err
		}
	}
	return nil
}
