package history

import (
	"daybook/calendar"
	"daybook/internal/texts"
)

// word returns a text of sentences (HISTORY 6) with values filled in.
func word(key string, lang calendar.Lang, values ...string) string {
	return texts.Sentences.In(key, lang, values...)
}

// Action is what an entry did, as it is shown to a caller (HISTORY 5).
type Action string

// The actions: the last parts of changes, and for a version of which the caller may not
// read the one before.
const (
	Created   Action = calendar.Created
	Published Action = "published"
	Updated   Action = calendar.Updated
	Trashed   Action = calendar.Trashed
	Restored  Action = calendar.Restored
	Deleted   Action = calendar.Deleted
	Erased    Action = calendar.Erased
)

// Actions are all actions.
var Actions = [...]Action{Created, Published, Updated, Trashed, Restored, Deleted, Erased}
