package pages

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"daybook/calendar"
	"daybook/internal/texts"
	"daybook/query"
)

//go:embed templates/*.html
var templateFiles embed.FS

// The templates that pages are made of.
const (
	wholePage    = "layout"
	embeddedPage = "embed"
)

// spelled is a text of the table that stands alone in a template.
var spelled = regexp.MustCompile(`\{\{t "([^"]*)"\}\}`)

// parseTemplates reads the templates in a language. Texts that stand alone are put in here:
// calling for them is half the work on a page.
func parseTemplates(l calendar.Lang) (*template.Template, error) {
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	out := template.New("").Funcs(template.FuncMap{
		"t": func(key string) (string, error) {
			if _, known := texts.Pages[key]; !known {
				return "", errors.New("no text " + key)
			}
			return word(key, l), nil
		},
		"fill": texts.Fill,
		"isolated": func(s, with string, lang ...string) template.HTML {
			open := "<bdi>"
			if len(lang) > 0 && lang[0] != "" {
				open = `<bdi lang="` + lang[0] + `">`
			}
			return template.HTML(texts.Fill(template.HTMLEscapeString(s), open+template.HTMLEscapeString(with)+"</bdi>")) //nolint:gosec // escaped
		},
		"dict":    dict,
		"url":     safeURL,
		"webcal":  webcal,
		"param":   baseName,
		"escaped": template.HTMLEscapeString,
	})
	for _, name := range files {
		b, err := templateFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var unknown error
		text := spelled.ReplaceAllStringFunc(string(b), func(s string) string {
			key := spelled.FindStringSubmatch(s)[1]
			if _, known := texts.Pages[key]; !known {
				unknown = fmt.Errorf("%s: no text %s", name, key)
			}
			return template.HTMLEscapeString(word(key, l))
		})
		if _, err = out.New(path.Base(name)).Parse(text); err != nil || unknown != nil {
			return nil, errors.Join(err, unknown)
		}
	}
	// They are escaped when they are first executed: what cannot be is refused at the start.
	if _, err := out.New("all").Parse(`{{if false}}{{template "` + wholePage + `"}}{{template "` + embeddedPage + `"}}{{end}}`); err != nil {
		return nil, err
	}
	return out, out.ExecuteTemplate(io.Discard, "all", nil)
}

// safeURL passes addresses of schemes that run nothing. Templates let http and mailto links
// pass only; the others that stand on pages, webcal and geo, are made here.
func safeURL(u string) template.URL {
	for _, scheme := range []string{"webcal:", "geo:", "mailto:", "http:", "https:", "/"} {
		if len(u) >= len(scheme) && strings.EqualFold(u[:len(scheme)], scheme) {
			return template.URL(u) //nolint:gosec // of a scheme that runs nothing
		}
	}
	return ""
}

// dict hands several values to a template.
func dict(pairs ...any) (map[string]any, error) {
	out := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, errors.New("dict: a name is a text")
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}

// Root is the path of the base URL.
func (l *look) Root() string { return l.Path }

// IsRecord tells that the page is that of a venue, organizer, category or tag.
func (l *look) IsRecord() bool {
	switch l.Page {
	case pageVenue, pageOrganizer, pageCategory, pageTag:
		return true
	default:
	}
	return false
}

// Kept are the parameters that the zone switch sends along.
func (l *look) Kept() []query.LinkParam {
	named := l.Route.named()
	if l.sel == nil {
		return append(named, l.own...)
	}
	return append(named, l.sel.asked.without(paramZone)...)
}

var languageTags = [...]language.Tag{calendar.LangCN: language.SimplifiedChinese, calendar.LangEN: language.English, calendar.LangFR: language.French, calendar.LangES: language.Spanish}

// collator compares names as people of a language do. It is not safe for concurrent use.
func collator(l calendar.Lang) *collate.Collator {
	return collate.New(languageTags[l], collate.Loose, collate.Numeric)
}
