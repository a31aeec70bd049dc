package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// playWorld makes the service that a play names in its first line.
func playWorld(t *testing.T, name string) *world.World {
	t.Helper()
	options := world.Options{Wait: time.Millisecond}
	switch name {
	case "service", "brief":
	case "aged":
		options.HTTP.ReadMaxAge = 60
	case "few":
		options.HTTP.CalendarLimit = 9
	case "views":
		return viewsWorld(t, pages.Options{})
	case "alone":
		return viewsWorld(t, pages.Options{NoExternalLinks: true})
	default:
		options.Pages, options.Unchecked = &pages.Options{}, true
		switch name {
		case "pages":
		case "cairo":
			options.Site = zoneOf(t, "Africa/Cairo")
		case "proofs":
			options.HTTP.PublicHistory = httpapi.PublicHistoryProofs
		case "none":
			options.HTTP.PublicHistory = httpapi.PublicHistoryNone
		case "euro":
			options.Site, options.HTTP.Currency = newYork(t), calendar.Currency{Symbol: "€", Position: "postfix", Code: "EUR"}
		case "policies":
			options.Pages = &pages.Options{
				Images: []string{"img.example.org"}, Tiles: "https://{s}.t.example/{z}/{x}/{y}.png", TileHosts: []string{"a", "b"}, TilesBy: "© <Mappers>",
				Embed: []string{"https://www.example.org"}, NoRobots: true, MaxAge: -1,
			}
		default:
			t.Fatalf("no world %q", name)
		}
	}
	return world.New(t, options)
}

// TestPlays plays every file of testdata/plays. Its form is described in README.md there.
func TestPlays(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	files, err := filepath.Glob("testdata/plays/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no plays", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		for _, name := range strings.Fields(first)[1:] {
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				t.Parallel()
				play(t, playWorld(t, name), file)
			})
		}
	}
}

// player plays one file.
type player struct {
	t       *testing.T
	w       *world.World
	at      string                     // file and line
	answers map[string]*world.Response // by their names
}

var (
	playName   = regexp.MustCompile(`^([a-z][\w-]*) = `)
	playValue  = regexp.MustCompile(`\$\{([\w-]+)\.([\w.]+)\}|\$([a-z]\w*)`)
	playChoice = regexp.MustCompile(`\{([^{}]*\|[^{}]*)\}`)
	playTimes  = regexp.MustCompile(`(.)×(\d+)`)
	playEscape = regexp.MustCompile(`\\u[0-9a-f]{4}`)
	playHeader = regexp.MustCompile(`^[A-Z][\w-]*: `)
)

// play plays a file in a world and returns the answers that have names.
func play(t *testing.T, w *world.World, file string) map[string]*world.Response {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t, w, file, map[string]*world.Response{}}
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); {
		first, scene := i, []string{lines[i]}
		for i++; i < len(lines) && strings.HasPrefix(lines[i], "\t"); i++ {
			scene = append(scene, strings.TrimSpace(lines[i]))
		}
		p.at = fmt.Sprintf("%s:%d", file, first+1)
		p.scene(scene[0], scene[1:])
	}
	return p.answers
}

// scene plays a line that is not indented and the indented ones below it.
func (p *player) scene(line string, below []string) {
	p.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "", "#", "world":
		if len(below) > 0 {
			p.t.Fatalf("%s: checks of no answer", p.at)
		}
	case "clock":
		duration, err := time.ParseDuration(rest)
		if err != nil {
			p.t.Fatal(p.at, err)
		}
		p.w.Clock.Add(duration)
	case "erase":
		for _, kind := range calendar.Kinds {
			if strings.HasPrefix(p.fill("$"+rest), "/"+kind.Collection()+"/") {
				_, err := p.w.Commands.Erase(p.t.Context(), command.Erasure{Kind: kind, ID: p.answers[rest].ID(), Reason: "asked for"})
				if err != nil {
					p.t.Fatal(p.at, err)
				}
			}
		}
	case "include":
		maps.Copy(p.answers, play(p.t, p.w, rest))
	default:
		name := ""
		if texts := playName.FindStringSubmatch(line); texts != nil {
			name, line = texts[1], line[len(texts[0]):]
		}
		if line[0] == '/' {
			line = "nobody PAGE " + line
		}
		want := ""
		if i := strings.LastIndex(line, " => "); i >= 0 {
			line, want = line[:i], line[i+len(" => "):]
		}
		parts := append(strings.SplitN(line, " ", 4), "", "")
		for _, head := range choices(p.fill(strings.Join(parts[:min(3, len(parts)-2)], " "))) {
			response := p.ask(strings.Split(head, " "), p.fill(parts[3]), p.fill(want), below)
			for _, check := range below {
				if !strings.HasPrefix(check, "> ") {
					p.check(response, p.fill(check))
				}
			}
			if name != "" {
				p.answers[name] = response
			}
		}
	}
}

