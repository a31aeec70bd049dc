package readmodeltest

import (
	"maps"
	"math"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// breakages are the names of all ways to break the reference.
var breakages = []string{
	"one bad document fails the batch", "takes everything", "quarantine is never left", "quarantine is lost",
	"reach is lost", "reach falls back", "marks without hash", "healing leaves the content", "content never rests",
	"position 0 resets", "position falls back", "applies old positions", "applies a position again",
	"forgets tombstones", "waits for nothing", "gives up without an error", "lists tombstones", "mixes kinds",
	"keeps old values", "answers any query", "totals up to 10,000", "page without position", "offset counts pages",
	"limit 0 is no limit", "one more than the limit", "total of the page", "bodies are lost", "walk shows what is written meanwhile", "walk ends with its first step",
	"walk goes on after an error", "reads of several states", "errors of reads are lost",
	"the first that was written stands for a name", "names by their order alone", "a name stands for one", "gets tombstones",
	"gets unknown documents", "counts ignore the filter", "counts the first id only", "digest of tombstones",
	"digest of ids only", "reset does nothing", "reset keeps quarantine", "reset keeps the position", "first key only",
	"never descends", "sorts by the name as it is written", "missing values first", "missing values are lowest", "the tail is ordered as the rest",
	"the walk has what stands beside", "spans of all", "spans of the last one",
	"pages begin with the place", "total behind the place", "the first id is the least",
	"upper bound is open", "lower bound is open", "missing numbers are 0", "absent booleans are unknown",
	"first id only", "distance on a plane", "miles", "distance not around the date line", "boxes end at the date line", "bounds of boxes are out",
	"clocks show UTC", "keys as they were written", "empty or admits",
	"empty and admits nothing", "not is ignored", "contains minds case", "exists for all",
	"minds accents", "minds case", "whole words only", "no stems", "English stems only",
	"any word will do", "one field for all words", "quotes are ignored", "words in any place", "minus is ignored",
	"no word finds all", "searches all languages", "searches the home language only", "searches tags",
	"tallies know the base only", "tallies are of the page's filter", "tallies of the state before", "pages are not narrowed", "groups are sums", "parts are of all", "first value only",
	"nothing is collapsed", "nobody stands alone", "the last of a group stands for it",
	"stamps of all kinds", "stamps of the living",
	"characters anywhere", "no single characters", "common words have to fit",
	"no typos", "every step is two", "typos in short words", "two typos in any word", "a swap is two typos", "the first letter stays",
	"typos in quotes", "typos after a minus", "typos in numbers", "typos in beginnings",
	"ranks are ignored", "typos do not rank", "exact names do not rank", "left-out words are not of the full text", "rows of names do not rank", "names do not rank",
	"whole words do not rank", "ranks by names show all texts",
}

// match is readmodel.Match with what is broken.
func (x *reference) match(f readmodel.Filter, d *readmodel.Document) bool {
	switch f := f.(type) {
	case readmodel.And:
		if len(f) == 0 && x.broken == "empty and admits nothing" {
			return false
		}
		return !slices.ContainsFunc(f, func(p readmodel.Filter) bool { return !x.match(p, d) })
	case readmodel.Or:
		if len(f) == 0 && x.broken == "empty or admits" {
			return true
		}
		return slices.ContainsFunc(f, func(p readmodel.Filter) bool { return x.match(p, d) })
	case readmodel.Not:
		return !x.match(f.Filter, d) || x.broken == "not is ignored"
	}
	if readmodel.Check(readmodel.Query{Kind: d.Record.Kind, Filter: f}) != nil {
		return false // of another kind
	}
	if x.broken == "clocks show UTC" && d.Record.Kind == calendar.KindEvent {
		r := *d.Record
		r.Fields = maps.Clone(r.Fields)
		r.Fields["start_date"] = r.Fields["utc_start_date"]
		d = &readmodel.Document{Record: &r}
	}
	switch f := f.(type) {
	case readmodel.Term:
		if detail, ok := strings.CutSuffix(f.Field, "_key"); ok && x.broken == "keys as they were written" {
			return d.Record.Fields.String(detail) == f.Value
		}
		if _, set := d.Record.Fields[f.Field]; !set && f.Value == "false" && x.broken == "absent booleans are unknown" {
			return false
		}
	case readmodel.In:
		field := readmodel.SchemaOf(d.Record.Kind).Field(f.Field)
		if x.broken == "first id only" && field.Type == readmodel.TypeIDs && len(field.IDs(d.Record)) > 0 {
			return slices.Contains(f.IDs, field.IDs(d.Record)[0])
		}
	case readmodel.Range:
		return x.matchRange(f, d)
	case readmodel.Contains:
		if x.broken == "contains minds case" {
			return slices.ContainsFunc(f.Fields, func(name string) bool {
				return strings.Contains(readmodel.SchemaOf(d.Record.Kind).Field(name).Keyword(d.Record), f.Value)
			})
		}
	case readmodel.Box:
		if x.broken == "boxes end at the date line" && f.West > f.East {
			return false
		}
		if x.broken == "bounds of boxes are out" {
			f.West, f.South, f.East, f.North = f.West+1e-5, f.South+1e-5, f.East-1e-5, f.North-1e-5
			return readmodel.Match(f, d)
		}
	case readmodel.Near:
		return x.matchNear(f, d)
	case readmodel.Exists:
		if x.broken == "exists for all" {
			return true
		}
	case readmodel.Text:
		return x.matchText(f, d)
	}
	return readmodel.Match(f, d)
}

func (x *reference) matchRange(f readmodel.Range, d *readmodel.Document) bool {
	n, has := readmodel.SchemaOf(d.Record.Kind).Field(f.Field).Number(d.Record)
	switch x.broken {
	case "upper bound is open":
		if f.Max != nil && n == *f.Max {
			return false
		}
	case "lower bound is open":
		if f.Min != nil && n == *f.Min {
			return false
		}
	case "missing numbers are 0":
		if !has {
			return (f.Min == nil || *f.Min <= 0) && (f.Max == nil || *f.Max >= 0)
		}
	}
	return readmodel.Match(f, d)
}

func (x *reference) matchNear(f readmodel.Near, d *readmodel.Document) bool {
	lat, lng, ok := readmodel.SchemaOf(d.Record.Kind).Field(f.Field).Point(d.Record)
	const degree = math.Pi / 180 * readmodel.EarthRadius
	switch x.broken {
	case "distance on a plane":
		return ok && math.Hypot(lat-f.Lat, math.Remainder(lng-f.Lng, 360))*degree <= f.Km
	case "miles":
		f.Km *= 1.609344
	case "distance not around the date line":
		if math.Abs(lng-f.Lng) > 180 {
			return false
		}
	}
	return readmodel.Match(f, d)
}

// matchText breaks the search: by another query, or by a look at the texts that
// the right search would not take.
func (x *reference) matchText(f readmodel.Text, d *readmodel.Document) bool {
	right := readmodel.Match(f, d)
	e := f.Search
	with := func(query string) bool {
		f.Search = readmodel.ParseSearch(query, e.Lang)
		return readmodel.Match(f, d)
	}
	switch x.broken {
	case "minds accents", "minds case":
		raw := x.shown(f, d)
		query := f.Search.Query
		if x.broken == "minds accents" {
			raw, query = strings.ToLower(raw), strings.ToLower(query)
		} else {
			raw, query = unaccented(raw), unaccented(query)
		}
		for _, w := range strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune(` "-,.'’`, r) }) {
			if !strings.Contains(raw, w) && len(readmodel.Tokens(w)) == 1 && strings.Contains(readmodel.Fold(raw), readmodel.Fold(w)) {
				return false
			}
		}
	case "whole words only":
		for _, p := range e.Must {
			if !p.InRow && !with(`"`+p.Tokens[0]+`"`) {
				return false
			}
		}
	case "no stems":
		for _, p := range e.Must {
			for _, w := range p.Tokens {
				if right && !slices.ContainsFunc(x.tokens(f, d), func(t string) bool { return strings.HasPrefix(t, w) }) {
					return false
				}
			}
		}
	case "English stems only":
		return x.matchStems(f, d, e, right)
	case "any word will do":
		for _, p := range e.Must {
			if !p.InRow && with(p.Tokens[0]) {
				return true
			}
		}
	case "one field for all words":
		return slices.ContainsFunc(f.Fields, func(name string) bool {
			return readmodel.Match(readmodel.Text{Fields: []string{name}, Search: e}, d)
		})
	case "quotes are ignored":
		return with(strings.ReplaceAll(f.Search.Query, `"`, " "))
	case "words in any place":
		if len(e.Must) == 1 && e.Must[0].InRow && !readmodel.IsCJKToken(e.Must[0].Tokens[0]) {
			return x.all(f, d, e.Must[0].Tokens)
		}
	case "characters anywhere":
		if len(e.Must) == 1 && e.Must[0].InRow && readmodel.IsCJKToken(e.Must[0].Tokens[0]) {
			return x.all(f, d, e.Must[0].Tokens)
		}
	case "no single characters":
		return right && !slices.ContainsFunc(e.Must, func(p readmodel.Piece) bool {
			return len(p.Tokens) == 1 && readmodel.IsCJKToken(p.Tokens[0])
		})
	case "minus is ignored":
		return with(strings.ReplaceAll(f.Search.Query, "-", " "))
	case "no word finds all":
		return right || e.IsZero()
	case "common words have to fit":
		tokens := x.tokens(f, d)
		for _, w := range readmodel.Tokens(strings.ReplaceAll(f.Search.Query, "-", " ")) {
			if right && readmodel.IsCommon(w, f.Search.Lang) && !slices.Contains(tokens, w) {
				return false
			}
		}
	case "searches all languages":
		for _, l := range calendar.Langs {
			f.Search = readmodel.ParseSearch(e.Query, l)
			if readmodel.Match(f, d) {
				return true
			}
		}
		return false
	case "searches the home language only":
		f.Search = readmodel.ParseSearch(e.Query, d.Record.Home)
		return readmodel.Match(f, d)
	case "no typos":
		f.Typos = 0
		return readmodel.Match(f, d)
	case "every step is two":
		f.Typos = min(2*f.Typos, readmodel.MaxTypos)
		return readmodel.Match(f, d)
	case "typos in quotes":
		return right || f.Typos > 0 && with(strings.ReplaceAll(f.Search.Query, `"`, " "))
	case "typos after a minus":
		return right && (f.Typos == 0 || len(e.Not) == 0 || len(e.Must) > 0 || !with(e.Not[0][0].Tokens[0]))
	case "typos in short words", "two typos in any word", "a swap is two typos", "the first letter stays", "typos in numbers", "typos in beginnings":
		if f.Typos > 0 && len(e.Must) == 1 && !e.Must[0].InRow {
			f.Typos = 0
			return readmodel.Match(f, d) || x.near(e.Must[0], e.Must[0].Most(readmodel.MaxTypos), x.tokens(f, d))
		}
	case "searches tags":
		if slices.Contains(f.Fields, readmodel.TextDescription) {
			raw, _ := d.Record.Fields.Text("description").In(f.Search.Lang, d.Record.Home)
			return right || len(e.Must) == 1 && slices.Contains(readmodel.Tokens(raw), e.Must[0].Tokens[0])
		}
	}
	return right
}

