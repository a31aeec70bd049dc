package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/semaphore"
)

// The cost of a password hash: of the settings that the OWASP Password Storage Cheat
// Sheet gives for argon2id as equally strong the one that takes the least memory, which
// is garbage after each check.
const (
	hashMemory  = 7 * 1024 // KiB
	hashTime    = 5
	hashThreads = 1
	hashSalt    = 16 // bytes
	hashKey     = 32 // bytes
)

// The most that a stored hash may ask for, so that a damaged one cannot take the
// whole machine.
const (
	maxHashMemory  = 256 * 1024 // KiB
	maxHashTime    = 16
	maxHashThreads = 16
)

// errHash says that a stored hash is none of ours.
var errHash = errors.New("not an argon2id hash")

// Hasher keeps passwords as argon2id in the PHC string format. A hash takes 30 ms of a
// processor and 7 MiB, and everybody may send passwords to check: at most
// two are checked at once (PAGES.md P2.3), so that a processor is left for other work where
// there are several, and each turn rests after a wrong one. Keeping a password has a turn
// of its own next to them.
type Hasher struct{ checks, keeps *semaphore.Weighted }

// wrongRest is how long a turn rests after a wrong password: guesses one after the other
// take a quarter of a processor then, and what they throw away keeps the collector from
// nothing else.
const wrongRest = 100 * time.Millisecond

// NewHasher makes a Hasher.
func NewHasher() *Hasher {
	return &Hasher{checks: semaphore.NewWeighted(min(2, max(1, int64(runtime.GOMAXPROCS(0)-1)))), keeps: semaphore.NewWeighted(1)}
}

// Hash returns the hash to store of a password. It waits for its turn while ctx lasts.
func (hasher *Hasher) Hash(ctx context.Context, password string) ([]byte, error) {
	salt := make([]byte, hashSalt)
	_, _ = rand.Read(salt) // never fails
	hash := phc{memory: hashMemory, time: hashTime, threads: hashThreads, salt: salt}
	if err := hasher.keeps.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer hasher.keeps.Release(1)
	hash.key = hash.keyOf(password, hashKey)
	return []byte(hash.String()), nil
}

// Verify reports whether a password fits a hash. It waits for its turn while ctx lasts.
func (hasher *Hasher) Verify(ctx context.Context, hash []byte, password string) (bool, error) {
	phc, err := parsePHC(string(hash))
	if err != nil {
		return false, nil //nolint:nilerr // no password fits what is no hash
	}
	if err := hasher.checks.Acquire(ctx, 1); err != nil {
		return false, err
	}
	if subtle.ConstantTimeCompare(phc.key, phc.keyOf(password, len(phc.key))) == 1 {
		hasher.checks.Release(1)
		return true, nil
	}
	time.AfterFunc(wrongRest, func() { hasher.checks.Release(1) })
	return false, nil
}

// keyOf makes the key of a password.
func (phc phc) keyOf(password string, length int) []byte {
	return argon2.IDKey([]byte(password), phc.salt, phc.time, phc.memory, phc.threads, uint32(length))
}

// phc is a hash in the PHC string format:
// $argon2id$v=19$m=7168,t=5,p=1$salt$key, both in base64 without padding.
type phc struct {
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

func (phc phc) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, phc.memory, phc.time, phc.threads, b64.EncodeToString(phc.salt), b64.EncodeToString(phc.key))
}

func parsePHC(text string) (phc, error) {
	var hash phc
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return hash, errHash
	}
	if _, err := fmt.Sscanf(parts[3]+"\n", "m=%d,t=%d,p=%d\n", &hash.memory, &hash.time, &hash.threads); err != nil {
		return hash, errHash
	}
	if hash.memory < 8 || hash.memory > maxHashMemory || hash.time < 1 || hash.time > maxHashTime || hash.threads < 1 || hash.threads > maxHashThreads {
		return hash, errHash
	}
	var err1, err2 error
	hash.salt, err1 = base64.RawStdEncoding.Strict().DecodeString(parts[4])
	hash.key, err2 = base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(hash.salt) < 8 || len(hash.key) < 16 || len(hash.key) > 64 {
		return hash, errHash
	}
	return hash, nil
}
