package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"daybook/calendar"
	"daybook/internal/importer"
)

// importUser is the author of lines that name none.
const importUser = "import"

type importCommand struct {
	storeSettings
	outputSettings
	zoneSettings

	File   string `arg:"" name:"file.ndjson[.gz]" help:"lines of changes, plain or gzip; -: standard input"`
	Source string `placeholder:"NAME" help:"name of the source of the keys; empty: the name of the file"`
	Lines  int    `kong:"-"` // of the file; -1: not known
}

// Run applies changes from a file.
func (importCommand *importCommand) Run(ctx context.Context, console *console) error {
	named := false // by a name that stays
	console.input = console.stdin
	importCommand.Lines = -1
	if importCommand.File != "-" {
		file, err := os.Open(importCommand.File)
		if err != nil {
			return err // it names the file
		}
		defer func() { _ = file.Close() }()
		at, err := file.Stat()
		if err == nil && (at.Mode().IsRegular() || at.IsDir()) { // others would be read away, and a directory cannot be read
			path, _ := filepath.Abs(importCommand.File)
			named = !strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/proc/") // what a process holds open has no name
			importCommand.Lines, err = importer.Count(io.NewSectionReader(file, 0, math.MaxInt64))
		}
		if err != nil {
			return fmt.Errorf("import %s: %w", importCommand.File, err)
		}
		console.input = file
	}
	switch {
	case importCommand.Source != "":
	case named:
		importCommand.Source = sourceName(importCommand.File)
	default:
		return usageError("%s has no name that stays: --source NAME says whose keys the lines carry", importCommand.File)
	}
	return perform(ctx, console, importCommand)
}

var strangeToSources = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// sourceName makes the name of a source of the name of a file. Where that does not
// fit, a digest of the whole name is its end, so that two names stay two sources.
func sourceName(path string) string {
	whole := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".ndjson")
	name := strangeToSources.ReplaceAllString(whole, "-")
	if name == whole && len(name) <= importer.MaxSource {
		return name
	}
	sum := sha256.Sum256([]byte(whole))
	digest := fmt.Sprintf("-%x", sum[:8])
	return name[:min(len(name), importer.MaxSource-len(digest))] + digest
}

func (importCommand *importCommand) work(ctx context.Context, console *console) error {
	caller, err := console.users.Ensure(ctx, importUser, calendar.Editor, 0)
	if err != nil {
		return fmt.Errorf("user %s: %w", importUser, err)
	}
	show, end := progress[int](console, "import", "lines")
	im, err := importer.New(console.events, console.command, console.users, importer.Options{
		Source: importCommand.Source, Caller: caller, Progress: func(report importer.Report) { show(int(report.Lines), importCommand.Lines) },
	})
	if err != nil {
		return usageError("--source: %w", err)
	}
	report, stopped := im.Run(ctx, console.input)
	end()
	if !console.JSON {
		_ = outputs.ExecuteTemplate(console.err, "refused", report)
	}
	report.Refused = append([]importer.Refusal{}, report.Refused...) // [], not null
	_ = console.print("imported", report)
	switch {
	case stopped != nil:
		return fmt.Errorf("import stopped: %w; run it again to go on", stopped)
	case len(report.Refused) > 0:
		return &exitError{exitRefusals, fmt.Errorf("%d of %d lines were refused", len(report.Refused), report.Lines)}
	}
	return nil
}
