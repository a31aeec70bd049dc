package httpapi

import "encoding/json"

// maxNested is how deep the values lie that jsonReader reads; deeper ones are left to
// encoding/json.
const maxNested = 32

// jsonReader reads valid UTF-8 as encoding/json does into an any, numbers as
// json.Number, in one pass and less than half of the time. What it refuses is for
// encoding/json, which names the fault.
type jsonReader struct {
	b []byte
	i int
}

// readJSON reads one value with nothing behind it.
func readJSON(b []byte) (any, bool) {
	r := jsonReader{b: b}
	v, ok := r.value(0)
	return v, ok && r.next() == 0 && r.i == len(b)
}

// next gives the next byte that is no white space, 0 at the end.
func (r *jsonReader) next() byte {
	for ; r.i < len(r.b); r.i++ {
		switch c := r.b[r.i]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// take steps over the next byte when it is c.
func (r *jsonReader) take(c byte) bool {
	if r.next() != c || r.i == len(r.b) {
		return false
	}
	r.i++
	return true
}

func (r *jsonReader) word(w string) bool {
	if len(r.b)-r.i < len(w) || string(r.b[r.i:r.i+len(w)]) != w {
		return false
	}
	r.i += len(w)
	return true
}

func (r *jsonReader) value(depth int) (any, bool) {
	if depth > maxNested {
		return nil, false
	}
	switch r.next() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"':
		return r.text()
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	default:
		return r.number()
	}
}

func (r *jsonReader) object(depth int) (any, bool) {
	r.i++
	out := map[string]any{}
	for first := true; !r.take('}'); first = false {
		if !first && !r.take(',') || r.next() != '"' {
			return nil, false
		}
		key, ok := r.text()
		if !ok || !r.take(':') {
			return nil, false
		}
		if out[key], ok = r.value(depth + 1); !ok {
			return nil, false
		}
	}
	return out, true
}

func (r *jsonReader) list(depth int) (any, bool) {
	r.i++
	out := []any{}
	for first := true; !r.take(']'); first = false {
		if !first && !r.take(',') {
			return nil, false
		}
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// text reads a text; one with escapes goes through encoding/json.
func (r *jsonReader) text() (string, bool) {
	from, plain := r.i, true
	for r.i++; r.i < len(r.b); r.i++ {
		switch c := r.b[r.i]; {
		case c == '\\':
			plain = false
			r.i++
		case c == '"':
			r.i++
			if plain {
				return string(r.b[from+1 : r.i-1]), true
			}
			var s string
			err := json.Unmarshal(r.b[from:r.i], &s)
			return s, err == nil
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

func (r *jsonReader) number() (any, bool) {
	from := r.i
	r.word("-")
	if !r.word("0") && !r.digits() || r.word(".") && !r.digits() {
		return nil, false
	}
	if r.word("e") || r.word("E") {
		if !r.word("+") {
			r.word("-")
		}
		if !r.digits() {
			return nil, false
		}
	}
	return json.Number(r.b[from:r.i]), true
}

func (r *jsonReader) digits() bool {
	from := r.i
	for r.i < len(r.b) && '0' <= r.b[r.i] && r.b[r.i] <= '9' {
		r.i++
	}
	return r.i > from
}
