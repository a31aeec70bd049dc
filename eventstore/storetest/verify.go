package storetest

import (
	"context"
	"fmt"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/verify"
)

// Verify is verify.Store for callers that expect a whole store: what does not fit is an
// error.
func Verify(ctx context.Context, store eventstore.Store) (entries calendar.Position, err error) {
	findings, err := verify.Store(ctx, store, nil)
	if err == nil {
		err = findings.Err()
	}
	return findings.Entries, err
}

// verifies: the log of a whole store is whole, before and after an erasure in it.
func verifies(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	check := func(want verify.Findings) {
		fixture.Helper()
		var done calendar.Position
		got, err := verify.Store(fixture.ctx, fixture.store, func(position, _ calendar.Position) { done = position })
		fixture.must("verify", err)
		want.Entries = calendar.Position(len(fixture.readings()))
		head, err := fixture.store.Head(fixture.ctx, eventstore.Point{})
		fixture.must("Head", err)
		want.Head = head.Hash
		fixture.equal("findings", got, want)
		fixture.equal("progress", done, want.Entries)
	}
	want := verify.Findings{Result: verify.Intact}
	check(want)
	records := fixture.randomLog(60, 3)
	check(want)
	fixture.reopen()
	check(want)
	record := records[0]
	result := fixture.erase(fixture.erasing(fixture.draft(record, calendar.Erased, calendar.Fields{})))
	fixture.must("erase", result.Err)
	want.Result, want.Redacted = verify.Redacted, int(record.Version-1)
	want.Erasures = append(want.Erasures, verify.Erasure{Position: result.Position, Kind: record.Kind.String(), ID: record.ID, Reason: "asked for"})
	check(want)
	fixture.reopen()
	fixture.write(fixture.draft(fixture.record(record.Kind), calendar.Created, namedFields(record.Kind, "later")))
	check(want)
}

// verifiesBusy: what others write and erase while a log is verified is no damage.
func verifiesBusy(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	const writers, records, versions = 2, 8, 8
	done := make(chan struct{})
	go func() {
		defer close(done)
		atOnce(writers, func(weight int) {
			for count := range records {
				record := &calendar.Record{Kind: calendar.KindTag, ID: calendar.ID(1 + weight*records + count)}
				for value := range versions {
					verb := calendar.Updated
					if value == 0 {
						verb = calendar.Created
					}
					if err := fixture.one(fixture.appendOf(fixture.draft(record, verb, namedFields(record.Kind, fmt.Sprintf("%d-%d", record.ID, value))))).Err; err != nil {
						fixture.Errorf("writer %d: %v", weight, err)
						return
					}
				}
				if count%3 > 0 {
					continue
				}
				if err := fixture.one(fixture.erasing(fixture.draft(record, calendar.Erased, calendar.Fields{}))).Err; err != nil {
					fixture.Errorf("writer %d: %v", weight, err)
				}
			}
		})
	}()
	for busy := true; busy && !fixture.Failed(); {
		select {
		case <-done:
			busy = false
		default:
		}
		if _, err := Verify(fixture.ctx, fixture.store); err != nil {
			fixture.Errorf("Verify: %v", err)
		}
	}
	<-done
	if fixture.Failed() {
		return
	}
	if log := fixture.readings(); len(log) != writers*(records*versions+3) {
		fixture.Errorf("the log has %d entries", len(log))
	}
}
