package audit_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/verify"
	"daybook/internal/audit"
	"daybook/internal/proof"
	"daybook/internal/testkit/world"
)

// signedLog is a log of some records with two checkpoints, and its export.
type signedLog struct {
	*testing.T
	w      *world.World
	store  eventstore.Store
	key    *proof.PrivateKey
	signer *proof.Signer
	early  eventstore.Checkpoint
}

func newSignedLog(t *testing.T) *signedLog {
	t.Helper()
	store := memstore.New()
	w := world.New(t, world.Options{Store: store})
	key, err := proof.NewKey("log.example")
	if err != nil {
		t.Fatal(err)
	}
	signer := proof.NewSigner(w.Proofs, proof.Keyring{Keys: []*proof.PrivateKey{key}, Origin: "log.example"}, proof.SignerOptions{})
	l := &signedLog{T: t, w: w, store: store, key: key, signer: signer}
	l.write(8)
	l.early = l.sign()
	l.write(8)
	return l
}

func (l *signedLog) write(n int) {
	l.Helper()
	editor := l.w.As(calendar.Editor)
	for i := range n {
		r := editor.Event(fmt.Sprint("Concert ", i), world.Object{"venue": world.Object{"venue": fmt.Sprint("Hall ", i)}})
		editor.Patch(r.Path(calendar.KindEvent), world.Object{"password": "secret", "description": "Later"})
	}
}

