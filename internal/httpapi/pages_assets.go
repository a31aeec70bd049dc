package httpapi

import (
	"path"
	"strconv"
	"strings"

	"daybook/calendar"
	public "daybook/internal/pages"
)

// pageFiles returns the files that pages load, by their paths.
func pageFiles(pages *public.Pages) map[string]*answer {
	out := map[string]*answer{}
	for _, file := range pages.Files() {
		ans := &answer{body: newBody(file.Body), media: []string{file.Media}, etag: strconv.Quote(path.Base(file.Path)), file: true}
		kind, form, _ := strings.Cut(file.Media, "/")
		ans.small = kind == "font" || kind == "image" && form != "svg+xml"
		ans.add(headerETag, ans.etag)
		out[file.Path] = ans
	}
	return out
}

// sendAsset sends a file that pages load. Under another hash it is the present one, which
// is not to be kept, so that pages of another version work.
func (call *call) sendAsset() error {
	name, present := call.o.Pages.FilePath(call.page.Route)
	ans := call.files[name]
	if ans == nil {
		return calendar.Fail(calendar.CodeNoRoute, 0)
	}
	cached := "no-cache"
	if present {
		cached = cacheForever
	}
	call.w.Header().Set(headerCache, cached)
	return call.sendAnswer(ans)
}
