package feed_test

import (
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/memstore"
)

// BenchmarkRelay is the rate at which entries of 2 KB reach the stream.
func BenchmarkRelay(b *testing.B) {
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
	b.ResetTimer()
	stop := background(b, r.Run)
	for r.Stats().Position < calendar.Position(b.N) {
		yield()
	}
	b.StopTimer()
	stop()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
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
		step(appends(b, s, 1, 2000))
	}
	for b.Loop() {
		step(appends(b, s, 1, 2000))
	}
	b.ReportMetric(float64(src.Stats().FromStream)/float64(at.Position), "share-of-stream")
}
