package proof

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"filippo.io/mldsa"
	"golang.org/x/mod/sumdb/note"
)

// The types of signatures of notes that are known here.
const (
	typeEd25519     = 0x01 // of a log
	typeCosignature = 0x04 // Ed25519, of a witness
	typeCosigMLDSA  = 0x06 // ML-DSA-44, of a witness
)

// Key verifies one kind of signature of notes by one public key. It is a note.Verifier.
type Key struct {
	vkey   string
	name   string
	hash   uint32
	kind   byte
	verify func(text, signature []byte) bool
}

// Name is that of the log or witness.
func (k *Key) Name() string { return k.name }

// KeyHash is the id of the key beside its name.
func (k *Key) KeyHash() uint32 { return k.hash }

// Verify tells whether a signature is one of a text.
func (k *Key) Verify(text, signature []byte) bool { return k.verify(text, signature) }

// String gives the vkey.
func (k *Key) String() string { return k.vkey }

// Cosigns tells whether it is the key of a witness.
func (k *Key) Cosigns() bool { return k.kind != typeEd25519 }

// ParseKey reads a vkey, NAME+HASH+KEY: of a log (type 0x01) or of a witness (types
// 0x04 and 0x06, C2SP tlog-cosignature). Errors: ErrForm.
func ParseKey(vkey string) (*Key, error) {
	wrong := func(why string) (*Key, error) { return nil, fmt.Errorf("%w key %q: %s", ErrForm, vkey, why) }
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 || !validName(parts[0]) {
		return wrong("it is not NAME+HASH+KEY")
	}
	public, err := base64.StdEncoding.DecodeString(parts[2])
	hash, err2 := strconv.ParseUint(parts[1], 16, 32)
	if err != nil || err2 != nil || len(parts[1]) != 8 || len(public) == 0 {
		return wrong("its hash or its key is not encoded as one")
	}
	k := &Key{vkey: vkey, name: parts[0], hash: keyHash(parts[0], public), kind: public[0]}
	if k.hash != uint32(hash) {
		return wrong("its hash does not fit")
	}
	public = public[1:]
	switch k.kind {
	case typeEd25519, typeCosignature:
		if len(public) != ed25519.PublicKeySize {
			return wrong("the key is too short or too long")
		}
		k.verify = func(text, sig []byte) bool { return ed25519.Verify(public, text, sig) }
		if k.kind == typeCosignature {
			k.verify = func(text, sig []byte) bool {
				at, sig, ok := timed(sig)
				return ok && ed25519.Verify(public, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at, text), sig)
			}
		}
	case typeCosigMLDSA:
		pk, err := mldsa.NewPublicKey(mldsa.MLDSA44(), public)
		if err != nil {
			return wrong(err.Error())
		}
		k.verify = func(text, sig []byte) bool {
			at, sig, ok := timed(sig)
			h, err := parseHead(string(text))
			return ok && err == nil && mldsa.Verify(pk, cosigned(k.name, at, h), sig, nil) == nil
		}
	default:
		return wrong("its type is not 01, 04 or 06")
	}
	return k, nil
}

// timed cuts a timestamped_signature. A witness of a checkpoint has to tell the time.
func timed(sig []byte) (at uint64, rest []byte, ok bool) {
	if len(sig) < 8 {
		return 0, nil, false
	}
	at = binary.BigEndian.Uint64(sig)
	return at, sig[8:], at > 0 && at>>63 == 0
}

// cosigned is the cosigned_message of C2SP tlog-cosignature for a whole tree.
func cosigned(name string, at uint64, h Head) []byte {
	b := []byte("subtree/v1\n\x00")
	b = append(append(b, byte(len(name))), name...)
	b = binary.BigEndian.AppendUint64(b, at)
	b = append(append(b, byte(len(h.Origin))), h.Origin...)
	b = binary.BigEndian.AppendUint64(b, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(h.Size))
	return append(b, h.Root[:]...)
}

// keyHash is the key ID that C2SP signed-note recommends.
func keyHash(name string, public []byte) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"), public...))
	return binary.BigEndian.Uint32(sum[:])
}

// validName tells whether a text may name a key, so an origin: 1 to 255 bytes without
// white space and plus.
func validName(name string) bool {
	return name != "" && len(name) <= 255 && utf8.ValidString(name) &&
		strings.IndexFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '+' }) < 0
}

// CheckOrigin refuses what cannot be the name of a log: ErrForm.
func CheckOrigin(name string) error {
	if !validName(name) {
		return fmt.Errorf("%w: an origin is 1 to 255 bytes without white space and +, not %q", ErrForm, name)
	}
	return nil
}

// verifiers gives keys as package note asks for them. The same key twice counts once.
func verifiers(keys []*Key) note.Verifiers {
	var list []note.Verifier
	seen := make(map[string]bool, len(keys))
	for _, k := range keys {
		if !seen[k.vkey] {
			seen[k.vkey] = true
			list = append(list, k)
		}
	}
	return note.VerifierList(list...)
}

// PrivateKey signs checkpoints.
type PrivateKey struct {
	note.Signer
	// Public verifies what it signed.
	Public *Key
	text   string
}

// Text gives the key as a file keeps it, PRIVATE+KEY+…, with a line end.
func (k *PrivateKey) Text() string { return k.text + "\n" }

// NewKey makes an Ed25519 key of a log.
func NewKey(origin string) (*PrivateKey, error) {
	if err := CheckOrigin(origin); err != nil {
		return nil, err
	}
	text, _, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return nil, err
	}
	return parsePrivate(text)
}

// ParsePrivateKeys reads the keys of a file: PRIVATE+KEY+…, one a line; blank lines and
// lines that begin with # are passed over. No key at all is ErrForm too. The errors
// show nothing of the keys.
func ParsePrivateKeys(file []byte) (keys []*PrivateKey, err error) {
	for i, line := range strings.Split(string(file), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, err := parsePrivate(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: it holds no key PRIVATE+KEY+…", ErrForm)
	}
	return keys, nil
}

func parsePrivate(text string) (*PrivateKey, error) {
	s, err := note.NewSigner(text)
	if err != nil {
		return nil, fmt.Errorf("%w: it is no private key of signed notes (Ed25519)", ErrForm)
	}
	parts := strings.SplitN(text, "+", 5)
	seed, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil || len(seed) != 1+ed25519.SeedSize || CheckOrigin(s.Name()) != nil {
		return nil, fmt.Errorf("%w: it is no private key of signed notes (Ed25519)", ErrForm)
	}
	public := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	vkey, err := note.NewEd25519VerifierKey(s.Name(), public)
	if err != nil {
		return nil, err
	}
	key, err := ParseKey(vkey)
	if err != nil {
		return nil, err
	}
	return &PrivateKey{s, key, text}, nil
}
