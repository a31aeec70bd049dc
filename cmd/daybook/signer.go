package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"daybook/internal/ground/pause"
	"daybook/internal/httpapi"
	"daybook/internal/proof"
)

const (
	// keyFile holds the keys of an embedded store, in the data directory.
	keyFile = "audit.key"
	// keptNote ends the name of the file next to a key that holds the newest
	// checkpoint of its log.
	keptNote = ".note"
	// lastSignature bounds the checkpoint at the end of a drain.
	lastSignature = 5 * time.Second
)

// newSigner makes the signer that the settings name, one without keys for a role that does not
// sign.
func (backend *backend) newSigner() (*proof.Signer, error) {
	config := backend.config
	ring := proof.Keyring{Origin: config.LogOrigin, Shared: backend.leases != nil}
	if _, address, ok := strings.Cut(config.BaseURL, "://"); ok {
		ring.Address = address + "/" + config.APIPrefix + "/" + httpapi.Namespace
	}
	for _, file := range config.SigningKey {
		text, unread := os.ReadFile(file)
		keys, err := proof.ParsePrivateKeys(text)
		if err = cmp.Or(unread, err); err != nil {
			return nil, fmt.Errorf("--signing-key: %s: %w", file, err)
		}
		ring.Keys, ring.Notes = append(ring.Keys, keys...), append(ring.Notes, file+keptNote)
	}
	if config.Store == "" && ring.Keys == nil {
		ring.File = filepath.Join(config.Data, keyFile)
		ring.Notes = []string{ring.File + keptNote}
	}
	if !config.does(servesRelay) {
		ring = proof.Keyring{}
	}
	return proof.NewSigner(backend.proofs, ring, proof.SignerOptions{Interval: config.CheckpointInterval, Log: backend.log, Witnesses: config.Witnesses}), nil
}

// checkOrigin refuses to begin with a key or an origin of another log.
func (backend *backend) checkOrigin(ctx context.Context) error {
	keyless := proof.NewSigner(backend.proofs, proof.Keyring{Origin: backend.LogOrigin}, proof.SignerOptions{})
	err := keyless.Follow(ctx)
	if err == nil {
		if err = backend.signer.Follow(ctx); !errors.Is(err, proof.ErrOrigin) {
			return nil // what else is wrong is told by the signer and by health
		}
	}
	return err
}

// sign adds what signs checkpoints: under a lease when the store is shared.
func (process *process) sign(ctx context.Context) {
	if !process.signer.Signs() {
		return
	}
	process.status.Signer = process.signer.Stats
	work, state := process.leased("checkpoint", process.signUntilDrained, nil)
	process.add(ctx, "signer", work)
	if state != nil {
		process.add(ctx, "checkpoints", func(ctx context.Context) error {
			for { // what others sign is stored next to the keys of a process that stands by
				if !state.Held() {
					_ = process.signer.Follow(ctx) // health shows it
				}
				if err := pause.For(ctx, process.CheckpointInterval); err != nil {
					return err
				}
			}
		})
	}
}

func (process *process) signUntilDrained(ctx context.Context) error {
	err := process.signer.Run(ctx)
	if errors.Is(context.Cause(ctx), context.Canceled) { // no lost lease: who signs next would sign much later
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSignature)
		defer cancel()
		_, _ = process.signer.Sign(last) // it tells the log what is wrong
	}
	return err
}

// unsigned returns why this process signs no checkpoints that it should, "" if it does: what
// everybody may read of it, and the cause.
func (backend *backend) unsigned(context.Context) (why, cause string) {
	err := backend.signer.Stats().Fault
	switch refusal := proof.Refusal(err); {
	case err == nil:
		return "", ""
	case refusal == proof.ErrOrigin: //nolint:errorlint // one of Refusals itself
		return "signing key of another log", err.Error()
	default:
		return refusal.Error(), err.Error()
	}
}
