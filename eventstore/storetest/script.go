package storetest

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// script says row by row what a store answers; its head says how a row is read.
//
//go:embed script.txt
var script string

// scripts are the cases of the script.
func scripts() []Case {
	parts := strings.Split(script, "\n== ")[1:]
	cases := make([]Case, 0, len(parts))
	for _, part := range parts {
		name, rows, _ := strings.Cut(part, "\n")
		cases = append(cases, Case{name, func(t testing.TB, harness Harness) {
			fixture := setup(t, harness)
			for row := range strings.Lines(rows) {
				fixture.row(row)
			}
		}})
	}
	return cases
}

// row does what a row of a script says, and checks what it is answered.
func (fixture *fixture) row(row string) {
	fixture.Helper()
	row, _, _ = strings.Cut(strings.TrimSpace(row), "#")
	asked, want, _ := strings.Cut(row, "=>")
	verb, rest, _ := strings.Cut(strings.TrimSpace(asked), " ")
	if verb == "" {
		return
	}
	if got := strings.Join(fixture.answers(verb, strings.TrimSpace(rest)), " | "); got != strings.TrimSpace(want) {
		fixture.Errorf("%s\nthe answer is %s", row, got)
	}
	fixture.readings()
}

// answers does what a row says; all but the verbs of reading are groups of appends.
func (fixture *fixture) answers(verb, rest string) (names []string) {
	fixture.Helper()
	words := strings.Fields(rest)
	switch verb {
	case "reopen":
		fixture.reopen()
	case "find":
		asked := fixture.parse("tag:1.0 " + rest)[0].Drafts[0]
		found, err := fixture.store.Find(fixture.ctx, eventstore.Lookup{Claims: asked.Claims, Names: asked.Names})
		fixture.must("Find", err)
		for _, id := range found.Holders {
			names = append(names, id.String())
		}
		for _, ids := range found.Named {
			names = append(names, fmt.Sprint(ids))
		}
	case "load":
		for _, word := range words {
			state := fixture.load(calendar.ID(number(word)))
			names = append(names, strings.TrimSpace(fmt.Sprintf("%d@%d %s", state.Version, state.Position, state.Secret)))
		}
	case "hold":
		for _, word := range words {
			held, err := fixture.store.Records(fixture.ctx, 0, calendar.ID(number(word))-1, 1)
			fixture.must("Records", err)
			names = append(names, fmt.Sprint(held[0].ID, held[0].Claims, held[0].Names))
		}
	case "receipt":
		fixture.must("Sync", fixture.store.Sync(fixture.ctx))
		for _, word := range words {
			user, key, _ := strings.Cut(word, "/")
			receipt, err := fixture.store.Receipt(fixture.ctx, calendar.ID(number(user)), key)
			fixture.must("Receipt", err)
			names = append(names, fixture.receipt(receipt))
		}
	case "erase":
		drafts := fixture.parse(rest)[0].Drafts
		for i := range drafts {
			drafts[i].State = []byte(`{"erased":true}`)
		}
		names = append(names, outcome(fixture.erase(fixture.erasing(drafts...))))
	case "redact":
		var addition eventstore.Append
		for _, word := range words {
			addition.Redact = append(addition.Redact, calendar.ID(number(word)))
		}
		names = append(names, outcome(fixture.erase(addition)))
	case "sign":
		names = append(names, fixture.sign(calendar.Position(number(words[0])), words[1], words[2:]))
	default:
		appends := fixture.parse(verb + " " + rest)
		for i, result := range all(fixture.ctx, fixture.store, appends) {
			if result.Receipt != nil {
				want := *result.Receipt
				want.User, want.Key, want.Fingerprint, want.Time = appends[i].Receipt.User, appends[i].Receipt.Key, appends[i].Receipt.Fingerprint, result.Receipt.Time
				fixture.equal("receipt", *result.Receipt, want)
			}
			names = append(names, outcome(result))
		}
	}
	return names
}

// receipt says what a receipt holds.
func (fixture *fixture) receipt(receipt *eventstore.Receipt) string {
	if receipt == nil {
		return "none"
	}
	if receipt.Time.IsZero() {
		fixture.Errorf("the receipt %s is of no time", receipt.Key)
	}
	return fmt.Sprintf("%d/%s/%s %d.%d@%d", receipt.User, receipt.Key, strings.TrimRight(string(receipt.Fingerprint[:]), "\x00"), receipt.Record, receipt.Version, receipt.Position)
}

