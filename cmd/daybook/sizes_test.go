package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"daybook/internal/testkit"
)

// TestSizes holds the same calendar in both sizes, made of the conference history
// and of what it lacks: generated list requests get the same bytes from the
// memory image, from Elasticsearch and from OpenSearch. An import straight into
// PostgreSQL ends as one into a data directory does.
func TestSizes(t *testing.T) {
	t.Parallel()
	binary := plainBinary(t)
	lines := conferenceLines(t, binary)
	data := filepath.Join(t.TempDir(), "data")
	store, carried := testkit.Postgres(t)
	_, imported := testkit.Postgres(t)
	nats, feedPrefix := testkit.NATS(t)
	index, prefix := testkit.Elasticsearch(t)
	other, otherPrefix := testkit.OpenSearch(t)
	shared := []string{"--store", store, "--store-schema", carried, "--feed", nats, "--feed-prefix", feedPrefix}

	var wg sync.WaitGroup
	wg.Go(func() { importLines(t, binary, []string{"--store", store, "--store-schema", imported}, lines, 0) })
	importLines(t, binary, inDir(data), lines, 0)
	wg.Wait()
	if t.Failed() {
		return
	}
	if d := gocmp.Diff(endState(t, binary, inDir(data)), endState(t, binary, []string{"--store", store, "--store-schema", imported})); d != "" {
		t.Errorf("the end in PostgreSQL differs (-directory +PostgreSQL):\n%.4000s", d)
	}

	start := func(args ...string) *server {
		t.Helper()
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), binary, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
		return startServerOf(t, cmd, "", child(t.Context()).Env)
	}
	token := strings.TrimSpace(mustTool(t, "user", "add", "generator", "--role", "administrator", "--data", data))
	s := start(inDir(data)...)
	s.token = token
	enrich(t, s)
	s.drain()
	mustTool(t, "migrate", "--to", store, "--store-schema", carried, "--data", data)
	chain := mustTool(t, "verify", "--data", data)
	if got := mustTool(t, "verify", "--store", store, "--store-schema", carried); got != chain {
		t.Errorf("verify of the copy: %q, want %q", got, chain)
	}

	a := start(inDir(data)...)
	elasticsearch := start(append(shared, "--index", index, "--index-prefix", prefix)...)
	openSearch := start(append(shared, "--index", other, "--index-prefix", otherPrefix, "--index-flavour", flavourOpenSearch)...)
	a.token, elasticsearch.token, openSearch.token = token, token, token
	t.Run(flavourElasticsearch, func(t *testing.T) { t.Parallel(); sameAnswers(t, a, elasticsearch, 500) })
	t.Run(flavourOpenSearch, func(t *testing.T) { t.Parallel(); sameAnswers(t, a, openSearch, 500) })
}

