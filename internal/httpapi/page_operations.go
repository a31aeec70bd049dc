package httpapi

import (
	"slices"

	public "daybook/internal/pages"
	"daybook/internal/texts"
)

// documentVersion is that of the interface in its documentation.
const documentVersion = "1.0.0"

// PageAPI is the interface for its page, from the table that the documentation is made of.
func PageAPI() public.API {
	out := public.API{Name: texts.Documentation["title"], Version: documentVersion}
	for _, name := range []string{"events", "search", "feeds", "history", "writing"} {
		out.Groups = append(out.Groups, public.OperationGroup{Name: name})
	}
	for _, rt := range slices.Concat(routes[2:], routes[:2]) { // index and documentation stand last
		for _, op := range rt.operations {
			i := slices.IndexFunc(out.Groups, func(g public.OperationGroup) bool { return g.Name == op.group })
			for _, method := range op.methods {
				out.Groups[i].Operations = append(out.Groups[i].Operations, public.Operation{
					Method: method, Path: rt.template, Does: texts.Documentation["op."+op.text], Extension: rt.extension,
				})
			}
		}
	}
	return out
}