// score is readmodel.Relevance.Score with what is broken.
func (x *reference) score(f readmodel.Relevance, r *calendar.Record) int {
	if x.broken == "ranks by names show all texts" {
		f.Title = nil
	}
	if x.broken == "left-out words are not of the full text" {
		var kept []string
		for _, p := range f.Search.Must {
			kept = append(kept, p.Tokens...)
		}
		f.Search = readmodel.ParseSearch(strings.Join(kept, " "), f.Search.Lang)
	}
	n := f.Score(r)
	weights := []int{readmodel.WeightTypo, readmodel.WeightExact, readmodel.WeightRow, readmodel.WeightName, readmodel.WeightWhole}
	broken := []string{"typos do not rank", "exact names do not rank", "rows of names do not rank", "names do not rank", "whole words do not rank"}
	score := 0
	for i, w := range weights {
		if broken[i] != x.broken {
			score += n / w * w
		}
		n %= w
	}
	return score
}

// near is a look at the words that have typos.
func (x *reference) near(p readmodel.Piece, most int, tokens []string) bool {
	word := p.Tokens[0]
	distance := readmodel.Typos
	switch x.broken {
	case "typos in short words":
		most = max(most, 1)
	case "two typos in any word":
		most *= 2
	case "typos in numbers":
		if strings.ContainsAny(word, "0123456789") {
			most = 1
		}
	case "a swap is two typos":
		// Letters that are told apart by their place have no neighbours to swap with.
		distance = func(a, b string, most int) int {
			if n := readmodel.Typos(a, b, most); n == 0 || len(a) != len(b) {
				return n
			}
			differ := 0
			for i := range a {
				if a[i] != b[i] {
					differ++
				}
			}
			return differ
		}
	}
	return slices.ContainsFunc(tokens, func(t string) bool {
		if x.broken == "the first letter stays" && t[0] != word[0] {
			return false
		}
		if x.broken == "typos in beginnings" {
			for i := range t {
				if most > 0 && distance(word, t[:i], most) <= most {
					return true
				}
			}
		}
		return most > 0 && distance(word, t, most) <= most
	})
}

