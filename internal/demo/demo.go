// Package demo makes up a plausible calendar: the same seed and day give the
// same calendar. It is for trying the service and for benchmarks, never for
// tests that need exact values.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
)

// Writer carries out the writes; *command.Service is one.
type Writer interface {
	Create(ctx context.Context, r command.Request) (command.Result, error)
	Update(ctx context.Context, r command.Request) (command.Result, error)
}

// Options of Fill; Events and Now are needed.
type Options struct {
	Seed   int64
	Events int // number of events
	// Now is the day around which the events lie: a quarter before, the rest
	// within the year after.
	Now    time.Time
	Caller calendar.Caller // author of everything; an administrator
	// Parallel is how many writers make events at once; 0: 1. With more than
	// one the ids differ from run to run.
	Parallel int
	// Plain leaves out the later edits and the translations.
	Plain bool
}

type maker struct {
	w    Writer
	o    Options
	rng  *rand.Rand
	day  time.Time
	refs struct{ venues, organizers []calendar.ID }
}

// Fill makes venues, organizers and terms, then the events, then a few edits of
// some of them.
func Fill(ctx context.Context, w Writer, o Options) error {
	m := &maker{w: w, o: o, rng: rand.New(rand.NewPCG(uint64(o.Seed), 0x9e3779b97f4a7c15))}
	y, mo, d := o.Now.UTC().Date()
	m.day = time.Date(y, mo, d, 0, 0, 0, 0, time.UTC)
	if err := m.terms(ctx); err != nil {
		return fmt.Errorf("demo terms: %w", err)
	}
	if err := m.places(ctx); err != nil {
		return fmt.Errorf("demo venues: %w", err)
	}
	if err := m.events(ctx); err != nil {
		return fmt.Errorf("demo events: %w", err)
	}
	return nil
}

// settled is how long ago terms and venues were made; events come after them.
const settled = 90 * 24 * time.Hour

func (m *maker) request(k calendar.Kind, l calendar.Lang, in calendar.Input) command.Request {
	return command.Request{
		Kind: k, Lang: l, Input: in, Caller: m.o.Caller, At: m.o.Now.Add(-settled),
		Cause: eventstore.Cause{Client: "daybook demo"},
	}
}

func (m *maker) create(ctx context.Context, k calendar.Kind, l calendar.Lang, in calendar.Input) (calendar.ID, error) {
	r, err := m.w.Create(ctx, m.request(k, l, in))
	if err != nil {
		return 0, err
	}
	return r.Record.ID, nil
}

