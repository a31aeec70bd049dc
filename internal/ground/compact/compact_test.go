package compact

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
)

const event = `{"changed":"2026-05-06T10:25:43.000Z","fields":{"all_day":false,"author":2,"categories":[21],"date":"2026-05-06 10:25:43","description":{"en":"Lantern parade by the harbor, with a brass band and a puppet theatre."},"end_date":"2027-04-04 05:10:43","slug":"lantern-parade","start_date":"2027-04-04 03:10:43","status":"publish","timezone":"UTC","title":{"en":"Lantern parade"},"venue":[257]},"home":"en","id":800,"kind":"event","version":1}`

// TestFrozen: another dictionary would make everything that was packed unreadable.
// One that is better gets a form of its own.
func TestFrozen(t *testing.T) {
	t.Parallel()
	const want = "4411dc3ab8cb52e4c0d7522f3a0b3e6568c9644d17db9e6fd51d2861f561e6f3"
	if sum := sha256.Sum256(dictionary1); hex.EncodeToString(sum[:]) != want {
		t.Errorf("dictionary 1 has SHA-256 %x, want %s", sum, want)
	}
}

// TestStoredForms: what was packed in each form is read as it was.
func TestStoredForms(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"testdata/form1.bin": event,
		"testdata/form2.bin": strings.Repeat(event, 200),
	} {
		packed, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Unpack(nil, packed); err != nil || string(got) != want {
			t.Errorf("%s: %.100q, %v", name, got, err)
		}
	}
}

func texts() map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 300_000)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	return map[string][]byte{
		"none": {}, "one byte": {0}, "event": []byte(event), "noise": random[:1000],
		"the longest by dictionary": bytes.Repeat([]byte("ab"), s2.MaxDictSrcOffset/2),
		"the shortest without":      bytes.Repeat([]byte(event), s2.MaxDictSrcOffset/len(event)+1),
		"long noise":                random,
	}
}

func TestPack(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		half := len(text) / 2
		packed := Pack(text[:half], text[half:])
		if !bytes.Equal(packed, Pack(text)) {
			t.Errorf("%s: in two parts it is packed otherwise", name)
		}
		got, err := Unpack(nil, packed)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes come back as %d, %v", name, len(text), len(got), err)
		}
		room := make([]byte, 0, len(text)+1)
		if got, err := Unpack(room, packed); err != nil || !bytes.Equal(got, text) || len(got) > 0 && &got[0] != &room[:1][0] {
			t.Errorf("%s: not unpacked into the room that was given, %v", name, err)
		}
	}
	for name, text := range texts() {
		small := PackSmall(text)
		if got, err := Unpack(nil, small); err != nil || !bytes.Equal(got, text) || len(small) > len(Pack(text)) {
			t.Errorf("%s: %d bytes are packed into %d, and read with %v", name, len(text), len(small), err)
		}
	}
	if len(PackSmall([]byte(event))) >= len(Pack([]byte(event))) {
		t.Error("small is not smaller")
	}
	if packed := Pack([]byte(event), []byte(event)); len(packed) > len(event)/2 {
		t.Errorf("an event and its state of %d bytes each are packed into %d", len(event), len(packed))
	}
	if long := texts()["the shortest without"]; len(Pack(long)) > len(long)/10 {
		t.Errorf("%d bytes that repeat are packed into %d", len(long), len(Pack(long)))
	}
}

// TestFlips: no bit of a packed text can change unseen.
func TestFlips(t *testing.T) {
	t.Parallel()
	packed := Pack([]byte(event))
	for i := range packed {
		for bit := range 8 {
			damaged := bytes.Clone(packed)
			damaged[i] ^= 1 << bit
			if got, err := Unpack(nil, damaged); !errors.Is(err, ErrDamaged) {
				t.Fatalf("bit %d of byte %d: %q, %v", bit, i, got, err)
			}
		}
		if got, err := Unpack(nil, packed[:i]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d bytes: %q, %v", i, got, err)
		}
	}
}

// TestMade: bytes with a right checksum that no one packed.
func TestMade(t *testing.T) {
	t.Parallel()
	sealed := func(data ...byte) []byte {
		return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, checksum))
	}
	for name, packed := range map[string][]byte{
		"no form":                           sealed(0, 1, 0, 'a'),
		"later form":                        sealed(3, 1, 0, 'a'),
		"no block":                          sealed(formPlain),
		"no length":                         sealed(formPlain, 0x80),
		"too long":                          sealed(formPlain, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 'a'),
		"other block":                       sealed(formPlain, 9, 0, 'a'),
		"copies from before the dictionary": sealed(formDictionary1, 4, 0x0e, 0xff, 0xff),
	} {
		if got, err := Unpack(nil, packed); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(Pack([]byte(event)))
	f.Add([]byte{formPlain, 1, 0, 'a'})
	f.Fuzz(func(t *testing.T, data []byte) {
		packed := binary.LittleEndian.AppendUint32(bytes.Clone(data), crc32.Checksum(data, checksum))
		if text, err := Unpack(nil, packed); err == nil {
			if again, err := Unpack(nil, Pack(text)); err != nil || !bytes.Equal(again, text) {
				t.Errorf("%q comes back as %q, %v", text, again, err)
			}
		}
	})
}
