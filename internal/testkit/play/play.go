// Package play plays conversations with a service that stand in text files. Their form is
// described in README.md.
package play

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	playName    = regexp.MustCompile(`^([a-z][\w-]*) = `)
	playValue   = regexp.MustCompile(`\$\{([\w-]+)\.([\w.]+)\}|\$([A-Za-z]\w*)`)
	playChoice  = regexp.MustCompile(`\{([^{}]*\|[^{}]*)\}`)
	playTimes   = regexp.MustCompile(`(.)×(\d+)`)
	playEscape  = regexp.MustCompile(`\\u[0-9a-f]{4}`)
	playHeader  = regexp.MustCompile(`^[A-Z][\w-]*: `)
	playRequest = regexp.MustCompile(`^[^?]*(/(?:events|venues|organizers|categories|tags))\b`)
)

// Play plays a file in a world and returns the answers that have names. newWord makes the
// words that the file asks for; nil if it has none.
func Play(t *testing.T, w *world.World, file string, newWord func() string) map[string]*world.Response {
	t.Helper()
	p := &player{t: t, world: w, answers: map[string]*world.Response{}, words: map[string]string{}, newWord: newWord}
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
		if names, rows, is := strings.Cut(scene[0], " in "); is && strings.HasPrefix(names, "each ") {
			end := i + max(slices.Index(lines[i:], "end"), 0)
			for row := range strings.FieldsSeq(rows) {
				for n, value := range strings.Split(row, ",") {
					player.words[strings.Fields(names)[n+1]] = player.fill(value)
				}
				player.lines(file, number+i, lines[i:end])
			}
			i = end + 1
			continue
		}
		player.scene(scene[0], scene[1:])
	}
}

