package calendar

import (
	"cmp"
	"html"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// plainCleaner is as much of a Cleaner as the rules need: tags go, entities are
// decoded, a few letters are transliterated.
type plainCleaner struct{}

func (plainCleaner) Name(text string) string {
	var builder strings.Builder
	for len(text) > 0 {
		open := strings.IndexByte(text, '<')
		end := strings.IndexByte(text, '>')
		if open < 0 || end < open {
			break
		}
		builder.WriteString(text[:open])
		text = text[end+1:]
	}
	builder.WriteString(text)
	return strings.TrimSpace(html.UnescapeString(builder.String()))
}

func (plainCleaner plainCleaner) HTML(text string) string { return plainCleaner.Name(text) }

func (plainCleaner) ASCII(text string) string {
	text = strings.NewReplacer("é", "e", "É", "E", "ñ", "n", "音", "Yin ", "乐", "Le ", "会", "Hui ", "’", "'", "…", "...").Replace(text)
	return strings.Map(func(r rune) rune {
		if r > 127 {
			return -1
		}
		return r
	}, text)
}

var newYork = func() *time.Location {
	zone, ok := ParseZone("America/New_York")
	if !ok {
		panic("no zone America/New_York")
	}
	return zone.Location
}()

var (
	testRules = &Rules{Site: newYork, Clean: plainCleaner{}}
	// 09:15 in the site zone, 14:15 UTC.
	testNow = time.Date(2026, 3, 2, 14, 15, 0, 500e6, time.UTC)

	contributor = Caller{ID: self, Role: Contributor}
	author      = Caller{ID: self, Role: Author}
	editor      = Caller{ID: self, Role: Editor}
)

// fataler is a test, of the testing package or of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// situation is what a decision meets besides the record.
type situation struct {
	caller  Caller    // the zero one: editor
	now     time.Time // zero: testNow
	taken   []string
	parents []*Record
	hash    string
}

func (situation situation) decision() *Decision {
	decision := &Decision{Rules: testRules, Now: situation.now, Caller: situation.caller}
	if decision.Now.IsZero() {
		decision.Now = testNow
	}
	if decision.Caller == (Caller{}) {
		decision.Caller = editor
	}
	if situation.hash != "" {
		decision.Password = []byte(situation.hash)
	}
	decision.Taken = func(_ Kind, _ ID, slug string) bool { return slices.Contains(situation.taken, slug) }
	decision.Parent = func(id ID) *Record {
		for _, record := range situation.parents {
			if record.ID == id {
				return record
			}
		}
		return nil
	}
	return decision
}

func date(fataler fataler, text string) Date {
	fataler.Helper()
	date, ok := ParseDate(text)
	if !ok {
		fataler.Fatalf("%q is no date", text)
	}
	return date
}

func zone(fataler fataler, text string) Zone {
	fataler.Helper()
	zone, ok := ParseZone(text)
	if !ok {
		fataler.Fatalf("%q is no zone", text)
	}
	return zone
}

func wall(fataler fataler, text string) Wall {
	fataler.Helper()
	wall, err := ParseWall(text)
	if err != nil {
		fataler.Fatal(err)
	}
	return wall
}

// attrs makes English attributes of their values or of what JSON has for them: text for
// dates and zones, numbers for ids, null and what is empty for what is cleared.
func attrs(fataler fataler, set map[string]any) *Attrs {
	fataler.Helper()
	attrs := &Attrs{Lang: LangEN, Set: map[string]any{}}
	for name, v := range set {
		switch value := v.(type) {
		case nil:
			v = Clear{}
		case float64:
			if name != "geo_lat" && name != "geo_lng" {
				v = ID(value)
			}
		case map[string]any:
			v, attrs.Set["image_url"] = ID(value["ID"].(float64)), value["URL"]
		case []any:
			ids, texts := []ID{}, []string{}
			for _, element := range value {
				if id, ok := element.(float64); ok {
					ids = append(ids, ID(id))
				} else {
					texts = append(texts, element.(string))
				}
			}
			switch {
			case len(value) == 0:
				v = Clear{}
			case name == "cost":
				v = texts
			default:
				v = ids
			}
		case string:
			if value == "" {
				v = Clear{}
			}
			switch name {
			case "start_date", "end_date", "date", "date_utc":
				v = date(fataler, value)
			case "timezone":
				v = zone(fataler, value)
			case "status":
				v = Status(value)
			}
		}
		attrs.Set[name] = v
	}
	return attrs
}

// attrSet is short for attributes by name.
type attrSet = map[string]any

// wholeEvent are the attributes of an event: a title and dates unless they are set.
func wholeEvent(set attrSet) attrSet {
	whole := attrSet{"title": "Quay concert", "start_date": "2026-07-04 18:30:00", "end_date": "2026-07-04 21:00:00"}
	maps.Copy(whole, set)
	return whole
}

// created makes a record of a kind, with id 100.
func created(fataler fataler, kind Kind, situation situation, set attrSet) *Record {
	fataler.Helper()
	if kind == KindEvent {
		set = wholeEvent(set)
	}
	return applied(fataler, nil)(Create(kind, 100, attrs(fataler, set), situation.decision()))
}

// applied returns a function that applies what is decided about a record, or about none.
func applied(fataler fataler, record *Record) func(Change, error) *Record {
	return func(change Change, err error) *Record {
		fataler.Helper()
		next, failed := Apply(record, change, testNow)
		if err := cmp.Or(err, failed); err != nil {
			fataler.Fatal(err)
		}
		return next
	}
}

func TestStoredZoneThatIsUnknown(t *testing.T) {
	t.Parallel()
	event := created(t, KindEvent, situation{}, nil)
	event.Fields["timezone"] = "Mars/Olympus"
	if _, err := Update(event, attrs(t, nil), situation{}.decision()); err == nil {
		t.Error("an unknown stored zone was used")
	}
}