func (x *reference) all(f readmodel.Text, d *readmodel.Document, words []string) bool {
	tokens := x.tokens(f, d)
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(tokens, w) })
}

// matchStems refuses what only fits by a stem of another language than English.
func (x *reference) matchStems(f readmodel.Text, d *readmodel.Document, e readmodel.Expression, right bool) bool {
	for _, p := range e.Must {
		w := p.Tokens[0]
		fits := slices.ContainsFunc(x.tokens(f, d), func(t string) bool {
			return strings.HasPrefix(t, w) || strings.HasPrefix(readmodel.Stem(t, calendar.LangEN), readmodel.Stem(w, calendar.LangEN))
		})
		if !p.InRow && !fits {
			return false
		}
	}
	return right
}

// shown gives the shown texts of the fields in a row.
func (x *reference) shown(f readmodel.Text, d *readmodel.Document) string {
	var b strings.Builder
	for _, name := range f.Fields {
		text, _ := readmodel.SchemaOf(d.Record.Kind).Field(name).Text(d.Record).In(f.Search.Lang, d.Record.Home)
		b.WriteString(text + "\n")
	}
	return b.String()
}

func (x *reference) tokens(f readmodel.Text, d *readmodel.Document) []string {
	return readmodel.Tokens(x.shown(f, d))
}

// unaccented folds accents but keeps case.
func unaccented(s string) string {
	return strings.Map(func(r rune) rune {
		if f := []rune(readmodel.Fold(string(r))); len(f) == 1 {
			if r >= 'A' && r <= 'Z' {
				return r
			}
			return f[0]
		}
		return r
	}, s)
}
