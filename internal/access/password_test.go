package access_test

import (
	"strings"
	"testing"

	"daybook/internal/access"
)

func TestHasher(t *testing.T) {
	t.Parallel()
	h := access.NewHasher()
	for _, password := range []string{"sesame", "", "é音 \x00", strings.Repeat("x", 255)} {
		one, err := h.Hash(t.Context(), password)
		must(t, err)
		two, err := h.Hash(t.Context(), password)
		must(t, err)
		if !strings.HasPrefix(string(one), "$argon2id$v=19$m=7168,t=5,p=1$") || string(one) == string(two) {
			t.Errorf("hashes of %q are %s and %s", password, one, two)
		}
		if !fits(t, h, one, password) || !fits(t, h, two, password) {
			t.Errorf("%q does not fit its hash", password)
		}
		if fits(t, h, one, password+"x") || fits(t, h, one, "Sesame") {
			t.Errorf("another password fits the hash of %q", password)
		}
	}
}

// TestHasherReadsOthers: a hash of the reference implementation with other costs.
func TestHasherReadsOthers(t *testing.T) {
	t.Parallel()
	const reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if h := access.NewHasher(); !fits(t, h, []byte(reference), "password") || fits(t, h, []byte(reference), "passwort") {
		t.Error("the hash of the reference implementation is not read")
	}
}

func TestHasherRefuses(t *testing.T) {
	t.Parallel()
	h := access.NewHasher()
	good, err := h.Hash(t.Context(), "sesame")
	must(t, err)
	replace := func(old, with string) string { return strings.Replace(string(good), old, with, 1) }
	for name, hash := range map[string]string{
		"empty":          "",
		"plain":          "sesame",
		"other function": replace("argon2id", "argon2i"),
		"other version":  replace("v=19", "v=16"),
		"no memory":      replace("m=7168", "m=0"),
		"all memory":     replace("m=7168", "m=4294967295"),
		"no time":        replace("t=5", "t=0"),
		"for ever":       replace("t=5", "t=4294967295"),
		"no threads":     replace("p=1", "p=0"),
		"more settings":  replace("p=1", "p=1,x=1"),
		"cut":            string(good[:len(good)-30]),
		"no base64":      string(good[:len(good)-1]) + "!",
		"more parts":     string(good) + "$",
	} {
		if fits(t, h, []byte(hash), "sesame") {
			t.Errorf("%s: the hash %q fits", name, hash)
		}
	}
}

// fits asks the hasher.
func fits(t *testing.T, h *access.Hasher, hash []byte, password string) bool {
	t.Helper()
	ok, err := h.Verify(t.Context(), hash, password)
	must(t, err)
	return ok
}
