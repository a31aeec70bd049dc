package elastic

import (
	"encoding/json"

	"daybook/calendar"
	"daybook/internal/canonjson"
)

// aggregations are what a search counts.
type aggregations struct {
	Values composite `json:"values"`
	// Of a place in an order; see Index.near.
	Stats struct {
		Count int      `json:"count"`
		Min   *float64 `json:"min"`
		Max   *float64 `json:"max"`
	} `json:"stats"`
	Spans   spans        `json:"spans"`
	Tallies tallyAnswers `json:"tallies"`
	Pairs   composite    `json:"pairs"`
	Pieces  struct {
		Buckets []struct {
			Count int `json:"doc_count"`
		} `json:"buckets"`
	} `json:"pieces"`
}

// composite are counts by values that come page by page.
type composite struct {
	After   json.RawMessage `json:"after_key"`
	Buckets []compositeBucket
}

type compositeBucket struct {
	Key struct {
		ID    calendar.ID
		Value calendar.ID
		Title string
	}
	Count int `json:"doc_count"`
}

// tallyAnswers are what was counted: by selection, by what was asked.
type tallyAnswers map[string]map[string]*tallyAnswer

// tallyAnswer are counts by value or by part, or the values of documents that have several.
type tallyAnswer struct {
	Others  int // of values that are not among them
	Buckets []tallyBucket
	Pairs   composite
}

type tallyBucket struct {
	Key   int64 // of values
	Count int
}

// UnmarshalJSON is for encoding/json.
func (a *tallyAnswers) UnmarshalJSON(b []byte) error { return a.read(canonjson.NewReader(string(b))) }

// Large parts are read in one pass, as answer.decode does.

func (g *aggregations) read(s *canonjson.Reader) error {
	other := func(to any) error {
		text, err := raw(s)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, to)
	}
	return s.Object(func(key string) error {
		switch key {
		case "values":
			return g.Values.read(s)
		case "stats":
			return other(&g.Stats)
		case "spans":
			return other(&g.Spans)
		case "tallies":
			return g.Tallies.read(s)
		case "pairs":
			return g.Pairs.read(s)
		case "pieces":
			return other(&g.Pieces)
		default:
			return pass(s)
		}
	})
}

func (c *composite) read(s *canonjson.Reader) error {
	return s.Object(func(key string) (err error) {
		switch key {
		case "after_key":
			c.After, err = raw(s)
		case "buckets":
			err = s.List(func() error {
				c.Buckets = append(c.Buckets, compositeBucket{})
				return c.Buckets[len(c.Buckets)-1].read(s)
			})
		default:
			err = pass(s)
		}
		return err
	})
}

func (b *compositeBucket) read(s *canonjson.Reader) error {
	return s.Object(func(key string) (err error) {
		switch key {
		case "key":
			err = s.Object(func(key string) (err error) {
				switch key {
				case "id":
					b.Key.ID, err = readID(s)
				case "value":
					b.Key.Value, err = readID(s)
				case "title":
					b.Key.Title, err = s.String()
				default:
					err = pass(s)
				}
				return err
			})
		case "doc_count":
			b.Count, err = readCount(s)
		default:
			err = pass(s)
		}
		return err
	})
}

func (a *tallyAnswers) read(s *canonjson.Reader) error {
	*a = tallyAnswers{}
	return eachPart(s, func(selection string) error {
		asked := map[string]*tallyAnswer{}
		(*a)[selection] = asked
		return eachPart(s, func(tally string) error {
			t := &tallyAnswer{}
			asked[tally] = t
			return t.read(s)
		})
	})
}

// eachPart reads the parts of an aggregation that has some.
func eachPart(s *canonjson.Reader, read func(name string) error) error {
	return s.Object(func(key string) error {
		if key == "doc_count" || key == "meta" {
			return pass(s)
		}
		return read(key)
	})
}

func (t *tallyAnswer) read(s *canonjson.Reader) error {
	return s.Object(func(key string) (err error) {
		switch key {
		case "sum_other_doc_count":
			t.Others, err = readCount(s)
		case "buckets":
			err = s.List(func() error {
				t.Buckets = append(t.Buckets, tallyBucket{})
				return t.Buckets[len(t.Buckets)-1].read(s)
			})
		case "pairs":
			err = t.Pairs.read(s)
		default:
			err = pass(s)
		}
		return err
	})
}

func (b *tallyBucket) read(s *canonjson.Reader) error {
	return s.Object(func(key string) (err error) {
		switch key {
		case "key":
			b.Key, err = s.Int()
		case "doc_count":
			b.Count, err = readCount(s)
		default:
			err = pass(s)
		}
		return err
	})
}

func readID(s *canonjson.Reader) (calendar.ID, error) {
	n, err := s.Int()
	return calendar.ID(n), err
}

func readCount(s *canonjson.Reader) (int, error) {
	n, err := s.Int()
	return int(n), err
}
