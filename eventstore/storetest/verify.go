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
func Verify(ctx context.Context, s eventstore.Store, progress func(done, total calendar.Position)) (hash [32]byte, entries calendar.Position, err error) {
	f, err := verify.Store(ctx, s, progress)
	if err == nil {
		err = f.Err()
	}
	return f.Head, f.Entries, err
}

// verifies: the log of a whole store is whole, before and after an erasure in it.
func verifies(t testing.TB, h Harness) {
	f := setup(t, h)
	check := func(want verify.Findings) {
		f.Helper()
		var done calendar.Position
		got, err := verify.Store(f.ctx, f.store, func(position, _ calendar.Position) { done = position })
		f.must("verify", err)
		want.Entries = calendar.Position(len(f.readings()))
		head, err := f.store.Head(f.ctx, eventstore.Point{})
		f.must("Head", err)
		want.Head = head.Hash
		f.equal("findings", got, want)
		f.equal("progress", done, want.Entries)
	}
	want := verify.Findings{Result: verify.Intact}
	check(want)
	records := f.randomLog(60, 3)
	check(want)
	f.reopen()
	check(want)
	r := records[0]
	res := f.erase(f.erasing(f.draft(r, calendar.Erased, calendar.Fields{})))
	f.must("erase", res.Err)
	want.Result, want.Redacted = verify.Redacted, int(r.Version-1)
	want.Erasures = append(want.Erasures, verify.Erasure{Position: res.Position, Kind: r.Kind.String(), ID: r.ID, Reason: "asked for"})
	check(want)
	f.reopen()
	f.write(f.draft(f.record(r.Kind), calendar.Created, namedFields(r.Kind, "later")))
	check(want)
}

// verifiesBusy: what others write and erase while a log is verified is no damage.
func verifiesBusy(t testing.TB, h Harness) {
	f := setup(t, h)
	const writers, records, versions = 2, 8, 8
	done := make(chan struct{})
	go func() {
		defer close(done)
		atOnce(writers, func(w int) {
			for n := range records {
				r := &calendar.Record{Kind: calendar.KindTag, ID: calendar.ID(1 + w*records + n)}
				for v := range versions {
					verb := calendar.Updated
					if v == 0 {
						verb = calendar.Created
					}
					if err := f.one(f.appendOf(f.draft(r, verb, namedFields(r.Kind, fmt.Sprintf("%d-%d", r.ID, v))))).Err; err != nil {
						f.Errorf("writer %d: %v", w, err)
						return
					}
				}
				if n%3 > 0 {
					continue
				}
				if err := f.one(f.erasing(f.draft(r, calendar.Erased, calendar.Fields{}))).Err; err != nil {
					f.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}()
	for busy := true; busy && !f.Failed(); {
		select {
		case <-done:
			busy = false
		default:
		}
		if _, _, err := Verify(f.ctx, f.store, nil); err != nil {
			f.Errorf("Verify: %v", err)
		}
	}
	<-done
	if f.Failed() {
		return
	}
	if log := f.readings(); len(log) != writers*(records*versions+3) {
		f.Errorf("the log has %d entries", len(log))
	}
}
