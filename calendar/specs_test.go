package calendar

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		field.Name, declared, yes(field.Required), orDash(field.Default), yes(field.Stored == TypeText), emptyWords[field.Empty],
		yes(field.Extension), limit, typeWords[field.Stored], formWords[field.Form], orDash(other), shownWords[field.Shown], filled, initial, stays(field),
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
				keptRows = append(keptRows, strings.Join([]string{kind.String(), field.Name, typeWords[field.Stored], shownWords[field.Shown], stays(field)}, " | "))
				continue
			}
			got = append(got, renderField(field))
		}
	}
	got = append(append(got, "kept"), keptRows...)
	if text := cmp.Diff(want, got); text != "" {
		t.Errorf("field tables (-golden +tables):\n%s", text)
	}
	if SpecOf(0).Field("title") != nil {
		t.Error("no kind has fields")
	}
}
