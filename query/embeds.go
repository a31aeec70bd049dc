package query

import (
	"errors"
	"time"

	"daybook/calendar"
)

// Embeds are the linked records that the view of an event is to hold.
type Embeds uint8

// The kinds of linked records, in the order of linkKinds.
const (
	EmbedVenues Embeds = 1 << iota
	EmbedOrganizers
	EmbedCategories
	EmbedTags
	// EmbedTouched asks for the last touch, also of what is blanked.
	EmbedTouched

	EmbedNone Embeds = 0
	EmbedAll         = EmbedVenues | EmbedOrganizers | EmbedCategories | EmbedTags
)

// EmbedsOf gives what the keys of an answer need, all for nil. The rest costs nothing:
// it is neither loaded nor rendered.
func EmbedsOf(fields []string) Embeds {
	if fields == nil {
		return EmbedAll
	}
	e := EmbedNone
	for _, f := range fields {
		switch f {
		case "venue", "venues":
			e |= EmbedVenues
		case "organizer":
			e |= EmbedOrganizers
		case "categories":
			e |= EmbedCategories
		case "tags":
			e |= EmbedTags
		case "json_ld":
			e |= EmbedVenues | EmbedOrganizers
		}
	}
	return e
}

// only gives the links that are to be embedded, or looked at.
func (l links) only(e Embeds) links {
	if e&EmbedTouched != 0 {
		return l
	}
	for at := range l {
		if e&(1<<at) == 0 {
			l[at] = nil
		}
	}
	return l
}

// ErrTooLarge says that an answer would have more bytes than Options.MaxAnswer.
var ErrTooLarge = errors.New("answer too large")

// linkedAtOnce is how many linked records are loaded before their texts are counted.
// Each may have some 800 kB.
const linkedAtOnce = 128

// allowance takes the linked records of an answer as they are loaded, and ends it when
// their shown texts alone are more than the answer may have.
type allowance struct {
	caller calendar.Caller
	lang   calendar.Lang
	now    time.Time
	left   int // bytes
}

// take gives what the answer needs of a record: nothing, when it shows none of it.
func (a *allowance) take(l linkedRecord) (linkedRecord, error) {
	r := l.record
	if r == nil || !l.shows(a.caller, a.now) {
		return linkedRecord{changed: l.changed}, nil
	}
	shown, _ := r.Fields.Text("description").In(a.lang, r.Home)
	if a.left -= len(shown); a.left < 0 {
		return l, ErrTooLarge
	}
	return l, nil
}

// shows tells whether an answer to a caller embeds the record.
func (l linkedRecord) shows(c calendar.Caller, now time.Time) bool {
	switch {
	case l.record == nil || l.record.Deleted || l.status == calendar.StatusTrash:
		return false
	case l.record.Kind.IsTerm() || l.status == calendar.StatusPublish:
		return true
	default:
		return calendar.MayRead(c, l.record, now)
	}
}

// textBytes is what the texts of a record take, in all languages.
func textBytes(r *calendar.Record) int {
	n := 0
	for _, v := range r.Fields {
		if text, ok := v.(calendar.Text); ok {
			for _, s := range text {
				n += len(s)
			}
		}
	}
	return n
}
