// Package httpapi is the REST interface of daybook: routes, decoding of
// requests, rendering of answers, rights, errors, and the index and
// documentation in four languages. What it does is said in the interface
// document; the sections named in comments are sections of it.
package httpapi
