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
	FormAuthor: "author", FormParent: "parent", FormLatitude: "latitude", FormLongitude: "longitude",
	FormPassword: "password", FormLang: "language",
}

var shownNames = map[Shown]string{
	ShownNever: "-", ShownText: "text", ShownName: "name", ShownHTML: "html", ShownWall: "time", ShownMoment: "moment",
	ShownStatus: "status", ShownWord: "word", ShownZone: "zone", ShownBool: "bool", ShownID: "id", ShownAuthor: "author id",
	ShownCoordinate: "coordinate", ShownRegion: "region", ShownCost: "cost", ShownWebsite: "website", ShownImage: "image",
	ShownTerms: "terms", ShownPosts: "posts", ShownFirst: "first",
}

var emptyNames = map[Empty]string{EmptyRefused: "refused", EmptyClears: "clears", EmptyNull: "null not sent"}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}

func stays(f *Field) string {
	if f.Stays {
		return "stays"
	}
	return "-"
}

func renderField(f *Field) string {
	declared := f.Declared
	if declared == "" {
		declared = "untyped"
	}
	limit := "-"
	if f.Max > 0 {
		limit = strconv.Itoa(f.Max)
	}
	other := ""
	if f.NotBySlug {
		other = "not by slug"
	}
	if f.Enum != nil {
		other = "enum " + strings.Join(f.Enum, " ")
	}
	filled, initial := "-", "-"
	if f.Filled {
		filled = "left out"
	}
	if f.Form == FormBool {
		initial = strconv.FormatBool(f.Initial)
	}
	return strings.Join([]string{
		f.Name, declared, yes(f.Required), orDash(f.Default), yes(f.Stored == TypeText), emptyNames[f.Empty],
		yes(f.Extension), limit, typeNames[f.Stored], formNames[f.Form], orDash(other), shownNames[f.Shown], filled, initial, stays(f),
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
	for k := KindEvent; k <= KindUser; k++ {
		s := SpecOf(k)
		if k <= KindTag {
			got = append(got, k.String())
		}
		for i := range s.Fields {
			f := &s.Fields[i]
			if f.Form == FormNone {
				keptRows = append(keptRows, strings.Join([]string{k.String(), f.Name, typeNames[f.Stored], shownNames[f.Shown], stays(f)}, " | "))
				continue
			}
			got = append(got, renderField(f))
		}
	}
	got = append(append(got, "kept"), keptRows...)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("field tables (-golden +tables):\n%s", d)
	}
}

func TestSpecLookup(t *testing.T) {
	t.Parallel()
	for k := KindEvent; k <= KindUser; k++ {
		s := SpecOf(k)
		for i := range s.Fields {
			if f := &s.Fields[i]; s.Field(f.Name) != f {
				t.Errorf("%s: field %s stands twice", k, f.Name)
			}
		}
	}
	if s := SpecOf(0); s != nil || s.Field("title") != nil {
		t.Errorf("SpecOf(0): got %v, want nil", s)
	}
}
