// Package texts holds what the service itself says in the four languages, as data: one file
// for each area and language, in which keys stand for texts.
package texts

import (
	"embed"
	"encoding/json"
	"strings"

	"daybook/calendar"
)

//go:embed *.json
var files embed.FS

// Table holds the texts of an area by key.
type Table map[string]calendar.Text

// The areas.
var (
	Messages      = read("messages")      // in answers of the interface: errors, labels of facets, words of feeds
	Documentation = read("documentation") // of the index and the OpenAPI document
	Pages         = read("pages")         // of the public pages
	Sentences     = read("sentences")     // of histories
)

func read(area string) Table {
	table := Table{}
	for _, language := range calendar.Langs {
		name := area + "." + language.String() + ".json"
		data, err := files.ReadFile(name)
		var texts map[string]string
		if err == nil {
			err = json.Unmarshal(data, &texts)
		}
		if err != nil {
			panic(name + ": " + err.Error()) // the files are part of the program
		}
		for key, text := range texts {
			all := table[key]
			all[language] = text
			table[key] = all
		}
	}
	return table
}

// In returns a text in a language with values filled in, "" for an unknown key.
func (table Table) In(key string, language calendar.Lang, values ...string) string {
	return Fill(table[key][language], values...)
}

// Fill puts values in the places {1}, {2}, … of a text. Places without a value stay.
func Fill(text string, values ...string) string {
	if len(values) == 0 {
		return text
	}
	var builder strings.Builder
	for {
		before, place, found := strings.Cut(text, "{")
		builder.WriteString(before)
		if !found {
			return builder.String()
		}
		if place != "" && int(place[0]-'1') < len(values) {
			builder.WriteString(values[place[0]-'1'])
			_, text, _ = strings.Cut(place, "}")
		} else {
			builder.WriteByte('{')
			text = place
		}
	}
}
