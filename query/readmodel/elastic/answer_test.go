package elastic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var answers = []string{
	`{"took":3,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"total":{"value":12,"relation":"eq"},"max_score":null,"hits":[` +
		`{"_index":"a-events-0-1","_id":"7","_version":42,"_score":null,"fields":{"body":["{\"id\":7,\"t\":\"a\\\\b \\\"q\\\" é 音\\n\"}"]},"sort":[1,"x\"y",null,-9223372036854775808]},` +
		`{"_index":"a","_id":"\u0001\t\u00e9","_source":{"a":[1,{"b":"]}\\"}]},"fields":{"other":[1,{}],"body":["","x"]},"ignored":["a"]}]}}`,
	` { "timed_out" : true , "hits" : { "hits" : [ ] , "total" : { "value" : 0 } } } `,
	`{"hits":{"hits":[]},"aggregations":{"values":{"after_key":{"id":5},"buckets":[{"key":{"id":5},"doc_count":3}]}}}`,
	`{}`,
	`{"hits":{"hits":[{"_id":"\ud83d\ude00"}]}}`,                                // a pair
	`{"hits":{"total":{"value":1.5}}}`, `{"hits":{"total":5}}`, `{"hits":null}`, // other types
	``, `null`, `[]`, `{"hits":{"total"`, `{"hits":{"hits":[{"_id":"7"`, `{} x`, `{"a":}`, `{"a" 1}`, `{"timed_out":true,}`, `{"hits":{"hits":[{"_id":"\`, `{"a":]}`,
}

// sameAnswer checks that what decode reads is what encoding/json reads.
func sameAnswer(t *testing.T, s string) (read bool) {
	t.Helper()
	var got, want answer
	if !got.decode([]byte(s)) {
		return false
	}
	if err := json.Unmarshal([]byte(s), &want); err != nil {
		if json.Valid([]byte(s)) {
			t.Errorf("%q is read, encoding/json says %v", s, err)
		}
		return true
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%q (-want +got):\n%s", s, diff)
	}
	return true
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for i, s := range answers {
		if read := sameAnswer(t, s); read != (i < 5) {
			t.Errorf("%q: read %v", s, read)
		}
		for cut := range len(s) { // no part of an answer is one
			var a answer
			if s[:cut] != "" && a.decode([]byte(s[:cut])) && json.Unmarshal([]byte(s[:cut]), new(answer)) != nil {
				t.Errorf("%q is read", s[:cut])
			}
		}
	}
}

// BenchmarkAnswer reads a page of ten events of real weight.
func BenchmarkAnswer(b *testing.B) {
	body := string(encode(`{"fields":{"description":{"en":"<p>` + strings.Repeat("Bring a chair, the band plays from half past six. ", 18) +
		`<\/p>"},"title":{"en":"Quay concert"},` + strings.Repeat(`"start_date":"2026-07-04 18:30:00",`, 12) + `"timezone":"America/New_York"},"home":"en","id":7,"kind":"event"}`))
	text := []byte(`{"took":3,"timed_out":false,"hits":{"total":{"value":12,"relation":"eq"},"hits":[` + strings.TrimSuffix(strings.Repeat(
		`{"_index":"a-events-0-1","_id":"7","_version":42,"_score":null,"fields":{"body":[`+body+`]},"sort":[1783189800]},`, 10), ",") + `]}}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if a := (answer{}); !a.decode(text) {
			b.Fatal("not read")
		}
	}
}
