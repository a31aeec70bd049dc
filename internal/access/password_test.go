package access_test

import (
	"strings"
	"testing"

	"daybook/internal/access"
)

// TestHasher: a password fits its hash and no other, and what is no hash, or would cost too
// much, fits nothing.
func TestHasher(t *testing.T) {
	t.Parallel()
	hasher := access.NewHasher()
	fits := func(hash, password string) bool {
		ok, err := hasher.Verify(t.Context(), []byte(hash), password)
		must(t, err)
		return ok
	}
	var good string
	for _, password := range []string{"", "é音 \x00", strings.Repeat("x", 255), "sesame"} {
		one, err := hasher.Hash(t.Context(), password)
		must(t, err)
		two, err := hasher.Hash(t.Context(), password)
		must(t, err)
		good = string(one)
		if !strings.HasPrefix(good, "$argon2id$v=19$m=7168,t=5,p=1$") || good == string(two) || !fits(good, password) || !fits(string(two), password) || fits(good, password+"x") || fits(good, "Sesame") {
			t.Errorf("hashes of %q are %s and %s", password, one, two)
		}
	}
	// Of the reference implementation, with other costs.
	const reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if !fits(reference, "password") || fits(reference, "passwort") {
		t.Error("the hash of the reference implementation is not read")
	}
	for _, hash := range []string{"", "sesame", good[:len(good)-30], good[:len(good)-1] + "!", good + "$"} {
		if fits(hash, "sesame") {
			t.Errorf("the hash %q fits", hash)
		}
	}
	for old, other := range map[string]string{"argon2id": "argon2i", "v=19": "v=16", "m=7168": "m=4294967295", "t=5": "t=4294967295", "p=1": "p=0", "p=1$": "p=1,x=1$", "7168": "0", "t=5,": "t=0,"} {
		if hash := strings.Replace(good, old, other, 1); fits(hash, "sesame") {
			t.Errorf("the hash %q fits", hash)
		}
	}
}
