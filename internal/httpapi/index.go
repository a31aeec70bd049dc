package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/httpapi/openapi"
	public "daybook/internal/pages"
	"daybook/internal/param"
	"daybook/internal/texts"
	"daybook/query"
)

type object = map[string]any

var indexTable = param.Table[call]{indexText("namespace", ""), indexText("context", `"view"`), languageTable[0]}

// indexText is a text that is only checked to be one.
func indexText(name, otherwise string) param.Row[call] {
	return param.Row[call]{
		Param: param.Param{Name: name, In: "query", Type: "string", Text: "arg." + name, Default: otherwise},
		Read:  func(_ *call, v *param.Value) { v.Raw() },
	}
}

// languageTable are the parameters of what has a language only.
var languageTable = param.Table[call]{param.Language(func(c *call) *calendar.Lang { return &c.lang })}

// readQuery reads the query of a request by a table, all problems at once.
func (c *call) readQuery(table param.Table[call]) error {
	var problems calendar.Problems
	c.lang = c.loc.lang
	table.Read(param.NewValue(inputOf(c.query, table.IsList), &problems), c)
	return problems.Err()
}

// index answers the list of routes (8.1).
func (c *call) index() error {
	if err := c.readQuery(indexTable); err != nil {
		return err
	}
	if c.sends("namespace") && lastOf(c.query, "namespace") != c.root.namespace {
		return calendar.Fail(calendar.CodeInvalidNamespace, 0)
	}
	return c.sendTexts(cache.Key(nil).Text("index").Text(c.o.Now().In(c.o.Site).Format(time.DateOnly)), c.documents.Index)
}

// documentation answers the OpenAPI document (8.2).
func (c *call) documentation() error {
	if err := c.readQuery(languageTable); err != nil {
		return err
	}
	return c.sendTexts(cache.Key(nil).Text("doc"), c.documents.Document)
}

// baseMark stands for the base URL in the texts that are kept: a character that is
// in none of them.
const baseMark = "\uE000"

// sendTexts sends a document that depends on its name, root and language only. It is
// kept without the base URL, which may come from the Host of the request: making it
// costs a thousand times more than putting that in.
func (c *call) sendTexts(name cache.Key, produce func(openapi.Root, calendar.Lang) object) error {
	l := c.lang
	name = name.Number(int64(l))
	marked := &call{route: c.route, root: rootOf(origin{base: baseMark, host: baseMark}, c.loc, 0)}
	key := c.key(textsKey, query.Generation{}, 0, marked.asked().Join(name))
	return c.read(&question{make: func(ctx context.Context, _ stated) (*answer, error) {
		text, err := c.text(ctx, key, func() ([]byte, error) { return json.Marshal(produce(c.rootFor(marked.root), l)) })
		if err != nil {
			return nil, err
		}
		own := c.key(textsKey, query.Generation{}, 0, c.asked().Join(name))
		base, err := json.Marshal(c.root.Base)
		if err != nil {
			return nil, err
		}
		ans := newAnswer(withBase(nil, text, base[1:len(base)-1]), valueJSON, c.weakTag(own), l)
		ans.key = own // its encodings are worth caching, which are short
		return ans, nil
	}})
}

// text returns the cached text of a key, else the one that produce makes, once for all.
func (c *call) text(ctx context.Context, key string, produce func() ([]byte, error)) ([]byte, error) {
	if ans, ok := c.answers.Get(key); ok {
		c.cache = CacheHit
		return ans.body, nil
	}
	c.cache = CacheMiss
	done := <-c.once(ctx, key, func(context.Context) (*answer, error) {
		body, err := produce()
		return &answer{body: body}, err
	})
	if done.Err != nil {
		return nil, done.Err
	}
	return done.Val.(*answer).body, nil //nolint:forcetypeassert // nothing else is made
}

// withBase appends a kept text with the base URL in its places.
func withBase(to, text, base []byte) []byte {
	for {
		before, after, found := bytes.Cut(text, []byte(baseMark))
		to = append(to, before...)
		if !found {
			return to
		}
		to, text = append(to, base...), after
	}
}

// options answers OPTIONS: Allow, and the entry of the route in the index.
func (c *call) options() error {
	c.preflight(c.w.Header(), c.route)
	if err := c.readQuery(languageTable); err != nil {
		return err
	}
	b, err := json.Marshal(c.documents.Entry(&c.route.Route, c.rootFor(c.root), c.lang))
	if err != nil {
		return err
	}
	h := c.w.Header()
	h[headerLanguage] = []string{c.lang.Tag()}
	h[headerType] = valueJSON
	c.send(http.StatusOK, b)
	return nil
}

// newDocuments returns what index and documentation are made of.
func newDocuments(o *Options, totals [][2]string) *openapi.API {
	docs := &openapi.API{
		Facets: query.Facets, Sends: requestHeaders, Totals: totals,
		PerPageMax: o.PerPageMax, Now: o.Now, Site: o.Site,
	}
	for _, rt := range routes {
		docs.Routes = append(docs.Routes, &rt.Route)
	}
	return docs
}

// rootFor is a root as the documents name it.
func (a *api) rootFor(r *root) openapi.Root {
	return openapi.Root{URL: r.URL, Namespace: r.namespace, Further: r.URL != r.Site+"/"+a.o.Prefix+"/"+Namespace}
}

// pageGroups are the groups of operations on the page of the interface.
var pageGroups = []string{"events", "search", "feeds", "history", "writing"}

// PageAPI is the interface for its page, from the table that the documentation is made of.
func PageAPI() public.API {
	out := public.API{Name: texts.Documentation["title"], Version: openapi.Version}
	for _, name := range pageGroups {
		out.Groups = append(out.Groups, public.OperationGroup{Name: name})
	}
	for _, rt := range slices.Concat(routes[2:], routes[:2]) { // index and documentation stand last
		for _, op := range rt.Operations {
			group := &out.Groups[slices.Index(pageGroups, op.Group)]
			for _, method := range op.Methods {
				group.Operations = append(group.Operations, public.Operation{
					Method: method, Path: rt.Template, Does: texts.Documentation["op."+op.Text], Extension: rt.Extension,
				})
			}
		}
	}
	return out
}
