package audit_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
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
	world  *world.World
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
	log := &signedLog{T: t, world: w, store: store, key: key, signer: signer}
	log.write(8)
	log.early = log.sign()
	log.write(8)
	return log
}

func (signedLog *signedLog) write(n int) {
	signedLog.Helper()
	editor := signedLog.world.As(calendar.Editor)
	for i := range n {
		response := editor.Event(fmt.Sprint("Concert ", i), world.Object{"venue": world.Object{"venue": fmt.Sprint("Hall ", i)}})
		editor.Do(http.MethodPatch, response.Path(), world.Object{"password": "secret", "description": "Later"})
	}
}

func (signedLog *signedLog) sign() eventstore.Checkpoint {
	signedLog.Helper()
	checkpoint, err := signedLog.signer.Sign(signedLog.Context())
	if err != nil {
		signedLog.Fatal(err)
	}
	return checkpoint
}

func (signedLog *signedLog) export() []string {
	signedLog.Helper()
	var buffer bytes.Buffer
	if err := audit.Export(signedLog.Context(), signedLog.store, &buffer); err != nil {
		signedLog.Fatal(err)
	}
	return slices.Collect(strings.Lines(buffer.String()))
}

func (signedLog *signedLog) verify(lines []string, notes ...[]byte) (audit.Verified, error) {
	return audit.VerifyExport(signedLog.Context(), strings.NewReader(strings.Join(lines, "")), audit.Trust{Keys: []*proof.Key{signedLog.key.Public}, Checkpoints: notes})
}

