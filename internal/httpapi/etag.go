package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/query"
)

// mix adds texts and numbers to a hash (FNV-1a, 64 bits), each ended so that
// neighbours do not run together.
type mix uint64

const mixStart mix = 14695981039346656037

func (m mix) text(s string) mix {
	for i := range len(s) {
		m = (m ^ mix(s[i])) * 1099511628211
	}
	return (m ^ 0xff) * 1099511628211
}

func (m mix) number(n uint64) mix {
	for range 8 {
		m = (m ^ mix(n&0xff)) * 1099511628211
		n >>= 8
	}
	return m
}

// recordTag is the ETag of one record (2.9): version and mark.
func (a *api) recordTag(r *root, l calendar.Lang, v *query.View, fields []string) string {
	m := mixStart.number(v.Mark).number(r.mark).number(uint64(l)).text(string(v.Status))
	for _, f := range fields {
		m = m.text(f)
	}
	_, version := v.Key()
	return `"` + strconv.FormatInt(version, 10) + "-" + strconv.FormatUint(uint64(m), 16) + `"`
}

// weakTag is the ETag of an answer that a key names.
func (a *api) weakTag(key string) string {
	return `W/"` + strconv.FormatUint(uint64(mixStart.number(a.roots.seed).text(key)), 16) + `"`
}

// noneMatch tells whether If-None-Match fits an ETag: weakly, a list allowed,
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

// eachTag gives the members of a list of entity tags without W/; a comma inside
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