// scene plays a line that is not indented and the indented ones below it.
func (player *player) scene(line string, below []string) {
	player.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
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
		duration, err := time.ParseDuration(rest)
		if err != nil {
			player.t.Fatal(player.at, err)
		}
		player.world.Clock.Add(duration)
	case "erase":
		for _, kind := range calendar.Kinds {
			if strings.HasPrefix(player.fill("$"+rest), "/"+kind.Collection()+"/") {
				request := command.Request{Kind: kind, Target: command.Target{ID: player.answers[rest].ID()}}
				request.Cause.Reason = "asked for"
				_, err := player.world.Commands.Erase(player.t.Context(), request)
				if err != nil {
					player.t.Fatal(player.at, err)
				}
			}
		}
	case "include":
		player.file(rest)
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
		for _, head := range choices(player.fill(strings.Join(parts[:min(3, len(parts)-2)], " "))) {
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
}

// Repeated puts a hundred x in the place of x×100.
func Repeated(text string) string {
	return playTimes.ReplaceAllStringFunc(text, func(found string) string {
		texts := playTimes.FindStringSubmatch(found)
		n, _ := strconv.Atoi(texts[2])
		return strings.Repeat(texts[1], n)
	})
}

// fill puts values in the place of $name and ${name.value}, and of x×100 a hundred x.
func (player *player) fill(text string) string {
	return playValue.ReplaceAllStringFunc(Repeated(text), func(found string) string {
		texts := playValue.FindStringSubmatch(found)
		response := player.answers[texts[1]+texts[3]]
		word, isWord := player.words[texts[3]]
		switch {
		case isWord:
			return word
		case texts[3] == "base":
			return player.world.Base
		case texts[3] == "root":
			return player.world.Base + world.Root
		case texts[3] == "head":
			return fmt.Sprint(player.world.Head())
		case response == nil:
			player.t.Fatalf("%s: nothing has the name %s", player.at, found)
		case texts[2] == "etag":
			return response.ETag()
		case texts[2] == "position":
			return response.Position().String()
		case texts[2] != "":
			value, _ := response.Lookup(texts[2])
			return fmt.Sprint(value)
		}
		return playRequest.FindStringSubmatch(response.Request)[1] + "/" + response.ID().String()
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
func (player *player) ask(head []string, body, want string, below []string) *world.Response {
	player.t.Helper()
	who, lang, _ := strings.Cut(head[0], "/")
	other, isOther := strings.CutPrefix(who, "other-")
	role, known := calendar.ParseRole(other)
	client := player.world.As(role)
	if isOther {
		client = player.world.AsOther(role)
	}
	if client = client.In(player.t); lang != "" {
		l, _ := calendar.ParseLang(lang)
		client = client.Under(l)
	}
	if !known && who != "nobody" || len(head) < 3 {
		player.t.Fatalf("%s: no request: %q", player.at, head)
	}
	for _, line := range below {
		if header, is := strings.CutPrefix(line, "> "); is {
			name, value, _ := strings.Cut(player.fill(header)+" ", ": ")
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
		more := world.Object{}
		title, fields, _ := strings.Cut(strings.TrimSpace(path+" "+body), " {")
		if fields != "" {
			player.decode("{"+fields, &more)
		}
		response = client.Event(title, more)
	default:
		response = client.Do(method, path, sent)
	}
	if want == "" {
		want = "200"
		if method == "EVENT" || method == "POST" {
			want = "201"
		}
	}
	status, rest, _ := strings.Cut(want, " ")
	code, _ := strconv.Atoi(status)
	switch {
	case status == "bad":
		response.WantBad(strings.Fields(rest)...)
	case rest == "":
		response.Want(code)
	case code < 400:
		if got := response.Want(code).Header.Get("Location"); got != rest {
			player.t.Errorf("%s: %s leads to %s, want %s", player.at, response.Request, got, rest)
		}
	case page:
		if part := `data-code="` + rest + `"`; !strings.Contains(string(response.Want(code).Body), part) {
			player.t.Errorf("%s: %s lacks %s:\n%s", player.at, response.Request, part, response.Body)
		}
	default:
		response.WantCode(code, rest)
	}
	return response
}

func (player *player) decode(text string, into any) {
	player.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		player.t.Fatalf("%s: %v: %s", player.at, err, text)
	}
}

// found returns the ids and total of a list that is answered on one page, and those of the
// records of these names.
func (player *player) found(response *world.Response, names string) (got, want string) {
	player.t.Helper()
	ids := []calendar.ID{}
	for name := range strings.FieldsSeq(names) {
		if player.answers[name] == nil {
			player.t.Fatalf("%s: nothing has the name %s", player.at, name)
		}
		ids = append(ids, player.answers[name].ID())
	}
	got, want = "no list", fmt.Sprint(ids, len(ids))
	for _, kind := range calendar.Kinds {
		if response.Has(kind.Collection()) {
			got = fmt.Sprint(response.IDs(kind), response.Int("total"))
		}
	}
	return got, want
}

// check holds an answer against a line.
func (player *player) check(response *world.Response, line string) {
	player.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	if word == "+" || word == "-" || word == "<" {
		rest = playEscape.ReplaceAllStringFunc(rest, func(s string) string {
			number, _ := strconv.ParseUint(s[2:], 16, 32)
			return string(rune(number))
		})
	}
	var got, path, want string
	equal := true // else want is a part of it
	cut := func(text string) {
		var part bool
		if path, want, equal = strings.Cut(text+" ", " = "); !equal {
			path, want, part = strings.Cut(text, " ~ ")
		}
		if want = strings.TrimSpace(want); !equal && !part {
			player.t.Fatalf("%s: no check: %s", player.at, line)
		}
	}
	switch {
	case word == "+" || word == "-":
		got, want = strconv.FormatBool(strings.Contains(string(response.Body), rest)), strconv.FormatBool(word == "+")
	case word == "?" || word == "!":
		got, want = strconv.FormatBool(response.Has(rest)), strconv.FormatBool(word == "?")
	case word == "same" || word == "other":
		first, same := player.answers[rest], word == "same"
		got, want = fmt.Sprint(string(first.Body) == string(response.Body), first.ETag() == response.ETag()), fmt.Sprint(same, same)
	case word == "found":
		got, want = player.found(response, rest)
	case word == "<":
		cut(rest)
		got = selected(player.t, response, path)
	case playHeader.MatchString(line + " "):
		got = strings.Join(response.Header.Values(strings.TrimSuffix(word, ":")), " and ") // one only
		want, equal = strings.TrimPrefix(rest, "~ "), !strings.HasPrefix(rest, "~ ")
	default:
		var v, value any
		if word == "ld" {
			cut(rest)
			v, _ = world.Lookup(graphOf(player.t, response), path)
		} else {
			cut(line)
			v, _ = response.Lookup(path)
		}
		if json.Unmarshal([]byte(want), &value) != nil {
			value = want
		}
		if got = fmt.Sprint(v); equal {
			got, want = player.encoded(v), player.encoded(value)
		}
	}
	if equal && got != want || !strings.Contains(got, want) {
		player.t.Errorf("%s: %s: %s: got %s\n%.4000s", player.at, response.Request, line, got, response.Body)
	}
}

func (player *player) encoded(value any) string {
	player.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		player.t.Fatalf("%s: %v", player.at, err)
	}
	return string(text)
}
