// Package demo makes up the calendar of a harbor town, for trying the service. The same
// seed and day make the same calendar, but for its ids.
package demo

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
)

//go:embed town.json pictures
var files embed.FS

// Pictures returns the illustrations of the events, as NAME.svg.
func Pictures() fs.FS {
	sub, _ := fs.Sub(files, "pictures") // the name is valid
	return sub
}

// Town is the place and what happens there.
type Town struct {
	Settings map[string]string // that suit it, by name
	Home     [len(calendar.Langs)]string
	Users    []string // who keep the calendar

	Place      calendar.Input // fields of every venue
	Categories []struct {
		Names         [len(calendar.Langs)]string
		About, Parent string
	}
	Venues, Organizers map[string]calendar.Input
	Fixed, Kinds       []event
}

// event is an event with a day of its own, or a kind of events: one for each text of With,
// on days that suit.
type event struct {
	Key            string // of what Filled names
	Venue, Picture string
	Lang           string // of its texts, "": English

	Week, Day int    // weeks after this one, and day from Monday on
	Date      string // month and day, in the place of Week and Day
	Days      int    // of an all-day event
	Lead      int    // days from its first entry on; 0: some weeks

	Weekdays string // of a kind, 0 is Sunday
	Months   []int  // of a kind; none: all
	With     []string

	Start   string
	Minutes int
	Event   json.RawMessage // may hold {1}, {2} … for the parts of a text of With
	Texts   map[string]json.RawMessage
	Steps   []step
}

// step is a later change.
type step struct {
	After         int // days after the first entry
	By, Reason    string
	Days, Earlier int // by which start and end move; Earlier in minutes
	Set           calendar.Input
}

// Read returns the town.
func Read() (*Town, error) {
	data, err := files.ReadFile("town.json")
	if err != nil {
		return nil, err
	}
	t := new(Town)
	return t, decode(data, t)
}

func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// Writer carries out the writes; *command.Service is one.
type Writer interface {
	Create(ctx context.Context, r command.Request) (command.Result, error)
	Update(ctx context.Context, r command.Request) (command.Result, error)
}

// Options of Fill; Seed and Pictures may be zero.
type Options struct {
	Seed     int64
	Now      time.Time
	Callers  map[string]calendar.Caller // Users of the town, with the right to all
	Pictures string                     // URL of the folder of Pictures; "": none
}

// Events is how many events there are, over 14 months.
const Events = 400

// Filled is what is worth a look.
type Filled struct {
	Moved            calendar.ID // an event with a long history
	Locked, Password string      // slug of a protected event, and what opens it
}

// maxBatch is how many writes are carried out together.
const maxBatch = 16

// record is what several writes are about; it has an id and a slug once it was created.
type record struct {
	id       calendar.ID
	slug     string
	password any
}

// write is one write of the plan.
type write struct {
	at         time.Time
	kind       calendar.Kind
	lang       calendar.Lang
	of         *record
	by, reason string
	in         calendar.Input
}

type span struct{ from, to time.Time }

// maker plans all writes. Its days and clocks are those of the town, kept in UTC.
type maker struct {
	*Town
	o      Options
	rng    *rand.Rand
	now    time.Time
	writes []write
	events int
	load   map[time.Time]int      // events by day
	short  map[time.Time]int      // those of a few hours, by their day
	taken  map[string][]span      // of venues
	days   map[*event][]time.Time // of events of a kind
	named  map[string]*record     // "venue/hall", "parent/Music", "event/moved"
}

// Fill makes terms, venues and organizers, then the events and what changed in them, in
// the order of time.
func (t *Town) Fill(ctx context.Context, writer Writer, options Options) (*Filled, error) {
	m := &maker{
		Town: t, o: options, rng: rand.New(rand.NewPCG(uint64(options.Seed), 0x9e3779b97f4a7c15)),
		load: map[time.Time]int{}, short: map[time.Time]int{}, taken: map[string][]span{}, days: map[*event][]time.Time{}, named: map[string]*record{},
	}
	zone, err := time.LoadLocation(t.Settings["timezone"])
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	_, offset := options.Now.In(zone).Zone()
	m.now = options.Now.UTC().Add(time.Duration(offset) * time.Second)
	m.places()
	if err := m.schedule(); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	slices.SortStableFunc(m.writes, func(a, b write) int { return a.at.Compare(b.at) })
	for rest := m.writes; len(rest) > 0; {
		n := batch(rest)
		if err := m.carryOut(ctx, writer, rest[:n]); err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		rest = rest[n:]
	}
	locked := m.named["event/protected"]
	return &Filled{Moved: m.named["event/moved"].id, Locked: locked.slug, Password: fmt.Sprint(locked.password)}, nil
}

