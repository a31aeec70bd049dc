package httpapi

import (
	"iter"
	"net/http"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/query"
)

// recordTag is the ETag of one record (2.9): version and mark. The content of the
// record counts too: another history may have the version with another one.
func (api *api) recordTag(root *root, language calendar.Lang, view *query.View, fields []string) string {
	hash := calendar.HashStart.Number(view.Record.Sum).Number(view.Mark).Number(root.mark).Number(uint64(language)).Text(string(view.Status))
	for _, text := range fields {
		hash = hash.Text(text)
	}
	var b [40]byte
	tag := append(strconv.AppendInt(append(b[:0], '"'), view.Record.Version, 10), '-')
	return string(append(strconv.AppendUint(tag, uint64(hash), 16), '"'))
}

// weakTag is the ETag of an answer that a key names.
func (api *api) weakTag(key string) string {
	var b [24]byte
	tag := strconv.AppendUint(append(b[:0], `W/"`...), uint64(calendar.HashStart.Number(api.roots.seed).Text(key)), 16)
	return string(append(tag, '"'))
}

// noneMatch reports whether If-None-Match fits an ETag: weakly, a list allowed,
// "*" fits always.
func noneMatch(header http.Header, etag string) bool {
	etag = strings.TrimPrefix(etag, "W/")
	for tag := range tagsOf(header["If-None-Match"]) {
		if tag == "*" || tag == etag {
			return true
		}
	}
	return false
}

// tagsOf yields the members of a list of entity tags without W/. A comma in one of another
// service separates, too: none of its parts is a tag of this one.
func tagsOf(values []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
			if !yield(strings.TrimPrefix(strings.TrimSpace(tag), "W/")) {
				return
			}
		}
	}
}

// matchVersions reads If-Match: the versions that it names, 0 for "*"; nil when
// it was not sent. What is no tag of this service fits never.
func matchVersions(header http.Header) []int64 {
	values := header["If-Match"]
	if strings.TrimSpace(strings.Join(values, ",")) == "" {
		return nil
	}
	versions := []int64{}
	for tag := range tagsOf(values) {
		if tag == "*" {
			versions = append(versions, 0)
			continue
		}
		inner, quoted := strings.CutPrefix(tag, `"`)
		number, _, marked := strings.Cut(inner, "-")
		if count, err := strconv.ParseInt(number, 10, 64); quoted && marked && err == nil && count > 0 {
			versions = append(versions, count)
		}
	}
	return versions
}
