package elastic

import (
	"encoding/json"
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
	`{"aggregations":{"tallies":{"doc_count":9,"meta":{},"s0":{"doc_count":9,"vtags":{"doc_count_error_upper_bound":0,"sum_other_doc_count":2,"buckets":[{"key":5,"key_as_string":"5","doc_count":3},{"key":-7,"doc_count":1}]},` +
		`"p1":{"buckets":[{"doc_count":4},{"doc_count":0}]},"gvenue":{"doc_count":1,"pairs":{"after_key":{"id":2,"value":3},"buckets":[{"key":{"id":2,"value":3},"doc_count":1}]}}}},` +
		`"pairs":{"buckets":[{"key":{"id":1,"value":2}}]},"values":{"buckets":[{"key":{"title":"a \"b\""},"doc_count":2}]},"stats":{"count":3,"min":null,"max":2.5},"pieces":{"buckets":[{"doc_count":8}]},` +
		`"spans":{"zones":{"sum_other_doc_count":1,"buckets":[{"key":"Europe/Paris","start":{"value":1.0E9},"end":{"value":2}}]}},"other":[1]}}`,
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
		if read := sameAnswer(t, s); read != (i < 6) {
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

// What is counted is read by the same code however the answer is read.
func TestAnswerTallies(t *testing.T) {
	t.Parallel()
	var a answer
	if !a.decode([]byte(answers[3])) {
		t.Fatal("not read")
	}
	pair := compositeBucket{Count: 1}
	pair.Key.ID, pair.Key.Value = 2, 3
	values, parts, several := &tallyAnswer{Others: 2}, &tallyAnswer{}, &tallyAnswer{}
	values.Buckets = []tallyBucket{{5, 3}, {-7, 1}}
	parts.Buckets = []tallyBucket{{0, 4}, {0, 0}}
	several.Pairs = composite{After: json.RawMessage(`{"id":2,"value":3}`), Buckets: []compositeBucket{pair}}
	want := tallyAnswers{"s0": {"vtags": values, "p1": parts, "gvenue": several}}
	if diff := cmp.Diff(want, a.Aggregations.Tallies); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
