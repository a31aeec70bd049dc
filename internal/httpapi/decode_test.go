package httpapi

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
)

func isTestList(name string) bool { return name == "tags" || name == "venue" }

func TestInputOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		raw  string
		want calendar.Input
	}{
		"nothing":                 {"", nil},
		"empty pairs are skipped": {"&a=1&&b=2&", calendar.Input{"a": "1", "b": "2"}},
		"last counts":             {"a=1&a=2", calendar.Input{"a": "2"}},
		"no value":                {"a&b=", calendar.Input{"a": "", "b": ""}},
		"no name":                 {"=1", calendar.Input{}},
		"decoded":                 {"a=1%2B1+%C3%A9&b%20c=%26", calendar.Input{"a": "1+1 é", "b c": "&"}},
		"bad escape stays":        {"a=%zz&b=100%", calendar.Input{"a": "%zz", "b": "100%"}},
		"invalid UTF-8":           {"a=%FFx", calendar.Input{"a": "\uFFFDx"}},
		"list: comma text":        {"tags=1,2", calendar.Input{"tags": "1,2"}},
		"list: all count":         {"tags=1,2&tags=3", calendar.Input{"tags": "1,2,3"}},
		"list: empty brackets":    {"tags[]=1&tags[]=a,b", calendar.Input{"tags": []any{"1", "a,b"}}},
		"list: encoded brackets":  {"tags%5B%5D=1", calendar.Input{"tags": []any{"1"}}},
		"list: indexes order":     {"tags[1]=b&tags[0]=a", calendar.Input{"tags": []any{"a", "b"}}},
		"list: mixed":             {"tags=1,2&tags[]=3,4", calendar.Input{"tags": []any{"1", "2", "3,4"}}},
		"object":                  {"venue[venue]=Hall&venue[city]=Rome", calendar.Input{"venue": map[string]any{"venue": "Hall", "city": "Rome"}}},
		"list of objects": {
			"organizer[0][organizer]=A&organizer[1][organizer]=B&organizer[0][phone]=1",
			calendar.Input{"organizer": []any{map[string]any{"organizer": "A", "phone": "1"}, map[string]any{"organizer": "B"}}},
		},
		"array for no list":      {"page[]=1", calendar.Input{"page": []any{"1"}}},
		"text after array":       {"page[]=1&page=2", calendar.Input{"page": "2"}},
		"array after text":       {"page=2&page[]=1", calendar.Input{"page": []any{"1"}}},
		"leading zero is a name": {"a[01]=x", calendar.Input{"a": map[string]any{"01": "x"}}},
		"broken brackets":        {"a[b=1&c]=2&d[[e]]=3", calendar.Input{"a[b": "1", "c]": "2", "d[[e]]": "3"}},
		"too deep":               {"a[b][c][d][e][f]=1", calendar.Input{"a[b][c][d][e][f]": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if bad := invalidPairs(parsePairs(tc.raw)); (bad != nil) != (name == "invalid UTF-8") {
				t.Errorf("invalid %v", bad)
			}
			if diff := cmp.Diff(tc.want, inputOf(parsePairs(tc.raw), isTestList)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.raw, diff)
			}
		})
	}
}

func TestDecodeBody(t *testing.T) {
	t.Parallel()
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for _, p := range [][2]string{{"title", "Über"}, {"tags[]", "1"}, {"tags[]", "2"}} {
		if err := parts.WriteField(p[0], p[1]); err != nil {
			t.Fatal(err)
		}
	}
	file, err := parts.CreateFormFile("image", "x.png")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write([]byte("bytes"))
	_ = parts.Close()

	for name, tc := range map[string]struct {
		contentType, body string
		want              calendar.Input
		fault             string
	}{
		"json":                  {"application/json", `{"a":"x","n":2.50,"l":[1,null],"t":true}`, calendar.Input{"a": "x", "n": json.Number("2.50"), "l": []any{json.Number("1"), nil}, "t": true}, ""},
		"json charset":          {"application/json; charset=utf-8", `{"a":"x"}`, calendar.Input{"a": "x"}, ""},
		"plus json":             {"application/merge-patch+json", `{"a":"x"}`, calendar.Input{"a": "x"}, ""},
		"no type":               {"", `{"a":"x"}`, calendar.Input{"a": "x"}, ""},
		"equal keys":            {"", `{"a":1,"a":"x"}`, calendar.Input{"a": "x"}, ""},
		"empty":                 {"application/json", "", nil, ""},
		"blank":                 {"application/json", " \n", nil, ""},
		"malformed":             {"application/json", `{"a":}`, nil, "invalid character"},
		"cut":                   {"application/json", `{"a":1`, nil, "ended early"},
		"array":                 {"application/json", `[1]`, nil, "no object"},
		"null":                  {"application/json", `null`, nil, "no object"},
		"trailing":              {"application/json", `{} {}`, nil, "follows"},
		"trailing garbage":      {"application/json", `{} x`, nil, "follows"},
		"invalid UTF-8":         {"application/json", "{\"a\":\"\xff\"}", nil, "UTF-8"},
		"half a pair":           {"application/json", `{"a":"\ud83d"}`, nil, "surrogate"},
		"halves the wrong way":  {"application/json", `{"a":"\ude00\ud83d"}`, nil, "surrogate"},
		"half in a name":        {"application/json", `{"a\uDE00":1}`, nil, "surrogate"},
		"half, far down":        {"application/json", strings.Repeat(`{"a":`, 40) + `"\ud83dx"` + strings.Repeat("}", 40), nil, "surrogate"},
		"whole pairs":           {"application/json", `{"a":"\ud83d\ude00 \\ud83d"}`, calendar.Input{"a": "😀 \\ud83d"}, ""},
		"form, invalid UTF-8":   {"application/x-www-form-urlencoded", "a=1&b=%FF", nil, "UTF-8"},
		"form, invalid name":    {"application/x-www-form-urlencoded", "a%C3=1", nil, "UTF-8"},
		"form, raw bytes":       {"application/x-www-form-urlencoded", "a=\xff", nil, "UTF-8"},
		"multipart, bad UTF-8":  {parts.FormDataContentType(), strings.Replace(form.String(), "Über", "\xdcber", 1), nil, "UTF-8"},
		"multipart, bad file":   {parts.FormDataContentType(), strings.Replace(form.String(), "bytes", "\xff\xfe", 1), calendar.Input{"title": "Über", "tags": []any{"1", "2"}}, ""},
		"form":                  {"application/x-www-form-urlencoded", "venue[venue]=Hall&tags=1&tags=2", calendar.Input{"venue": map[string]any{"venue": "Hall"}, "tags": "1,2"}, ""},
		"multipart":             {parts.FormDataContentType(), form.String(), calendar.Input{"title": "Über", "tags": []any{"1", "2"}}, ""},
		"multipart cut":         {parts.FormDataContentType(), form.String()[:40], nil, "multipart"},
		"multipart no boundary": {"multipart/form-data", form.String(), nil, "boundary"},
		"text is ignored":       {"text/plain", "{", nil, ""},
		"xml is ignored":        {"application/xml", "<a/>", nil, ""},
		"unreadable type":       {";;", "{", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decodeBody(tc.contentType, []byte(tc.body), isTestList)
			if tc.fault == "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return
			}
			e := publicError(err)
			if e.Code != calendar.CodeInvalidJSON || !strings.Contains(e.Detail, tc.fault) {
				t.Errorf("got %q %q, want rest_invalid_json that says %q", e.Code, e.Detail, tc.fault)
			}
		})
	}
}

