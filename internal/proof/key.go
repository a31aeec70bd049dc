package proof

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
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

// Name returns that of the log or witness.
func (key *Key) Name() string { return key.name }

// KeyHash returns the id of the key next to its name.
func (key *Key) KeyHash() uint32 { return key.hash }

// Verify reports whether a signature is one of a text.
func (key *Key) Verify(text, signature []byte) bool { return key.verify(text, signature) }

// String returns the vkey.
func (key *Key) String() string { return key.vkey }

// MarshalText implements encoding.TextMarshaler.
func (key *Key) MarshalText() ([]byte, error) { return []byte(key.vkey), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (key *Key) UnmarshalText(text []byte) error {
	parsed, err := ParseKey(string(text))
	if err == nil {
		*key = *parsed
	}
	return err
}

// Cosigns reports whether it is the key of a witness.
func (key *Key) Cosigns() bool { return key.kind != typeEd25519 }

// ParseKey reads a vkey, NAME+HASH+KEY: of a log (type 0x01) or of a witness (types
// 0x04 and 0x06, C2SP tlog-cosignature). Errors: ErrForm.
func ParseKey(vkey string) (*Key, error) {
	name, rest, _ := strings.Cut(vkey, "+")
	hash, encoded, _ := strings.Cut(rest, "+")
	public, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !validName(name) || len(public) == 0 {
		return nil, fmt.Errorf("%w key %q: it is not NAME+HASH+KEY", ErrForm, vkey)
	}
	key := &Key{vkey: vkey, name: name, hash: keyHash(name, public), kind: public[0]}
	if !strings.EqualFold(hash, fmt.Sprintf("%08x", key.hash)) {
		return nil, fmt.Errorf("%w key %q: its hash does not fit", ErrForm, vkey)
	}
	public = public[1:]
	post, err := mldsa.NewPublicKey(mldsa.MLDSA44(), public)
	switch {
	case key.kind == typeEd25519 && len(public) == ed25519.PublicKeySize:
		key.verify = func(text, signature []byte) bool { return ed25519.Verify(public, text, signature) }
	case key.kind == typeCosignature && len(public) == ed25519.PublicKeySize:
		key.verify = func(text, signature []byte) bool {
			position, signature, ok := timed(signature)
			return ok && ed25519.Verify(public, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", position, text), signature)
		}
	case key.kind == typeCosigMLDSA && err == nil:
		key.verify = func(text, signature []byte) bool {
			position, signature, ok := timed(signature)
			head, err := parseHead(string(text))
			return ok && err == nil && mldsa.Verify(post, cosigned(key.name, position, head), signature, nil) == nil
		}
	default:
		return nil, fmt.Errorf("%w key %q: it is no key of type 01, 04 or 06", ErrForm, vkey)
	}
	return key, nil
}

// timed cuts a timestamped_signature. A witness of a checkpoint has to tell the time.
func timed(signature []byte) (position uint64, rest []byte, ok bool) {
	if len(signature) < 8 {
		return 0, nil, false
	}
	position = binary.BigEndian.Uint64(signature)
	return position, signature[8:], position > 0 && position>>63 == 0
}

// cosigned is the cosigned_message of C2SP tlog-cosignature for a whole tree.
func cosigned(name string, position uint64, head Head) []byte {
	short := func(text string) string { return string([]byte{byte(len(text))}) + text } // behind its length
	data := binary.BigEndian.AppendUint64([]byte("subtree/v1\n\x00"+short(name)), position)
	data = binary.BigEndian.AppendUint64(append(data, short(head.Origin)+"\x00\x00\x00\x00\x00\x00\x00\x00"...), uint64(head.Size))
	return append(data, head.Root[:]...)
}

// keyHash is the key ID that C2SP signed-note recommends.
func keyHash(name string, public []byte) uint32 {
	digest := sha256.Sum256(append([]byte(name+"\n"), public...))
	return binary.BigEndian.Uint32(digest[:])
}

// validName reports whether a text may name a key, so an origin: 1 to 255 bytes without
// white space and plus.
func validName(name string) bool {
	return name != "" && len(name) <= 255 && utf8.ValidString(name) &&
		strings.IndexFunc(name, func(letter rune) bool { return unicode.IsSpace(letter) || unicode.IsControl(letter) || letter == '+' }) < 0
}

// CheckOrigin refuses what cannot be the name of a log: ErrForm.
func CheckOrigin(name string) error {
	if !validName(name) {
		return fmt.Errorf("%w: an origin is 1 to 255 bytes without white space and +", ErrForm)
	}
	return nil
}

// verifiers are keys as package note asks for them.
type verifiers []*Key

// Verifier implements note.Verifiers.
func (verifiers verifiers) Verifier(name string, hash uint32) (note.Verifier, error) {
	for _, key := range verifiers {
		if key.name == name && key.hash == hash {
			return key, nil
		}
	}
	return nil, &note.UnknownVerifierError{Name: name, KeyHash: hash}
}

// PrivateKey signs checkpoints.
type PrivateKey struct {
	note.Signer
	// Public verifies what it signed.
	Public *Key
	text   string
}

// Text returns the key as a file has it, PRIVATE+KEY+…, with a line end.
func (privateKey *PrivateKey) Text() string { return privateKey.text + "\n" }

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
// lines that begin with # are skipped. No key at all is ErrForm too. The errors
// show nothing of the keys.
func ParsePrivateKeys(file []byte) (keys []*PrivateKey, err error) {
	for i, line := range strings.Split(string(file), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		privateKey, err := parsePrivate(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		keys = append(keys, privateKey)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: it holds no key PRIVATE+KEY+…", ErrForm)
	}
	return keys, nil
}

func parsePrivate(text string) (*PrivateKey, error) {
	signer, err := note.NewSigner(text)
	if err != nil {
		return nil, fmt.Errorf("%w: it is no private key of signed notes (Ed25519)", ErrForm)
	}
	// Package note has checked the seed, and does not return the public key.
	seed, _ := base64.StdEncoding.DecodeString(strings.SplitN(text, "+", 5)[4])
	public := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	vkey, _ := note.NewEd25519VerifierKey(signer.Name(), public) // it refuses other lengths only
	key, err := ParseKey(vkey)
	if err != nil {
		return nil, err
	}
	return &PrivateKey{signer, key, text}, nil
}
