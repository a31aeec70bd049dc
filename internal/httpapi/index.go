package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/ground/cache"
	"daybook/internal/httpapi/openapi"
	public "daybook/internal/pages"
	"daybook/internal/texts"
	"daybook/query"
)

type object = map[string]any

// documents returns what answers the list of routes (8.1), or the OpenAPI document (8.2).
func documents(form string) work {
	return func(call *call) error {
		if err := call.readParams(call.route.params); err != nil {
			return err
		}
		if form == "index" && call.sends("namespace") && call.query.Last("namespace") != call.root.namespace {
			return refusal(calendar.CodeInvalidNamespace)
		}
		return call.document(form, call.documents.Routes)
	}
}

// options answers OPTIONS: Allow, and the entry of the route in the index.
func (call *call) options() error {
	call.preflight(call.route)
	if err := call.readParams(languageTable); err != nil {
		return err
	}
	return call.document("options", &call.route.Route)
}

// rootMark stands for the URL of the root in documents, which are made for all hosts at once: any
// client can make up new ones.
const rootMark = "http://root.invalid"

// document sends a document, which depends on its form, root and language, and but for "doc" on
// the day.
func (call *call) document(form string, of any) error {
	name, root := cache.Key(nil).Text(form), call.root
	if form != "doc" {
		name = name.Text(call.Now().In(call.Site).Format(time.DateOnly))
	}
	return call.read(&question{
		asked: call.asked().Join(name).Number(int64(call.language)),
		make: func(ctx context.Context) (*answer, error) {
			tag := ""
			if isRead(call.request.Method) {
				tag = call.weakTag(call.cacheKey)
			}
			key := string(cache.Key{documentKey}.Join(name).Text(call.route.Pattern).Text(root.path).Number(int64(call.language)))
			filled, _, err := call.once(ctx, key, func(context.Context) (*answer, error) {
				further := root.URL != root.Site+"/"+call.Prefix+"/"+Namespace
				data, err := json.Marshal(call.documents.Fill(form, openapi.Root{URL: rootMark, Namespace: root.namespace, Further: further}, call.language, of))
				return &answer{body: body{bytes: data}}, err
			})
			if err != nil {
				return nil, err
			}
			address := formats.AppendJSON(nil, root.URL)
			data, err := call.write(func(data []byte) ([]byte, error) {
				for i, part := range bytes.Split(filled.bytes, []byte(rootMark)) {
					if i > 0 {
						data = append(data, address[1:len(address)-1]...)
					}
					data = append(data, part...)
				}
				return data, nil
			})
			return call.newAnswer(data, valueJSON, tag), err
		},
	})
}

// newDocuments returns what index and documentation are made of.
func newDocuments(options *Options) *openapi.API {
	docs := &openapi.API{
		Facets: query.Facets, Totals: map[string][]string{},
		PerPageMax: options.PerPageMax, Now: options.Now, Site: options.Site,
	}
	for _, pair := range options.TotalHeaders {
		for i, name := range []string{"X-Total", "X-TotalPages"} {
			docs.Totals[name] = append(docs.Totals[name], pair[i])
		}
	}
	for _, route := range routes {
		docs.Routes = append(docs.Routes, &route.Route)
	}
	return docs
}

// PageAPI is the interface for its page, from the table that the documentation is made of.
func PageAPI() public.API {
	result := public.API{Name: texts.Documentation["title"], Version: openapi.Version, Groups: strings.Fields("events search feeds history writing")}
	for _, route := range slices.Concat(routes[2:], routes[:2]) { // index and documentation stand last
		for _, operation := range route.Operations {
			for _, method := range operation.Methods {
				result.Operations = append(result.Operations, public.Operation{
					Group: operation.Group, Method: method, Path: route.Template, Does: texts.Documentation["op."+operation.Text], Extension: route.Extension,
				})
			}
		}
	}
	return result
}