func (m *maker) translate(ctx context.Context, k calendar.Kind, id calendar.ID, texts map[calendar.Lang]calendar.Input) error {
	if m.o.Plain {
		return nil
	}
	for _, l := range calendar.Langs {
		if in, ok := texts[l]; ok {
			r := m.request(k, l, in)
			r.Target.ID = id
			if _, err := m.w.Update(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *maker) terms(ctx context.Context) error {
	parents := make(map[string]calendar.ID)
	for _, c := range categories {
		in := calendar.Input{"name": c.names[calendar.LangEN], "description": c.about}
		if c.parent != "" {
			in["parent"] = json.Number(parents[c.parent].String())
		}
		id, err := m.create(ctx, calendar.KindCategory, calendar.LangEN, in)
		if err != nil {
			var e *calendar.Error
			if errors.As(err, &e) && e.Code == calendar.CodeTermExists {
				id = e.TermID
			} else {
				return err
			}
		}
		parents[c.names[calendar.LangEN]] = id
		texts := make(map[calendar.Lang]calendar.Input)
		for _, l := range calendar.Langs {
			if l != calendar.LangEN && c.names[l] != "" {
				texts[l] = calendar.Input{"name": c.names[l]}
			}
		}
		if err := m.translate(ctx, calendar.KindCategory, id, texts); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) places(ctx context.Context) error {
	for _, c := range cities {
		for _, h := range c.halls {
			jitter := func() float64 { return (m.rng.Float64() - 0.5) / 50 }
			id, err := m.create(ctx, calendar.KindVenue, c.lang, calendar.Input{
				"venue": h, "city": c.name, "country": c.country,
				"address": fmt.Sprintf("%d %s", 1+m.rng.IntN(180), c.street), "zip": fmt.Sprintf("%05d", 10000+m.rng.IntN(80000)),
				"geo_lat": json.Number(fmt.Sprintf("%.4f", c.lat+jitter())), "geo_lng": json.Number(fmt.Sprintf("%.4f", c.lng+jitter())),
				"website": fmt.Sprintf("https://venue-%d.example", len(m.refs.venues)+1),
			})
			if err != nil {
				return err
			}
			m.refs.venues = append(m.refs.venues, id)
		}
	}
	for i, o := range organizers {
		id, err := m.create(ctx, calendar.KindOrganizer, o.lang, calendar.Input{
			"organizer": o.name, "email": fmt.Sprintf("hello%d@organizer.example", i+1), "phone": fmt.Sprintf("+1 555 01%02d", i),
			"description": o.about,
		})
		if err != nil {
			return err
		}
		m.refs.organizers = append(m.refs.organizers, id)
	}
	return nil
}

// plan is one event decided before it is written, so that parallel writers do
// not disturb the order of random numbers.
type plan struct {
	at    time.Time // moment of the first write; edits follow day by day
	lang  calendar.Lang
	in    calendar.Input
	texts map[calendar.Lang]calendar.Input
	edits []calendar.Input
}

func (m *maker) events(ctx context.Context) error {
	workers := max(m.o.Parallel, 1)
	plans := make(chan plan)
	errs := make(chan error, workers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range workers {
		go func() {
			var err error
			for p := range plans {
				if err = m.write(ctx, p); err != nil {
					cancel()
					break
				}
			}
			errs <- err
		}()
	}
feed:
	for i := range m.o.Events {
		select {
		case plans <- m.plan(i):
		case <-ctx.Done():
			break feed
		}
	}
	close(plans)
	var all error
	for range workers {
		all = errors.Join(all, <-errs)
	}
	return all
}

func (m *maker) write(ctx context.Context, p plan) error {
	r := m.request(calendar.KindEvent, p.lang, p.in)
	r.At = p.at
	made, err := m.w.Create(ctx, r)
	if err != nil {
		return err
	}
	edit := func(l calendar.Lang, in calendar.Input) error {
		p.at = p.at.Add(26 * time.Hour)
		r := m.request(calendar.KindEvent, l, in)
		r.Target.ID, r.At = made.Record.ID, p.at
		_, err := m.w.Update(ctx, r)
		return err
	}
	for _, l := range calendar.Langs {
		if in, ok := p.texts[l]; ok {
			if err := edit(l, in); err != nil {
				return err
			}
		}
	}
	for _, e := range p.edits {
		if err := edit(p.lang, e); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) plan(i int) plan {
	c := &cities[m.rng.IntN(len(cities))]
	t := &themes[m.rng.IntN(len(themes))]
	venue := 0
	for j := range cities {
		if &cities[j] == c {
			venue += m.rng.IntN(len(c.halls))
			break
		}
		venue += len(cities[j].halls)
	}
	lang := c.lang
	start := m.day.AddDate(0, 0, m.rng.IntN(365)-90).Add(time.Duration(36+m.rng.IntN(48)) * 15 * time.Minute)
	end := start.Add(time.Duration(4+m.rng.IntN(16)) * 15 * time.Minute)
	title := fmt.Sprintf(t.title[lang], c.name)
	if m.o.Events > 500 || i%7 == 3 {
		title = fmt.Sprintf("%s %d", title, 1+i/len(themes))
	}
	in := calendar.Input{
		"title": title, "description": t.about[lang] + "\n\n" + closing[lang], "excerpt": t.about[lang],
		"start_date": start.Format(time.DateTime), "end_date": end.Format(time.DateTime), "timezone": c.zone,
		"all_day": m.rng.IntN(8) == 0, "featured": m.rng.IntN(12) == 0,
		"venue": json.Number(m.refs.venues[venue].String()), "categories": t.category,
		"organizer": json.Number(m.refs.organizers[m.rng.IntN(len(m.refs.organizers))].String()),
		"website":   fmt.Sprintf("https://tickets.example/%d", i+1),
	}
	switch m.rng.IntN(4) {
	case 0:
		in["cost"] = "0"
	case 1:
		in["cost"] = fmt.Sprintf("%s%d", c.currency, 5+m.rng.IntN(40))
	case 2:
		low := 5 + m.rng.IntN(20)
		in["cost"] = []any{fmt.Sprintf("%s%d", c.currency, low), fmt.Sprintf("%s%d", c.currency, low+5+m.rng.IntN(30))}
		in["ticketed"] = true
	}
	tag := []any{tags[m.rng.IntN(len(tags))]}
	if m.rng.IntN(2) == 0 {
		tag = append(tag, tags[m.rng.IntN(len(tags))])
	}
	in["tags"] = tag
	p := plan{at: m.o.Now.Add(-time.Duration(10*24+m.rng.IntN(70*24)) * time.Hour), lang: lang, in: in, texts: make(map[calendar.Lang]calendar.Input)}
	if m.o.Plain {
		return p
	}
	for _, l := range calendar.Langs {
		if l != lang && (l == calendar.LangEN || m.rng.IntN(3) == 0) {
			p.texts[l] = calendar.Input{"title": fmt.Sprintf(t.title[l], c.name), "description": t.about[l]}
		}
	}
	switch m.rng.IntN(6) {
	case 0:
		p.edits = append(p.edits, calendar.Input{"start_date": start.Add(time.Hour).Format(time.DateTime), "end_date": end.Add(time.Hour).Format(time.DateTime)})
	case 1:
		p.edits = append(p.edits, calendar.Input{"title": title + " ★"}, calendar.Input{"featured": true})
	case 2:
		p.edits = append(p.edits, calendar.Input{"cost": "free"})
	default:
		p.edits = append(p.edits, calendar.Input{"excerpt": t.about[lang] + " " + closing[lang]})
	}
	return p
}
