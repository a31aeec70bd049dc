package pages

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"daybook/calendar"
	"daybook/internal/texts"
)

// maxInLink is how many bytes a text takes at most in a link to another calendar, so that the
// link stays below the 2,000 characters that all take.
const maxInLink = 270

// inLink cuts a text between what readers see as characters so that it fits into a link.
func inLink(text string) string {
	size := 0
	for all := uniseg.NewGraphemes(text); all.Next(); {
		size += len(strings.ReplaceAll(url.QueryEscape(all.Str()), "+", "%20"))
		if from, _ := all.Positions(); size > maxInLink {
			return text[:from] + "…"
		}
	}
	return text
}

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
	say := locale{language: l}
	result := template.New("").Funcs(template.FuncMap{
		"t":          func(key ...any) string { return word(fmt.Sprint(key...), l) },
		"word":       word,
		"fill":       texts.Fill,
		"date":       say.date,
		"in_year":    say.dayInYear,
		"month":      say.month,
		"month_name": say.monthName,
		"weekday":    say.dayName,
		"apart":      texts.Isolated,
		"isolated": func(s, with string, lang ...string) template.HTML {
			open := "<bdi>"
			if len(lang) > 0 && lang[0] != "" {
				open = `<bdi lang="` + lang[0] + `">`
			}
			return template.HTML(texts.Fill(template.HTMLEscapeString(s), open+template.HTMLEscapeString(with)+"</bdi>")) //nolint:gosec // escaped
		},
		"dict":    dict,
		"add":     func(a, b int) int { return a + b },
		"url":     safeURL,
		"webcal":  webcal,
		"param":   baseName,
		"escaped": template.HTMLEscapeString,
		"in_link": inLink,
	})
	for _, name := range files {
		data, err := templateFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		text := spelled.ReplaceAllStringFunc(string(data), func(s string) string {
			return template.HTMLEscapeString(word(spelled.FindStringSubmatch(s)[1], l))
		})
		if _, err = result.New(path.Base(name)).Parse(text); err != nil {
			return nil, err
		}
	}
	return result, nil
}

var safe = regexp.MustCompile(`(?i)^(webcal:|geo:|mailto:|https?:|/)`)

// safeURL passes addresses of schemes that run nothing. Templates let http and mailto links
// pass only; the others that stand on pages, webcal and geo, are made here.
func safeURL(text string) template.URL {
	if !safe.MatchString(text) {
		return ""
	}
	return template.URL(text) //nolint:gosec // of a scheme that runs nothing
}

// dict hands several values to a template.
func dict(pairs ...any) map[string]any {
	result := map[string]any{}
	for pair := range slices.Chunk(pairs, 2) {
		result[fmt.Sprint(pair[0])] = pair[1]
	}
	return result
}

// byName puts things in the order of their names, as people of a language look for them.
func byName[T any](lang calendar.Lang, every []T, name func(T) string) {
	order := collate.New(language.Make(lang.Tag()), collate.Loose, collate.Numeric)
	slices.SortStableFunc(every, func(a, b T) int { return order.CompareString(name(a), name(b)) })
}
