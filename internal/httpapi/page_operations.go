package httpapi

import (
	public "daybook/internal/pages"
	"daybook/internal/texts"
)

// PageOperations are the operations of the interface for the page of the API, from the
// table that the documentation is made of.
func PageOperations() []public.Operation {
	var out []public.Operation
	for _, rt := range routes {
		for _, op := range rt.operations() {
			for _, method := range op.methods {
				out = append(out, public.Operation{Method: method, Path: rt.shown, Does: texts.Documentation[op.textID()], Extension: rt.extension()})
			}
		}
	}
	return out
}
