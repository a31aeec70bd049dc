package calendar

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDecisions plays the cases of decisions.txt.
func TestDecisions(t *testing.T) {
	t.Parallel()
	for _, part := range ReadParts(t, "decisions.txt") {
		t.Run(part.Name, func(t *testing.T) {
			t.Parallel()
			play := decisionPlay{T: t}
			for _, line := range part.Lines {
				if want, ok := strings.CutPrefix(line, "\t"); ok {
					play.expect(want)
				} else {
					play.decide(line)
				}
			}
			if play.err != nil {
				t.Fatal(play.err)
			}
		})
	}
}

// decisionPlay is a case of decisions.txt: its record and the last decision.
type decisionPlay struct {
	*testing.T
	record *Record
	change Change
	err    error // until it is expected
}

// decide does what a line says.
func (decisionPlay *decisionPlay) decide(line string) {
	decisionPlay.Helper()
	if decisionPlay.err != nil {
		decisionPlay.Fatal(decisionPlay.err)
	}
	words, body, _ := strings.Cut(line, "{")
	set := attrSet{}
	if body != "" {
		if err := json.Unmarshal([]byte("{"+body), &set); err != nil {
			decisionPlay.Fatalf("%s: %v", line, err)
		}
	}
	s := situation{hash: "hash", parents: []*Record{
		category(30, "music", nil), category(31, "jazz", ID(30)), category(32, "bebop", ID(31)),
		category(33, strings.Repeat("a", maxSlug), nil), category(40, "a", ID(41)), category(41, "b", ID(40)),
	}}
	verb, kind, lang := "", KindEvent, LangEN
	for word := range strings.FieldsSeq(words) {
		taken, slugs := strings.CutPrefix(word, "taken=")
		id, err := strconv.Atoi(word)
		if k, ok := ParseKind(word); ok {
			kind = k
		} else if role, ok := ParseRole(word); ok {
			s.caller = Caller{ID: self, Role: role}
		} else if l, ok := ParseLang(word); ok {
			lang = l
		} else if slugs {
			s.taken = strings.Split(taken, ",")
		} else if word == "later" {
			s.now = testNow.Add(time.Hour)
		} else if err == nil {
			decisionPlay.record = s.decision().Parent(ID(id))
		} else {
			verb = word
		}
	}
	if verb == "create" && kind == KindEvent {
		set = wholeEvent(set)
	}
	a := attrs(decisionPlay, set)
	a.Lang = lang
	switch verb {
	case "create":
		decisionPlay.record = nil
		decisionPlay.change, decisionPlay.err = Create(kind, 100, a, s.decision())
	case "update":
		decisionPlay.change, decisionPlay.err = Update(decisionPlay.record, a, s.decision())
	case "trash", "delete":
		decisionPlay.change, decisionPlay.err = Remove(decisionPlay.record, s.decision())
	default:
		decisionPlay.Fatalf("%s: no such decision", line)
	}
	if decisionPlay.err != nil {
		return
	}
	after, err := Apply(decisionPlay.record, decisionPlay.change, testNow)
	if err != nil {
		decisionPlay.err = err
	} else {
		decisionPlay.record = after
	}
}

// expect compares what came of the last decision.
func (decisionPlay *decisionPlay) expect(want string) {
	decisionPlay.Helper()
	if err := decisionPlay.err; err != nil {
		decisionPlay.err = nil
		got := "fails"
		if problem, ok := errors.AsType[*Error](err); ok && problem.Code == CodeInvalidParam {
			var fields []string
			for _, fieldError := range problem.Fields {
				fields = append(fields, strings.Join(append([]string{fieldError.Field, string(fieldError.Reason)}, fieldError.Args...), " "))
			}
			slices.Sort(fields)
			got = "refused " + strings.Join(fields, "; ")
		} else if ok {
			got = "error " + string(problem.Code)
		}
		if got != want {
			decisionPlay.Errorf("got %s, %v; want %s", got, err, want)
		}
		return
	}
	name, body, _ := strings.Cut(want, "{")
	change, err := DecodeChange(decisionPlay.change.Name, decisionPlay.change.ID, LangEN, json.RawMessage("{"+body))
	if err != nil {
		decisionPlay.Fatalf("%s: %v", want, err)
	}
	if name == "" {
		for field, value := range change.Fields {
			if text := cmp.Diff(value, decisionPlay.record.Fields[field]); text != "" {
				decisionPlay.Errorf("%s (-want +got):\n%s", field, text)
			}
		}
		return
	}
	change.Name, change.Secret = strings.TrimSpace(name), decisionPlay.change.Secret
	if text := cmp.Diff(change, decisionPlay.change); text != "" {
		decisionPlay.Errorf("change (-want +got):\n%s", text)
	}
}

// category is a category with a parent, or without.
func category(id ID, slug string, parent any) *Record {
	record := &Record{ID: id, Kind: KindCategory, Version: 1, Home: LangEN, Fields: Fields{"slug": slug, "name": Text{LangEN: slug}}}
	if parent != nil {
		record.Fields["parent"] = parent
	}
	return record
}