// repeated puts a hundred x in the place of x×100.
func repeated(text string) string {
	return playTimes.ReplaceAllStringFunc(text, func(found string) string {
		texts := playTimes.FindStringSubmatch(found)
		n, _ := strconv.Atoi(texts[2])
		return strings.Repeat(texts[1], n)
	})
}

// fill puts values in the place of $name and ${name.value}, and of x×100 a hundred x.
func (p *player) fill(text string) string {
	return playValue.ReplaceAllStringFunc(repeated(text), func(found string) string {
		texts := playValue.FindStringSubmatch(found)
		response := p.answers[texts[1]+texts[3]]
		switch {
		case texts[3] == "base":
			return world.Base
		case texts[3] == "root":
			return world.Base + world.Root
		case texts[3] == "head":
			return fmt.Sprint(p.w.Head())
		case response == nil:
			p.t.Fatalf("%s: nothing has the name %s", p.at, found)
		case texts[2] == "etag":
			return response.ETag()
		case texts[2] != "":
			return fmt.Sprint(lookup(response.JSON(), texts[2]))
		}
		to, _, _ := strings.Cut(response.Request, "?")
		return to[strings.LastIndex(to, "/"):] + "/" + itoa(response.ID())
	})
}

// choices are the texts that {a|b} stands for.
func choices(text string) (out []string) {
	at := playChoice.FindStringSubmatchIndex(text)
	if at == nil {
		return []string{text}
	}
	for choice := range strings.SplitSeq(text[at[2]:at[3]], "|") {
		out = append(out, choices(text[:at[0]]+choice+text[at[1]:])...)
	}
	return out
}

// ask sends a request of client, method and path.
func (p *player) ask(head []string, body, want string, below []string) *world.Response {
	p.t.Helper()
	who, lang, _ := strings.Cut(head[0], "/")
	other, isOther := strings.CutPrefix(who, "other-")
	role, known := calendar.ParseRole(other)
	client := p.w.As(role)
	if isOther {
		client = p.w.AsOther(role)
	}
	if client = client.In(p.t); lang != "" {
		l, _ := calendar.ParseLang(lang)
		client = client.Under(l)
	}
	if !known && who != "nobody" || len(head) < 3 {
		p.t.Fatalf("%s: no request: %q", p.at, head)
	}
	for _, line := range below {
		if header, is := strings.CutPrefix(line, "> "); is {
			name, value, _ := strings.Cut(p.fill(header)+" ", ": ")
			client = client.With(name, strings.TrimSpace(value))
		}
	}
	var (
		method, path = head[1], strings.TrimPrefix(head[2], ".")
		sent         any
		response     *world.Response
		page         = method == "PAGE"
	)
	if body != "" {
		sent = strings.ReplaceAll(body, `\xff`, "\xff")
	}
	switch method {
	case "PAGE":
		response = client.With("Accept", "text/html").Get("/" + path)
	case "EVENT":
		more := obj{}
		title, fields, _ := strings.Cut(strings.TrimSpace(path+" "+body), " {")
		if fields != "" {
			p.decode("{"+fields, &more)
		}
		response = client.Event(title, more)
	default:
		response = client.Do(method, path, sent)
	}
	status, rest, _ := strings.Cut(want, " ")
	code, _ := strconv.Atoi(status)
	switch {
	case want == "" && (method == "EVENT" || method == "POST"):
		response.Want(201)
	case want == "":
		response.Want(200)
	case status == "bad":
		response.WantBad(strings.Fields(rest)...)
	case rest == "":
		response.Want(code)
	case code < 400:
		if got := response.Want(code).Header.Get("Location"); got != rest {
			p.t.Errorf("%s: %s leads to %s, want %s", p.at, response.Request, got, rest)
		}
	case page:
		has(p.t, response.Want(code), `data-code="`+rest+`"`)
	default:
		response.WantCode(code, rest)
	}
	return response
}

func (p *player) decode(text string, into any) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		p.t.Fatalf("%s: %v: %s", p.at, err, text)
	}
}

