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
	*testing.T

	world   *world.World
	at      string                     // file and line
	answers map[string]*world.Response // by their names
	words   map[string]string          // by their names
	newWord func() string
}

var (
	playLine   = regexp.MustCompile(`^(?:([a-z][\w-]*) = )?(?:([^/\s]\S*) (\S+) )?(\S+)(?: (.*?))??(?: => (\S+) ?(.*))?$`)
	playChoice = regexp.MustCompile(`\{([^{}]*\|[^{}]*)\}`)
	playTimes  = regexp.MustCompile(`(.)×(\d+)`)
	playEscape = regexp.MustCompile(`\\u[0-9a-f]{4}`)
	playCheck  = regexp.MustCompile(`^(?:([A-Z][\w-]*):( ~)?|(.*?) ([=~]))(?: (.*))?$`)
)

// Play plays a file in a world and returns the answers that have names. newWord makes the
// words that the file asks for; nil if it has none.
func Play(t *testing.T, w *world.World, file string, newWord func() string) map[string]*world.Response {
	p := &player{
		T: t, world: w, answers: map[string]*world.Response{}, newWord: newWord,
		words: map[string]string{"base": w.Base, "root": w.Base + world.Root},
	}
	p.file(file)
	return p.answers
}

func (player *player) file(file string) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		player.Fatal(err)
	}
	player.lines(file, 1, strings.Split(string(text), "\n"))
}

// lines plays lines of a file, of which the first has a number.
func (player *player) lines(file string, number int, lines []string) {
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
	word, rest, _ := strings.Cut(line, " ")
	var err error
	switch word {
	case "", "#", "world":
		if len(below) > 0 {
			player.Fatalf("%s: checks of no answer", player.at)
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
		_, err = player.world.Commands.Erase(player.Context(), request)
	case "include":
		player.file(rest)
	default:
		player.requests(line, below)
	}
	if err != nil {
		player.Fatal(player.at, err)
	}
}

// requests sends the requests of a line, and holds each answer against the lines below.
func (player *player) requests(line string, below []string) {
	texts := playLine.FindStringSubmatch(line)
	if texts == nil {
		player.Fatalf("%s: no request: %q", player.at, line)
	}
	var headers, checks []string
	for _, line := range below {
		if header, is := strings.CutPrefix(line, "> "); is {
			name, value, _ := strings.Cut(player.fill(header), ":")
			headers = append(headers, name, strings.TrimSpace(value))
		} else {
			checks = append(checks, line)
		}
	}
	for _, head := range choices(player.fill(cmp.Or(texts[2], "nobody") + " " + cmp.Or(texts[3], "PAGE") + " " + texts[4])) {
		response := player.ask(strings.Split(head, " "), player.fill(texts[5]), headers, player.fill(texts[6]), player.fill(texts[7]))
		for _, check := range checks {
			player.check(response, player.fill(check))
		}
		if texts[1] != "" {
			player.answers[texts[1]] = response
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
	if player.answers[name] == nil {
		player.Fatalf("%s: nothing has the name %s", player.at, name)
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

// ask sends a request of client, method and path, and wants a status and what stands behind it.
func (player *player) ask(head []string, body string, headers []string, status, rest string) (response *world.Response) {
	who, language, _ := strings.Cut(head[0], "/")
	lang, _ := calendar.ParseLang(language)
	client := player.world.User(who).In(player.T).Under(lang).With(headers...)
	method, path := head[1], strings.TrimPrefix(head[2], ".")
	code, _ := strconv.Atoi(cmp.Or(status, map[string]string{"EVENT": "201", "POST": "201"}[method], "200"))
	switch method {
	case "PAGE":
		response = client.With("Accept", "text/html").Get("/" + path)
	case "EVENT":
		var more world.Object
		title, fields, _ := strings.Cut(strings.TrimSpace(path+" "+body), " {")
		if err := json.Unmarshal([]byte("{"+cmp.Or(fields, "}")), &more); err != nil {
			player.Fatalf("%s: %v: %s", player.at, err, fields)
		}
		response = client.Event(title, more)
	default:
		var sent any
		if body != "" {
			sent = strings.ReplaceAll(body, `\xff`, "\xff")
		}
		response = client.Do(method, path, sent)
	}
	switch {
	case status == "bad":
		return response.WantBad(strings.Fields(rest)...)
	case rest == "":
	case code < 400:
		player.check(response, "Location: "+rest)
	case method == "PAGE":
		player.check(response, `+ data-code="`+rest+`"`)
	default:
		response.WantCode(code, rest)
	}
	return response.Want(code)
}

// check holds an answer against a line.
func (player *player) check(response *world.Response, line string) {
	word, rest, _ := strings.Cut(line, " ")
	unescaped := playEscape.ReplaceAllStringFunc(rest, func(text string) string {
		letter, _ := strconv.Unquote(`"` + text + `"`)
		return letter
	})
	var got, want any
	switch word {
	case "+", "-":
		got, want = strings.Contains(string(response.Body), unescaped), word == "+"
	case "?", "!":
		got, want = response.Has(rest), word == "?"
	case "same", "other":
		first, same := player.answer(rest), word == "same"
		got, want = []bool{string(first.Body) == string(response.Body), first.ETag() == response.ETag()}, []bool{same, same}
	case "found":
		ids := []calendar.ID{}
		for name := range strings.FieldsSeq(rest) {
			ids = append(ids, player.answer(name).ID())
		}
		got, want = fmt.Sprint(response.IDs(), response.Int("total")), fmt.Sprint(ids, len(ids))
	case "<":
		got, want = player.value(response, unescaped, true)
	case "ld":
		got, want = player.value(graphOf(response), "@graph.0."+rest, false)
	default:
		got, want = player.value(response, line, false)
	}
	if !reflect.DeepEqual(got, want) {
		player.Errorf("%s: %s: %s: got %v\n%.4000s", player.at, response.Request, line, got, response.Body)
	}
}

// value returns what a line says of a value of an answer, or of words of a page, and what that is.
func (player *player) value(response *world.Response, line string, ofPage bool) (got, want any) {
	parts := playCheck.FindStringSubmatch(line)
	switch {
	case parts == nil:
		player.Fatalf("%s: no check: %s", player.at, line)
	case parts[1] != "":
		got = strings.Join(response.Header.Values(parts[1]), " and ") // one only
	case ofPage:
		got = selected(response, parts[3])
	default:
		got, _ = response.Lookup(parts[3])
	}
	want = parts[5]
	if strings.Contains(parts[2]+parts[4], "~") {
		if strings.Contains(fmt.Sprint(got), parts[5]) {
			got = want
		}
	} else if parts[4] == "=" && !ofPage {
		var value any
		if json.Unmarshal([]byte(parts[5]), &value) == nil {
			want = value
		}
	}
	return got, want
}
