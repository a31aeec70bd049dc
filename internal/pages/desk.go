package pages

import (
	"bytes"
	"fmt"
	"html"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"daybook/internal/desk"
)

// deskAssets is where the files of the desk are served (docs/spec/desk.md E9.1).
const deskAssets = "/desk/assets/"

// linked is how a file of the desk names another one.
var linked = regexp.MustCompile(`"(\.\./assets/|\./|assets/)([a-z-]+(?:\.[a-z]+)+)"`)

// linkDesk returns a file of the desk. Those that it names are added before it: their names
// there have their hashes.
func (assets *assets) linkDesk(name string) ([]byte, error) {
	files, _ := fs.Glob(desk.Files, "static/vendor/*/"+name) // the pattern is one
	body, err := desk.Files.ReadFile(append(files, "static/"+name)[0])
	if err != nil {
		return nil, fmt.Errorf("file %s of the desk: %w", name, err)
	}
	if path.Ext(name) == ".js" {
		body = desk.Served(body)
	}
	body = linked.ReplaceAllFunc(body, func(quoted []byte) []byte {
		datas := linked.FindSubmatch(quoted)
		folder, other := string(datas[1]), string(datas[2])
		key := "desk/" + other
		if folder == "../assets/" { // of the pages
			key = other
		}
		if assets.named[key] == nil {
			text, broken := assets.linkDesk(other)
			if broken != nil {
				err = broken
				return quoted
			}
			assets.add(key, text)
		}
		return []byte(`"` + folder + path.Base(assets.named[key].Path) + `"`)
	})
	return body, err
}

// serveDesk answers the document of the desk.
func (builder *pageBuilder) serveDesk() {
	prefix, _, _ := strings.Cut(strings.TrimPrefix(builder.options.Namespace, "/"), "/calendar/")
	builder.send(bytes.Replace(builder.assets.desk, []byte("<html "), fmt.Appendf(nil, `<html data-base="%s" data-prefix="%s" `, html.EscapeString(builder.Path), html.EscapeString(prefix)), 1))
}

// Served reports whether the path of a route is there by the settings.
func (pages *Pages) Served(route Route) bool { return !route.Desk || pages.options.Desk }
