package param

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
)

// LinkParam is one parameter of a link.
type LinkParam struct{ Name, Value string }

// AppendTo adds the parameter as it was sent: a list as one comma text, or element by element
// where one of them holds a comma. Elements that say nothing are left out: a client that sends
// thousands of them would get each back, percent-encoded, in every link.
func (param *Param) AppendTo(links []LinkParam, value any) []LinkParam {
	text, isText := value.(string)
	if isText && !param.IsList() {
		return append(links, LinkParam{param.Name, text})
	}
	elements := strings.Split(text, ",")
	if !isText {
		elements, _ = Elements(value)
	}
	elements = slices.DeleteFunc(elements, func(element string) bool { return calendar.Trim(element) == "" })
	if !slices.ContainsFunc(elements, func(element string) bool { return strings.Contains(element, ",") }) {
		return append(links, LinkParam{param.Name, strings.Join(elements, ",")})
	}
	for _, element := range elements {
		links = append(links, LinkParam{param.Name + "[]", element})
	}
	return links
}

// PageLinks are the links to the pages of one list (interface 4.3).
type PageLinks struct{ first, others, after string }

// LinksTo makes the links to the pages of a list whose address without a query is
// given. What was sent stands in them percent-encoded; a link to page 1 has no page.
func LinksTo(address string, params []LinkParam) PageLinks {
	pageLinks := PageLinks{first: address, others: address + "?page="}
	var sent strings.Builder
	for _, linkParam := range params {
		sent.WriteByte('&')
		sent.WriteString(encoded(linkParam.Name))
		sent.WriteByte('=')
		sent.WriteString(encoded(linkParam.Value))
	}
	if pageLinks.after = sent.String(); pageLinks.after != "" {
		pageLinks.first += "?" + pageLinks.after[1:]
	}
	return pageLinks
}

// Page returns the link to a page.
func (pageLinks *PageLinks) Page(page int) string {
	if page <= 1 {
		return pageLinks.first
	}
	return pageLinks.others + strconv.Itoa(page) + pageLinks.after
}

// encoded percent-encodes everything but the unreserved characters of RFC 3986, section 2.3.
func encoded(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
