package memindex

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// TestWordsGo: a word is forgotten, in memory and in the snapshot, when the last
// document that has it goes, and its number is used again.
func TestWordsGo(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	path := filepath.Join(t.TempDir(), "index")
	s.x.path = path
	d := s.x.kinds[calendar.KindEvent].texts.dicts[calendar.LangEN]
	saved := func(word string) bool {
		t.Helper()
		if err := s.x.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		y, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, known := y.kinds[calendar.KindEvent].texts.dicts[calendar.LangEN].ids.get(word)
		return known
	}
	s.write(t, s.put(t, 1, "jazz evenings"), s.put(t, 2, "zebra 斑马 evening"))
	words, stems := len(d.words), len(d.stems)
	for _, word := range []string{"zebra", "斑", "+斑马", "evening"} {
		if _, known := d.ids.get(word); !known || !saved(word) {
			t.Fatalf("%s is not known", word)
		}
	}
	s.write(t, s.put(t, 2, ""))
	for _, word := range []string{"zebra", "斑", "+斑马", "evening"} {
		if _, known := d.ids.get(word); known || saved(word) {
			t.Errorf("%s stays", word)
		}
	}
	if n := len(d.beginning("even")); n != 1 {
		t.Errorf("%d words begin with even, want 1", n)
	}
	if n := len(d.beginning("z")); n != 0 || len(d.pairs) != 0 {
		t.Errorf("%d words begin with z, %d pairs; want none", n, len(d.pairs))
	}
	for i := range 500 { // by update: the old word goes, another one comes
		s.write(t, s.put(t, 3, fmt.Sprintf("other%d", i)))
	}
	if len(d.words) > words+1 || len(d.stems) > stems+1 {
		t.Errorf("%d words and %d stems after many came and went, want at most %d and %d", len(d.words), len(d.stems), words+1, stems+1)
	}
	// A word that goes and comes back in one batch.
	s.write(t, s.put(t, 3, ""), s.put(t, 4, "other499"))
	if page, err := s.search(t.Context(), titled("other4")); err != nil || page.Total != 1 {
		t.Errorf("found %d, %v; want 1", page.Total, err)
	}
}

// TestWordsAreThoseOfTheDocuments: after whatever writes, the words are those of
// the documents, each once, in order, with the stems that they have.
func TestWordsAreThoseOfTheDocuments(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(3, 1))
	s := newShelf(t)
	for range 150 {
		var docs []readmodel.Document
		for range 1 + g.IntN(12) {
			var title []string
			for range g.IntN(12) {
				title = append(title, []string{"run", "runs", "running", "音乐", "音", "乐会", fmt.Sprintf("word%ds", g.IntN(60)), fmt.Sprintf("word%d", g.IntN(60))}[g.IntN(8)])
			}
			docs = append(docs, s.put(t, calendar.ID(1+g.IntN(25)), strings.Join(title, " ")))
		}
		s.write(t, docs...)
		want := map[string]bool{readmodel.Break: true}
		for _, held := range s.held {
			if held.Record.Deleted {
				continue
			}
			last := ""
			text, _ := held.Record.Name(calendar.LangEN)
			for _, token := range readmodel.Tokens(text) {
				want[token] = true
				if isChar(last) && isChar(token) {
					want[pairOf(last, token)] = true
				}
				last = token
			}
		}
		d := s.x.kinds[calendar.KindEvent].texts.dicts[calendar.LangEN]
		live, ordered := 0, 0
		for id, w := range d.words {
			if w.text == "" {
				continue
			}
			live++
			stem := d.stems[d.roots[id]]
			known, _ := d.ids.get(w.text)
			if !want[w.text] || known != uint32(id) || !slices.Contains(d.wordsOf(d.roots[id]), uint32(id)) {
				t.Fatalf("word %d %q: wanted %v, known as %d, of the stem %q", id, w.text, want[w.text], known, stem.text)
			}
			if !whole(w.text) {
				ordered++
			}
		}
		if live != len(want) || live != d.ids.n || live+len(d.freeWords) != len(d.words) || d.stemIDs.n+len(d.freeStems) != len(d.stems) {
			t.Fatalf("%d words, want %d; %d by text; %d free of %d; %d stems, %d free of %d",
				live, len(want), d.ids.n, len(d.freeWords), len(d.words), d.stemIDs.n, len(d.freeStems), len(d.stems))
		}
		if order := slices.Concat(d.order.chunks...); !slices.IsSortedFunc(order, func(a, b uint32) int { return strings.Compare(d.textOf(a), d.textOf(b)) }) || len(order) != ordered {
			t.Fatalf("%d words in order, want %d", len(order), ordered)
		}
		if !slices.IsSortedFunc(slices.Concat(d.stemOrder.chunks...), func(a, b uint32) int { return strings.Compare(d.stemTextOf(a), d.stemTextOf(b)) }) {
			t.Fatal("stems out of order")
		}
	}
}