// batch is how many writes may be carried out together: of different records, none of
// which is linked from another.
func batch(writes []write) int {
	seen := map[*record]bool{}
	for n, p := range writes {
		if seen[p.of] || p.kind != writes[0].kind || p.in["parent"] != writes[0].in["parent"] || n == maxBatch {
			return n
		}
		seen[p.of] = true
	}
	return len(writes)
}

// carryOut carries out writes together: the store takes them in few commits.
func (m *maker) carryOut(ctx context.Context, writer Writer, writes []write) error {
	errs := make([]error, len(writes))
	var all sync.WaitGroup
	for i, p := range writes {
		all.Go(func() { errs[i] = m.write(ctx, writer, p) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// write carries out a write, with ids in the place of names.
func (m *maker) write(ctx context.Context, writer Writer, p write) error {
	for _, field := range []string{"venue", "organizer", "parent"} {
		if name, ok := p.in[field].(string); ok && m.named[field+"/"+name] != nil {
			p.in[field] = json.Number(m.named[field+"/"+name].id.String())
		}
	}
	request := command.Request{
		Kind: p.kind, Lang: p.lang, Input: p.in, Caller: m.o.Callers[p.by], At: p.at.Add(m.o.Now.Sub(m.now)),
		Cause: eventstore.Cause{Client: "daybook demo", Reason: p.reason},
	}
	do := writer.Create
	if p.of.id != 0 {
		do, request.Target.ID = writer.Update, p.of.id
	}
	done, err := do(ctx, request)
	if err == nil {
		p.of.id, p.of.slug = done.Record.ID, done.Record.Slug()
	}
	return err
}

// today is the day of now.
func (m *maker) today() time.Time { return m.now.Truncate(24 * time.Hour) }

// places plans terms, venues and organizers. Events come after them.
func (m *maker) places() {
	at := m.today().AddDate(0, 0, -160)
	add := func(k calendar.Kind, field, name string, in calendar.Input) *record {
		of := new(record)
		m.named[field+"/"+name] = of
		m.writes = append(m.writes, write{at: at, kind: k, lang: calendar.LangEN, of: of, by: m.Users[0], in: in})
		return of
	}
	for _, c := range m.Categories {
		in := calendar.Input{"name": c.Names[calendar.LangEN], "description": c.About}
		if c.Parent != "" {
			in["parent"] = c.Parent
		}
		of := add(calendar.KindCategory, "parent", c.Names[calendar.LangEN], in)
		for _, l := range calendar.Langs {
			if l != calendar.LangEN {
				m.writes = append(m.writes, write{at: at.Add(time.Duration(l+1) * time.Minute), kind: calendar.KindCategory, lang: l, of: of, by: m.Users[0], in: calendar.Input{"name": c.Names[l]}})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Venues)) {
		in := maps.Clone(m.Venues[name])
		maps.Copy(in, m.Place)
		add(calendar.KindVenue, "venue", name, in)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Organizers)) {
		add(calendar.KindOrganizer, "organizer", name, maps.Clone(m.Organizers[name]))
	}
}

// schedule plans the events of 14 months: those with a day of their own; then, from two
// weeks ago and the first of this month to the end of the next, as many as a town has; then
// the rest here and there.
func (m *maker) schedule() error {
	month := time.Date(m.now.Year(), m.now.Month(), 1, 0, 0, 0, 0, time.UTC)
	first, last := month.AddDate(0, -2, 0), month.AddDate(0, 12, 0)
	for i := range m.Fixed {
		event := &m.Fixed[i]
		day := m.today().AddDate(0, 0, 7*event.Week+event.Day-(int(m.now.Weekday())+6)%7-1)
		if event.Date != "" {
			of, err := time.Parse(time.DateOnly, first.Format("2006-")+event.Date)
			if err != nil {
				return err
			}
			if day = of; day.Before(first) {
				day = day.AddDate(1, 0, 0)
			}
		}
		if err := m.add(event, day, ""); err != nil {
			return err
		}
	}
	from, to := month, month.AddDate(0, 2, 0)
	if ago := m.today().AddDate(0, 0, -14); ago.Before(from) {
		from = ago
	}
	for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
		wanted := [7]int{6, 1, 1, 2, 2, 3, 6}[day.Weekday()]
		for found := true; found && (m.short[day] < wanted || wanted == 6 && m.load[day] < 9); {
			var err error
			if found, err = m.pick(day); err != nil {
				return err
			}
		}
	}
	for tries := 0; m.events < Events; tries++ {
		day := between(first, from, m.rng.Float64())
		if m.rng.IntN(4) > 0 {
			f := m.rng.Float64()
			day = between(to, last, f*f) // the further away, the less is known
		}
		if weekend := day.Weekday()%6 == 0; m.load[day] > 5 || !weekend && m.rng.IntN(4) > 0 {
			continue
		}
		if _, err := m.pick(day); err != nil {
			return err
		}
		if tries > 100*Events {
			return fmt.Errorf("%d events only fit", m.events)
		}
	}
	return nil
}

// between returns the day after a fraction of some days.
func between(from, to time.Time, fraction float64) time.Time {
	return from.AddDate(0, 0, int(fraction*to.Sub(from).Hours()/24))
}

// pick plans an event on a day, of the kind that has the most left of those that suit.
func (m *maker) pick(day time.Time) (bool, error) {
	var best *event
	least := 2.0
	for i := range m.Kinds {
		e := &m.Kinds[i]
		start := day.Add(clock(e.Start))
		end := start.Add(time.Duration(e.Minutes) * time.Minute)
		used := len(m.days[e])
		near := func(moment time.Time) bool { return moment.Sub(day).Abs() < 5*24*time.Hour }
		meets := func(s span) bool { return s.from.Before(end) && start.Before(s.to) }
		if used == len(e.With) || !strings.Contains(e.Weekdays, strconv.Itoa(int(day.Weekday()))) || len(e.Months) > 0 && !slices.Contains(e.Months, int(day.Month())) ||
			slices.ContainsFunc(m.days[e], near) || slices.ContainsFunc(m.taken[e.Venue], meets) {
			continue
		}
		if score := float64(used)/float64(len(e.With)) + m.rng.Float64()/3; score < least {
			best, least = e, score
		}
	}
	if best == nil {
		return false, nil
	}
	m.days[best] = append(m.days[best], day)
	return true, m.add(best, day, best.With[len(m.days[best])-1])
}

// clock reads a time of day, as 19:30.
func clock(text string) time.Duration {
	t, _ := time.Parse("15:04", text)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
}

// add plans an event and what changes in it.
func (m *maker) add(e *event, day time.Time, with string) error {
	parts := strings.Split(with, "|")
	words := make([]string, 0, 2*len(parts))
	for i, part := range parts {
		words = append(words, fmt.Sprintf("{%d}", i+1), part)
	}
	input := func(raw json.RawMessage) (in calendar.Input, err error) {
		return in, decode([]byte(strings.NewReplacer(words...).Replace(string(raw))), &in)
	}
	in, err := input(e.Event)
	if err != nil {
		return err
	}
	start := day.Add(clock(e.Start))
	end := start.Add(time.Duration(e.Minutes) * time.Minute)
	if e.Days > 0 {
		end = start.AddDate(0, 0, e.Days-1)
	} else {
		m.short[day]++
		m.taken[e.Venue] = append(m.taken[e.Venue], span{start, end})
	}
	for moment := day; !moment.After(end); moment = moment.AddDate(0, 0, 1) {
		m.load[moment]++
	}
	when := func(in calendar.Input) {
		in["start_date"], in["end_date"] = start.Format(time.DateTime), end.Format(time.DateTime)
	}
	when(in)
	in["timezone"] = m.Settings["timezone"]
	if e.Venue != "" {
		in["venue"] = e.Venue
	}
	if e.Picture != "" && m.o.Pictures != "" {
		in["image"] = m.o.Pictures + e.Picture + ".svg"
	}
	m.events++
	at := m.today()
	if start.Before(at) {
		at = day
	}
	at = at.AddDate(0, 0, -cmp.Or(e.Lead, 14+m.rng.IntN(40))).Add(time.Duration(9*60+m.rng.IntN(9*60)) * time.Minute)
	lang, _ := calendar.ParseLang(cmp.Or(e.Lang, "en"))
	user := m.rng.IntN(len(m.Users))
	of := &record{password: in["password"]}
	if e.Key != "" {
		m.named["event/"+e.Key] = of
	}
	m.writes = append(m.writes, write{at: at, kind: calendar.KindEvent, lang: lang, of: of, by: m.Users[user], in: in})
	if with == "" || m.events%2 == 0 || lang != calendar.LangEN {
		for _, l := range calendar.Langs {
			if raw := e.Texts[l.String()]; raw != nil {
				in, err := input(raw)
				if err != nil {
					return err
				}
				m.writes = append(m.writes, write{at: at.AddDate(0, 0, 1).Add(time.Duration(7*l) * time.Minute), kind: calendar.KindEvent, lang: l, of: of, by: m.Users[(user+1)%len(m.Users)], in: in})
			}
		}
	}
	for _, step := range e.Steps {
		if with != "" && m.events%3 > 0 {
			break
		}
		in := calendar.Input{}
		maps.Copy(in, step.Set)
		if step.Days != 0 || step.Earlier != 0 {
			by := time.Duration(step.Days*24*60-step.Earlier) * time.Minute
			start, end = start.Add(by), end.Add(by)
			when(in)
		}
		m.writes = append(m.writes, write{at: at.AddDate(0, 0, step.After).Add(time.Duration(m.rng.IntN(120)) * time.Minute), kind: calendar.KindEvent, lang: lang, of: of, by: step.By, reason: step.Reason, in: in})
	}
	return nil
}