// HISTORY 20.40: an export is checked without a store.
func TestVerifyExport(t *testing.T) {
	t.Parallel()
	signedLog := newSignedLog(t)
	lines := signedLog.export()
	verified, err := signedLog.verify(lines)
	if err != nil || verified.Result != verify.Intact || verified.Signed != signedLog.early.Size || verified.Checkpoints != 1 || int(verified.Entries) != len(lines)-2 || verified.Unsigned != verified.Entries-verified.Signed {
		t.Fatalf("%+v, %v", verified, err)
	}
	late := signedLog.sign()
	if verified, err := signedLog.verify(signedLog.export(), signedLog.early.Note); err != nil || verified.Signed != late.Size || verified.Checkpoints != 2 {
		t.Errorf("with another checkpoint: %+v, %v", verified, err)
	}
	// One that is stored elsewhere, also where the file has none.
	if verified, err := signedLog.verify(lines[:len(lines)-1], signedLog.early.Note); err != nil || verified.Result != verify.Intact || verified.Signed != signedLog.early.Size {
		t.Errorf("with a checkpoint of its own: %+v, %v", verified, err)
	}
	// HISTORY 16.2: a checkpoint by another key is none.
	other, err := proof.NewKey("log.example")
	if err != nil {
		t.Fatal(err)
	}
	if verified, err := audit.VerifyExport(t.Context(), strings.NewReader(strings.Join(lines, "")), audit.Trust{Keys: []*proof.Key{other.Public}}); err != nil || verified.Checkpoints != 0 || verified.Signed != 0 {
		t.Errorf("by another key: %+v, %v", verified, err)
	}
	for _, secret := range []string{"daybook_", "$argon2"} {
		if strings.Contains(strings.Join(lines, ""), secret) {
			t.Errorf("the export holds %q", secret)
		}
	}
	for name, bad := range map[string][]string{"empty": nil, "no first line": lines[1:], "another form": {`{"daybook":"export 3"}` + "\n"}} {
		if verified, err := signedLog.verify(bad); err == nil {
			t.Errorf("%s: %+v", name, verified)
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
	signedLog := newSignedLog(t)
	check := func(trust audit.Trust) audit.Verified {
		t.Helper()
		verified, err := audit.VerifyStore(t.Context(), signedLog.store, signedLog.world.Proofs.Tree, trust, nil)
		if err != nil {
			t.Fatal(err)
		}
		return verified
	}
	if verified := check(audit.Trust{}); verified.Result != verify.Intact || verified.Signed != signedLog.early.Size || verified.Checkpoints != 1 {
		t.Errorf("by its own keys: %+v", verified)
	}
	// HISTORY 20.32: the tail from before a known checkpoint is another one.
	other := newSignedLog(t)
	forged := other.early
	if verified := check(audit.Trust{Keys: []*proof.Key{signedLog.key.Public, other.key.Public}, Checkpoints: [][]byte{forged.Note}}); verified.Result != verify.Tampered || verified.Position == 0 {
		t.Errorf("another log with the checkpoint of this one: %+v", verified)
	}
	other.write(10)
	long := other.sign()
	if verified := check(audit.Trust{Keys: []*proof.Key{other.key.Public}, Checkpoints: [][]byte{long.Note}}); verified.Result != verify.Tampered || verified.Position == 0 {
		t.Errorf("a shorter log than was signed: %+v", verified)
	}
}

// HISTORY 20.32: 300 random mutations of a log are found with a checkpoint that was
// stored before, also where the leaves are computed again to fit them.
func TestMutations(t *testing.T) {
	t.Parallel()
	signedLog := newSignedLog(t)
	lines := signedLog.export()
	lines = lines[:len(lines)-1] // the checkpoint is stored elsewhere
	covered := int(signedLog.early.Size)
	leaf := func(line string) string {
		var e struct {
			Leaf string `json:"leaf"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		return e.Leaf
	}
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		bad := slices.Clone(lines)
		n := 1 + dice.IntN(covered)
		var what string
		switch dice.IntN(5) {
		case 0:
			what = "flip"
			data := []byte(bad[n])
			at := dice.IntN(len(data) - 1)
			data[at] ^= 1 << dice.IntN(6)
			bad[n] = string(data)
		case 1:
			what = "drop"
			bad = slices.Delete(bad, n, n+1)
		case 2:
			what = "swap"
			m := 1 + dice.IntN(covered)
			if m == n {
				continue
			}
			bad[n], bad[m] = bad[m], bad[n]
		case 3:
			what = "insert"
			bad = slices.Insert(bad, n, lines[1+dice.IntN(covered)])
		default:
			what = "another leaf"
			forged := []byte(strings.Repeat("0", 64))
			hex.Encode(forged, []byte(fmt.Sprintf("%032d", i)))
			bad[n] = strings.Replace(bad[n], leaf(bad[n]), string(forged), 1)
		}
		verified, err := signedLog.verify(bad, signedLog.early.Note)
		if err != nil || verified.Result != verify.Tampered || verified.Position == 0 {
			t.Fatalf("%d: %s at line %d: %+v, %v\nwas %snow %s", i, what, n, verified, err, lines[n], bad[n])
		}
	}
	// Entries, leaves and chain are all written again: only the signature shows it.
	rewritten := newSignedLog(t)
	again := rewritten.export()
	if verified, err := rewritten.verify(again); err != nil || verified.Result != verify.Intact {
		t.Fatalf("the log that is written again: %+v, %v", verified, err)
	}
	if verified, err := signedLog.verify(again[:len(again)-1], signedLog.early.Note); err != nil || verified.Result != verify.Tampered || verified.Position == 0 {
		t.Errorf("written again: %+v, %v", verified, err)
	}
}

// HISTORY 16.2, 20.40: the export of a log with an erased record is redacted; cut off
// anywhere, also between what is blank and its erasure, it is tampered.
func TestVerifyExportCutOff(t *testing.T) {
	t.Parallel()
	signedLog := newSignedLog(t)
	res := signedLog.world.As(calendar.Editor).Create(calendar.KindTag, world.Object{"name": "Erased words"})
	found, err := signedLog.world.Records.Load(t.Context(), res.ID())
	if err != nil {
		t.Fatal(err)
	}
	record := found[0]
	change, err := calendar.Erase(record)
	if err != nil {
		t.Fatal(err)
	}
	draft, _, err := eventstore.NewDraft(record, change, signedLog.world.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	draft.Secret = []byte{}
	done := signedLog.store.Append(t.Context(), eventstore.Append{
		Drafts: []eventstore.Draft{draft}, Time: signedLog.world.Clock.Now(), Cause: eventstore.Cause{Reason: "asked for"}, Redact: []calendar.ID{record.ID},
	})
	if done.Err != nil {
		t.Fatal(done.Err)
	}
	signedLog.write(1)
	lines := signedLog.export()
	last := slices.IndexFunc(lines, func(text string) bool { return strings.HasPrefix(text, `{"checkpoint"`) })
	if verified, err := signedLog.verify(lines); err != nil || verified.Result != verify.Redacted || len(verified.Erasures) != 1 {
		t.Fatalf("%+v, %v", verified, err)
	}
	for n := 1; n < last; n++ {
		for what, cut := range map[string][]string{"all behind": lines[:n], "entries": slices.Concat(lines[:n], lines[last:])} {
			if verified, err := signedLog.verify(cut); err != nil || verified.Result != verify.Tampered || int(verified.Position) != n {
				t.Errorf("cut off at line %d, %s: %+v, %v", n, what, verified, err)
			}
		}
	}
}
