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
	town := new(Town)
	return town, decode(data, town)
}

func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// Writer carries out the writes; *command.Service is one.
type Writer interface {
	Create(ctx context.Context, request command.Request) (command.Result, error)
	Update(ctx context.Context, request command.Request) (command.Result, error)
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

// Highlights is what is worth a look.
type Highlights struct {
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
	instant    time.Time
	kind       calendar.Kind
	language   calendar.Lang
	record     *record
	by, reason string
	input      calendar.Input
}

type span struct{ from, to time.Time }

// maker plans all writes. Its days and clocks are those of the town, kept in UTC.
type maker struct {
	*Town
	options Options
	random  *rand.Rand
	now     time.Time
	writes  []write
	events  int
	load    map[time.Time]int      // events by day
	short   map[time.Time]int      // those of a few hours, by their day
	taken   map[string][]span      // of venues
	days    map[*event][]time.Time // of events of a kind
	named   map[string]*record     // "venue/hall", "parent/Music", "event/moved"
}

// Fill makes terms, venues and organizers, then the events and what changed in them, in
// the order of time.
func (town *Town) Fill(ctx context.Context, writer Writer, options Options) (*Highlights, error) {
	m := &maker{
		Town: town, options: options, random: rand.New(rand.NewPCG(uint64(options.Seed), 0x9e3779b97f4a7c15)),
		load: map[time.Time]int{}, short: map[time.Time]int{}, taken: map[string][]span{}, days: map[*event][]time.Time{}, named: map[string]*record{},
	}
	zone, err := time.LoadLocation(town.Settings["timezone"])
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	_, offset := options.Now.In(zone).Zone()
	m.now = options.Now.UTC().Add(time.Duration(offset) * time.Second)
	m.places()
	if err := m.schedule(); err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	slices.SortStableFunc(m.writes, func(a, b write) int { return a.instant.Compare(b.instant) })
	for rest := m.writes; len(rest) > 0; {
		count := batch(rest)
		if err := m.carryOut(ctx, writer, rest[:count]); err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		rest = rest[count:]
	}
	locked := m.named["event/protected"]
	return &Highlights{Moved: m.named["event/moved"].id, Locked: locked.slug, Password: fmt.Sprint(locked.password)}, nil
}

// batch is how many writes may be carried out together: of different records, none of
// which is linked from another.
func batch(writes []write) int {
	seen := map[*record]bool{}
	for count, write := range writes {
		if seen[write.record] || write.kind != writes[0].kind || write.input["parent"] != writes[0].input["parent"] || count == maxBatch {
			return count
		}
		seen[write.record] = true
	}
	return len(writes)
}

// carryOut carries out writes together: the store takes them in few commits.
func (maker *maker) carryOut(ctx context.Context, writer Writer, writes []write) error {
	errs := make([]error, len(writes))
	var all sync.WaitGroup
	for i, write := range writes {
		all.Go(func() { errs[i] = maker.write(ctx, writer, write) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// write carries out a write, with ids in the place of names.
func (maker *maker) write(ctx context.Context, writer Writer, write write) error {
	for _, field := range []string{"venue", "organizer", "parent"} {
		if name, ok := write.input[field].(string); ok && maker.named[field+"/"+name] != nil {
			write.input[field] = json.Number(maker.named[field+"/"+name].id.String())
		}
	}
	request := command.Request{
		Kind: write.kind, Lang: write.language, Input: write.input, Caller: maker.options.Callers[write.by], At: write.instant.Add(maker.options.Now.Sub(maker.now)),
		Cause: eventstore.Cause{Client: "daybook demo", Reason: write.reason},
	}
	do := writer.Create
	if write.record.id != 0 {
		do, request.Target.ID = writer.Update, write.record.id
	}
	done, err := do(ctx, request)
	if err == nil {
		write.record.id, write.record.slug = done.Record.ID, done.Record.Slug()
	}
	return err
}

// today is the day of now.
func (maker *maker) today() time.Time { return maker.now.Truncate(24 * time.Hour) }

// places plans terms, venues and organizers. Events come after them.
func (maker *maker) places() {
	instant := maker.today().AddDate(0, 0, -160)
	add := func(kind calendar.Kind, field, name string, input calendar.Input) *record {
		of := new(record)
		maker.named[field+"/"+name] = of
		maker.writes = append(maker.writes, write{instant: instant, kind: kind, language: calendar.LangEN, record: of, by: maker.Users[0], input: input})
		return of
	}
	for _, c := range maker.Categories {
		input := calendar.Input{"name": c.Names[calendar.LangEN], "description": c.About}
		if c.Parent != "" {
			input["parent"] = c.Parent
		}
		of := add(calendar.KindCategory, "parent", c.Names[calendar.LangEN], input)
		for _, language := range calendar.Langs {
			if language != calendar.LangEN {
				maker.writes = append(maker.writes, write{instant: instant.Add(time.Duration(language+1) * time.Minute), kind: calendar.KindCategory, language: language, record: of, by: maker.Users[0], input: calendar.Input{"name": c.Names[language]}})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(maker.Venues)) {
		input := maps.Clone(maker.Venues[name])
		maps.Copy(input, maker.Place)
		add(calendar.KindVenue, "venue", name, input)
	}
	for _, name := range slices.Sorted(maps.Keys(maker.Organizers)) {
		add(calendar.KindOrganizer, "organizer", name, maps.Clone(maker.Organizers[name]))
	}
}

// schedule plans the events of 14 months: those with a day of their own; then, from two
// weeks ago and the first of this month to the end of the next, as many as a town has; then
// the rest here and there.
func (maker *maker) schedule() error {
	month := time.Date(maker.now.Year(), maker.now.Month(), 1, 0, 0, 0, 0, time.UTC)
	first, last := month.AddDate(0, -2, 0), month.AddDate(0, 12, 0)
	for i := range maker.Fixed {
		event := &maker.Fixed[i]
		day := maker.today().AddDate(0, 0, 7*event.Week+event.Day-(int(maker.now.Weekday())+6)%7-1)
		if event.Date != "" {
			of, err := time.Parse(time.DateOnly, first.Format("2006-")+event.Date)
			if err != nil {
				return err
			}
			if day = of; day.Before(first) {
				day = day.AddDate(1, 0, 0)
			}
		}
		if err := maker.add(event, day, ""); err != nil {
			return err
		}
	}
	from, to := month, month.AddDate(0, 2, 0)
	if ago := maker.today().AddDate(0, 0, -14); ago.Before(from) {
		from = ago
	}
	for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
		wanted := [7]int{6, 1, 1, 2, 2, 3, 6}[day.Weekday()]
		for found := true; found && (maker.short[day] < wanted || wanted == 6 && maker.load[day] < 9); {
			var err error
			if found, err = maker.pick(day); err != nil {
				return err
			}
		}
	}
	for tries := 0; maker.events < Events; tries++ {
		day := between(first, from, maker.random.Float64())
		if maker.random.IntN(4) > 0 {
			number := maker.random.Float64()
			day = between(to, last, number*number) // the further away, the less is known
		}
		if weekend := day.Weekday()%6 == 0; maker.load[day] > 5 || !weekend && maker.random.IntN(4) > 0 {
			continue
		}
		if _, err := maker.pick(day); err != nil {
			return err
		}
		if tries > 100*Events {
			return fmt.Errorf("%d events only fit", maker.events)
		}
	}
	return nil
}

// between returns the day after a fraction of some days.
func between(from, to time.Time, fraction float64) time.Time {
	return from.AddDate(0, 0, int(fraction*to.Sub(from).Hours()/24))
}

// pick plans an event on a day, of the kind that has the most left of those that suit.
func (maker *maker) pick(day time.Time) (bool, error) {
	var best *event
	least := 2.0
	for i := range maker.Kinds {
		e := &maker.Kinds[i]
		start := day.Add(clock(e.Start))
		end := start.Add(time.Duration(e.Minutes) * time.Minute)
		used := len(maker.days[e])
		near := func(moment time.Time) bool { return moment.Sub(day).Abs() < 5*24*time.Hour }
		meets := func(s span) bool { return s.from.Before(end) && start.Before(s.to) }
		if used == len(e.With) || !strings.Contains(e.Weekdays, strconv.Itoa(int(day.Weekday()))) || len(e.Months) > 0 && !slices.Contains(e.Months, int(day.Month())) ||
			slices.ContainsFunc(maker.days[e], near) || slices.ContainsFunc(maker.taken[e.Venue], meets) {
			continue
		}
		if score := float64(used)/float64(len(e.With)) + maker.random.Float64()/3; score < least {
			best, least = e, score
		}
	}
	if best == nil {
		return false, nil
	}
	maker.days[best] = append(maker.days[best], day)
	return true, maker.add(best, day, best.With[len(maker.days[best])-1])
}

// clock reads a time of day, as 19:30.
func clock(text string) time.Duration {
	instant, _ := time.Parse("15:04", text)
	return time.Duration(instant.Hour())*time.Hour + time.Duration(instant.Minute())*time.Minute
}

// add plans an event and what changes in it.
func (maker *maker) add(event *event, day time.Time, with string) error {
	parts := strings.Split(with, "|")
	words := make([]string, 0, 2*len(parts))
	for i, part := range parts {
		words = append(words, fmt.Sprintf("{%d}", i+1), part)
	}
	input := func(raw json.RawMessage) (in calendar.Input, err error) {
		return in, decode([]byte(strings.NewReplacer(words...).Replace(string(raw))), &in)
	}
	in, err := input(event.Event)
	if err != nil {
		return err
	}
	start := day.Add(clock(event.Start))
	end := start.Add(time.Duration(event.Minutes) * time.Minute)
	if event.Days > 0 {
		end = start.AddDate(0, 0, event.Days-1)
	} else {
		maker.short[day]++
		maker.taken[event.Venue] = append(maker.taken[event.Venue], span{start, end})
	}
	for moment := day; !moment.After(end); moment = moment.AddDate(0, 0, 1) {
		maker.load[moment]++
	}
	when := func(in calendar.Input) {
		in["start_date"], in["end_date"] = start.Format(time.DateTime), end.Format(time.DateTime)
	}
	when(in)
	in["timezone"] = maker.Settings["timezone"]
	if event.Venue != "" {
		in["venue"] = event.Venue
	}
	if event.Picture != "" && maker.options.Pictures != "" {
		in["image"] = maker.options.Pictures + event.Picture + ".svg"
	}
	maker.events++
	instant := maker.today()
	if start.Before(instant) {
		instant = day
	}
	instant = instant.AddDate(0, 0, -cmp.Or(event.Lead, 14+maker.random.IntN(40))).Add(time.Duration(9*60+maker.random.IntN(9*60)) * time.Minute)
	language, _ := calendar.ParseLang(cmp.Or(event.Lang, "en"))
	user := maker.random.IntN(len(maker.Users))
	of := &record{password: in["password"]}
	if event.Key != "" {
		maker.named["event/"+event.Key] = of
	}
	maker.writes = append(maker.writes, write{instant: instant, kind: calendar.KindEvent, language: language, record: of, by: maker.Users[user], input: in})
	if with == "" || maker.events%2 == 0 || language != calendar.LangEN {
		for _, l := range calendar.Langs {
			if raw := event.Texts[l.String()]; raw != nil {
				in, err := input(raw)
				if err != nil {
					return err
				}
				maker.writes = append(maker.writes, write{instant: instant.AddDate(0, 0, 1).Add(time.Duration(7*l) * time.Minute), kind: calendar.KindEvent, language: l, record: of, by: maker.Users[(user+1)%len(maker.Users)], input: in})
			}
		}
	}
	for _, step := range event.Steps {
		if with != "" && maker.events%3 > 0 {
			break
		}
		in := calendar.Input{}
		maps.Copy(in, step.Set)
		if step.Days != 0 || step.Earlier != 0 {
			by := time.Duration(step.Days*24*60-step.Earlier) * time.Minute
			start, end = start.Add(by), end.Add(by)
			when(in)
		}
		maker.writes = append(maker.writes, write{instant: instant.AddDate(0, 0, step.After).Add(time.Duration(maker.random.IntN(120)) * time.Minute), kind: calendar.KindEvent, language: language, record: of, by: step.By, reason: step.Reason, input: in})
	}
	return nil
}
