package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/httpapi/admit"
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
		Read:  func(_ *call, value *param.Value) { value.Raw() },
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

// sendTexts sends a document that depends on its name, root and language only. It is made
// once, however long that takes.
func (c *call) sendTexts(name cache.Key, produce func(openapi.Root, calendar.Lang) object) error {
	key := c.key(textsKey, query.Generation{}, 0, c.asked().Join(name).Number(int64(c.lang)))
	ans, ok := c.answers.Get(key)
	if c.cache = CacheHit; !ok {
		c.cache = CacheMiss
		done := <-c.once(c.r.Context(), key, func(context.Context, *admit.Pass) (*answer, error) {
			data, err := json.Marshal(produce(c.rootFor(), c.lang))
			if err != nil {
				return nil, err
			}
			return newAnswer(data, valueJSON, c.weakTag(key), c.lang), nil
		})
		if done.Err != nil {
			return done.Err
		}
		ans = done.Val.(*answer) //nolint:forcetypeassert // nothing else is made
	}
	return c.sendAnswer(ans)
}

// options answers OPTIONS: Allow, and the entry of the route in the index.
func (c *call) options() error {
	c.preflight(c.w.Header(), c.route)
	if err := c.readQuery(languageTable); err != nil {
		return err
	}
	data, err := json.Marshal(c.documents.Entry(&c.route.Route, c.rootFor(), c.lang))
	if err != nil {
		return err
	}
	c.sendJSON(http.StatusOK, data)
	return nil
}

// newDocuments returns what index and documentation are made of.
func newDocuments(options *Options, totals [][2]string) *openapi.API {
	docs := &openapi.API{
		Facets: query.Facets, Sends: requestHeaders, Totals: totals,
		PerPageMax: options.PerPageMax, Now: options.Now, Site: options.Site,
	}
	for _, route := range routes {
		docs.Routes = append(docs.Routes, &route.Route)
	}
	return docs
}

// rootFor is the root as the documents name it.
func (c *call) rootFor() openapi.Root {
	root := c.root
	return openapi.Root{URL: root.URL, Namespace: root.namespace, Further: root.URL != root.Site+"/"+c.o.Prefix+"/"+Namespace}
}

// pageGroups are the groups of operations on the page of the interface.
var pageGroups = []string{"events", "search", "feeds", "history", "writing"}

// PageAPI is the interface for its page, from the table that the documentation is made of.
func PageAPI() public.API {
	out := public.API{Name: texts.Documentation["title"], Version: openapi.Version}
	for _, name := range pageGroups {
		out.Groups = append(out.Groups, public.OperationGroup{Name: name})
	}
	for _, route := range slices.Concat(routes[2:], routes[:2]) { // index and documentation stand last
		for _, operation := range route.Operations {
			group := &out.Groups[slices.Index(pageGroups, operation.Group)]
			for _, method := range operation.Methods {
				group.Operations = append(group.Operations, public.Operation{
					Method: method, Path: route.Template, Does: texts.Documentation["op."+operation.Text], Extension: route.Extension,
				})
			}
		}
	}
	return out
}
