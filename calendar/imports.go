package calendar

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// ImportMark says which line of an import a record has from it last, and by
// which key the import names the record. A record has one mark per source in
// the field "imports", so an import that is run again changes nothing.
type ImportMark struct {
	Source string // without spaces
	Line   int64  // 1, 2, 3 …
	Key    string // "" when the import names the record by its id
}

// importSpace is the space of the claims on the keys of imports.
const importSpace = "import"

// hashedMark begins what is left of a mark when its record is erased: the SHA-256 of
// source, space and key. The line takes no part, so that every line of the key meets it.
const hashedMark = "sha256:"

// HashedImportClaim is what ImportClaim becomes when its record is erased. Look-ups of a
// key ask for both.
func HashedImportClaim(source, key string) Claim {
	sum := sha256.Sum256([]byte(ImportClaim(source, key).Key))
	return Claim{Space: importSpace, Key: hashedMark + hex.EncodeToString(sum[:])}
}

// erasedFields are the fields of a record that is erased. Marks without a key go: such
// a record is found by its id.
func erasedFields(r *Record) Fields {
	claims := importClaims(r)
	marks := make([]string, 0, len(claims))
	for _, c := range claims {
		if !strings.HasPrefix(c.Key, hashedMark) {
			source, key, _ := strings.Cut(c.Key, " ")
			c = HashedImportClaim(source, key)
		}
		marks = append(marks, c.Key)
	}
	if len(marks) == 0 {
		return Fields{}
	}
	return Fields{"imports": marks}
}

// ImportClaim is the claim on a key of a source. Its record holds it permanently,
// deleted or not.
func ImportClaim(source, key string) Claim {
	return Claim{Space: importSpace, Key: source + " " + key}
}

// ImportMark returns the mark that a source left on the record, that of line 0 for none.
func (r *Record) ImportMark(source string) ImportMark {
	for _, s := range r.Fields.Strings("imports") {
		if m, ok := parseImportMark(s); ok && m.Source == source {
			return m
		}
	}
	return ImportMark{}
}

// WithImportMark returns the value of the field "imports" with the mark of its
// source set; a key that the record has stays when m has none. r is nil for a
// new record.
func WithImportMark(r *Record, m ImportMark) []string {
	var list []string
	if r != nil {
		m.Key = cmp.Or(m.Key, r.ImportMark(m.Source).Key)
		list = slices.Clone(r.Fields.Strings("imports"))
	}
	list = slices.DeleteFunc(list, func(s string) bool {
		other, ok := parseImportMark(s)
		return ok && other.Source == m.Source
	})
	return append(list, m.Source+" "+strconv.FormatInt(m.Line, 10)+" "+m.Key)
}

func parseImportMark(s string) (ImportMark, bool) {
	source, rest, _ := strings.Cut(s, " ")
	line, key, ok := strings.Cut(rest, " ")
	n, err := strconv.ParseInt(line, 10, 64)
	return ImportMark{Source: source, Line: n, Key: key}, ok && err == nil
}

// importClaims are the claims on the keys that imports name the record by.
func importClaims(r *Record) []Claim {
	var claims []Claim
	for _, s := range r.Fields.Strings("imports") {
		if strings.HasPrefix(s, hashedMark) && !strings.Contains(s, " ") {
			claims = append(claims, Claim{Space: importSpace, Key: s})
		} else if m, ok := parseImportMark(s); ok && m.Key != "" {
			claims = append(claims, ImportClaim(m.Source, m.Key))
		}
	}
	return claims
}
