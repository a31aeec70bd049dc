package memindex_test

import (
	"fmt"
	"testing"

	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{500, 10_000, 100_000} {
		x, c := benchOf(b, n)
		_ = x.Close()
		next := n
		for _, size := range []int{1, 4, 8} {
			b.Run(fmt.Sprintf("events=%d/create=%d", n, size), func(b *testing.B) {
				batches := make([]readmodel.Batch, 1000)
				for i := range batches {
					for range size {
						batches[i].Documents = append(batches[i].Documents, c.Event(next))
						next++
					}
					batches[i].Mark = readmodeltest.At(batches[i].Documents[size-1].Position)
				}
				from := processor(b)
				b.ResetTimer()
				for _, batch := range batches {
					if _, err := x.Write(b.Context(), batch); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((processor(b)-from).Microseconds())/float64(1000*size), "cpu-µs/doc")
			})
		}
	}
}
