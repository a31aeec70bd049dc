package history

import (
	"daybook/calendar"
	"daybook/internal/texts"
)

// word returns a text of sentences (HISTORY 6) with values filled in.
func word(key string, language calendar.Lang, values ...string) string {
	return texts.Sentences.In(key, language, values...)
}

// Published is the action of a version of which the caller may not read the one before; the
// others are the last parts of changes (HISTORY 5).
const Published = "published"

// Actions are all actions.
var Actions = [...]string{calendar.Created, Published, calendar.Updated, calendar.Trashed, calendar.Restored, calendar.Deleted, calendar.Erased}
