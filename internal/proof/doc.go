// Package proof makes the log of entries provable to those who do not trust its
// keeper: the Merkle tree over the leaves (RFC 6962), its tiles (C2SP tlog-tiles),
// signed checkpoints (C2SP tlog-checkpoint, signed-note), their keys and witnesses,
// and the proofs that an entry is in the log and that the log only grew.
package proof
