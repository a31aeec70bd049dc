package pages

import (
	"bytes"
	"cmp"
	"embed"
	"net/http"
	"text/template"
)

//go:embed templates/*.txt templates/*.xml
var fileTexts embed.FS

var fileTemplates = template.Must(template.ParseFS(fileTexts, "templates/*"))

// write answers a file that a template makes of something.
func (l *pageBuilder) write(name string, of any) {
	var out bytes.Buffer
	l.err = cmp.Or(l.err, fileTemplates.ExecuteTemplate(&out, name, struct {
		*pageBuilder

		Of any
	}{l, of}))
	l.send(out.Bytes())
}

// send answers a file.
func (l *pageBuilder) send(body []byte) {
	l.answer = &Answer{Status: http.StatusOK, Type: l.Route.media, Body: body, Lang: l.lang}
}
