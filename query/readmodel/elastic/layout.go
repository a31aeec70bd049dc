package elastic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// layoutVersion changes whenever the same schema would give another mapping or
// another form of documents.
const layoutVersion = 9

type (
	object = map[string]any
	list   = []any
)

// The fields of an index beside those of the schema.
const (
	fieldBody    = "body"    // canonical JSON of the record, kept only
	fieldDeleted = "deleted" // true for tombstones
	fieldLower   = "lower."  // keyword in lower case, where that is another one
	fieldRows    = "rows."   // by slot: all texts, see rowOf
	fieldName    = "name."   // by slot: the name, between nameStart and nameEnd
	fieldSeveral = "several" // names of the fields of numbers that have several values
	fieldAt      = "position"

	// The fields of the state index.
	fieldWhat   = "what" // what the document is, see below, or the name of a kind
	fieldReason = "reason"
	fieldHash   = "hash" // of the mark of a position

	whatPosition    = "position" // up to which everything is there
	whatReach       = "reach"    // beyond which nothing is, see readmodel.Batch.Reach
	whatOrigin      = "origin"   // the first entry of the event store, see Options.First
	whatHeals       = "heals"    // its version counts how often records were healed
	whatQuarantined = "quarantined"
)

// slotAny holds texts of documents that are shown alike in every language; else a
// document has its texts in the slot of each language, named by the language.
const slotAny = "any"

// maxKeyword is the longest term of Lucene, in bytes. What is longer is indexed by its
// beginning; only the sort keys of the longest names of the strangest letters can be.
const maxKeyword = 32_766

// generation names the indices that are made, filled and put in place together:
// the first eight digits of the fingerprint, and a number.
type generation struct {
	print  string
	number int
}

func (g generation) isZero() bool   { return g == generation{} }
func (g generation) String() string { return g.print + "-" + strconv.Itoa(g.number) }

// current tells whether the generation has the schema of this program.
func (g generation) current() bool { return g.print == fingerprint() }

var fingerprint = sync.OnceValue(func() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", readmodel.Fingerprint(), layoutVersion))
	return hex.EncodeToString(sum[:4])
})

// stateName is the collection of the position, the quarantine, and of what is kept by
// id only.
const stateName = "state"

// collections are the parts of a generation; the state comes last, so that a
// generation that has it is whole.
var collections = func() []string {
	out := make([]string, 0, len(calendar.Kinds)+1)
	for _, k := range calendar.Kinds {
		out = append(out, k.Collection())
	}
	return append(out, stateName)
}()

// collectionOf gives the collection in which documents of a kind are kept.
func collectionOf(k calendar.Kind) string {
	if k <= calendar.KindTag {
		return k.Collection()
	}
	return stateName
}

// names makes the names of indices and aliases.
type names struct{ prefix string }

// live is the alias of the generation that answers.
func (n names) live(collection string) string { return n.prefix + "-" + collection }

// next and kept are the aliases of the state of the coming generation and of the
// one that Back puts in place.
func (n names) next() string { return n.prefix + "-next" }
func (n names) kept() string { return n.prefix + "-kept" }

func (n names) index(collection string, g generation) string {
	return n.prefix + "-" + collection + "-" + g.String()
}

// write is the alias through which an index is written: a bulk request that asks
// for an alias never makes an index that was dropped meanwhile.
func (n names) write(collection string, g generation) string {
	return n.index(collection, g) + "-write"
}

func (n names) all(g generation) []string {
	out := make([]string, len(collections))
	for i, c := range collections {
		out[i] = n.index(c, g)
	}
	return out
}

var generationForm = regexp.MustCompile(`^(` + strings.Join(collections, "|") + `)-([0-9a-f]{8})-([0-9]{1,15})$`)

// parse reads the name of an index.
func (n names) parse(index string) (collection string, g generation, ok bool) {
	rest, ours := strings.CutPrefix(index, n.prefix+"-")
	m := generationForm.FindStringSubmatch(rest)
	if !ours || m == nil {
		return "", generation{}, false
	}
	number, err := strconv.Atoi(m[3])
	return m[1], generation{m[2], number}, err == nil
}

// definition returns the body that makes an index.
func definition(o *Options, collection string, aliases ...string) []byte {
	index := object{
		"refresh_interval":   strconv.FormatInt(o.RefreshInterval.Milliseconds(), 10) + "ms",
		"max_result_window":  o.MaxResultWindow,
		"number_of_shards":   o.Shards,
		"number_of_replicas": o.Replicas,
		// Texts come as tokens of up to 120 characters, or two of them joined.
		"analysis": object{
			"tokenizer": object{"tokens": object{"type": "whitespace", "max_token_length": 1000}},
			"filter":    object{"holes": object{"type": "stop", "stopwords": hole}},
			"analyzer":  object{"default": object{"type": "custom", "tokenizer": "tokens", "filter": "holes"}},
		},
	}
	if collection == stateName {
		index["number_of_shards"] = 1
	}
	if o.Replicas == 0 {
		index["auto_expand_replicas"] = "0-1"
	}
	all := object{}
	for _, a := range aliases {
		all[a] = object{}
	}
	return encode(object{"settings": object{"index": index}, "mappings": mapping(collection), "aliases": all})
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps, lists, strings and numbers only
	}
	return b
}

// The fields of a mapping by their use.
var (
	keyword    = object{"type": "keyword"}
	searchOnly = object{"type": "keyword", "doc_values": false}
	number     = object{"type": "long"}
	boolean    = object{"type": "boolean"}
	row        = object{"type": "text", "norms": false}
	// stored is a text of any length that is never searched.
	stored = object{"type": "text", "index": false, "store": true, "norms": false}
)

// mapping returns the mapping of a collection. Only the body is kept as it was sent; with
// the source disabled an answer carries nothing else, and the engine keeps each text once.
// What a reindex would need is in the event store.
func mapping(collection string) object {
	p := object{fieldBody: stored, fieldDeleted: boolean}
	if collection == stateName {
		p[fieldWhat], p[readmodel.FieldID], p[fieldReason] = keyword, number, stored
		p[fieldAt] = object{"type": "long", "index": false, "doc_values": false}
		p[fieldHash] = object{"type": "keyword", "index": false, "doc_values": false}
		return object{"dynamic": "strict", "properties": p}
	}
	p[fieldAt], p[fieldSeveral] = object{"type": "long", "index": false}, searchOnly
	kind := calendar.Kinds[slices.IndexFunc(calendar.Kinds[:], func(k calendar.Kind) bool { return k.Collection() == collection })]
	for _, slot := range append([]string{slotAny}, calendar.LangNames()...) {
		p[fieldRows+slot], p[fieldName+slot] = row, row
	}
	s := readmodel.SchemaOf(kind)
	for i := range s.Fields {
		f := &s.Fields[i]
		switch f.Type {
		case readmodel.TypeKeyword:
			p[f.Name], p[fieldLower+f.Name] = keyword, searchOnly
		case readmodel.TypeNumber:
			p[f.Name] = number
		case readmodel.TypeText: // rows and the name
		}
	}
	return object{"dynamic": "strict", "_source": object{"enabled": false}, "properties": p}
}