// sign stores the checkpoint of a size with the lines of its note.
func (fixture *fixture) sign(size calendar.Position, origin string, lines []string) string {
	checkpoint := eventstore.Checkpoint{
		Size: size, Origin: origin, Note: []byte(strings.Join(append(lines, ""), "\n")),
		Time: fixture.now.Add(time.Duration(size) * 1234567 * time.Microsecond), Keys: fmt.Sprint(lines),
	}
	if err := fixture.one(eventstore.Append{Checkpoint: &checkpoint}).Err; err != nil {
		return reason(err)
	}
	checkpoint.Time = checkpoint.Time.Truncate(time.Millisecond)
	if before, there := fixture.signed[size]; there {
		before.Note = checkpoint.Note
		checkpoint = before
	}
	fixture.signed[size] = checkpoint
	return "done"
}

// parse reads the appends of a row.
func (fixture *fixture) parse(row string) []eventstore.Append {
	fixture.Helper()
	var appends []eventstore.Append
	for part := range strings.SplitSeq(row, "|") {
		addition := fixture.appendOf()
		for word := range strings.FieldsSeq(part) {
			fixture.word(&addition, word)
		}
		appends = append(appends, addition)
	}
	return appends
}

// word adds what a word says to an append.
func (fixture *fixture) word(addition *eventstore.Append, word string) {
	fixture.Helper()
	var draft *eventstore.Draft
	if n := len(addition.Drafts); n > 0 {
		draft = &addition.Drafts[n-1]
	}
	switch rest := word[1:]; {
	case word == "-":
	case word[0] == '+':
		space, key, ok := strings.Cut(rest, "/")
		if !ok {
			space, key = "s", rest
		}
		draft.Claims = append(draft.Claims, calendar.Claim{Space: space, Key: key})
	case word[0] == '~':
		draft.Names = append(draft.Names, calendar.Name{Space: "n", Key: rest})
	case word[0] == '!':
		draft.Secret = []byte(rest)
	case word[0] == '?':
		key, count, _ := strings.Cut(rest, "=")
		addition.Guards = append(addition.Guards, eventstore.Guard{Name: calendar.Name{Space: "n", Key: key}, Count: number(count)})
	case word[0] == '@':
		addition.Epoch = fixture.store.Epoch()
		addition.Epoch.History += uint64(number(rest))
	case strings.Contains(word, "/"):
		parts := strings.Split(word, "/")
		addition.Receipt = &eventstore.Receipt{ReceiptKey: eventstore.ReceiptKey{User: calendar.ID(number(parts[0])), Key: parts[1]}}
		copy(addition.Receipt.Fingerprint[:], parts[2])
		if draft != nil {
			addition.Receipt.Record, addition.Receipt.Version = draft.ID, draft.Version
		} else if len(parts) > 3 { // RECORD@POSITION
			record, position, _ := strings.Cut(parts[3], "@")
			addition.Receipt.Record, addition.Receipt.Version, addition.Receipt.Position = calendar.ID(number(record)), 1, calendar.Position(number(position))
		}
	default:
		parts := strings.FieldsFunc(word, func(letter rune) bool { return letter == ':' || letter == '.' })
		kind, _ := calendar.ParseKind(parts[0])
		addition.Drafts = append(addition.Drafts, eventstore.Draft{Entry: eventstore.Entry{
			Kind:    kind,
			ID:      calendar.ID(number(parts[1])),
			Version: int64(number(parts[2])) + 1,
			Change:  parts[0] + ".changed",
			Fields:  []byte(`{}`),
			State:   fmt.Appendf(nil, `{"after":%q}`, word),
		}})
	}
}

// number is that of a word; a word without one is 0.
func number(word string) int {
	count, _ := strconv.Atoi(word)
	return count
}

// outcome says what a result tells its caller.
func outcome(result eventstore.Result) string {
	switch {
	case result.Err != nil:
		return reason(result.Err)
	case result.Receipt != nil:
		return fmt.Sprintf("%d found %d.%d@%d", result.Position, result.Receipt.Record, result.Receipt.Version, result.Receipt.Position)
	default:
		return fmt.Sprint(result.Position)
	}
}

// reasons are the errors that callers act on.
var reasons = []error{
	eventstore.ErrConflict, eventstore.ErrKeyReused, eventstore.ErrAhead,
}

// reason says of an error what its caller can tell.
func reason(err error) string {
	if claim, ok := errors.AsType[*eventstore.ClaimError](err); ok {
		return claim.Error()
	}
	if i := slices.IndexFunc(reasons, func(known error) bool { return errors.Is(err, known) }); i >= 0 {
		return reasons[i].Error()
	}
	return err.Error()
}
