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
			p := decisionPlay{T: t}
			for _, line := range part.Lines {
				if want, ok := strings.CutPrefix(line, "\t"); ok {
					p.expect(want)
				} else {
					p.decide(line)
				}
			}
			if p.err != nil {
				t.Fatal(p.err)
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
func (p *decisionPlay) decide(line string) {
	p.Helper()
	if p.err != nil {
		p.Fatal(p.err)
	}
	words, body, _ := strings.Cut(line, "{")
	set := attrSet{}
	if body != "" {
		if err := json.Unmarshal([]byte("{"+body), &set); err != nil {
			p.Fatalf("%s: %v", line, err)
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
			p.record = s.decision().Parent(ID(id))
		} else {
			verb = word
		}
	}
	if verb == "create" && kind == KindEvent {
		set = wholeEvent(set)
	}
	a := attrs(p, set)
	a.Lang = lang
	switch verb {
	case "create":
		p.record = nil
		p.change, p.err = Create(kind, 100, a, s.decision())
	case "update":
		p.change, p.err = Update(p.record, a, s.decision())
	case "trash", "delete":
		p.change, p.err = Remove(p.record, s.decision())
	default:
		p.Fatalf("%s: no such decision", line)
	}
	if p.err != nil {
		return
	}
	after, err := Apply(p.record, p.change, testNow)
	if err != nil {
		p.err = err
	} else {
		p.record = after
	}
}

// expect compares what came of the last decision.
func (p *decisionPlay) expect(want string) {
	p.Helper()
	if err := p.err; err != nil {
		p.err = nil
		got := "fails"
		if e, ok := errors.AsType[*Error](err); ok && e.Code == CodeInvalidParam {
			var fields []string
			for _, fieldError := range e.Fields {
				fields = append(fields, strings.Join(append([]string{fieldError.Field, string(fieldError.Reason)}, fieldError.Args...), " "))
			}
			slices.Sort(fields)
			got = "refused " + strings.Join(fields, "; ")
		} else if ok {
			got = "error " + string(e.Code)
		}
		if got != want {
			p.Errorf("got %s, %v; want %s", got, err, want)
		}
		return
	}
	name, body, _ := strings.Cut(want, "{")
	change, err := DecodeChange(p.change.Name, p.change.ID, LangEN, json.RawMessage("{"+body))
	if err != nil {
		p.Fatalf("%s: %v", want, err)
	}
	if name == "" {
		for field, value := range change.Fields {
			if text := cmp.Diff(value, p.record.Fields[field]); text != "" {
				p.Errorf("%s (-want +got):\n%s", field, text)
			}
		}
		return
	}
	change.Name, change.Secret = strings.TrimSpace(name), p.change.Secret
	if text := cmp.Diff(change, p.change); text != "" {
		p.Errorf("change (-want +got):\n%s", text)
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
