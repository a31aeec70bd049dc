package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/param"
	"daybook/query"
)

type object = map[string]any

// textParam reads a parameter that is text, for problems only when it is not.
func textParam(in calendar.Input, name string, problems *calendar.Problems) (string, bool) {
	v, sent := in[name]
	s, ok := v.(string)
	if sent && !ok {
		problems.Add(name, calendar.ReasonTypeText)
	}
	return s, ok
}

// index answers the list of routes (8.1).
func (a *api) index(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	var problems calendar.Problems
	in := inputOf(c.query, func(string) bool { return false })
	namespace, sent := textParam(in, "namespace", &problems)
	textParam(in, "context", &problems)
	c.lang = calendar.Language(in, c.loc.lang, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	if sent && namespace != c.root.namespace {
		return calendar.Fail(calendar.CodeInvalidNamespace, 0)
	}
	return a.sendTexts(w, r, cache.Key(nil).Text("index").Text(a.o.Now().In(a.o.Site).Format(time.DateOnly)), func(root *root, l calendar.Lang) any {
		all := make(object, len(a.routes))
		for _, rt := range a.routes {
			all["/"+root.namespace+rt.key] = a.indexEntry(rt, root, l)
		}
		return object{"namespace": root.namespace, "routes": all}
	})
}

// documentation answers the OpenAPI document (8.2).
func (a *api) documentation(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	var problems calendar.Problems
	c.lang = calendar.Language(inputOf(c.query, func(string) bool { return false }), c.loc.lang, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	return a.sendTexts(w, r, cache.Key(nil).Text("doc"), func(root *root, l calendar.Lang) any { return a.openAPI(root, l) })
}

// baseMark stands for the base URL in the texts that are kept: a character that is
// in none of them.
const baseMark = "\uE000"

// sendTexts sends a document that depends on its name, root and language only. It is
// kept without the base URL, which may come from the Host of the request: making it
// costs a thousand times more than putting that in.
func (a *api) sendTexts(w http.ResponseWriter, r *http.Request, name cache.Key, produce func(*root, calendar.Lang) any) error {
	c := callOf(r)
	l := c.lang
	name = name.Number(int64(l))
	marked := &call{route: c.route, root: rootOf(origin{base: baseMark, host: baseMark}, c.loc, 0)}
	key := c.key(textsKey, query.Generation{}, 0, marked.asked().Join(name))
	return a.read(w, r, c, &question{make: func(ctx context.Context, _ stated) (*answer, error) {
		text, err := a.text(ctx, c, key, func() ([]byte, error) { return json.Marshal(produce(marked.root, l)) })
		if err != nil {
			return nil, err
		}
		own := c.key(textsKey, query.Generation{}, 0, c.asked().Join(name))
		base, err := json.Marshal(c.root.base)
		if err != nil {
			return nil, err
		}
		ans := newAnswer(withBase(nil, text, base[1:len(base)-1]), valueJSON, a.weakTag(own), l)
		ans.key = own // its encodings are worth caching, which are short
		return ans, nil
	}})
}

// text returns the cached text of a key, else the one that produce makes, once for all.
func (a *api) text(ctx context.Context, c *call, key string, produce func() ([]byte, error)) ([]byte, error) {
	if ans, ok := a.answers.Get(key); ok {
		c.cache = CacheHit
		return ans.body, nil
	}
	c.cache = CacheMiss
	done := <-a.once(ctx, c, key, func(context.Context) (*answer, error) {
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
func (a *api) options(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	a.preflight(w.Header(), r, c.route)
	var problems calendar.Problems
	c.lang = calendar.Language(inputOf(c.query, func(string) bool { return false }), c.loc.lang, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	b, err := json.Marshal(a.indexEntry(c.route, c.root, c.lang))
	if err != nil {
		return err
	}
	h := w.Header()
	h[headerLanguage] = []string{c.lang.Tag()}
	h[headerType] = valueJSON
	a.send(w, r, http.StatusOK, b)
	return nil
}

// indexEntry is the entry of one route in the index.
func (a *api) indexEntry(rt *route, root *root, l calendar.Lang) object {
	endpoints := make([]object, 0, 3)
	for _, op := range rt.operations {
		args := make(object, len(op.args))
		for i := range op.args {
			arg := &op.args[i]
			if _, named := args[arg.Name]; named {
				continue // the path parameter of the same name is meant
			}
			args[arg.Name] = a.indexArgument(arg, rt, root, l)
		}
		endpoints = append(endpoints, object{"methods": op.methods, "args": args})
	}
	entry := object{"namespace": root.namespace, "methods": rt.methods, "endpoints": endpoints}
	if rt.extension {
		entry["extension"] = true
	}
	if len(rt.pathArguments()) == 0 {
		href := root.url
		if rt.pattern != "/" {
			href += rt.pattern
		}
		entry["_links"] = object{"self": []object{{"href": href}}}
	}
	return entry
}

func (a *api) indexArgument(arg *param.Param, rt *route, root *root, l calendar.Lang) object {
	o := object{"description": describe(arg.Text, l), "required": arg.Required}
	if element, list := arg.Element(); list {
		o["type"] = "array"
		o["items"] = object{"type": element}
	} else if arg.Type != "" {
		o["type"] = arg.Type
	}
	if arg.Format != "" {
		o["format"] = arg.Format
	}
	switch {
	case arg.Moving != nil:
		o["default"] = arg.Moving(a.o.Now(), a.o.Site).String()
	case rt.pattern == "/" && arg.Name == "namespace":
		o["default"] = root.namespace
	case arg.Default != "":
		o["default"] = defaultOf(arg.Default)
	}
	if arg.Enum != nil {
		o["enum"] = arg.Enum
	}
	if arg.Extension {
		o["extension"] = true
	}
	return o
}
