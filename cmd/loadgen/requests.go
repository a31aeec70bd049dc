package main

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// What texts consist of: topics, what stands between them, and syllables, three of which
// make one of 4,096 names, so that texts are indexed and compressed like real ones.
var (
	topics = strings.Fields(`quay harbor river garden market concert reading festival workshop picnic theatre
gallery orchestra quartet sculpture lantern parade regatta marathon cinema puppet tango ballet opera choir brass
folk jazz blues swing poetry novel history science robotics telescope botany ceramics weaving chess lecture debate
exhibition auction bakery vineyard orchard meadow forest mountain island bridge castle tower chapel library museum
archive station arcade terrace courtyard pavilion studio laboratory observatory greenhouse aquarium playground`)
	connectives = strings.Split("of the|in the|and|with a|to the|for all|at|by the|is|on a", "|")
	syllables   = strings.Fields("ka ro mel tin bra vos dun gar lei sha fen ulm ost wil pra qui")
)

func pick[T any](from []T) T { return from[rand.IntN(len(from))] }

func today() time.Time { return time.Now().UTC().Truncate(24 * time.Hour) }

func digits(n int64) string { return strconv.FormatInt(n, 10) }

// commas makes a list for a URL of a printed slice.
func commas(slice any) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(slice), " ", ","), "[]")
}

// headerNames is more than a mebibyte of names.
var headerNames = sync.OnceValue(func() string {
	numbers := make([]int, 200_000)
	for i := range numbers {
		numbers[i] = i
	}
	return strings.ReplaceAll(commas(numbers), ",", ",x")
})

// target is what requests are made of.
type target struct {
	Root, Host string // of the interface; scheme and host
	Head       int64  // a position
	IDs        map[string][]int64

	turn atomic.Int64
	seen atomic.Int64 // position of the newest answer to an attacker
}

// expand replaces names like $n in a text: by another number each time, words, times, ids of
// records of a kind, and ${60} by a number below 60.
func (t *target) expand(text string) string {
	turn := t.turn.Add(1)
	start := today().AddDate(0, 0, int(turn*7919%730)-180).Add(time.Duration(32+turn%50) * 15 * time.Minute)
	ahead := today().Add(time.Duration(turn*7919%500_000) * time.Minute)
	var value func(name string) string
	value = func(name string) string {
		switch name {
		case "$":
			return name
		case "root":
			return t.Root
		case "path":
			return strings.TrimPrefix(t.Root, t.Host)
		case "host":
			return t.Host
		case "n":
			return digits(turn)
		case "word":
			return pick(topics)
		case "name":
			return pick(syllables) + pick(syllables) + pick(syllables)
		case "start":
			return start.Format(time.DateTime)
		case "end":
			return start.Add(2 * time.Hour).Format(time.DateTime)
		case "featured":
			return strconv.FormatBool(turn%20 == 0)
		case "minute": // of the year ahead
			return url.QueryEscape(ahead.Format(time.DateTime))
		case "month": // after it
			return url.QueryEscape(ahead.AddDate(0, 1, 0).Format(time.DateTime))
		case "search":
			return pick(topics) + "+" + strings.Repeat(pick(topics)+"+", int(turn%2)) + value("10")
		case "filter": // one of 500
			return [2]string{"venue=" + value("venue"), "categories=" + value("category")}[max(0, 20-turn%500)/20]
		case "head":
			return digits(t.Head)
		case "position":
			return digits(1 + turn*7919%t.Head)
		case "soon":
			return digits(t.seen.Load() + 1 + turn%50)
		case "ids":
			ids := make([]int64, 1000)
			for i := range ids {
				ids[i] = turn*31%100_000 + int64(i)
			}
			return commas(ids)
		case "all":
			return commas(t.IDs["large"])
		case "names":
			return headerNames()[:[2]int{60 << 10, 1<<20 - 2<<10}[turn%2]]
		case "basic":
			return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s:wrong-%d", [2]string{"loadgen", value("name")}[turn%2], turn))
		}
		if length, ok := strings.CutPrefix(name, "text"); ok {
			var b strings.Builder
			for b.Len() < must(strconv.Atoi(length)) {
				b.WriteString(value("word") + " " + value("word") + " " + pick(connectives) + " " + value("name") + " " + value("word") + ", ")
			}
			return b.String()[:must(strconv.Atoi(length))-1] + "."
		}
		if ids := t.IDs[name]; len(ids) > 0 {
			return digits(pick(ids))
		}
		return strconv.Itoa(rand.IntN(must(strconv.Atoi(name))))
	}
	return os.Expand(text, value)
}

//go:embed records.txt
var records string

// recordTexts returns kind, collection, number and fields of the records of a kind, "" for those
// that events link to.
func recordTexts(kind string) (texts [][]string) {
	for line := range strings.Lines(records) {
		if text := strings.SplitN(strings.TrimSpace(line), " ", 4); text[0] == kind || kind == "" && text[1] != "-" {
			texts = append(texts, text)
		}
	}
	return texts
}

// writeImport writes a calendar of so many events of a weight as lines for daybook import.
func writeImport(path, weight string, events int) {
	f := must(os.Create(path))
	t := &target{}
	create := func(kind string, i int, fields string) {
		must(fmt.Fprintf(f, `{"action":"create","kind":%q,"key":"%s-%d","at":%q,"fields":%s}`+"\n", kind, kind, i, today().AddDate(0, 0, -200).Format(time.RFC3339), t.expand(fields)))
	}
	links := make([]string, 0, 8)
	for _, text := range recordTexts("") {
		for i := range must(strconv.Atoi(text[2])) {
			create(text[0], i, text[3])
		}
		links = append(links, "$"+text[0], fmt.Sprintf(`{"key":"%s-${%s}"}`, text[0], text[2]))
	}
	for i := range events {
		create("event", i, strings.NewReplacer(links...).Replace(pick(recordTexts(weight))[3]))
	}
	check(f.Close())
}
