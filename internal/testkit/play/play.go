// Package play plays conversations with a service that stand in text files. Their form is
// described in README.md.
package play

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/testkit/world"
)

// player plays one file.
type player struct {
	t       *testing.T
	world   *world.World
	at      string                     // file and line
	answers map[string]*world.Response // by their names
	words   map[string]string          // by their names
	newWord func() string
}

var (
	playName   = regexp.MustCompile(`^([a-z][\w-]*) = `)
	playChoice = regexp.MustCompile(`\{([^{}]*\|[^{}]*)\}`)
	playTimes  = regexp.MustCompile(`(.)×(\d+)`)
	playEscape = regexp.MustCompile(`\\u[0-9a-f]{4}`)
	playCheck  = regexp.MustCompile(`^(?:([A-Z][\w-]*):( ~)?|(.*?) ([=~]))(?: (.*))?$`)
)

// Play plays a file in a world and returns the answers that have names. newWord makes the
// words that the file asks for; nil if it has none.
func Play(t *testing.T, w *world.World, file string, newWord func() string) map[string]*world.Response {
	t.Helper()
	p := &player{
		t: t, world: w, answers: map[string]*world.Response{}, newWord: newWord,
		words: map[string]string{"base": w.Base, "root": w.Base + world.Root},
	}
	p.file(file)
	return p.answers
}

func (player *player) file(file string) {
	player.t.Helper()
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		player.t.Fatal(err)
	}
	player.lines(file, 1, strings.Split(string(text), "\n"))
}

// lines plays lines of a file, of which the first has a number.
func (player *player) lines(file string, number int, lines []string) {
	player.t.Helper()
	for i := 0; i < len(lines); {
		first, scene := i, []string{lines[i]}
		for i++; i < len(lines) && strings.HasPrefix(lines[i], "\t"); i++ {
			scene = append(scene, strings.TrimSpace(lines[i]))
		}
		player.at = fmt.Sprintf("%s:%d", file, number+first)
		names, rows, is := strings.Cut(scene[0], " in ")
		if !is || !strings.HasPrefix(names, "each ") {
			player.scene(scene[0], scene[1:])
			continue
		}
		end := i + max(slices.Index(lines[i:], "end"), 0)
		for row := range strings.FieldsSeq(rows) {
			for count, value := range strings.Split(row, ",") {
				player.words[strings.Fields(names)[count+1]] = player.fill(value)
			}
			player.lines(file, number+i, lines[i:end])
		}
		i = end + 1
	}
}

// scene plays a line that is not indented and the indented ones below it.
func (player *player) scene(line string, below []string) {
	player.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	var err error
	switch word {
	case "", "#", "world":
		if len(below) > 0 {
			player.t.Fatalf("%s: checks of no answer", player.at)
		}
	case "word":
		for name := range strings.FieldsSeq(rest) {
			player.words[name] = player.newWord()
			player.words[strings.ToUpper(name)] = strings.ToUpper(player.words[name])
		}
	case "clock":
		var duration time.Duration
		duration, err = time.ParseDuration(rest)
		player.world.Clock.Add(duration)
	case "erase":
		kind, name, _ := strings.Cut(rest, " ")
		request := command.Request{Target: command.Target{ID: player.answer(name).ID()}}
		request.Kind, _ = calendar.ParseKind(kind)
		request.Cause.Reason = "asked for"
		_, err = player.world.Commands.Erase(player.t.Context(), request)
	case "include":
		player.file(rest)
	default:
		player.requests(line, below)
	}
	if err != nil {
		player.t.Fatal(player.at, err)
	}
}

// requests sends the requests of a line, and holds each answer against the lines below.
func (player *player) requests(line string, below []string) {
	player.t.Helper()
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
	parts := append(strings.SplitN(line, " ", 4), "")
	if len(parts) < 4 {
		player.t.Fatalf("%s: no request: %q", player.at, line)
	}
	for _, head := range choices(player.fill(strings.Join(parts[:3], " "))) {
		response := player.ask(strings.Split(head, " "), player.fill(parts[3]), player.fill(want), below)
		for _, check := range below {
			if !strings.HasPrefix(check, "> ") {
				player.check(response, player.fill(check))
			}
		}
		if name != "" {
			player.answers[name] = response
		}
	}
}

// Repeated puts a hundred x in the place of x×100.
func Repeated(text string) string {
	return playTimes.ReplaceAllStringFunc(text, func(found string) string {
		texts := playTimes.FindStringSubmatch(found)
		count, _ := strconv.Atoi(texts[2])
		return strings.Repeat(texts[1], count)
	})
}

// answer returns the answer that has a name.
func (player *player) answer(name string) *world.Response {
	player.t.Helper()
	if player.answers[name] == nil {
		player.t.Fatalf("%s: nothing has the name %s", player.at, name)
	}
	return player.answers[name]
}

