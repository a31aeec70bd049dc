package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/internal/importer"
)

// inDir names the store in a data directory.
func inDir(data string) []string { return []string{"--data", data} }

// importLines has the binary import lines from its standard input. With
// killAfter above 0 it is killed once that many bytes were handed to it.
func importLines(t *testing.T, on []string, lines []byte, killAfter int) importer.Report {
	t.Helper()
	cmd := plainChild(t, append([]string{"import", "-", "--source", "conferences", "--json"}, on...)...)
	var out, errText bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errText
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	if killAfter > 0 {
		if _, err := in.Write(lines[:killAfter]); err != nil {
			t.Errorf("hand over lines: %v", err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Errorf("kill: %v", err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("the import ended before it was killed")
		}
		return importer.Report{}
	}
	_, _ = in.Write(lines)
	_ = in.Close()
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != exitRefusals) {
		t.Fatalf("import: %v\n%s", err, errText.String())
	}
	var outcome importer.Report
	if err := json.Unmarshal(out.Bytes(), &outcome); err != nil {
		t.Fatalf("import printed %q: %v", out.String(), err)
	}
	return outcome
}

// TestConferenceHistory imports the real history as a user would, killed three times on the
// way, and compares records and lists with a fold over the file that knows nothing of the
// service, now and at random instants.
func TestConferenceHistory(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	lines := conferenceLines(t)
	data := filepath.Join(t.TempDir(), "data")
	at := 0
	for range 3 {
		at += 1 + rand.IntN(len(lines)/4)
		importLines(t, inDir(data), lines, at)
	}
	imported := importLines(t, inDir(data), lines, 0)
	if t.Failed() {
		return
	}
	if imported.Repeated == 0 {
		t.Errorf("the last import repeated nothing, so no kill hit a running import: %+v", imported)
	}
	folded := fold(t, lines)
	live, impossible := folded.live, folded.impossible
	if len(live) != 6787 {
		t.Errorf("%d conferences live by the file, want 6787", len(live))
	}
	if int64(len(imported.Refused)*100) >= imported.Lines {
		t.Errorf("%d lines refused of %d, want less than 1 %%", len(imported.Refused), imported.Lines)
	}
	var refused []string
	for _, refusal := range imported.Refused {
		refused = append(refused, refusal.Key)
		if refusal.Line == 0 || refusal.Reason == "" {
			t.Errorf("a refusal without line or reason: %+v", refusal)
		}
	}
	if text := cmp.Diff(impossible, refused); text != "" {
		t.Errorf("refused lines (-want +got):\n%s\n%+v", text, imported.Refused)
	}
	if out, err := plainChild(t, "verify", "--data", data).CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
	token := auditor(t, inDir(data))
	server := startServer(t, "serve", "--data", data)
	compareLists(t, server, live)
	server.token = token
	comparePast(t, server, lines)
}

// conference is one that lives at the end of lines of an import.
type conference struct {
	title, venue, topic string
	start, end          string // YYYY-MM-DD
	tags                []string
}

// folding follows the lines of an import: which conferences live after them, by key, and
// the keys of the lines that no calendar can take: their dates are none or the wrong way
// round, or nothing is there.
type folding struct {
	live       map[string]*conference
	names      map[string]string // of venues, categories and tags, by key
	impossible []string
}

func fold(t *testing.T, lines []byte) *folding {
	t.Helper()
	f := &folding{live: map[string]*conference{}, names: map[string]string{}}
	for line := range bytes.Lines(lines) {
		f.take(t, line)
	}
	return f
}

func (folding *folding) take(t *testing.T, line []byte) {
	t.Helper()
	type reference struct{ Key string }
	name := func(references []reference) (out []string) {
		for _, r := range references {
			out = append(out, folding.names[r.Key])
		}
		return out
	}
	var l struct {
		Action, Kind, Key string
		Fields            json.RawMessage
	}
	var event struct {
		Title            string
		Start            string `json:"start_date"`
		End              string `json:"end_date"`
		Venue            json.RawMessage
		Categories, Tags []reference
	}
	var other struct{ Name, Venue string }
	fields := any(&other)
	if json.Unmarshal(line, &l) != nil {
		t.Fatalf("line %.200s", line)
	}
	if l.Kind == "event" {
		fields = &event
	}
	if l.Fields != nil {
		must(t, json.Unmarshal(l.Fields, fields))
	}
	switch {
	case l.Kind != "event":
		folding.names[l.Key] = html.UnescapeString(other.Name + other.Venue)
	case l.Action == importer.ActionDelete:
		if folding.live[l.Key] == nil {
			folding.impossible = append(folding.impossible, l.Key)
		}
		delete(folding.live, l.Key)
	case !isDay(event.Start) || !isDay(event.End) || event.End < event.Start:
		folding.impossible = append(folding.impossible, l.Key)
	default:
		c := &conference{
			title: html.UnescapeString(event.Title), start: event.Start, end: event.End, tags: name(event.Tags), topic: strings.Join(name(event.Categories), ""),
		}
		var venue reference
		if json.Unmarshal(event.Venue, &venue) == nil { // else it is an empty list
			c.venue = folding.names[venue.Key]
		}
		folding.live[l.Key] = c
	}
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// instantsOfThePast is how many instants the past is looked at: each fills an image, so
// 100 of them, which DAYBOOK_INSTANTS=100 asks for, take minutes.
func instantsOfThePast(t *testing.T) int {
	t.Helper()
	asked, given := os.LookupEnv("DAYBOOK_INSTANTS")
	if !given {
		return 3
	}
	n, err := strconv.Atoi(asked)
	if err != nil {
		t.Fatalf("DAYBOOK_INSTANTS: %v", err)
	}
	return n
}

// TestConferencePast: at random instants of the first eighth of the history lists and single
// reads by an auditor are what a count over the file says, also on servers (HISTORY 20.16).
func TestConferencePast(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	lines, size := conferenceLines(t), newSize(t)
	lines = lines[:bytes.IndexByte(lines[len(lines)/8:], '\n')+len(lines)/8+1] // the whole is played by TestConferenceHistory
	store := size.on(nil, "store")
	importLines(t, store, lines, 0)
	token := auditor(t, store)
	cmd := plainChild(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, size.args...)...)
	server := startServerOf(t, cmd, "", cmd.Env)
	server.token = token
	comparePast(t, server, lines)
}

// auditor returns the token of a new auditor.
func auditor(t *testing.T, store []string) string {
	t.Helper()
	return strings.TrimSpace(mustTool(t, append([]string{"user", "add", "looker", "--role", "auditor"}, store...)...))
}

// comparePast holds the past by an auditor against a count over the file.
func comparePast(t *testing.T, server *server, lines []byte) {
	t.Helper()
	type moved struct {
		instant time.Time
		line    []byte
	}
	var all []moved
	for line := range bytes.Lines(lines) {
		var l struct{ At importer.Moment }
		must(t, json.Unmarshal(line, &l))
		all = append(all, moved{l.At.Time, line})
	}
	first, last := all[0].instant, all[len(all)-1].instant
	if first.IsZero() || !slices.IsSortedFunc(all, func(a, b moved) int { return a.instant.Compare(b.instant) }) {
		t.Fatal("the lines have no moments that rise")
	}
	instants := make([]time.Time, instantsOfThePast(t))
	for i := range instants {
		instants[i] = first.Add(time.Duration(rand.Int64N(int64(last.Sub(first)) + 1))).Truncate(time.Millisecond)
		if i%2 == 0 { // to the second of a change
			instants[i] = all[rand.IntN(len(all))].instant
		}
	}
	slices.SortFunc(instants, time.Time.Compare) // so that the file is gone through once
	seen := map[string]bool{}                    // events of all lists until then
	folding := fold(t, nil)
	for _, instant := range instants {
		for len(all) > 0 && !all[0].instant.After(instant) {
			folding.take(t, all[0].line)
			all = all[1:]
		}
		point := "as_of=" + instant.UTC().Format("2006-01-02T15:04:05.000Z")
		want := make([]string, 0, len(folding.live))
		for _, conference := range folding.live {
			want = append(want, conference.told())
		}
		slices.Sort(want)
		const perPage = 50
		page := 1 + rand.IntN(max(1, (len(want)+perPage-1)/perPage))
		if len(want) == 0 {
			continue // before the first event
		}
		path := fmt.Sprintf("/events?ends_after=1900-01-01&per_page=%d&page=%d&%s", perPage, page, point)
		eventually(t, "the list of "+point, func() bool { // a busy machine takes longer than a request may
			status, _ := server.try("GET", server.root+path, server.token, "")
			return status != http.StatusServiceUnavailable
		})
		got := server.want(200, "GET", path, server.token, "")
		if got["total"] != float64(len(want)) {
			t.Fatalf("%s: %v events, want %d", point, got["total"], len(want))
		}
		listed := got["events"].([]any)
		if n := min(perPage, len(want)-(page-1)*perPage); len(listed) != n {
			t.Errorf("%s: %d events on page %d, want %d", point, len(listed), page, n)
		}
		for i, value := range listed {
			e := value.(map[string]any)
			told := toldOf(e)
			// Events of one day are in the order of their ids, which the file does not know.
			if _, there := slices.BinarySearch(want, told); !there || told[:len(time.DateOnly)] != want[(page-1)*perPage+i][:len(time.DateOnly)] {
				t.Errorf("%s: page %d has %s, which the file has not so or not there", point, page, told)
			}
			seen[idOf(e)] = true
		}
		for range 5 {
			e := listed[rand.IntN(len(listed))].(map[string]any)
			if single := server.want(200, "GET", "/events/"+idOf(e)+"?"+point, server.token, ""); toldOf(single) != toldOf(e) {
				t.Errorf("%s: event %s alone is %s, want %s", point, idOf(e), toldOf(single), toldOf(e))
			}
		}
		// What was listed before lives now or is removed.
		n := 0
		for id := range seen {
			if n++; n > 5 {
				break
			}
			status, data := server.try("GET", server.root+"/events/"+id+"?"+point, server.token, "")
			var single map[string]any
			must(t, json.Unmarshal(data, &single))
			switch _, there := slices.BinarySearch(want, toldOf(single)); {
			case status == 404 && single["code"] == "rest-event-not-found":
			case status != 200 || !there && single["status"] != "trash":
				t.Errorf("%s: event %s is %d %.300s", point, id, status, data)
			}
		}
	}
	if len(seen) == 0 {
		t.Errorf("nothing lives at any of %v", instants)
	}
}

// told is what comparePast compares of a conference, its first day first.
func (conference *conference) told() string {
	return strings.Join([]string{conference.start, conference.end, conference.title, conference.venue}, "|")
}

// toldOf is told of an event as it is answered.
func toldOf(e map[string]any) string {
	text := func(value any) string { s, _ := value.(string); return html.UnescapeString(s) }
	day := func(value any) string { d, _, _ := strings.Cut(text(value), " "); return d }
	venue, _ := e["venue"].(map[string]any) // else it is an empty list
	return strings.Join([]string{day(e["start_date"]), day(e["end_date"]), text(e["title"]), text(venue["venue"])}, "|")
}

// compareLists holds lists of the service against a count over the file.
func compareLists(t *testing.T, server *server, live map[string]*conference) {
	t.Helper()
	all := make([]*conference, 0, len(live))
	for _, key := range slices.Sorted(maps.Keys(live)) {
		all = append(all, live[key])
	}
	count := func(fits func(*conference) bool) (n float64) {
		for _, l := range all {
			if fits(l) {
				n++
			}
		}
		return n
	}
	total := func(params string) float64 {
		return server.want(200, "GET", "/events?per_page=1&"+params, "", "")["total"].(float64)
	}
	check := func(params string, fits func(*conference) bool) {
		t.Helper()
		if got, want := total(params), count(fits); got != want {
			t.Errorf("%s: got %v events, want %v", params, got, want)
		}
	}
	const ever = "ends_after=1900-01-01"
	check(ever, func(*conference) bool { return true })

	topics, tags, places := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, l := range all {
		topics[l.topic] = true
		for _, tag := range l.tags {
			tags[tag] = true
		}
		places[l.venue]++
	}
	for topic := range topics {
		check(ever+"&categories="+url.QueryEscape(topic), func(l *conference) bool { return l.topic == topic })
	}
	for tag := range tags {
		check(ever+"&tags="+url.QueryEscape(tag), func(l *conference) bool { return slices.Contains(l.tags, tag) })
	}

	venues := make(map[string]string) // name → id
	for page, pages := 1, 1.0; float64(page) <= pages; page++ {
		list := server.want(200, "GET", fmt.Sprintf("/venues?per_page=100&page=%d", page), "", "")
		pages = list["total_pages"].(float64)
		for _, value := range list["venues"].([]any) {
			v := value.(map[string]any)
			venues[v["venue"].(string)] = idOf(v)
		}
	}
	checked := 0
	for p, n := range places {
		if p == "" || n < 3 || checked > 60 {
			continue
		}
		id, ok := venues[strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(p)]
		if !ok {
			t.Errorf("no venue %q", p)
			continue
		}
		checked++
		check(ever+"&venue="+id, func(l *conference) bool { return l.venue == p })
	}
	if checked < 30 {
		t.Errorf("only %d venues were compared", checked)
	}
}
