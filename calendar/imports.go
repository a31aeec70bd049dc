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

// Hashed is what an ImportClaim becomes when its record is erased. Look-ups of a key ask for
// both. One that is hashed stays.
func (claim Claim) Hashed() Claim {
	if isHashed(claim.Key) {
		return claim
	}
	digest := sha256.Sum256([]byte(claim.Key))
	return Claim{Space: claim.Space, Key: hashedMark + hex.EncodeToString(digest[:])}
}

func isHashed(mark string) bool {
	return strings.HasPrefix(mark, hashedMark) && !strings.Contains(mark, " ")
}

// erasedFields are the fields of a record that is erased. Marks without a key go: such
// a record is found by its id.
func erasedFields(record *Record) Fields {
	claims := importClaims(record)
	if len(claims) == 0 {
		return Fields{}
	}
	marks := make([]string, len(claims))
	for i, claim := range claims {
		marks[i] = claim.Hashed().Key
	}
	return Fields{"imports": marks}
}

// ImportClaim is the claim on a key of a source. Its record holds it permanently,
// deleted or not.
func ImportClaim(source, key string) Claim {
	return Claim{Space: importSpace, Key: source + " " + key}
}

// ImportMark returns the mark that a source left on the record, that of line 0 for none.
func (record *Record) ImportMark(source string) ImportMark {
	for _, text := range record.Fields.Strings("imports") {
		if importMark, ok := parseImportMark(text); ok && importMark.Source == source {
			return importMark
		}
	}
	return ImportMark{}
}

// WithImportMark returns the value of the field "imports" with the mark of its
// source set; a key that the record has stays when importMark has none. record is nil for a
// new record.
func WithImportMark(record *Record, importMark ImportMark) []string {
	var list []string
	if record != nil {
		importMark.Key = cmp.Or(importMark.Key, record.ImportMark(importMark.Source).Key)
		list = slices.Clone(record.Fields.Strings("imports"))
	}
	list = slices.DeleteFunc(list, func(text string) bool {
		other, ok := parseImportMark(text)
		return ok && other.Source == importMark.Source
	})
	return append(list, importMark.Source+" "+strconv.FormatInt(importMark.Line, 10)+" "+importMark.Key)
}

func parseImportMark(text string) (ImportMark, bool) {
	source, rest, _ := strings.Cut(text, " ")
	line, key, ok := strings.Cut(rest, " ")
	number, err := strconv.ParseInt(line, 10, 64)
	return ImportMark{Source: source, Line: number, Key: key}, ok && err == nil
}

// importClaims are the claims on the keys that imports name the record by.
func importClaims(record *Record) []Claim {
	var claims []Claim
	for _, text := range record.Fields.Strings("imports") {
		if isHashed(text) {
			claims = append(claims, Claim{Space: importSpace, Key: text})
		} else if importMark, ok := parseImportMark(text); ok && importMark.Key != "" {
			claims = append(claims, ImportClaim(importMark.Source, importMark.Key))
		}
	}
	return claims
}
