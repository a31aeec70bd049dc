// Package pages makes the public pages of the calendar (PAGES.md P1 to P8): what people
// see in a browser under the paths that url fields of records name. It shows records as
// the interface shows them, in four languages, and works without JavaScript. It has no
// store and no cache: lists and views come from package query, what else it needs comes in
// by the small interfaces of Deps.
package pages
