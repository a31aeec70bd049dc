package query

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/query/readmodel"
)

// Cursors of lists of events (LISTINGS 3.7). A cursor says by itself where a walk goes on,
// so it holds after every restart and in every process.

const (
	maxCursor  = 1000 // characters
	cursorForm = 1    // of the bytes
	cursorSum  = 12   // bytes of the sum that ends them
)

// cursor is a place in a list.
type cursor struct {
	step        byte          // of typos=auto
	start, end  calendar.Wall // defaults of the window; NoWall: none
	window, lap window
	at          []readmodel.Key // nil: the beginning
}

// spans are the bounds of both windows.
func (c *cursor) spans() [8]*span {
	return [...]*span{
		&c.window.start, &c.window.end, &c.window.utcStart, &c.window.utcEnd,
		&c.lap.start, &c.lap.end, &c.lap.utcStart, &c.lap.utcEnd,
	}
}

// encode writes the cursor of a list that was asked for by some parameters.
func (c *cursor) encode(params string) string {
	b := []byte{cursorForm, c.step}
	b = binary.AppendVarint(binary.AppendVarint(b, int64(c.start)), int64(c.end))
	for _, s := range c.spans() {
		if *s == open {
			b = append(b, 0)
			continue
		}
		b = binary.AppendVarint(binary.AppendVarint(append(b, 1), s.min), s.max)
	}
	for _, k := range c.at {
		if !k.Has {
			b = append(b, 0)
			continue
		}
		b = binary.AppendVarint(append(b, 1), k.N)
	}
	return base64.RawURLEncoding.EncodeToString(append(b, sumOf(params, b)...))
}

func sumOf(params string, b []byte) []byte {
	sum := sha256.Sum256(cache.Key(nil).Text(params).Text(string(b)))
	return sum[:cursorSum]
}

// decode reads a cursor; sum is what it ends with, over the bytes before.
func (c *cursor) decode(text string) (content, sum []byte, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 2+cursorSum || b[0] != cursorForm {
		return nil, nil, false
	}
	content, sum = b[:len(b)-cursorSum], b[len(b)-cursorSum:]
	c.step = content[1]
	rest := content[2:]
	ok = true
	number := func() int64 {
		n, size := binary.Varint(rest)
		if size <= 0 {
			ok = false
			return 0
		}
		rest = rest[size:]
		return n
	}
	has := func() bool {
		if len(rest) == 0 || rest[0] > 1 {
			ok = false
			return false
		}
		is := rest[0] == 1
		rest = rest[1:]
		return is
	}
	c.start, c.end = calendar.Wall(number()), calendar.Wall(number())
	for _, s := range c.spans() {
		if *s = open; has() {
			s.min, s.max = number(), number()
		}
	}
	for ok && len(rest) > 0 {
		k := readmodel.Key{Has: has()}
		if k.Has {
			k.N = number()
		}
		c.at = append(c.at, k)
	}
	return content, sum, ok && c.at != nil
}

// walk is a list in steps.
type walk struct {
	cursor
	params       string // what the cursors belong to
	content, sum []byte // of the cursor that was sent; nil at the beginning
}

func readCursor(_ context.Context, q *parser, p *Param) {
	text, ok := q.text(p.Name, maxCursor)
	for _, other := range []string{"page", "collapse"} {
		if q.sent(p.Name) && q.sent(other) {
			q.bad.Add(p.Name, calendar.ReasonTogether, other)
		}
	}
	if !ok {
		return
	}
	w := &walk{cursor: cursor{start: calendar.NoWall, end: calendar.NoWall}}
	if text != "*" {
		if w.content, w.sum, ok = w.decode(text); !ok {
			q.bad.Add(p.Name, calendar.ReasonCursor)
			return
		}
	}
	q.run.walk = w
}

// free tells of a parameter that it may change from step to step, or that it stands in
// what a cursor belongs to by another name.
func free(name string) bool {
	switch name {
	case "cursor", "per_page", "_fields", "format", "features", "multilang_language", "as_of":
		return true
	}
	return strings.HasPrefix(name, "highlight") || strings.HasPrefix(name, "facet") || strings.HasPrefix(name, "csv_")
}

// openWalk refuses a cursor of a list with other parameters.
func (q *parser) openWalk(params []Param, of Of) {
	w := q.run.walk
	k := cache.Key(nil).Number(int64(q.Lang)).Text(q.past.AsOf).Number(int64(of.Kind)).Number(int64(of.ID))
	for _, l := range q.links(params, true) {
		moving := map[string]calendar.Wall{"start_date": w.start, "end_date": w.end}
		if at, ok := moving[l.Name]; free(strings.TrimSuffix(l.Name, "[]")) || ok && at != calendar.NoWall && l.Value == at.String() {
			continue
		}
		k = k.Text(l.Name).Text(l.Value)
	}
	w.params = k.String()
	if w.content != nil && !q.past.FormOnly && !slices.Equal(sumOf(w.params, w.content), w.sum) {
		q.bad.Add("cursor", calendar.ReasonCursor)
	}
}

// closeWalk keeps the window of the beginning.
func (q *parser) closeWalk() {
	w := q.run.walk
	switch {
	case w == nil:
		q.closeWindow()
	case w.content == nil:
		q.closeWindow()
		w.start, w.end, w.window, w.lap = q.startDefault, q.endDefault, q.run.window, q.run.lap
	default:
		q.startDefault, q.endDefault, q.run.window, q.run.lap = w.start, w.end, w.window, w.lap
		q.Moves = false
	}
}

// InSteps tells that the pages of the list follow each other by cursors.
func (c *Criteria) InSteps() bool { return c.run.walk != nil }

// LinksOf are the Links with another cursor.
func (c *Criteria) LinksOf(cursor string) []LinkParam {
	out := slices.Clone(c.Links)
	for i := range out {
		if out[i].Name == "cursor" {
			out[i].Value = cursor
		}
	}
	return out
}

// next gives the cursor behind a document, with the step of the search.
func (w *walk) next(order []readmodel.Sort, r *calendar.Record, step int) string {
	c := w.cursor
	c.step = byte(step)
	c.at = readmodel.Place(order, r)
	return c.encode(w.params)
}
