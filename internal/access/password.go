package access

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of a password hash: the second of the settings that the OWASP
// Password Storage Cheat Sheet gives for argon2id.
const (
	hashMemory  = 19 * 1024 // KiB
	hashTime    = 2
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

// Hasher keeps passwords as argon2id in the PHC string format. As many hashes
// are made at once as there are processors: each needs 19 MiB.
type Hasher struct{ slots chan struct{} }

// NewHasher makes a Hasher.
func NewHasher() *Hasher { return &Hasher{slots: make(chan struct{}, runtime.GOMAXPROCS(0))} }

// Hash gives the hash to keep of a password.
func (h *Hasher) Hash(password string) ([]byte, error) {
	salt := make([]byte, hashSalt)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	p := phc{memory: hashMemory, time: hashTime, threads: hashThreads, salt: salt}
	p.key = h.key(p, password, hashKey)
	return []byte(p.String()), nil
}

// Verify tells whether a password fits a hash.
func (h *Hasher) Verify(hash []byte, password string) bool {
	p, err := parsePHC(string(hash))
	if err != nil {
		return false
	}
	return subtle.ConstantTimeCompare(p.key, h.key(p, password, len(p.key))) == 1
}

func (h *Hasher) key(p phc, password string, length int) []byte {
	h.slots <- struct{}{}
	defer func() { <-h.slots }()
	return argon2.IDKey([]byte(password), p.salt, p.time, p.memory, p.threads, uint32(length))
}

// phc is a hash in the PHC string format:
// $argon2id$v=19$m=19456,t=2,p=1$salt$key, both in base64 without padding.
type phc struct {
	memory, time uint32
	threads      uint8
	salt, key    []byte
}

func (p phc) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, p.memory, p.time, p.threads, b64.EncodeToString(p.salt), b64.EncodeToString(p.key))
}

func parsePHC(s string) (phc, error) {
	var p phc
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, errHash
	}
	if _, err := fmt.Sscanf(parts[3]+"\n", "m=%d,t=%d,p=%d\n", &p.memory, &p.time, &p.threads); err != nil {
		return p, errHash
	}
	if p.memory < 8 || p.memory > maxHashMemory || p.time < 1 || p.time > maxHashTime || p.threads < 1 || p.threads > maxHashThreads {
		return p, errHash
	}
	var err1, err2 error
	p.salt, err1 = base64.RawStdEncoding.Strict().DecodeString(parts[4])
	p.key, err2 = base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(p.salt) < 8 || len(p.key) < 16 || len(p.key) > 64 {
		return p, errHash
	}
	return p, nil
}
