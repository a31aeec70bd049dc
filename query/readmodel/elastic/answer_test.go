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
		if read := sameAnswer(t, s); read != (i < 4) {
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

// FuzzText: whatever an engine writes as a string is read as encoding/json does.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", `{"id":7,"t":"a\\\\b \"q\""}`, "é 音 😀 \u2028 \x00\x1f<&>", `\`, `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := encode(text)
		var want string
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		s := &scan{b: append(b, ',')}
		if got := s.text(); got != want || s.bad || s.at != len(b) {
			t.Errorf("%s is read as %q, want %q", b, got, want)
		}
		s = &scan{b: b}
		if got := s.raw(); got != string(b) || s.bad {
			t.Errorf("%s is passed over as %s", b, got)
		}
	})
}
