package calendar

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
)

// ignoreSum compares records by all but their sum, which one that is not stored lacks, and what was rendered.
var ignoreSum = cmpopts.IgnoreFields(Record{}, "Sum", "Rendered")

// TestSum: the sum follows from every byte and from the length, for texts as for bytes,
// and is the same in every version of the program.
func TestSum(t *testing.T) {
	t.Parallel()
	seen := map[uint64]string{}
	for _, text := range []string{"", "\x00", "a", "b", "ab", "ba", "12345678", "123456789", "12345678\x00", "87654321", `{"id":1}`, `{"id":2}`} {
		sum := SumOf(text)
		if other, there := seen[sum]; there || sum == 0 {
			t.Errorf("sum of %q is %d, that of %q", text, sum, other)
		}
		if of := SumOf([]byte(text)); of != sum {
			t.Errorf("sum of the bytes of %q is %d, of the text %d", text, of, sum)
		}
		seen[sum] = text
	}
	if got, want := SumOf(`{"id":1}`), uint64(17103255986965395209); got != want {
		t.Errorf("sum %d, want %d: it stands in ETags", got, want)
	}
}
