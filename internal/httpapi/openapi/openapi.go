// Package openapi makes the index of the routes and their OpenAPI document, both out of the
// same rows, by the same templates.
package openapi

import (
	"net/http"
	"slices"
	"time"

	"daybook/internal/param"
)

// Version is that of the interface.
const Version = "1.0.0"

// API is all that the documents are made of.
type API struct {
	Routes     []*Route
	Facets     []string
	Totals     map[string][]string // the further names of X-Total and X-TotalPages
	PerPageMax int
	Now        func() time.Time
	Site       *time.Location
}

// Root is the root that a document is for.
type Root struct {
	URL, Namespace string
	Further        bool // it is not the one of the interface document
}

// Route is a path with its operations.
type Route struct {
	Template   string // the path as OpenAPI writes it
	Key        string // as the index writes it, below the namespace
	Name       string // ends the operationId of OPTIONS
	Tag        string // its group
	Extension  bool   // it goes beyond the interface document
	Ended      bool   // the path names a format
	Operations []Operation
}

// Operation is what some methods of a route do.
type Operation struct {
	Methods  []string
	ID       string        // operationId; that of several methods continues with each of them
	Text     string        // of its description
	Group    string        // on the page of the interface
	Args     []param.Param // path parameters first
	Body     *Body         // nil: none
	Writes   bool          // it asks for the right to write
	SignedIn bool          `json:"signed_in"` // it asks for credentials
	Status   int           // of success; 0: 200
	Sends    []string      // headers of requests, besides credentials
	Headers  []string      // headers of its answers, besides those of all
	Statuses []int         // refusals besides those of all
	Content  []Media       // JSON first: generators make the type of an answer from the first one

	// What the others are completed from, and who carries it out.
	Work  string
	Takes []string // what Args has besides those of the path
}

// Body is what an operation takes besides its parameters.
type Body struct {
	Schema   string        // the name of its component; other forms continue it
	Text     string        // of its description
	Forms    bool          // forms are taken, too, and the fields may stand in the query string
	Elements []param.Param // of the objects of a list
}

// Media is an answer in one media type.
type Media struct {
	Type      string
	Schema    Object
	Extension bool
}

// request is an operation under one of its methods, in lower case.
type request struct {
	*Route
	*Operation

	Method string
}

// Revalidates reports whether the operation reads what caches may ask for again; that is
// compressed, too.
func (operation *Operation) Revalidates() bool {
	return operation.Methods[0] == http.MethodGet && slices.Contains(operation.Headers, "ETag")
}
