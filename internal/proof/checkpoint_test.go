package proof_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"filippo.io/mldsa"
	"golang.org/x/mod/sumdb/note"

	"daybook/internal/proof"
)

const origin = "calendar.example.org/api/calendar/events/v1"

func newKey(t *testing.T) *proof.PrivateKey {
	t.Helper()
	privateKey, err := proof.NewKey(origin)
	if err != nil {
		t.Fatal(err)
	}
	return privateKey
}

func signed(t *testing.T, head proof.Head, keys ...*proof.PrivateKey) []byte {
	t.Helper()
	signers := make([]note.Signer, len(keys))
	for i, privateKey := range keys {
		signers[i] = privateKey
	}
	data, err := note.Sign(&note.Note{Text: head.Text()}, signers...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// HISTORY 20.27: a checkpoint verifies with the vkey by independent code; with two keys
// it verifies by each alone.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	privateKey, key, other := newKey(t), newKey(t), newKey(t)
	head := proof.Head{Origin: origin, Size: 9400, Root: sha256.Sum256([]byte("x"))}
	text := signed(t, head, privateKey, key)
	for _, k := range []*proof.PrivateKey{privateKey, key} {
		name, size, root := signedBy(t, text, k.Public.String())
		if name != head.Origin || size != int(head.Size) || root != digest(head.Root) {
			t.Errorf("read %s %d %x", name, size, root)
		}
		got, err := proof.Open(text, k.Public)
		if err != nil || got != head {
			t.Errorf("Open: %+v, %v", got, err)
		}
	}
	if got, err := proof.Open(text, privateKey.Public, key.Public, privateKey.Public); err != nil || got != head {
		t.Errorf("by both: %+v, %v", got, err)
	}
	if got, err := proof.Open(text, other.Public); !errors.Is(err, proof.ErrUnsigned) || got != head {
		t.Errorf("by another key: %+v, %v; want ErrUnsigned", got, err)
	}
	if got, err := proof.ReadHead(text); err != nil || got != head {
		t.Errorf("ReadHead: %+v, %v", got, err)
	}
	for i := range text {
		bad := []byte(string(text))
		if bad[i] ^= 1; i+1 < len(text) && text[i+1] == '=' {
			continue // the last bits of base64 say nothing
		}
		_, byA := proof.Open(bad, privateKey.Public)
		if _, byB := proof.Open(bad, key.Public); byA == nil && byB == nil {
			t.Fatalf("with byte %d changed it verifies:\n%s", i, bad)
		}
	}
	for _, bad := range []string{
		"x\n", "\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", "o\n01\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"o\n1\nAAAA\n", "o\n1\n", "o\n-1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", "o\nx\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
	} {
		n, err := note.Sign(&note.Note{Text: bad}, privateKey)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := proof.Open(n, privateKey.Public); !errors.Is(err, proof.ErrForm) {
			t.Errorf("%q: %+v, %v; want ErrForm", bad, got, err)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	first, second := newKey(t), newKey(t)
	got, err := proof.ParsePrivateKeys([]byte("# old\n" + first.Text() + "\r\n\n  " + second.Text()))
	if err != nil || len(got) != 2 || got[0].Public.String() != first.Public.String() || got[1].Text() != second.Text() {
		t.Errorf("keys of a file: %v, %v", got, err)
	}
	secret := strings.TrimSpace(first.Text())
	for _, bad := range []string{"", "# nothing\n", first.Public.String(), secret[:len(secret)-4], secret + "\nx"} {
		_, err := proof.ParsePrivateKeys([]byte(bad))
		if !errors.Is(err, proof.ErrForm) {
			t.Errorf("%q: %v, want ErrForm", bad, err)
		}
		if err != nil && strings.Contains(err.Error(), secret[len(secret)-20:len(secret)-5]) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
	vkey := first.Public.String()
	hash := strings.Split(vkey, "+")[1]
	for _, bad := range []string{
		"", "x", "x+y", vkey + "AA", "x" + vkey, strings.Replace(vkey, hash, "00000000", 1), strings.Replace(vkey, hash, hash[1:], 1),
		vkeyOf("w", 0x01, make([]byte, 31)), vkeyOf("w", 0x04, make([]byte, 33)), vkeyOf("w", 0x06, make([]byte, 32)),
		vkeyOf("w", 0x02, make([]byte, 32)), vkeyOf("w w", 0x01, make([]byte, 32)), vkeyOf("", 0x01, make([]byte, 32)),
	} {
		if key, err := proof.ParseKey(bad); !errors.Is(err, proof.ErrForm) {
			t.Errorf("%q: %v, %v; want ErrForm", bad, key, err)
		}
	}
	for _, name := range []string{"", "a b", "a+b", "a\nb", strings.Repeat("x", 256)} {
		if _, err := proof.NewKey(name); !errors.Is(err, proof.ErrForm) {
			t.Errorf("key of %q: %v, want ErrForm", name, err)
		}
	}
}

// vkeyOf writes a vkey as C2SP signed-note tells.
func vkeyOf(name string, kind byte, public []byte) string {
	key := append([]byte{kind}, public...)
	id := sha256.Sum256(append([]byte(name+"\n"), key...))
	return name + "+" + hex.EncodeToString(id[:4]) + "+" + base64.StdEncoding.EncodeToString(key)
}

// The example of C2SP signed-note.
func TestPublishedKey(t *testing.T) {
	t.Parallel()
	key, err := proof.ParseKey("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
	if err != nil {
		t.Fatal(err)
	}
	sig, err := base64.StdEncoding.DecodeString("Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=")
	if err != nil {
		t.Fatal(err)
	}
	if id := binary.BigEndian.Uint32(sig); id != key.KeyHash() || !key.Verify([]byte("This is an example message.\n"), sig[4:]) {
		t.Error("the example of C2SP does not verify")
	}
	if key.Cosigns() {
		t.Error("it is no key of a witness")
	}
}

// witnessKey signs as C2SP tlog-cosignature tells, by its own code.
type witnessKey struct {
	name, vkey string
	id         uint32
	sign       func(at uint64, text string) []byte
}

func newEd25519Witness(name string) *witnessKey {
	public, private, _ := ed25519.GenerateKey(nil)
	key := &witnessKey{name: name, vkey: vkeyOf(name, 0x04, public)}
	key.sign = func(at uint64, text string) []byte {
		return ed25519.Sign(private, []byte(fmt.Sprintf("cosignature/v1\ntime %d\n", at)+text))
	}
	return key.withID()
}

func newMLDSAWitness(name string) *witnessKey {
	private, err := mldsa.GenerateKey(mldsa.MLDSA44())
	if err != nil {
		panic(err)
	}
	key := &witnessKey{name: name, vkey: vkeyOf(name, 0x06, private.PublicKey().Bytes())}
	key.sign = func(at uint64, text string) []byte {
		lines := strings.Split(text, "\n")
		root, _ := base64.StdEncoding.DecodeString(lines[2])
		var size uint64
		_, _ = fmt.Sscan(lines[1], &size)
		data := append([]byte("subtree/v1\n\x00"), byte(len(name)))
		data = append(data, name...)
		data = binary.BigEndian.AppendUint64(data, at)
		data = append(data, byte(len(lines[0])))
		data = append(data, lines[0]...)
		data = append(data, 0, 0, 0, 0, 0, 0, 0, 0)
		data = binary.BigEndian.AppendUint64(data, size)
		data = append(data, root...)
		sig, err := private.Sign(nil, data, nil)
		if err != nil {
			panic(err)
		}
		return sig
	}
	return key.withID()
}

func (witnessKey *witnessKey) withID() *witnessKey {
	id, _ := hex.DecodeString(strings.Split(witnessKey.vkey, "+")[1])
	witnessKey.id = binary.BigEndian.Uint32(id)
	return witnessKey
}

// line returns the line of a signature.
func (witnessKey *witnessKey) line(at uint64, text string) string {
	data := binary.BigEndian.AppendUint32(nil, witnessKey.id)
	data = binary.BigEndian.AppendUint64(data, at)
	return "— " + witnessKey.name + " " + base64.StdEncoding.EncodeToString(append(data, witnessKey.sign(at, text)...)) + "\n"
}

func TestCosignatures(t *testing.T) {
	t.Parallel()
	log := newKey(t)
	head := proof.Head{Origin: origin, Size: 7, Root: sha256.Sum256([]byte("x"))}
	for _, w := range []*witnessKey{newEd25519Witness("witness.example/w1"), newMLDSAWitness("witness.example/w2")} {
		key, err := proof.ParseKey(w.vkey)
		if err != nil || !key.Cosigns() {
			t.Fatalf("%s: %v", w.name, err)
		}
		note := string(signed(t, head, log)) + w.line(1679315147, head.Text())
		for _, keys := range [][]*proof.Key{{log.Public}, {key}, {log.Public, key}} {
			if got, err := proof.Open([]byte(note), keys...); err != nil || got != head {
				t.Errorf("%s: %+v, %v", w.name, got, err)
			}
		}
		another := head
		another.Size++
		for name, bad := range map[string]string{
			"another size":               w.line(1679315147, another.Text()),
			"no time":                    w.line(0, head.Text()),
			"a time that no clock shows": w.line(1<<63, head.Text()),
		} {
			if got, err := proof.Open([]byte(string(signed(t, head, log))+bad), log.Public, key); !errors.Is(err, proof.ErrForm) {
				t.Errorf("%s, %s: %+v, %v; want ErrForm", w.name, name, got, err)
			}
		}
	}
}
