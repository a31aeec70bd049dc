package feed_test

import (
	"fmt"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/memstore"
)

// BenchmarkRelay is the rate at which entries of 2 KB reach the stream; followed where
// the reader follows the store itself.
func BenchmarkRelay(b *testing.B) {
	for _, followed := range []bool{false, true} {
		b.Run(fmt.Sprintf("followed=%t", followed), func(b *testing.B) {
			memory := memstore.New()
			var s feed.Store = memory
			if followed {
				s = &remembering{Store: memory}
			}
			e, err := feed.StartEmbedded(feed.EmbeddedOptions{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			r, err := feed.NewRelay(s, e.JetStream(), feed.RelayOptions{Sole: true})
			if err != nil {
				b.Fatal(err)
			}
			fill(b, memory, 1)
			stop := background(b, r.Run)
			for r.Stats().Position == 0 {
				yield()
			}
			entries := appends(b, memory, b.N)
			b.ReportAllocs()
			b.ResetTimer()
			memory.Append(b.Context(), entries)
			for r.Stats().Position <= calendar.Position(b.N) {
				yield()
			}
			b.StopTimer()
			stop()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// BenchmarkSource is the rate at which a source reads a full stream.
func BenchmarkSource(b *testing.B) {
	s := memstore.New()
	e, err := feed.StartEmbedded(feed.EmbeddedOptions{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	fill(b, s, b.N)
	r, err := feed.NewRelay(s, e.JetStream(), feed.RelayOptions{Replay: b.N})
	if err != nil {
		b.Fatal(err)
	}
	stop := background(b, r.Run)
	for r.Stats().Position < calendar.Position(b.N) {
		yield()
	}
	stop()
	src, err := feed.NewSource(s, e.JetStream(), feed.SourceOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	b.ResetTimer()
	var at eventstore.Mark
	for at.Position < calendar.Position(b.N) {
		if _, at, err = src.Read(b.Context(), at, 512); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
	b.ReportMetric(float64(src.Stats().FromStream)/float64(b.N), "share-of-stream")
}

// BenchmarkEndToEnd is the time from an append to the entry at the reader, one
// at a time.
func BenchmarkEndToEnd(b *testing.B) {
	s := memstore.New()
	e, err := feed.StartEmbedded(feed.EmbeddedOptions{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	r, err := feed.NewRelay(s, e.JetStream(), feed.RelayOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer background(b, r.Run)()
	src, err := feed.NewSource(s, e.JetStream(), feed.SourceOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	var at eventstore.Mark
	step := func(a []eventstore.Append) {
		if res := s.Append(b.Context(), a); res[0].Err != nil {
			b.Fatal(res[0].Err)
		}
		if _, at, err = src.Read(b.Context(), at, 1); err != nil {
			b.Fatal(err)
		}
	}
	for !src.Stats().Live {
		step(appends(b, s, 1))
	}
	for b.Loop() {
		step(appends(b, s, 1))
	}
	b.ReportMetric(float64(src.Stats().FromStream)/float64(at.Position), "share-of-stream")
}
