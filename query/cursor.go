package query

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Cursors of lists of events (LISTINGS 3.7). A cursor says by itself where a walk goes on,
// so it holds after every restart and in every process.

const cursorSum = 12 // bytes

// cursor is a place in a list.
type cursor struct {
	Now  int64           `json:"now"`            // beginning of the walk, Unix time: words and defaults of dates are read from it
	Step uint8           `json:"step,omitempty"` // of typos=auto
	At   []readmodel.Key `json:"at"`
	Sum  []byte          `json:"sum"` // of the parameters that it belongs to, and the rest
}

// encode returns the cursor as text, for a list that was asked for by some parameters.
func (cursor cursor) encode(params string) string {
	cursor.Sum = nil
	content, _ := json.Marshal(cursor) // numbers alone
	digest := sha256.Sum256(append([]byte(params), content...))
	cursor.Sum = digest[:cursorSum]
	content, _ = json.Marshal(cursor)
	return base64.RawURLEncoding.EncodeToString(content)
}

// decodeCursor returns the cursor of a text, nil if it is none.
func decodeCursor(text string) *cursor {
	c := &cursor{}
	content, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(content, c) != nil || len(c.At) == 0 || !calendar.Wall(c.Now).InYears() {
		return nil
	}
	return c
}

// walk is a list in steps.
type walk struct {
	cursor
	sent   string // the text of the cursor; "" at the beginning
	params string // that its cursors belong to
}

// readCursor begins a walk, or continues that of a cursor at the moment when it began.
func (parser *parser) readCursor() {
	value := parser.parameter("cursor")
	text, ok := value.Text()
	if !ok {
		return
	}
	for _, other := range []string{"page", "collapse"} {
		if parser.sent(other) {
			value.Refuse(calendar.ReasonTogether, other)
		}
	}
	switch opened := decodeCursor(text); {
	case text == "*":
		parser.Walk = &walk{cursor: cursor{Now: parser.now.Unix()}}
	case opened == nil:
		value.Refuse(calendar.ReasonCursor)
	default:
		parser.Walk, parser.now = &walk{cursor: *opened, sent: text}, time.Unix(opened.Now, 0)
	}
}

// checkWalk refuses a cursor of a list with other parameters.
func (parser *parser) checkWalk() {
	walk := parser.Walk
	bound := slices.DeleteFunc(slices.Clone(parser.Sent), func(linkParam LinkParam) bool {
		return parser.Params.Find(strings.TrimSuffix(linkParam.Name, "[]")).Free
	})
	walk.params = fmt.Sprintf("%d %q %d %d %q", parser.Lang, parser.Past.AsOf, parser.Of, parser.window, bound)
	if walk.sent == "" {
		return
	}
	parser.Moves = false
	if !parser.Past.FormOnly && walk.encode(walk.params) != walk.sent {
		parser.bad.Add("cursor", calendar.ReasonCursor)
	}
}

// LinksOf are the Links with another cursor.
func (criteria *Criteria) LinksOf(cursor string) []LinkParam {
	linkParams := slices.Clone(criteria.Links)
	for i := range linkParams {
		if linkParams[i].Name == "cursor" {
			linkParams[i].Value = cursor
		}
	}
	return linkParams
}