// check holds an answer against a line.
func (p *player) check(response *world.Response, line string) {
	p.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	if word == "+" || word == "-" || word == "<" {
		rest = playEscape.ReplaceAllStringFunc(rest, func(s string) string {
			n, _ := strconv.ParseUint(s[2:], 16, 32)
			return string(rune(n))
		})
	}
	var (
		got, path, want string
		equal           bool
	)
	cut := func(text string) {
		var part bool
		if path, want, equal = strings.Cut(text+" ", " = "); !equal {
			path, want, part = strings.Cut(text, " ~ ")
		}
		if want = strings.TrimSpace(want); !equal && !part {
			p.t.Fatalf("%s: no check: %s", p.at, line)
		}
	}
	switch {
	case word == "+" || word == "-":
		if strings.Contains(string(response.Body), rest) != (word == "+") {
			p.t.Errorf("%s: %s: %s\n%s", p.at, response.Request, line, response.Body)
		}
		return
	case word == "?" || word == "!":
		if response.Has(rest) != (word == "?") {
			p.t.Errorf("%s: %s: %s\n%s", p.at, response.Request, line, response.Body)
		}
		return
	case word == "same" || word == "other":
		if first := p.answers[rest]; (string(first.Body) == string(response.Body)) != (word == "same") || (first.ETag() == response.ETag()) != (word == "same") {
			p.t.Errorf("%s: %s: %s", p.at, response.Request, line)
		}
		return
	case word == "<":
		cut(rest)
		got = selected(p.t, response, path)
	case playHeader.MatchString(line + " "):
		got = strings.Join(response.Header.Values(strings.TrimSuffix(word, ":")), " and ") // one only
		if want, equal = rest, true; strings.HasPrefix(rest, "~ ") {
			want, equal = rest[2:], false
		}
	default:
		var v, value any
		if word == "ld" {
			cut(rest)
			v = lookup(graphOf(p.t, sheet{response, p.t, rootOf(p.t, response)})[0], path)
		} else {
			cut(line)
			v = lookup(response.JSON(), path)
		}
		if json.Unmarshal([]byte(want), &value) != nil {
			value = want
		}
		if equal {
			if diff := cmp.Diff(value, v); diff != "" {
				p.t.Errorf("%s: %s: %s (-want +got):\n%s", p.at, response.Request, path, diff)
			}
			return
		}
		got = fmt.Sprint(v)
	}
	if equal && got != want || !strings.Contains(got, want) {
		p.t.Errorf("%s: %s: got %q, want %s", p.at, response.Request, got, line)
	}
}

// lookup returns the value at a path of keys and indexes, nil for none; "*" are all
// elements of a list, "#" is their number.
func lookup(v any, path string) any {
	if path == "." {
		return v
	}
	key, rest, more := strings.Cut(path, ".")
	switch x := v.(type) {
	case map[string]any:
		v = x[key]
	case []any:
		out := []any{}
		for i, e := range x {
			if key == "*" && more {
				e = lookup(e, rest)
			}
			if key == "*" || key == strconv.Itoa(i) {
				out = append(out, e)
			}
		}
		switch {
		case key == "#":
			return float64(len(x))
		case key == "*":
			return out
		case len(out) == 0:
			return nil
		}
		v = out[0]
	default:
		return nil
	}
	if !more {
		return v
	}
	return lookup(v, rest)
}

func rootOf(t *testing.T, response *world.Response) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(response.Body)))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// selected returns the words of the elements that "name[attribute=value] > name:first" finds,
// with " @name" an attribute of theirs, with " #" their number.
func selected(t *testing.T, response *world.Response, selector string) string {
	t.Helper()
	selector, attribute, ofAttribute := strings.Cut(selector, " @")
	selector, counted := strings.CutSuffix(selector, " #")
	found := []*html.Node{rootOf(t, response)}
	for step := range strings.SplitSeq(selector, " > ") {
		step, first := strings.CutSuffix(step, ":first")
		name, rest, _ := strings.Cut(strings.ReplaceAll(step, "]", ""), "[")
		var attributes []string
		if rest != "" {
			attributes = strings.Split(rest, "[")
		}
		var next []*html.Node
		for _, n := range found {
			next = append(next, under(n, name, attributes...)...)
		}
		if found = next; first && len(found) > 0 {
			found = found[:1]
		}
	}
	if counted {
		return strconv.Itoa(len(found))
	}
	out := make([]string, len(found))
	for i, n := range found {
		out[i] = wordsOf(n)
		if ofAttribute {
			out[i] = valueOf(n, attribute)
		}
	}
	return strings.Join(out, " | ")
}
