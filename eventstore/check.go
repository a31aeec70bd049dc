package eventstore

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
)

// Check returns what is wrong with the form of an Append: ErrMalformed.
func (a *Append) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
	for i := range a.Drafts {
		if what := a.Drafts[i].fault(); what != "" {
			return bad("draft %d: %s", i, what)
		}
	}
	switch {
	case !isText(a.Cause.Client) || !isText(a.Cause.Request) || !isText(a.Cause.Reason):
		return bad("cause is no text")
	case len(a.Drafts) == 0 && len(a.Guards) > 0:
		return bad("guards without drafts")
	case a.Receipt != nil && (a.Receipt.Key == "" || !isText(a.Receipt.Key)):
		return bad("receipt without a key that is text")
	case a.Receipt != nil && len(a.Drafts) == 0 && a.Receipt.Record <= 0:
		return bad("receipt of no record")
	case slices.ContainsFunc(a.Redact, func(id calendar.ID) bool { return id <= 0 }):
		return bad("redacts no record")
	case a.Checkpoint != nil:
		return a.Checkpoint.Check()
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
	case d.Change == "" || !isText(d.Change):
		return "change name is no text"
	case slices.ContainsFunc(d.Claims, noText):
		return "claim is no text"
	case slices.ContainsFunc(d.Names, noText):
		return "name is no text"
	}
	switch fields, state := d.isJSON(); {
	case !fields:
		return "fields are not JSON"
	case !state:
		return "state is not JSON"
	}
	return ""
}

func noText(c calendar.Claim) bool {
	return c.Space == "" || c.Key == "" || !isText(c.Space) || !isText(c.Key)
}

// isText reports whether every engine can store s: UTF-8 without NUL.
func isText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// maxIDs bounds how many ids one call of NewIDs returns.
const maxIDs = 1_000_000

// CheckCount refuses a number of ids that NewIDs does not return: ErrMalformed.
func CheckCount(n int) error {
	if n < 1 || n > maxIDs {
		return fmt.Errorf("%w: %d ids at once, must be 1 to %d", ErrMalformed, n, maxIDs)
	}
	return nil
}
