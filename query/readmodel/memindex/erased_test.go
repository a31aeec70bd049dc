package memindex_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

// put writes a version of a tag; without a word it is erased.
func put(t *testing.T, index readmodel.Index, version int64, word string) {
	t.Helper()
	record := &calendar.Record{Kind: calendar.KindTag, ID: 7, Version: version, Home: calendar.LangEN, Deleted: word == "", Erased: word == "", Fields: calendar.Fields{}}
	if word != "" {
		record.Fields = calendar.Fields{"name": calendar.Text{calendar.LangEN: word}, "slug": word}
	}
	body, err := calendar.EncodeRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	mark := readmodeltest.At(calendar.Position(version))
	batch := readmodel.Batch{Documents: []readmodel.Document{{Position: mark.Position, Record: record, Body: body}}, Mark: mark, Reach: mark}
	if errs, err := index.Write(t.Context(), batch); err != nil || errs[0] != nil {
		t.Fatal(errs, err)
	}
}

// TestErasedIsForgotten: when the document of an erased record comes, the files hold
// nothing of it any more, without anybody asking: HISTORY 14.2, other processes.
func TestErasedIsForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	snapshot, former := filepath.Join(dir, "snapshot"), filepath.Join(dir, "former")
	index, err := memindex.Open(t.Context(), snapshot, memindex.Options{Former: former, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	const word = "xylqorvanth"
	put(t, index, 1, word)
	next, err := index.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put(t, next, 1, word)
	if err := index.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := func() (in []string) {
		for _, text := range []string{snapshot, former} {
			if data, err := os.ReadFile(text); err == nil && bytes.Contains(data, []byte(word)) {
				in = append(in, filepath.Base(text))
			}
		}
		return in
	}
	if got := strings.Join(held(), " "); got != "snapshot former" {
		t.Fatalf("the word is in %q before", got)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	kept := make(chan error, 1)
	go func() { kept <- index.Keep(ctx) }()
	if _, err := index.Marks(t.Context()); err != nil { // the writer is bound to what was promoted
		t.Fatal(err)
	}
	put(t, index, 2, "")
	for deadline := time.Now().Add(time.Minute); len(held()) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("the word is in %v after a minute", held())
		}
		<-time.After(5 * time.Millisecond)
	}
	end()
	if err := <-kept; err != nil {
		t.Fatal(err)
	}
	if got := held(); len(got) > 0 {
		t.Errorf("the word is in %v after the end", got)
	}
}

// TestReadOfErased: who reads an older state leaves nothing of a record in memory that was
// erased meanwhile, nor does one that was erased in the generation that is put in place:
// docs/spec/history.md 14.2.
func TestReadOfErased(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"while it is read", "in the next generation"} {
		index := memindex.New(memindex.Options{})
		put(t, index, 1, "word")
		var read weak.Pointer[calendar.Record]
		err := readmodel.Read(t.Context(), index, func(view readmodel.View) error {
			if when == "while it is read" {
				put(t, index, 2, "")
			}
			records, err := view.Get(t.Context(), 7)
			if err == nil {
				read = weak.Make(records[0])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if when == "in the next generation" {
			next, err := index.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			put(t, next, 2, "")
			if err := index.Promote(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			runtime.GC()
		}
		if read.Value() != nil {
			t.Errorf("erased %s: the index still holds the record", when)
		}
		runtime.KeepAlive(index)
	}
}
