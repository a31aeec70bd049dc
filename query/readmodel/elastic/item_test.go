package elastic

import (
	"testing"

	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

// BenchmarkItem makes the lines of one event.
func BenchmarkItem(b *testing.B) {
	c := readmodeltest.NewCorpus(100, 1)
	docs := make([]readmodel.Document, 100)
	for i := range docs {
		docs[i] = c.Event(i)
	}
	g := generation{fingerprint(), 1}
	i := 0
	size := 0
	for b.Loop() {
		size += len(names{"daybook"}.item(g, &docs[i%100]))
		i++
	}
	b.ReportMetric(float64(size)/float64(i), "bytes/doc")
}
