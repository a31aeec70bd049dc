package memindex

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

// built is what an index has built of a kind, in a form that can be compared.
type built struct {
	IDs, Free           any
	Live                []uint32
	Docs                []string
	Fields, Texts, Dict map[string]any
}

func ordinalsOf(p *posting) (out []uint32) {
	p.each(func(o uint32) { out = append(out, o) })
	return out
}

func membersOf(b bitset) (out []uint32) {
	b.each(func(o uint32) bool { out = append(out, o); return true })
	return out
}

func postingsOf[K comparable](m map[K]*posting) map[K][]uint32 {
	out := map[K][]uint32{}
	for v, p := range m {
		out[v] = ordinalsOf(p)
	}
	return out
}

func builtOf(k *kindIndex) built {
	b := built{IDs: k.ids, Free: k.free, Live: membersOf(k.live), Fields: map[string]any{}, Texts: map[string]any{}, Dict: map[string]any{}}
	for _, d := range k.docs {
		b.Docs = append(b.Docs, fmt.Sprintf("%d %d %d %d %d %d %x", d.position, d.version, d.sum, d.home, d.textAt, d.bodyAt, d.data))
	}
	for name, w := range k.keywords {
		b.Fields[name] = []any{postingsOf(w.values), membersOf(w.has)}
		if w.order != nil {
			b.Fields[name+" order"] = []any{slices.Concat(w.order.chunks...), w.order.keys, membersOf(w.order.in), w.order.n}
		}
	}
	for name, set := range k.bools {
		b.Fields[name] = membersOf(*set)
	}
	for name, w := range k.links {
		b.Fields[name] = []any{postingsOf(w.values), membersOf(w.has)}
	}
	for name, n := range k.numbers {
		b.Fields[name] = []any{slices.Concat(n.chunks...), n.keys, membersOf(n.in), n.n}
	}
	for name, p := range k.places {
		var at []float64
		p.in.each(func(o uint32) bool { at = append(at, p.lat[o], p.lng[o]); return true })
		b.Fields[name] = []any{membersOf(p.in), at, len(p.cells)}
	}
	for name, f := range k.texts.fields {
		for l := range f.langs {
			words := map[int][]uint32{}
			for id := range f.langs[l].postings {
				if list := ordinalsOf(&f.langs[l].postings[id]); len(list) > 0 {
					words[id] = list
				}
			}
			b.Texts[fmt.Sprint(name, l)] = []any{words, membersOf(f.langs[l].docs)}
		}
	}
	for l, d := range k.texts.dicts {
		var words []string
		for id, w := range d.words {
			number, known := d.ids.get(w.text)
			words = append(words, fmt.Sprintln(w, d.roots[id], known && int(number) == id))
		}
		var stems []string
		for s, at := range d.stems {
			number, known := d.stemIDs.get(at.text)
			stems = append(stems, fmt.Sprintln(at, known && int(number) == s))
		}
		b.Dict[fmt.Sprint(l)] = []any{
			words, stems, maps.Clone(d.pairs), append([]uint32{}, d.freeWords...), append([]uint32{}, d.freeStems...), d.ids.n, d.stemIDs.n,
			slices.Concat(d.order.chunks...), slices.Concat(d.stemOrder.chunks...), membersOf(k.texts.home[l]),
		}
	}
	return b
}

