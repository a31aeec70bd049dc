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
func (builder *pageBuilder) write(name string, of any) {
	var result bytes.Buffer
	builder.err = cmp.Or(builder.err, fileTemplates.ExecuteTemplate(&result, name, struct {
		*pageBuilder

		Of any
	}{builder, of}))
	builder.send(result.Bytes())
}

// send answers a file.
func (builder *pageBuilder) send(body []byte) {
	builder.answer = &Answer{Status: http.StatusOK, Type: builder.Route.media, Body: body, Lang: builder.language}
}