// enrich adds what the conference history lacks: places with coordinates,
// organizers, translations, all statuses, protected, hidden and featured events,
// edits, trash.
func enrich(t *testing.T, s *server) {
	t.Helper()
	post := func(path string, body map[string]any) string {
		t.Helper()
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return idOf(s.want(http.StatusCreated, "POST", path, s.token, string(b)))
	}
	type obj = map[string]any
	var venues, organizers []string
	for i, p := range []obj{
		{"venue": "Halle Tony Garnier", "city": "Lyon", "country": "France", "geo_lat": 45.7318, "geo_lng": 4.8231},
		{"venue": "Le Transbordeur", "city": "Villeurbanne", "geo_lat": 45.7840, "geo_lng": 4.8610},
		{"venue": "Cité de la musique", "city": "Paris", "geo_lat": 48.8890, "geo_lng": 2.3940, "website": "https://music.example.org"},
		{"venue": "Teatro Real", "city": "Madrid", "geo_lat": 40.4183, "geo_lng": -3.7103},
		{"venue": "东方明珠", "city": "上海", "geo_lat": 31.2397, "geo_lng": 121.4998},
		{"venue": "Date line", "geo_lat": 0, "geo_lng": -179.9999},
		{"venue": "Private cellar", "status": "private", "geo_lat": 45.75, "geo_lng": 4.85},
	} {
		venues = append(venues, post("/venues", p))
		organizers = append(organizers, post("/organizers", obj{
			"organizer": fmt.Sprintf("Orchestra %d", i), "email": fmt.Sprintf("o%d@example.org", i), "phone": fmt.Sprintf("+33 4 00 0%d", i),
		}))
	}
	parent := post("/categories", obj{"name": "Musique & danse", "slug": "musique"})
	child := post("/categories", obj{"name": "Été", "parent": json.Number(parent)})
	tag := post("/tags", obj{"name": "gratuit"})
	statuses := []string{"publish", "publish", "publish", "draft", "pending", "private", "future"}
	var last string
	for i := range 70 {
		e := obj{
			"title":      fmt.Sprintf("Concert de l'été %d", i),
			"start_date": fmt.Sprintf("20%02d-%02d-%02d 19:30:00", 20+i%9, 1+i%12, 1+i%28),
			"end_date":   fmt.Sprintf("20%02d-%02d-%02d 23:00:00", 20+i%9, 1+i%12, 1+i%28),
			"status":     statuses[i%len(statuses)],
			"venue":      json.Number(venues[i%len(venues)]),
			"organizer":  json.Number(organizers[(i*3)%len(organizers)]),
			"categories": json.Number([]string{parent, child}[i%2]),
		}
		if e["status"] == "future" {
			e["date"] = "2031-01-01 00:00:00"
		}
		if i%3 == 0 {
			e["tags"] = json.Number(tag)
		}
		if i%5 == 0 {
			e["description"] = "<p>Musique <b>de chambre</b> 东京 & co.</p>"
			e["multilang_language"] = []string{"fr", "es", "cn", "en"}[i/5%4]
		}
		if i%7 == 1 {
			e["featured"] = true
		}
		if i%11 == 2 {
			e["hide_from_listings"] = true
		}
		if i%13 == 3 {
			e["password"] = "sesame"
		}
		if i%9 == 4 {
			e["timezone"] = []string{"Asia/Tokyo", "America/New_York", "UTC+5.5"}[i/9%3]
		}
		if i%10 == 6 && last != "" {
			e["post_parent"] = json.Number(last)
		}
		last = post("/events", e)
		if i%4 == 1 {
			s.want(http.StatusOK, "PATCH", "/events/"+last, s.token, `{"excerpt":"changed","cost":"10-20"}`)
		}
		if i%17 == 5 {
			s.want(http.StatusOK, "DELETE", "/events/"+last, s.token, "")
		}
	}
	s.want(http.StatusOK, "PATCH", "/venues/"+venues[1], s.token, `{"venue":"Le Transbordeur renommé"}`)
	s.want(http.StatusOK, "DELETE", "/organizers/"+organizers[6], s.token, "")
}

// sameAnswers sends generated list requests to two services that hold the same
// calendar and wants the same status, bytes and headers from both.
func sameAnswers(t *testing.T, a, b *server, requests int) {
	t.Helper()
	g := newGenerator(readVocabulary(t, a), 2026)
	// The ETag of a list names the content that it was made of, and that is another
	// one in each read model.
	compared := []string{
		"Content-Type", "Content-Language", "X-Total", "X-Totalpages", "Link", "Daybook-Position", "Vary", "Allow",
		"Cache-Control", "Last-Modified", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Retry-After",
	}
	statuses, records := map[int]int{}, 0
	for n := range requests {
		r := g.next()
		var token string
		if r.known {
			token = a.token
		}
		ask := func(s *server) (int, http.Header, []byte) {
			return s.full("GET", s.host+r.path, token, "", map[string]string{"Host": "calendar.example.org"})
		}
		statusA, headerA, bodyA := ask(a)
		statusB, headerB, bodyB := ask(b)
		if day(headerA) != day(headerB) { // midnight came between them, and with it another window
			statusA, headerA, bodyA = ask(a)
		}
		statuses[statusA]++
		if statusA != statusB || !bytes.Equal(bodyA, bodyB) {
			t.Errorf("request %d, GET %s, known %t: %d and %d\n%.1500s\n%.1500s", n, r.path, r.known, statusA, statusB, bodyA, bodyB)
			continue
		}
		for _, h := range compared {
			if !slices.Equal(headerA.Values(h), headerB.Values(h)) {
				t.Errorf("request %d, GET %s, known %t: %s %q and %q", n, r.path, r.known, h, headerA.Values(h), headerB.Values(h))
			}
		}
		records += bytes.Count(bodyA, []byte(`"rest_url"`))
	}
	t.Logf("%d requests: statuses %v, %d links in answers", requests, statuses, records)
	if statuses[http.StatusOK] < requests/2 || statuses[http.StatusBadRequest] == 0 || records < requests {
		t.Errorf("the requests ask too little: statuses %v, %d links in answers", statuses, records)
	}
}

// day is the day on which an answer was made.
func day(h http.Header) string {
	d := h.Get("Date")
	return d[:min(len(d), len("Mon, 02 Jan 2006"))]
}