// fill puts values in the place of $name and ${name.value}, and of x×100 a hundred x.
func (player *player) fill(text string) string {
	return os.Expand(Repeated(text), func(name string) string {
		if word, is := player.words[name]; is {
			return word
		}
		if _, err := strconv.Atoi(name); err == nil {
			return "$" + name // a cost
		}
		if name == "head" {
			return fmt.Sprint(player.world.Head())
		}
		name, path, _ := strings.Cut(name, ".")
		response := player.answer(name)
		switch path {
		case "":
			return response.Path()
		case "etag":
			return response.ETag()
		case "position":
			return response.Position().String()
		}
		value, _ := response.Lookup(path)
		return fmt.Sprint(value)
	})
}

// choices are the texts that {a|b} stands for.
func choices(text string) (names []string) {
	indices := playChoice.FindStringSubmatchIndex(text)
	if indices == nil {
		return []string{text}
	}
	for choice := range strings.SplitSeq(text[indices[2]:indices[3]], "|") {
		names = append(names, choices(text[:indices[0]]+choice+text[indices[1]:])...)
	}
	return names
}

// ask sends a request of client, method and path.
func (player *player) ask(head []string, body, want string, below []string) *world.Response {
	player.t.Helper()
	who, lang, isOther := strings.Cut(head[0], "/")
	client := player.world.User(who).In(player.t)
	if isOther {
		language, _ := calendar.ParseLang(lang)
		client = client.Under(language)
	}
	for _, line := range below {
		if header, is := strings.CutPrefix(line, "> "); is {
			name, value, _ := strings.Cut(player.fill(header)+" ", ": ")
			client = client.With(name, strings.TrimSpace(value))
		}
	}
	method, path := head[1], strings.TrimPrefix(head[2], ".")
	want = cmp.Or(want, map[string]string{"EVENT": "201", "POST": "201"}[method], "200")
	var response *world.Response
	switch method {
	case "PAGE":
		response = client.With("Accept", "text/html").Get("/" + path)
	case "EVENT":
		more := world.Object{}
		title, fields, _ := strings.Cut(strings.TrimSpace(path+" "+body), " {")
		if fields != "" {
			if err := json.Unmarshal([]byte("{"+fields), &more); err != nil {
				player.t.Fatalf("%s: %v: %s", player.at, err, fields)
			}
		}
		response = client.Event(title, more)
	default:
		var sent any
		if body != "" {
			sent = strings.ReplaceAll(body, `\xff`, "\xff")
		}
		response = client.Do(method, path, sent)
	}
	status, rest, _ := strings.Cut(want, " ")
	code, _ := strconv.Atoi(status)
	switch {
	case status == "bad":
		response.WantBad(strings.Fields(rest)...)
	case rest == "":
		response.Want(code)
	case code < 400:
		player.check(response.Want(code), "Location: "+rest)
	case method == "PAGE":
		player.check(response.Want(code), `+ data-code="`+rest+`"`)
	default:
		response.WantCode(code, rest)
	}
	return response
}

// check holds an answer against a line.
func (player *player) check(response *world.Response, line string) {
	player.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	unescaped := playEscape.ReplaceAllStringFunc(rest, func(text string) string {
		number, _ := strconv.ParseUint(text[2:], 16, 32)
		return string(rune(number))
	})
	var got, want any
	switch word {
	case "+", "-":
		got, want = strings.Contains(string(response.Body), unescaped), word == "+"
	case "?", "!":
		_, got = response.Lookup(rest)
		want = word == "?"
	case "same", "other":
		first, same := player.answer(rest), word == "same"
		got, want = []bool{string(first.Body) == string(response.Body), first.ETag() == response.ETag()}, []bool{same, same}
	case "found":
		ids := []calendar.ID{}
		for name := range strings.FieldsSeq(rest) {
			ids = append(ids, player.answer(name).ID())
		}
		got, want = fmt.Sprint(response.IDs(), response.Int("total")), fmt.Sprint(ids, len(ids))
	default:
		got, want = player.value(response, word, map[string]string{"<": unescaped, "ld": rest}[word], line)
	}
	if !reflect.DeepEqual(got, want) {
		player.t.Errorf("%s: %s: %s: got %v\n%.4000s", player.at, response.Request, line, got, response.Body)
	}
}

// value returns what a line says of a value of an answer, and what that is.
func (player *player) value(response *world.Response, word, text, line string) (got, want any) {
	player.t.Helper()
	parts := playCheck.FindStringSubmatch(cmp.Or(text, line))
	if parts == nil {
		player.t.Fatalf("%s: no check: %s", player.at, line)
	}
	part := strings.Contains(parts[2]+parts[4], "~")
	want = parts[5]
	switch {
	case parts[1] != "":
		got = strings.Join(response.Header.Values(parts[1]), " and ") // one only
	case word == "<":
		got = selected(player.t, response, parts[3])
	case word == "ld":
		got, _ = world.Lookup(graphOf(player.t, response), parts[3])
	default:
		got, _ = response.Lookup(parts[3])
	}
	var value any
	if parts[4] == "=" && word != "<" && json.Unmarshal([]byte(parts[5]), &value) == nil {
		want = value
	}
	if part && strings.Contains(fmt.Sprint(got), parts[5]) {
		got = want
	}
	return got, want
}
