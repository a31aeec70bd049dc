package cache_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"daybook/internal/ground/cache"
)

func size(k, value string) int { return len(k) + len(value) }

// TestCache: what is kept is found, what needs more room than there is goes.
func TestCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(100<<10, size)
		c.Set("a", "1")
		if text, ok := c.Get("a"); text != "1" || !ok {
			t.Errorf("got %q, %t", text, ok)
		}
		if text, ok := c.Get("b"); text != "" || ok {
			t.Errorf("what was never kept: %q, %t", text, ok)
		}
		for i := range 100 {
			c.Set(strings.Repeat("k", i+1), strings.Repeat("v", 10<<10))
		}
		synctest.Wait()
		kept := 0
		for i := range 100 {
			if _, ok := c.Get(strings.Repeat("k", i+1)); ok {
				kept++
			}
		}
		if kept == 0 || kept > 10 {
			t.Errorf("%d values of 10 KiB are kept in 100 KiB", kept)
		}
		c.Clear()
		for i := range 100 {
			if _, ok := c.Get(strings.Repeat("k", i+1)); ok {
				t.Errorf("value %d is there after all were removed", i)
			}
		}
	})
}
