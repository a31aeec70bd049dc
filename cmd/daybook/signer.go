package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/pause"
	"daybook/internal/httpapi"
	"daybook/internal/lease"
	"daybook/internal/proof"
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
func (p *process) sign(ctx context.Context) {
	if p.signer == nil || !p.s.signs() {
		return
	}
	work, state := p.leased(checkpointLease, p.signUntilDrained, nil)
	p.add(ctx, "signer", work)
	if state != nil {
		p.add(ctx, "checkpoints", func(ctx context.Context) error { return p.followCheckpoints(ctx, state) })
	}
}

func (p *process) signUntilDrained(ctx context.Context) error {
	err := p.signer.Run(ctx)
	if errors.Is(context.Cause(ctx), context.Canceled) { // no lost lease: who signs next would sign much later
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSignature)
		defer cancel()
		_, _ = p.signer.Sign(last) // it tells the log what is wrong
	}
	return err
}

// followCheckpoints stores what others sign next to the keys of a process that stands by.
func (p *process) followCheckpoints(ctx context.Context, state *lease.State) error {
	for {
		if !state.Held() {
			_ = p.signer.Follow(ctx) // health shows it
		}
		if err := pause.For(ctx, p.s.CheckpointInterval); err != nil {
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
