package pages

import (
	"html/template"
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query"
)

// PAGES 13.32: pages are, byte by byte, what html/template makes of their templates, whatever
// stands in them; only plus signs stand as they are.
func TestPagesAreTheirTemplates(t *testing.T) {
	t.Parallel()
	files, err := newAssets(Brand{})
	if err != nil {
		t.Fatal(err)
	}
	var meant [len(calendar.Langs)]*template.Template
	p := &Pages{assets: files, o: Options{Namespace: "/api", Tiles: "https://t.example/{z}?a=1&b='", TileHosts: []string{"a", "b"}, TilesBy: "<b>"}}
	for _, l := range calendar.Langs {
		if p.templates[l], err = compiled(l); err != nil {
			t.Fatal(err)
		}
		if meant[l], _, err = parseTemplates(l); err != nil {
			t.Fatal(err)
		}
	}
	bodies := []struct {
		page name
		body any
	}{
		{pageHome, listBody{}},
		{pageList, listBody{}},
		{pageMap, listBody{}},
		{pageSearch, listBody{}},
		{pageMonth, monthBody{}},
		{pageWeek, daysBody{}},
		{pageEvent, eventBody{}},
		{pageVenue, recordBody{}},
		{pageTag, recordBody{}},
		{pageDirectory, directoryBody{}},
		{pageHistory, historyBody{}},
		{pageDocs, docsBody{}},
		{pageError, errorBody{}},
	}
	f := filler{rand.New(rand.NewPCG(1, 2))}
	for i := range 20 * len(bodies) {
		of := bodies[i%len(bodies)]
		body := reflect.New(reflect.TypeOf(of.body))
		f.fill(body.Elem())
		switch b := body.Interface().(type) { // a map is that of a place
		case *eventBody:
			b.ShowMap = b.ShowMap && b.Place != nil
		case *recordBody:
			b.ShowMap = b.ShowMap && b.Place != nil
		}
		l := &layout{}
		f.fill(reflect.ValueOf(l).Elem())
		l.Lang = calendar.Langs[f.IntN(len(calendar.Langs))]
		if l.Langs = nil; f.is() {
			l.Langs = []calendar.Lang{l.Lang}
		}
		l.Page, l.Body, l.p, l.say = of.page, body.Interface(), p, p.speech(l.Lang)
		l.r = &Request{Route: Route{lang: l.Lang, page: of.page}, Base: "https://" + f.text(), Path: f.text(), Query: url.Values{}, Preview: f.is(), User: f.text()}
		l.sel = &selection{page: f.IntN(3), past: f.is(), criteria: &query.Criteria{Sent: []query.LinkParam{{Name: "city", Value: f.text()}}}}
		for range f.IntN(3) {
			l.sel.asked = append(l.sel.asked, query.LinkParam{Name: "search", Value: f.text()})
		}
		p.o.Brand = Brand{Name: f.text(), Footer: []FooterLink{{Label: f.text(), URL: f.address()}}}
		for _, as := range []string{wholePage, embeddedPage} {
			if as == embeddedPage && of.page != pageList && of.page != pageMonth && of.page != pageEvent && of.page != pageError {
				continue
			}
			var want strings.Builder
			if err := meant[l.Lang].ExecuteTemplate(&want, as, l); err != nil {
				t.Fatalf("%s of %s: %v", as, of.page, err)
			}
			got, err := p.templates[l.Lang].execute(as, l)
			if err != nil {
				t.Fatalf("%s of %s: %v", as, of.page, err)
			}
			if diff := cmp.Diff(strings.Split(strings.ReplaceAll(want.String(), "&#43;", "+"), ">"), strings.Split(string(got), ">")); diff != "" {
				t.Fatalf("%s of %s:\n%s", as, of.page, diff)
			}
		}
	}
}

// What the compiler does not know is refused when templates are read.
func TestTemplatesRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"variable of a branch": `{{with $x := .A}}{{$x}}{{end}}`, "assignment": `{{$x := .A}}{{$x = .B}}`, "leaving a loop": `{{range .A}}{{break}}{{end}}`,
		"pipeline": `{{.A | len}}`, "function": `{{len .A}}`, "number": `{{eq .A 1}}`, "template within a tag": `{{define "x"}} a="{{.}}"{{end}}<p{{template "x" .A}}>`,
		"style": `<p style="{{.A}}">`, "script": `<script>{{.A}}{{.B}}</script><p onclick="f({{.A}})">`, "no quotes": `<p title={{.A}}>`,
	} {
		read, err := template.New("page").Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = compile(read, nil, "page"); err == nil {
			t.Errorf("%s: compiled", name)
		}
	}
}

// filler fills what templates can see with what strangers might write.
type filler struct{ *rand.Rand }

var hostile = []string{
	"", "Quay concert", "<img onerror=x>", `"`, "'", "&", "&amp;", "+", "\x00", "é", "音乐", "</script>", "%zz", "%41", "%4", "javascript:alert(1)", " ", "\n", "`", "{{", "=", "\xff",
	"(", "\\", "#", "\u2028", "\ufdd0", "-->", "]]>",
}

func (f filler) is() bool { return f.IntN(2) == 0 }

func (f filler) text() string {
	var b strings.Builder
	for range f.IntN(3) {
		b.WriteString(hostile[f.IntN(len(hostile))])
	}
	return b.String()
}

func (f filler) address() string {
	heads := []string{"/event/", "https://example.org/?a=1&b=2#", "HTTP://x/", "mailto:", "webcal://h/", "geo:", "javascript:", "a/b:c", "data:", "?x=", "//h/"}
	return heads[f.IntN(len(heads))] + f.text()
}

func (f filler) fill(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[calendar.Lang]():
		v.Set(reflect.ValueOf(calendar.Langs[f.IntN(len(calendar.Langs))]))
		return
	case reflect.TypeFor[template.HTML]():
		v.SetString([]string{"", "a <mark>b</mark> &amp;", "<p>c</p>"}[f.IntN(3)])
		return
	case reflect.TypeFor[template.JS]():
		v.SetString([]string{"", `{"a":"b"}`}[f.IntN(2)])
		return
	}
	switch v.Kind() {
	case reflect.String:
		if f.IntN(3) == 0 {
			v.SetString(f.address())
		} else {
			v.SetString(f.text())
		}
	case reflect.Bool:
		v.SetBool(f.is())
	case reflect.Int, reflect.Int64:
		v.SetInt(f.Int64N(9) * f.Int64N(1e6))
	case reflect.Uint64:
		v.SetUint(f.Uint64N(1e6))
	case reflect.Slice:
		n := f.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Pointer:
		if f.is() {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if of := v.Type().Field(i); of.IsExported() || of.Anonymous {
				f.fill(v.Field(i))
			}
		}
	default: // what is not written
	}
}
