package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/query"
)

// recordTag is the ETag of one record (2.9): version and mark. The content of the
// record counts too: another history may have the version with another one.
func (a *api) recordTag(r *root, l calendar.Lang, v *query.View, fields []string) string {
	m := calendar.HashStart.Number(v.Record.Sum).Number(v.Mark).Number(r.mark).Number(uint64(l)).Text(string(v.Status))
	for _, f := range fields {
		m = m.Text(f)
	}
	var b [40]byte
	tag := append(strconv.AppendInt(append(b[:0], '"'), v.Record.Version, 10), '-')
	return string(append(strconv.AppendUint(tag, uint64(m), 16), '"'))
}

// weakTag is the ETag of an answer that a key names.
func (a *api) weakTag(key string) string {
	var b [24]byte
	tag := strconv.AppendUint(append(b[:0], `W/"`...), uint64(calendar.HashStart.Number(a.roots.seed).Text(key)), 16)
	return string(append(tag, '"'))
}

// noneMatch reports whether If-None-Match fits an ETag: weakly, a list allowed,
// "*" fits always.
func noneMatch(h http.Header, etag string) bool {
	values := h["If-None-Match"]
	if len(values) == 0 {
		return false
	}
	etag = strings.TrimPrefix(etag, "W/")
	for _, v := range values {
		for tag := range eachTag(v) {
			if tag == "*" || tag == etag {
				return true
			}
		}
	}
	return false
}

// eachTag returns the members of a list of entity tags without W/; a comma inside
// quotes does not separate.
func eachTag(v string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			v = strings.TrimLeft(v, " \t,")
			if v == "" {
				return
			}
			v = strings.TrimPrefix(v, "W/")
			end := strings.IndexByte(v, ',')
			if strings.HasPrefix(v, `"`) {
				end = strings.IndexByte(v[1:], '"')
				if end >= 0 {
					end += 2
				}
			}
			if end < 0 {
				end = len(v)
			}
			if !yield(strings.TrimSpace(v[:end])) {
				return
			}
			v = v[end:]
		}
	}
}

// matchVersions reads If-Match: the versions that it names, 0 for "*"; nil when
// it was not sent. What is no tag of this service fits never.
func matchVersions(h http.Header) []int64 {
	values := h["If-Match"]
	if len(values) == 0 || len(values) == 1 && strings.TrimSpace(values[0]) == "" {
		return nil
	}
	versions := []int64{}
	for _, v := range values {
		for tag := range eachTag(v) {
			if tag == "*" {
				versions = append(versions, 0)
				continue
			}
			inner, ok := strings.CutPrefix(tag, `"`)
			if !ok {
				continue
			}
			number, _, ok := strings.Cut(strings.TrimSuffix(inner, `"`), "-")
			if !ok {
				continue
			}
			if n, err := strconv.ParseInt(number, 10, 64); err == nil && n > 0 {
				versions = append(versions, n)
			}
		}
	}
	return versions
}
