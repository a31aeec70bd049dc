package eventstore

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Check tells what is wrong with the form of an Append, apart from what the
// store holds; the error is ErrMalformed. Stores call it first.
func (a *Append) Check() error {
	if len(a.Drafts) == 0 && a.Receipt == nil {
		return fmt.Errorf("%w: neither drafts nor a receipt", ErrMalformed)
	}
	if len(a.Drafts) == 0 && len(a.Guards) > 0 {
		return fmt.Errorf("%w: guards without drafts", ErrMalformed)
	}
	for _, s := range []string{a.Cause.Client, a.Cause.Request, a.Cause.Reason} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%w: cause is not UTF-8", ErrMalformed)
		}
	}
	for i := range a.Drafts {
		if what := a.Drafts[i].fault(); what != "" {
			return fmt.Errorf("%w: draft %d: %s", ErrMalformed, i, what)
		}
	}
	if a.Receipt != nil && a.Receipt.Key == "" {
		return fmt.Errorf("%w: receipt without a key", ErrMalformed)
	}
	return nil
}

func (d *Draft) fault() string {
	switch {
	case d.Kind.String() == "":
		return "no kind"
	case d.ID <= 0:
		return "id is not positive"
	case d.Expected < 0:
		return "expected version is negative"
	case d.Change == "":
		return "no change name"
	case !json.Valid(d.Fields):
		return "fields are not JSON"
	case !json.Valid(d.State):
		return "state is not JSON"
	}
	for _, c := range d.Claims {
		if c.Space == "" || c.Key == "" {
			return "empty claim"
		}
	}
	for _, n := range d.Names {
		if n.Space == "" || n.Key == "" {
			return "empty name"
		}
	}
	return ""
}

// LooksUp tells whether the Append only looks for its receipt.
func (a *Append) LooksUp() bool {
	return len(a.Drafts) == 0 && a.Receipt != nil && a.Receipt.Record == 0 && len(a.Receipt.Answer) == 0
}

// maxIDs is the most ids that one call of NewIDs gives.
const maxIDs = 1_000_000

// CheckCount tells whether n ids may be asked for at once.
func CheckCount(n int) error {
	if n < 1 || n > maxIDs {
		return fmt.Errorf("%w: %d ids at once, must be 1 to %d", ErrMalformed, n, maxIDs)
	}
	return nil
}
