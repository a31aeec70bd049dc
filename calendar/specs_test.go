package calendar

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var typeNames = map[Type]string{
	0: "-", TypeString: "string", TypeText: "text", TypeBool: "bool", TypeNumber: "number",
	TypeID: "id", TypeIDs: "ids", TypeStrings: "strings", TypeWall: "wall",
}

var formNames = map[Form]string{
	FormName: "name", FormDetail: "detail", FormHTML: "html", FormSlug: "slug", FormDate: "date",
	FormStatus: "status", FormWord: "word", FormZone: "zone", FormBool: "bool", FormCost: "cost", FormURL: "url",
	FormEventURL: "event url", FormEmail: "email", FormImage: "image", FormTerms: "terms", FormLinks: "links",
	FormAuthor: "author", FormParent: "parent", FormDegrees: "degrees",
	FormPassword: "password", FormLang: "language",
}

var shownNames = map[Shown]string{
	ShownNever: "-", ShownText: "text", ShownName: "name", ShownHTML: "html", ShownWall: "time", ShownMoment: "moment",
	ShownStatus: "status", ShownWord: "word", ShownZone: "zone", ShownBool: "bool", ShownID: "id", ShownAuthor: "author id",
	ShownCoordinate: "coordinate", ShownRegion: "region", ShownCost: "cost", ShownWebsite: "website", ShownImage: "image",
	ShownTerms: "terms", ShownPosts: "posts", ShownFirst: "first",
}

var emptyNames = map[Empty]string{EmptyRefused: "refused", EmptyClears: "clears", EmptyNull: "null not sent"}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}

func stays(field *Field) string {
	if field.Stays {
		return "stays"
	}
	return "-"
}

func renderField(field *Field) string {
	declared := field.Declared
	if declared == "" {
		declared = "untyped"
	}
	limit := "-"
	if field.Max > 0 {
		limit = strconv.Itoa(field.Max)
	}
	other := ""
	if field.NotBySlug {
		other = "not by slug"
	}
	if field.Enum != nil {
		other = "enum " + strings.Join(field.Enum, " ")
	}
	filled, initial := "-", "-"
	if field.Filled {
		filled = "left out"
	}
	if field.Form == FormBool {
		initial = strconv.FormatBool(field.Initial)
	}
	return strings.Join([]string{
		field.Name, declared, yes(field.Required), orDash(field.Default), yes(field.Stored == TypeText), emptyNames[field.Empty],
		yes(field.Extension), limit, typeNames[field.Stored], formNames[field.Form], orDash(other), shownNames[field.Shown], filled, initial, stays(field),
	}, " | ")
}

// The golden file is written by hand: there is no -update for it.
func TestSpecsAreThoseOfTheInterface(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile(filepath.Join("testdata", "specs.golden"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(golden)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			want = append(want, line)
		}
	}
	var got, keptRows []string
	for kind := KindEvent; kind <= KindUser; kind++ {
		spec := SpecOf(kind)
		if kind <= KindTag {
			got = append(got, kind.String())
		}
		for i := range spec.Fields {
			field := &spec.Fields[i]
			if field.Form == FormNone {
				keptRows = append(keptRows, strings.Join([]string{kind.String(), field.Name, typeNames[field.Stored], shownNames[field.Shown], stays(field)}, " | "))
				continue
			}
			got = append(got, renderField(field))
		}
	}
	got = append(append(got, "kept"), keptRows...)
	if text := cmp.Diff(want, got); text != "" {
		t.Errorf("field tables (-golden +tables):\n%s", text)
	}
}

func TestSpecLookup(t *testing.T) {
	t.Parallel()
	for kind := KindEvent; kind <= KindUser; kind++ {
		spec := SpecOf(kind)
		for i := range spec.Fields {
			if field := &spec.Fields[i]; spec.Field(field.Name) != field {
				t.Errorf("%s: field %s stands twice", kind, field.Name)
			}
		}
	}
	if spec := SpecOf(0); spec != nil || spec.Field("title") != nil {
		t.Errorf("SpecOf(0): got %v, want nil", spec)
	}
}
