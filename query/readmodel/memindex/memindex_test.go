package memindex_test

import (
	"testing"

	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

func open(t *testing.T) readmodel.Index {
	t.Helper()
	x, err := memindex.New(memindex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSuite(t *testing.T) {
	t.Parallel()
	readmodeltest.Run(t, readmodeltest.Harness{Open: open})
}
