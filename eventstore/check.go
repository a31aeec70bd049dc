package eventstore

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check tells what is wrong with the form of an Append, apart from what the
// store holds; the error is ErrMalformed. Stores call it first.
func (a *Append) Check() error {
	if len(a.Drafts) == 0 && len(a.Guards) > 0 {
		return fmt.Errorf("%w: guards without drafts", ErrMalformed)
	}
	if err := CheckDrafts(a.Drafts, a.Cause); err != nil {
		return err
	}
	if a.Later && (len(a.Drafts) > 0 || a.Receipt == nil || len(a.Receipt.Answer) == 0) {
		return fmt.Errorf("%w: nobody waits for what has drafts or no answer", ErrMalformed)
	}
	if a.Receipt != nil && !IsKey(a.Receipt.Key) {
		return fmt.Errorf("%w: receipt without a key that is text", ErrMalformed)
	}
	return nil
}

// CheckDrafts returns what is wrong with the form of drafts and their cause: ErrMalformed.
func CheckDrafts(drafts []Draft, c Cause) error {
	if !isText(c.Client) || !isText(c.Request) || !isText(c.Reason) {
		return fmt.Errorf("%w: cause is no text", ErrMalformed)
	}
	for i := range drafts {
		if what := drafts[i].fault(); what != "" {
			return fmt.Errorf("%w: draft %d: %s", ErrMalformed, i, what)
		}
	}
	return nil
}

// IsKey reports whether every engine can store an idempotency key.
func IsKey(key string) bool { return key != "" && isText(key) }

func (d *Draft) fault() string {
	switch {
	case d.Kind.String() == "":
		return "no kind"
	case d.ID <= 0:
		return "id is not positive"
	case d.Expected < 0:
		return "expected version is negative"
	case d.Change == "" || !isText(d.Change):
		return "change name is no text"
	}
	switch fields, state := d.isJSON(); {
	case !fields:
		return "fields are not JSON"
	case !state:
		return "state is not JSON"
	}
	for _, c := range d.Claims {
		if c.Space == "" || c.Key == "" || !isText(c.Space) || !isText(c.Key) {
			return "claim is no text"
		}
	}
	for _, n := range d.Names {
		if n.Space == "" || n.Key == "" || !isText(n.Space) || !isText(n.Key) {
			return "name is no text"
		}
	}
	return ""
}

// isText tells whether every engine can keep s: UTF-8 without NUL.
func isText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// LooksUp tells whether the Append only looks for its receipt.
func (a *Append) LooksUp() bool {
	return len(a.Drafts) == 0 && a.Receipt != nil && a.Receipt.Record == 0 && len(a.Receipt.Answer) == 0
}

// Settles tells whether the Append only waits for what is there to be durable.
func (a *Append) Settles() bool { return len(a.Drafts) == 0 && a.Receipt == nil }

// maxIDs is the most ids that one call of NewIDs gives.
const maxIDs = 1_000_000

// CheckCount tells whether n ids may be asked for at once.
func CheckCount(n int) error {
	if n < 1 || n > maxIDs {
		return fmt.Errorf("%w: %d ids at once, must be 1 to %d", ErrMalformed, n, maxIDs)
	}
	return nil
}
