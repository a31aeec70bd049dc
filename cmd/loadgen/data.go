package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

var words = strings.Fields(`quay harbor river garden market concert reading festival workshop picnic theatre
gallery orchestra quartet sculpture lantern parade regatta marathon cinema puppet tango ballet opera choir brass
folk jazz blues swing poetry novel history science robotics telescope botany ceramics weaving chess lecture debate
exhibition auction bakery vineyard orchard meadow forest mountain island bridge castle tower chapel library museum
archive station arcade terrace courtyard pavilion studio laboratory observatory greenhouse aquarium playground`)

// glue are the common words between those of a heavy text.
var glue = []string{"of the", "in the", "and", "with a", "to the", "for all", "at", "by the", "is", "on a"}

// syllables make the names of a heavy text: three of them give 4,096, so that a text
// packs and is indexed like one that people wrote, not like a list of known words.
var syllables = strings.Fields("ka ro mel tin bra vos dun gar lei sha fen ulm ost wil pra qui")

const (
	venueCount     = 200
	organizerCount = 100 // of heavy events
	categoryCount  = 20
	tagCount       = 50
)

// weight tells how much an event holds.
type weight string

const (
	light weight = "light" // a description of 40 words, one venue, category and tag
	heavy weight = "heavy" // heavyText characters, an organizer too, one or two categories and tags: 1.7 kB of JSON as it is sent, answers of 5.6 kB
)

// Lengths of a heavy description and excerpt in characters.
const (
	heavyText    = 880
	heavyExcerpt = 460
)

// change is one line of the import form.
type change struct {
	Action string         `json:"action"`
	Kind   string         `json:"kind"`
	Key    string         `json:"key"`
	At     string         `json:"at"`
	Fields map[string]any `json:"fields"`
}

type maker struct {
	rng    *rand.Rand
	weight weight // "" is light
}

func newMaker(seed uint64) *maker { return &maker{rng: rand.New(rand.NewPCG(seed, 11))} }

func (m *maker) words(n int) string {
	w := make([]string, n)
	for i := range w {
		w[i] = words[m.rng.IntN(len(words))]
	}
	return strings.Join(w, " ")
}

// name makes one of 4,096 names.
func (m *maker) name() string {
	some := func() string { return syllables[m.rng.IntN(len(syllables))] }
	first := some()
	return strings.ToUpper(first[:1]) + first[1:] + some() + some()
}

// text makes sentences of so many characters.
func (m *maker) text(characters int) string {
	var b strings.Builder
	b.Grow(characters + 32)
	for b.Len() < characters {
		fmt.Fprintf(&b, "%s %s %s %s, ", m.words(2), glue[m.rng.IntN(len(glue))], m.name(), m.words(1))
	}
	return b.String()[:characters-1] + "."
}

// description makes that of an event.
func (m *maker) description() string {
	if m.weight == heavy {
		return m.text(heavyText)
	}
	return m.words(40)
}

// links gives an event its venue and terms, and a heavy one an organizer; of makes
// the link to the i-th record of a kind.
func (m *maker) links(e map[string]any, of func(kind string, i int) any) {
	some := func(kind string, n int) []any {
		out := []any{of(kind, m.rng.IntN(n))}
		if m.weight == heavy && m.rng.IntN(2) == 0 {
			out = append(out, of(kind, m.rng.IntN(n)))
		}
		return out
	}
	e["venue"] = of("venue", m.rng.IntN(venueCount))
	e["categories"], e["tags"] = some("category", categoryCount), some("tag", tagCount)
	if m.weight == heavy {
		e["organizer"] = of("organizer", m.rng.IntN(organizerCount))
	}
}

