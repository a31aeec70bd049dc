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
func (f *fixture) row(row string) {
	f.Helper()
	row, _, _ = strings.Cut(strings.TrimSpace(row), "#")
	asked, want, _ := strings.Cut(row, "=>")
	verb, rest, _ := strings.Cut(strings.TrimSpace(asked), " ")
	if verb == "" {
		return
	}
	if got := strings.Join(f.answers(verb, strings.TrimSpace(rest)), " | "); got != strings.TrimSpace(want) {
		f.Errorf("%s\nthe answer is %s", row, got)
	}
	f.readings()
}

// answers does what a row says; all but the verbs of reading are calls of Append.
func (f *fixture) answers(verb, rest string) (out []string) {
	f.Helper()
	words := strings.Fields(rest)
	switch verb {
	case "reopen":
		f.reopen()
	case "find":
		asked := f.parse("tag:1.0 " + rest)[0].Drafts[0]
		found, err := f.store.Find(f.ctx, eventstore.Lookup{Claims: asked.Claims, Names: asked.Names})
		f.must("Find", err)
		for _, id := range found.Holders {
			out = append(out, id.String())
		}
		for _, ids := range found.Named {
			out = append(out, fmt.Sprint(ids))
		}
	case "load":
		for _, word := range words {
			state := f.load(calendar.ID(number(word)))
			out = append(out, strings.TrimSpace(fmt.Sprintf("%d@%d %s", state.Version, state.Position, state.Secret)))
		}
	case "hold":
		for _, word := range words {
			held, err := f.store.Records(f.ctx, 0, calendar.ID(number(word))-1, 1)
			f.must("Records", err)
			out = append(out, fmt.Sprint(held[0].ID, held[0].Claims, held[0].Names))
		}
	case "receipt":
		f.must("Sync", f.store.Sync(f.ctx))
		for _, word := range words {
			user, key, _ := strings.Cut(word, "/")
			receipt, err := f.store.Receipt(f.ctx, calendar.ID(number(user)), key)
			f.must("Receipt", err)
			out = append(out, f.receipt(receipt))
		}
	case "erase":
		drafts := f.parse(rest)[0].Drafts
		for i := range drafts {
			drafts[i].State = []byte(`{"erased":true}`)
		}
		out = append(out, outcome(f.erase(f.erasing(drafts...))))
	case "redact":
		var a eventstore.Append
		for _, word := range words {
			a.Redact = append(a.Redact, calendar.ID(number(word)))
		}
		out = append(out, outcome(f.erase(a)))
	case "sign":
		out = append(out, f.sign(calendar.Position(number(words[0])), words[1], words[2:]))
	default:
		appends := f.parse(verb + " " + rest)
		for i, res := range f.store.Append(f.ctx, appends) {
			if res.Receipt != nil {
				want := *res.Receipt
				want.User, want.Key, want.Fingerprint, want.Time = appends[i].Receipt.User, appends[i].Receipt.Key, appends[i].Receipt.Fingerprint, res.Receipt.Time
				f.equal("receipt", *res.Receipt, want)
			}
			out = append(out, outcome(res))
		}
	}
	return out
}

// receipt says what a receipt holds.
func (f *fixture) receipt(r *eventstore.Receipt) string {
	if r == nil {
		return "none"
	}
	if r.Time.IsZero() {
		f.Errorf("the receipt %s is of no time", r.Key)
	}
	return fmt.Sprintf("%d/%s/%s %d.%d@%d", r.User, r.Key, strings.TrimRight(string(r.Fingerprint[:]), "\x00"), r.Record, r.Version, r.Position)
}

// sign stores the checkpoint of a size with the lines of its note.
func (f *fixture) sign(size calendar.Position, origin string, lines []string) string {
	checkpoint := eventstore.Checkpoint{
		Size: size, Origin: origin, Note: []byte(strings.Join(append(lines, ""), "\n")),
		Time: f.now.Add(time.Duration(size) * 1234567 * time.Microsecond), Keys: fmt.Sprint(lines),
	}
	if err := f.one(eventstore.Append{Checkpoint: &checkpoint}).Err; err != nil {
		return reason(err)
	}
	checkpoint.Time = checkpoint.Time.Truncate(time.Millisecond)
	if before, there := f.signed[size]; there {
		before.Note = checkpoint.Note
		checkpoint = before
	}
	f.signed[size] = checkpoint
	return "done"
}

// parse reads the appends of a row.
func (f *fixture) parse(row string) []eventstore.Append {
	f.Helper()
	row = strings.NewReplacer(`\0`, "\x00", `\xff`, "\xff").Replace(row)
	var appends []eventstore.Append
	for part := range strings.SplitSeq(row, "|") {
		a := f.appendOf()
		for word := range strings.FieldsSeq(part) {
			f.word(&a, word)
		}
		appends = append(appends, a)
	}
	return appends
}

// word adds what a word says to an append.
func (f *fixture) word(a *eventstore.Append, word string) {
	f.Helper()
	var draft *eventstore.Draft
	if n := len(a.Drafts); n > 0 {
		draft = &a.Drafts[n-1]
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
		a.Guards = append(a.Guards, eventstore.Guard{Name: calendar.Name{Space: "n", Key: key}, Count: number(count)})
	case word[0] == '@':
		a.Epoch = f.store.Epoch()
		a.Epoch.History += uint64(number(rest))
	case strings.Contains(word, "/"):
		parts := strings.Split(word, "/")
		a.Receipt = &eventstore.Receipt{User: calendar.ID(number(parts[0])), Key: parts[1]}
		copy(a.Receipt.Fingerprint[:], parts[2])
		if draft != nil {
			a.Receipt.Record, a.Receipt.Version = draft.ID, draft.Expected+1
		} else if len(parts) > 3 { // RECORD@POSITION
			record, position, _ := strings.Cut(parts[3], "@")
			a.Receipt.Record, a.Receipt.Version, a.Receipt.Position = calendar.ID(number(record)), 1, calendar.Position(number(position))
		}
	default:
		parts := strings.FieldsFunc(word, func(r rune) bool { return r == ':' || r == '.' })
		kind, _ := calendar.ParseKind(parts[0])
		a.Drafts = append(a.Drafts, eventstore.Draft{
			Kind: kind, ID: calendar.ID(number(parts[1])), Expected: int64(number(parts[2])),
			Change: parts[0] + ".changed", Fields: []byte(`{}`), State: fmt.Appendf(nil, `{"after":%q}`, word),
		})
	}
}

// number is that of a word; a word without one is 0.
func number(word string) int {
	n, _ := strconv.Atoi(word)
	return n
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
	eventstore.ErrConflict, eventstore.ErrKeyReused, eventstore.ErrMalformed, eventstore.ErrNotFound, eventstore.ErrAhead,
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
