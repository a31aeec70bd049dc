package elastic

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// layoutVersion changes whenever the same schema would give another mapping or
// another form of documents.
const layoutVersion = 12

type (
	object = map[string]any
	list   = []any
)

// The fields of a document besides those of the schema.
const (
	fieldBody    = "body"    // canonical JSON of the record, packed, kept only
	fieldDeleted = "deleted" // true for tombstones
	fieldRows    = "rows."   // by slot: all texts, see rowOf
	fieldName    = "name."   // by slot: the name, between nameStart and nameEnd
)

// The documents of the state index.
const (
	statePosition   = "position"    // up to which everything is there
	stateReach      = "reach"       // beyond which nothing is, see readmodel.Batch.Reach
	stateQuarantine = "quarantined" // its version counts how often it changed
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

// current reports whether the generation has the schema of this program.
func (g generation) current() bool { return g.print == fingerprint() }

var fingerprint = sync.OnceValue(func() string {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %d", readmodel.Fingerprint(), layoutVersion))
	return hex.EncodeToString(digest[:4])
})

// stateName is the collection of the marks and the quarantine.
const stateName = "state"

// collections are the parts of a generation.
var collections = func() []string {
	names := make([]string, 0, len(calendar.Kinds)+1)
	for _, kind := range calendar.Kinds {
		names = append(names, kind.Collection())
	}
	return append(names, stateName)
}()

// names makes the names of indices and aliases.
type names struct{ prefix string }

// live is the alias of the generation that answers.
func (names names) live(collection string) string { return names.prefix + "-" + collection }

// kept is the alias of the state of the generation that Back puts in place.
func (names names) kept() string { return names.prefix + "-kept" }

func (names names) index(collection string, generation generation) string {
	return names.prefix + "-" + collection + "-" + generation.String()
}

// write is the alias through which an index is written: a bulk request that asks
// for an alias never makes an index that was dropped meanwhile.
func (names names) write(collection string, generation generation) string {
	return names.index(collection, generation) + "-write"
}

// records are the indices of records.
func (names names) records(generation generation) []string {
	texts := make([]string, len(calendar.Kinds))
	for i, kind := range calendar.Kinds {
		texts[i] = names.index(kind.Collection(), generation)
	}
	return texts
}

var generationForm = regexp.MustCompile(`^(` + strings.Join(collections, "|") + `)-([0-9a-f]{8})-([0-9]{1,15})$`)

// parse reads the name of an index.
func (names names) parse(index string) (collection string, g generation, ok bool) {
	rest, ours := strings.CutPrefix(index, names.prefix+"-")
	texts := generationForm.FindStringSubmatch(rest)
	if !ours || texts == nil {
		return "", generation{}, false
	}
	number, err := strconv.Atoi(texts[3])
	return texts[1], generation{texts[2], number}, err == nil
}

// indices are the settings of all indices and the mappings of those of records and of the
// state. All kinds have one mapping, so a search over several indices knows all fields in
// each. Of a record only the body is stored as it was sent; with the source disabled an answer
// carries nothing else, and the engine keeps each text once. Texts come as tokens of up to
// 120 characters, or two of them joined.
//
//go:embed indices.json
var indices []byte

// definition returns the body that makes an index.
func definition(options *Options, collection, alias string) []byte {
	var fixed struct{ Settings, Records, State object }
	if err := json.Unmarshal(indices, &fixed); err != nil {
		panic(err) // part of the program
	}
	maps.Copy(fixed.Settings, object{
		"refresh_interval":  strconv.FormatInt(options.RefreshInterval.Milliseconds(), 10) + "ms",
		"max_result_window": options.MaxResultWindow,
	})
	mapping := fixed.State
	if collection != stateName {
		mapping, fixed.Settings["number_of_shards"] = fixed.Records, options.Shards
	}
	if options.Replicas > 0 {
		fixed.Settings["number_of_replicas"], fixed.Settings["auto_expand_replicas"] = options.Replicas, false
	}
	return encode(object{"settings": object{"index": fixed.Settings}, "mappings": mapping, "aliases": object{alias: object{}}})
}

func encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps, lists, strings and numbers only
	}
	return data
}