// TestStartIsTheSame: what a snapshot gives back, and a copy of it, is what was there,
// whatever was written, updated and deleted before, and goes on as that does.
func TestStartIsTheSame(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(5, 2))
	c := readmodeltest.NewCorpus(1500, 3) // more than a block
	x, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	position := calendar.Position(1 << 20)
	both := []*Index{x}
	write := func(docs ...readmodel.Document) {
		t.Helper()
		for _, x := range both {
			if _, err := x.Write(t.Context(), readmodel.Batch{Documents: docs, Mark: readmodeltest.At(position)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Fill(func(b readmodel.Batch) error { write(b.Documents...); return nil }); err != nil {
		t.Fatal(err)
	}
	some := func(n int) {
		for range n {
			d := c.Event(g.IntN(1500))
			position++
			d.Position = position
			switch g.IntN(3) {
			case 0:
				d.Record = &calendar.Record{ID: d.Record.ID, Kind: d.Record.Kind, Version: d.Record.Version, Deleted: true}
			case 1:
				r := *d.Record
				r.Fields = maps.Clone(r.Fields)
				r.Fields["title"] = calendar.Text{fmt.Sprint("renamed 音乐 ", g.IntN(900)), "", "", "机构 音"}
				d.Record = &r
			}
			write(d)
		}
	}
	some(400)
	for round := range 3 {
		x.path = filepath.Join(t.TempDir(), "index")
		if err := x.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		y, err := Open(t.Context(), x.path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		z, err := y.Copy()
		if err != nil {
			t.Fatal(err)
		}
		same := func(when string, y *Index) {
			t.Helper()
			if *x.shown.Load() != *y.shown.Load() {
				t.Fatalf("round %d, %s: shows %v, want %v", round, when, *y.shown.Load(), *x.shown.Load())
			}
			if x.places.n != y.places.n || !maps.Equal(x.gone, y.gone) {
				t.Fatalf("round %d, %s: other places or tombstones", round, when)
			}
			for i := calendar.KindEvent; i <= calendar.KindUser; i++ {
				for o, id := range x.kinds[i].ids {
					if at, ok := y.at(id); ok != (id != 0) || ok && at != (place{i, uint32(o)}) {
						t.Fatalf("round %d, %s: document %d is at %v, %t", round, when, id, at, ok)
					}
				}
				before, after := builtOf(x.kinds[i]), builtOf(y.kinds[i])
				if reflect.DeepEqual(before, after) {
					continue // which takes a small part of the time
				}
				if diff := cmp.Diff(before, after, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("round %d, %s, kind %v (-before +after it):\n%s", round, when, i, diff)
				}
			}
		}
		same("after the start", y)
		same("after the start, a copy", z)
		both = []*Index{x, y}
		some(400)
		same("after writes", y)
		if x, err = y.Copy(); err != nil {
			t.Fatal(err)
		}
		both = []*Index{z}
		some(400) // changes no other one
		same("after writes to a copy", y)
		both = []*Index{x}
	}
}

// TestBlocksGo: the bytes that came from a snapshot go when half of them are of no use,
// and documents that share them do not mind.
func TestBlocksGo(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.x.path = filepath.Join(t.TempDir(), "index")
	const n = 200
	for i := range n {
		s.write(t, s.put(t, calendar.ID(1+i), fmt.Sprint("some", i)))
	}
	if err := s.x.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	x, err := Open(t.Context(), s.x.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.x = x
	k := x.kinds[calendar.KindEvent]
	data := func(o uint32) []byte { return k.docs[o].data }
	shares := func() bool { // the bytes of the last document lie behind those of the one before
		a, b := data(n-2), data(n-1)
		return &a[:cap(a)][0] != &b[0] && len(k.blocks) > 0 && k.blocks[0].held > 0
	}
	last := bytes.Clone(data(n - 1))
	if !shares() {
		t.Fatal("no block after the start")
	}
	for i := range n - 2 {
		if i == n/4 && !shares() {
			t.Error("the block went when most of it was of use")
		}
		if i%2 == 0 {
			s.write(t, s.put(t, calendar.ID(1+i), "other"))
			s.write(t, s.put(t, calendar.ID(1+i), "another")) // counts once
		} else {
			s.write(t, s.put(t, calendar.ID(1+i), ""))
		}
	}
	if shares() || !bytes.Equal(last, data(n-1)) {
		t.Error("the block stays, or its last document is another one")
	}
	if page, err := s.search(t.Context(), titled("some")); err != nil || page.Total != 2 {
		t.Errorf("found %d, %v; want the last 2", page.Total, err)
	}
}

// TestStartTextWithoutWords: a text without a word is a text.
func TestStartTextWithoutWords(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.x.path = filepath.Join(t.TempDir(), "index")
	s.write(t, s.put(t, 1, "!!!"))
	for range 2 {
		page, err := s.search(t.Context(), readmodel.Exists{Field: readmodel.TextName})
		if err != nil || page.Total != 1 {
			t.Fatalf("found %d, %v; want 1", page.Total, err)
		}
		if err := s.x.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.x, err = Open(t.Context(), s.x.path, Options{}); err != nil {
			t.Fatal(err)
		}
	}
}
