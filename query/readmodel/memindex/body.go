package memindex

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"

	"daybook/calendar"
)

// Bodies are most of the memory, and much of each is the same as in all others:
// names of fields, forms of dates. They are kept compressed against a sample of
// their kind.

// packed marks how a body is kept.
const (
	packedPlain byte = iota
	packedS2
)

// packSamples are the dictionaries of compression by kind: records with every
// field of the table. Snapshots depend on them.
var packSamples = sync.OnceValue(func() (all [calendar.KindUser + 1][]byte) {
	for k := calendar.KindEvent; k <= calendar.KindUser; k++ {
		all[k] = packSample(k)
	}
	return all
})

var packDicts = sync.OnceValue(func() (all [calendar.KindUser + 1]*s2.Dict) {
	for k := calendar.KindEvent; k <= calendar.KindUser; k++ {
		all[k] = s2.MakeDict(packSamples()[k], nil)
	}
	return all
})

func packSample(k calendar.Kind) []byte {
	t := calendar.Text{
		"<p>音乐会 活动 欢迎参加,地点</p>",
		"<p>The concert of the evening with music and dance for children and families in the city.</p>\n<p>Join us for this event at the hall.</p>\n<ul>\n<li><strong>tickets</strong></li></ul>",
		"<p>Un concert et une fête pour les enfants dans la ville avec des musiques du monde.</p>",
		"<p>Un concierto y una fiesta para los niños en la ciudad con música del mundo.</p>",
	}
	r := &calendar.Record{
		ID: 1001, Kind: k, Version: 1, Home: calendar.LangEN,
		Changed: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Fields: calendar.Fields{},
	}
	texts := map[string]string{
		"status": "publish", "timezone": "Europe/Paris", "website": "https://www.example.org/", "country": "United States",
		"former_status": "draft", "email": "hello@example.org", "url": "https://www.example.org/images/", "image_url": "https://www.example.org/images/",
	}
	wall := calendar.Wall(r.Changed.Unix())
	for _, f := range calendar.SpecOf(k).Fields {
		switch f.Stored {
		case calendar.TypeString:
			r.Fields[f.Name] = texts[f.Name]
		case calendar.TypeText:
			r.Fields[f.Name] = t
		case calendar.TypeBool:
			r.Fields[f.Name] = f.Name == "show_map" || f.Name == "show_map_link"
		case calendar.TypeNumber:
			r.Fields[f.Name] = 42.3554
		case calendar.TypeID:
			r.Fields[f.Name] = calendar.ID(100)
		case calendar.TypeIDs:
			r.Fields[f.Name] = []calendar.ID{100, 101}
		case calendar.TypeStrings:
			r.Fields[f.Name] = []string{"$10", "20 EUR"}
		case calendar.TypeWall:
			r.Fields[f.Name] = wall
			wall += 9000
		}
	}
	body, err := calendar.EncodeRecord(r)
	if err != nil {
		panic(fmt.Sprintf("sample of a %s: %v", k, err)) // the table and the values are both in this program
	}
	return body
}

// pack gives a body as it is kept.
func pack(k calendar.Kind, body []byte) []byte {
	if small := packDicts()[k].Encode(nil, body); len(small) < len(body) {
		return slices.Concat([]byte{packedS2}, small)
	}
	return slices.Concat([]byte{packedPlain}, body)
}

// unpack gives the body of what pack made; it shares no memory with it.
func unpack(k calendar.Kind, packed []byte) ([]byte, error) {
	if len(packed) == 0 || packed[0] == packedPlain {
		return bytes.Clone(packed[min(1, len(packed)):]), nil
	}
	return packDicts()[k].Decode(nil, packed[1:])
}
