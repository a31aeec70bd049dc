package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/pause"
	"daybook/internal/httpapi"
	"daybook/internal/lease"
	"daybook/internal/proof"
	"daybook/internal/status"
)

const (
	// keyFile holds the keys of an embedded store, in the data directory.
	keyFile = "audit.key"
	// keptNote ends the name of the file next to a key that holds the newest
	// checkpoint of its log.
	keptNote = ".note"
	// checkpointLease is that of the process that signs.
	checkpointLease = "checkpoint"
	// lastSignature bounds the checkpoint at the end of a drain.
	lastSignature = 5 * time.Second
)

// newSigner makes the signer that the settings name, nil without a key.
func (b *backend) newSigner() (*proof.Signer, error) {
	ring := proof.Keyring{Origin: b.s.LogOrigin, Address: b.s.address(), Shared: b.leases != nil}
	for _, file := range b.s.SigningKey {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--signing-key: %w", err)
		}
		keys, err := proof.ParsePrivateKeys(text)
		if err != nil {
			return nil, fmt.Errorf("--signing-key: %s: %w", file, err)
		}
		ring.Keys = append(ring.Keys, keys...)
		ring.Notes = append(ring.Notes, file+keptNote)
	}
	switch {
	case len(ring.Keys) > 0:
	case b.s.Store == "":
		ring.File = filepath.Join(b.s.Data, keyFile)
		ring.Notes = []string{ring.File + keptNote}
	default:
		return nil, nil //nolint:nilnil // nothing to sign with is no error
	}
	return proof.NewSigner(b.proofs, ring, proof.SignerOptions{Interval: b.s.CheckpointInterval, Log: b.log, Witnesses: b.s.Witnesses}), nil
}

// address is host and path that the interface is reached by, "" where no setting tells.
func (s *config) address() string {
	u, err := url.Parse(s.BaseURL)
	if err != nil || s.BaseURL == "" {
		return ""
	}
	return u.Host + u.Path + "/" + s.APIPrefix + "/" + httpapi.Namespace
}

// signs reports whether the role of the process is one that signs; the demo has none, and
// does everything.
func (s *config) signs() bool { return s.Role != servesAPI && s.Role != servesProjector }

// checkOrigin refuses to begin with a key or an origin of another log.
func (b *backend) checkOrigin(ctx context.Context) error {
	if err := b.proofs.CheckOrigin(ctx, b.s.LogOrigin); err != nil {
		return err
	}
	if b.signer == nil || !b.s.signs() {
		return nil
	}
	if err := b.signer.Follow(ctx); errors.Is(err, proof.ErrOrigin) {
		return err
	}
	return nil // what else is wrong is told by the signer and by health
}

// sign adds what signs checkpoints: under a lease when the store is shared.
func (r *roles) sign(ctx context.Context) {
	if r.b.signer == nil || !r.s.signs() {
		return
	}
	work, state := r.leased(checkpointLease, r.signUntilDrained, nil)
	r.add(ctx, "signer", work)
	if state != nil {
		r.add(ctx, "checkpoints", func(ctx context.Context) error { return r.followCheckpoints(ctx, state) })
	}
}

func (r *roles) signUntilDrained(ctx context.Context) error {
	err := r.b.signer.Run(ctx)
	if errors.Is(context.Cause(ctx), context.Canceled) { // no lost lease: who signs next would sign much later
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSignature)
		defer cancel()
		_, _ = r.b.signer.Sign(last) // it tells the log what is wrong
	}
	return err
}

// followCheckpoints stores what others sign next to the keys of a process that stands by,
// and shows other processes that this one refuses to sign.
func (r *roles) followCheckpoints(ctx context.Context, state *lease.State) error {
	for next := time.Now(); ; {
		if now := time.Now(); !state.Held() && !now.Before(next) {
			_ = r.b.signer.Follow(ctx) // health shows it
			next = now.Add(r.s.CheckpointInterval)
		}
		if why, _ := r.b.unsigned(ctx, 0); why != "" {
			_, _ = r.b.leases.Acquire(ctx, refusalLease+why, holder(), refusalSpan) // tried again soon
		}
		if err := pause.For(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// unsigned returns why this process signs no checkpoints that it should, "" if it does.
func (b *backend) unsigned(context.Context, calendar.Position) (why, cause string) {
	if b.signer == nil || !b.s.signs() {
		return "", ""
	}
	err := b.signer.Fault()
	if err == nil {
		return "", ""
	}
	return whyNotSigned(err), err.Error()
}

// whyNotSigned is what everybody may read of it.
func whyNotSigned(err error) string {
	if refusal := proof.Refusal(err); refusal != proof.ErrOrigin { //nolint:errorlint // one of Refusals itself
		return refusal.Error()
	}
	return "signing key of another log"
}

// Refusals to sign are shown by leases, one for each reason: daybook health cannot see
// the keys of relays on other machines.
const (
	refusalLease  = "checkpoint refused/"
	refusalSpan   = 15 * time.Second
	refusalViewer = "daybook health" // holder of a look at them
)

// refusals adds to a health why processes that share the store sign nothing. A store that
// cannot be asked takes no writes.
func (b *backend) refusals(ctx context.Context, h *status.Health) {
	if b.leases == nil || h.Status != status.OK && h.Status != status.Degraded {
		return
	}
	for _, refusal := range proof.Refusals {
		why := whyNotSigned(refusal)
		if strings.Contains(h.Why, why) {
			continue
		}
		l, err := b.leases.Acquire(ctx, refusalLease+why, refusalViewer, 0)
		switch {
		case err != nil:
			why = whyNoWrites
		case l.Holder == refusalViewer: // nobody has it
			continue
		}
		if !strings.Contains(h.Why, why) {
			h.Degrade(why, "")
		}
		if err != nil {
			return
		}
	}
}