// event makes the fields of one event within two years around a day.
func (m *maker) event(i int, day time.Time) map[string]any {
	start := day.AddDate(0, 0, m.rng.IntN(730)-180).Add(time.Duration(32+m.rng.IntN(50)) * 15 * time.Minute)
	e := map[string]any{
		"title":       fmt.Sprintf("%s %d", m.words(3), i),
		"description": m.description(), "excerpt": m.words(8),
		"start_date": start.Format(time.DateTime), "end_date": start.Add(2 * time.Hour).Format(time.DateTime),
		"cost": fmt.Sprintf("$%d", m.rng.IntN(60)), "website": fmt.Sprintf("https://tickets.example/%d", i),
		"featured": m.rng.IntN(20) == 0,
	}
	if m.weight == heavy {
		e["excerpt"] = m.text(heavyExcerpt)
		e["website"] = fmt.Sprintf("https://tickets.example/%d/%s?event=%d", start.Year(), strings.ReplaceAll(m.words(6), " ", "-"), i)
		e["timezone"] = "America/New_York"
	}
	return e
}

// fill writes a calendar of n events in the import form.
func fill(path string, n int, day time.Time, of weight) error {
	return writeLines(path, func(enc *json.Encoder) error { return fillLines(enc, n, day, of) })
}

// writeLines makes a file of lines of JSON.
func writeLines(path string, write func(enc *json.Encoder) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(write(json.NewEncoder(w)), w.Flush())
}

func fillLines(enc *json.Encoder, n int, day time.Time, of weight) error {
	m := newMaker(uint64(n))
	m.weight = of
	at := day.AddDate(0, 0, -200).Format(time.RFC3339)
	put := func(kind, key string, fields map[string]any) error {
		return enc.Encode(change{"create", kind, key, at, fields})
	}
	for i := range categoryCount {
		if err := put("category", fmt.Sprintf("c%d", i), map[string]any{"name": fmt.Sprintf("Category %d", i)}); err != nil {
			return err
		}
	}
	for i := range tagCount {
		if err := put("tag", fmt.Sprintf("t%d", i), map[string]any{"name": fmt.Sprintf("Tag %d", i)}); err != nil {
			return err
		}
	}
	for i := range venueCount {
		v := map[string]any{
			"venue": fmt.Sprintf("%s hall %d", m.words(1), i), "city": "Boston", "country": "United States",
			"geo_lat": 42 + m.rng.Float64()*4, "geo_lng": -71 - m.rng.Float64()*4,
		}
		if of == heavy {
			v["address"], v["zip"] = fmt.Sprintf("%d %s street", 1+m.rng.IntN(400), m.name()), fmt.Sprintf("02%03d", m.rng.IntN(1000))
			v["phone"] = fmt.Sprintf("+1 617 555 %04d", i)
		}
		if err := put("venue", fmt.Sprintf("v%d", i), v); err != nil {
			return err
		}
	}
	if of == heavy {
		for i := range organizerCount {
			if err := put("organizer", fmt.Sprintf("o%d", i), map[string]any{
				"organizer": fmt.Sprintf("%s society %d", m.words(1), i), "phone": fmt.Sprintf("+1 617 554 %04d", i),
				"website": fmt.Sprintf("https://society.example/%d", i), "email": fmt.Sprintf("office-%d@society.example", i),
			}); err != nil {
				return err
			}
		}
	}
	for i := range n {
		e := m.event(i, day)
		m.links(e, func(kind string, i int) any {
			return map[string]string{"key": fmt.Sprintf("%c%d", kind[0], i)} // kinds begin with letters of their own
		})
		if err := put("event", fmt.Sprintf("e%d", i), e); err != nil {
			return err
		}
	}
	return nil
}

// fillChanges writes a log of n changes in the import form: new events, a hundredth of
// them, then changes of their titles in turn.
func fillChanges(path string, n int) error {
	return writeLines(path, func(enc *json.Encoder) error { return changeLines(enc, n) })
}

func changeLines(enc *json.Encoder, n int) error {
	m := newMaker(uint64(n))
	day := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	at, events := day.Format(time.RFC3339), max(1, n/100)
	for i := range n {
		line := change{"create", "event", fmt.Sprintf("e%d", i%events), at, nil}
		if i < events {
			line.Fields = m.event(i, day)
		} else {
			line.Action, line.Fields = "update", map[string]any{"title": fmt.Sprintf("%s, changed %d", m.words(2), i)}
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