func (l *signedLog) sign() eventstore.Checkpoint {
	l.Helper()
	c, err := l.signer.Sign(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	return c
}

func (l *signedLog) export() []string {
	l.Helper()
	var b bytes.Buffer
	if err := audit.Export(l.Context(), l.store, &b); err != nil {
		l.Fatal(err)
	}
	return slices.Collect(strings.Lines(b.String()))
}

func (l *signedLog) verify(lines []string, notes ...[]byte) (audit.Verified, error) {
	return audit.VerifyExport(l.Context(), strings.NewReader(strings.Join(lines, "")), audit.Trust{Keys: []*proof.Key{l.key.Public}, Checkpoints: notes})
}

// HISTORY 20.40: an export is checked without a store.
func TestVerifyExport(t *testing.T) {
	t.Parallel()
	l := newSignedLog(t)
	lines := l.export()
	v, err := l.verify(lines)
	if err != nil || v.Result != verify.Intact || v.Signed != l.early.Size || v.Checkpoints != 1 || int(v.Entries) != len(lines)-2 || v.Unsigned != v.Entries-v.Signed {
		t.Fatalf("%+v, %v", v, err)
	}
	late := l.sign()
	if v, err := l.verify(l.export(), l.early.Note); err != nil || v.Signed != late.Size || v.Checkpoints != 2 {
		t.Errorf("with another checkpoint: %+v, %v", v, err)
	}
	// One that is stored elsewhere, also where the file has none.
	if v, err := l.verify(lines[:len(lines)-1], l.early.Note); err != nil || v.Result != verify.Intact || v.Signed != l.early.Size {
		t.Errorf("with a checkpoint of its own: %+v, %v", v, err)
	}
	// HISTORY 16.2: a checkpoint by another key is none.
	other, err := proof.NewKey("log.example")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := audit.VerifyExport(t.Context(), strings.NewReader(strings.Join(lines, "")), audit.Trust{Keys: []*proof.Key{other.Public}}); err != nil || v.Checkpoints != 0 || v.Signed != 0 {
		t.Errorf("by another key: %+v, %v", v, err)
	}
	for _, secret := range []string{"daybook_", "$argon2"} {
		if strings.Contains(strings.Join(lines, ""), secret) {
			t.Errorf("the export holds %q", secret)
		}
	}
	for name, bad := range map[string][]string{"empty": nil, "no first line": lines[1:], "another form": {`{"daybook":"export 3"}` + "\n"}} {
		if v, err := l.verify(bad); err == nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
	var first struct {
		Daybook, Origin, Head string
		Entries               int
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Daybook != "export 2" || first.Origin != "log.example" || first.Entries != len(lines)-2 || len(first.Head) != 64 {
		t.Errorf("first line %+v, %v", first, err)
	}
}

// The store is checked by its own keys and by others (HISTORY 16.2).
func TestVerifyStore(t *testing.T) {
	t.Parallel()
	l := newSignedLog(t)
	check := func(trust audit.Trust) audit.Verified {
		t.Helper()
		v, err := audit.VerifyStore(t.Context(), l.store, l.w.Proofs.Tree, trust, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := check(audit.Trust{}); v.Result != verify.Intact || v.Signed != l.early.Size || v.Checkpoints != 1 {
		t.Errorf("by its own keys: %+v", v)
	}
	// HISTORY 20.32: the tail from before a known checkpoint is another one.
	other := newSignedLog(t)
	forged := other.early
	if v := check(audit.Trust{Keys: []*proof.Key{l.key.Public, other.key.Public}, Checkpoints: [][]byte{forged.Note}}); v.Result != verify.Tampered || v.Position == 0 {
		t.Errorf("another log with the checkpoint of this one: %+v", v)
	}
	other.write(10)
	long := other.sign()
	if v := check(audit.Trust{Keys: []*proof.Key{other.key.Public}, Checkpoints: [][]byte{long.Note}}); v.Result != verify.Tampered || v.Position == 0 {
		t.Errorf("a shorter log than was signed: %+v", v)
	}
}

// HISTORY 20.32: 300 random mutations of a log are found with a checkpoint that was
// stored before, also where the leaves are computed again to fit them.
func TestMutations(t *testing.T) {
	t.Parallel()
	l := newSignedLog(t)
	lines := l.export()
	lines = lines[:len(lines)-1] // the checkpoint is stored elsewhere
	covered := int(l.early.Size)
	leaf := func(line string) string {
		var e struct {
			Leaf string `json:"leaf"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		return e.Leaf
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		bad := slices.Clone(lines)
		n := 1 + r.IntN(covered)
		var what string
		switch r.IntN(5) {
		case 0:
			what = "flip"
			b := []byte(bad[n])
			at := r.IntN(len(b) - 1)
			b[at] ^= 1 << r.IntN(6)
			bad[n] = string(b)
		case 1:
			what = "drop"
			bad = slices.Delete(bad, n, n+1)
		case 2:
			what = "swap"
			m := 1 + r.IntN(covered)
			if m == n {
				continue
			}
			bad[n], bad[m] = bad[m], bad[n]
		case 3:
			what = "insert"
			bad = slices.Insert(bad, n, lines[1+r.IntN(covered)])
		default:
			what = "another leaf"
			forged := []byte(strings.Repeat("0", 64))
			hex.Encode(forged, []byte(fmt.Sprintf("%032d", i)))
			bad[n] = strings.Replace(bad[n], leaf(bad[n]), string(forged), 1)
		}
		v, err := l.verify(bad, l.early.Note)
		if err != nil || v.Result != verify.Tampered || v.Position == 0 {
			t.Fatalf("%d: %s at line %d: %+v, %v\nwas %snow %s", i, what, n, v, err, lines[n], bad[n])
		}
	}
	// Entries, leaves and chain are all written again: only the signature shows it.
	rewritten := newSignedLog(t)
	again := rewritten.export()
	if v, err := rewritten.verify(again); err != nil || v.Result != verify.Intact {
		t.Fatalf("the log that is written again: %+v, %v", v, err)
	}
	if v, err := l.verify(again[:len(again)-1], l.early.Note); err != nil || v.Result != verify.Tampered || v.Position == 0 {
		t.Errorf("written again: %+v, %v", v, err)
	}
}

// HISTORY 16.2, 20.40: the export of a log with an erased record is redacted; cut off
// anywhere, also between what is blank and its erasure, it is tampered.
func TestVerifyExportCutOff(t *testing.T) {
	t.Parallel()
	l := newSignedLog(t)
	res := l.w.As(calendar.Editor).Create(calendar.KindTag, world.Object{"name": "Erased words"})
	found, err := l.w.Records.Load(t.Context(), res.ID())
	if err != nil {
		t.Fatal(err)
	}
	r := found[0]
	c, err := calendar.Erase(r)
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := eventstore.NewDraft(r, c, l.w.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	d.Secret = []byte{}
	done := l.store.Append(t.Context(), []eventstore.Append{{
		Drafts: []eventstore.Draft{d}, Time: l.w.Clock.Now(), Cause: eventstore.Cause{Reason: "asked for"}, Redact: []calendar.ID{r.ID},
	}})[0]
	if done.Err != nil {
		t.Fatal(done.Err)
	}
	l.write(1)
	lines := l.export()
	last := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, `{"checkpoint"`) })
	if v, err := l.verify(lines); err != nil || v.Result != verify.Redacted || len(v.Erasures) != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	for n := 1; n < last; n++ {
		for what, cut := range map[string][]string{"all behind": lines[:n], "entries": slices.Concat(lines[:n], lines[last:])} {
			if v, err := l.verify(cut); err != nil || v.Result != verify.Tampered || int(v.Position) != n {
				t.Errorf("cut off at line %d, %s: %+v, %v", n, what, v, err)
			}
		}
	}
}