// jsonBodies are bodies, right and wrong, for calendar.ReadJSON.
var jsonBodies = []string{
	`{"a":"x","n":2.50,"l":[1,null,[]],"t":true,"f":false,"o":{"x":{}}}`, "\t{ \"a\" :\r\n[ 1 , -0.5e+7 ] }\n", `[]`, `"x"`, `-1E-2`, `0`,
	`{"a":"\u00e9\n\"\ud83d\ude00\ud800\/\\"}`, `{"":""}`, `{"a":1,"a":{"b":2}}`, `{"\u0061":1,"a":2}`,
	`{"a":}`, `{"a":1`, `{"a"`, `{`, `{"a":1,}`, `{,"a":1}`, `[1,]`, `[1 2]`, `{"a" 1}`, `{"a":1 "b":2}`, `{1:2}`, `{} {}`, `{} x`, "{}\x00", "\x00", "[1\x00]",
	`01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `--1`, `0x1`, `tru`, `truex`, `nul`, `NaN`, `"a`, `"\`, `"\x"`, `"\u12"`, "\"a\nb\"", "\"a\x7f\"",
	"\"\x00\"", "\ufeff{}", strings.Repeat("[", 40) + strings.Repeat("]", 40), strings.Repeat("[", 40),
}

func checkReadJSON(t *testing.T, body string) {
	t.Helper()
	if !utf8.ValidString(body) {
		return
	}
	want, err := readAnyJSON([]byte(body))
	got, fault := calendar.ReadJSON(body)
	if fault == nil && (err != nil || !reflect.DeepEqual(want, got)) {
		t.Errorf("%q: got %#v, want %#v, %v", body, got, want, err)
	}
	if fault != nil && err == nil && strings.Count(body, "[")+strings.Count(body, "{") <= 32 {
		t.Errorf("%q: %v, want %#v", body, fault, want)
	}
}

// TestReadJSON: the quick reader gives what encoding/json gives, or nothing.
func TestReadJSON(t *testing.T) {
	t.Parallel()
	for _, body := range jsonBodies {
		checkReadJSON(t, body)
	}
	for n := range 40 { // escapes wherever they stand among eight bytes, and short texts behind long ones
		x := strings.Repeat("x", n)
		checkReadJSON(t, `["`+x+`\n`+x+`é\"`+x+`","\t","`+x+`"]`)
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, body := range jsonBodies {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) { checkReadJSON(t, body) })
}

// BenchmarkDecodeBody reads a new event with a long description and links.
func BenchmarkDecodeBody(b *testing.B) {
	body := []byte(`{"title":"Quay concert & picnic","description":"` + strings.Repeat("Bring a chair, the band plays from half past six. ", 18) +
		`","start_date":"2026-07-04 18:30:00","end_date":"2026-07-04 21:00:00","timezone":"America/New_York","cost":"$5 - 12","website":"https://quay.example/?a=1&b=2",` +
		`"featured":true,"venue":88,"organizer":[90],"categories":[31],"tags":[45,46],"image":"https://img.example/quay.jpg"}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := decodeBody("application/json", body, isTestList); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzInputOf: whatever is sent, decoding ends and gives only the Go types that
// an Input may hold.
func FuzzInputOf(f *testing.F) {
	for _, s := range []string{"a=1", "a[]=1&a[0]=2", "a[b][c]=1&a=2", "tags=1&tags[]=2&tags[x]=3", "%=[&]=%5B", "a[0][][b]=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for name, v := range inputOf(parsePairs(raw), isTestList) {
			checkValue(t, name, v)
		}
	})
}

func checkValue(t *testing.T, name string, v any) {
	t.Helper()
	switch v := v.(type) {
	case string:
	case []any:
		for _, e := range v {
			checkValue(t, name, e)
		}
	case map[string]any:
		for _, e := range v {
			checkValue(t, name, e)
		}
	default:
		t.Errorf("%s: %T", name, v)
	}
}
