package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"daybook/internal/httpapi"
	"daybook/internal/lease"
	"daybook/internal/proof"
)

const (
	// keyFile holds the keys of an embedded store, in the data directory.
	keyFile = "audit.key"
	// keptNote is what the name of the file ends in that holds the last signed
	// checkpoint, beside that of the keys.
	keptNote = ".note"
	// checkpointLease is that of the process that signs.
	checkpointLease = "checkpoint"
	// lastSignature bounds the checkpoint at the end of a drain.
	lastSignature = 5 * time.Second
)

// newSigner makes the signer that the settings name, nil without a key.
func (b *backend) newSigner() (*proof.Signer, error) {
	ring := proof.Keyring{Origin: b.s.logOrigin, Address: b.s.address()}
	for _, file := range b.s.signingKeys {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--signing-key: %w", err)
		}
		keys, err := proof.ParsePrivateKeys(text)
		if err != nil {
			return nil, fmt.Errorf("--signing-key: %s: %w", file, err)
		}
		ring.Keys = append(ring.Keys, keys...)
	}
	switch {
	case len(ring.Keys) > 0:
		ring.Kept = b.s.signingKeys[0] + keptNote
	case b.s.store == "":
		ring.File = filepath.Join(b.s.data, keyFile)
		ring.Kept = ring.File + keptNote
	default:
		return nil, nil //nolint:nilnil // nothing to sign with is no error
	}
	o := proof.SignerOptions{Interval: b.s.checkpointInterval, Log: b.log}
	for _, text := range b.s.witnesses {
		w, err := proof.ParseWitness(text)
		if err != nil {
			return nil, fmt.Errorf("--witnesses: %w", err)
		}
		o.Witnesses = append(o.Witnesses, w)
	}
	return proof.NewSigner(b.proofs, ring, o)
}

// address is host and path that the interface is reached by, "" where no setting tells.
func (s *settings) address() string {
	u, err := url.Parse(s.baseURL)
	if err != nil || s.baseURL == "" {
		return ""
	}
	return u.Host + u.Path + "/" + s.apiPrefix + "/" + httpapi.Namespace
}

// signs tells whether the role of the process is one that signs.
func (s *settings) signs() bool { return s.serves == servesAll || s.serves == servesRelay }

// checkOrigin refuses to begin with a key or an origin of another log.
func (b *backend) checkOrigin(ctx context.Context) error {
	if err := b.proofs.CheckOrigin(ctx, b.s.logOrigin); err != nil {
		return err
	}
	if b.signer == nil || !b.s.signs() {
		return nil
	}
	if err := b.signer.Check(ctx); errors.Is(err, proof.ErrOrigin) {
		return err
	}
	return nil // what else is wrong is told by the signer and by health
}

// sign adds what signs checkpoints: under a lease when the store is shared.
func (r *roles) sign(add func(string, func(context.Context) error)) {
	if r.b.signer == nil || !r.s.signs() {
		return
	}
	add("signer", func(ctx context.Context) error {
		work := func(within context.Context) error {
			err := r.b.signer.Run(within)
			if ctx.Err() != nil { // a drain: who signs next would sign much later
				last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSignature)
				defer cancel()
				_, _ = r.b.signer.Sign(last) // it tells the log what is wrong
			}
			return err
		}
		if r.b.leases == nil {
			return work(ctx)
		}
		return lease.Run(ctx, r.b.leases, checkpointLease, holder(), lease.Options{Log: r.log}, work)
	})
}
