package readmodel

import (
	"context"
	"errors"
)

// ErrUnsound says that the generation that answers is not there, not whole, or of another
// version of the program: one that is filled next to it and promoted mends that.
var ErrUnsound = errors.New("the read model has to be made anew")

// ErrBehind says that the generation that answers shows more than the coming one.
var ErrBehind = errors.New("the coming generation is behind the one that answers")

// ErrNoNext says that there is no coming generation, or none any more: it was dropped
// because it held what was erased meanwhile.
var ErrNoNext = errors.New("there is no coming generation")

// Generations is an Index with its life: it can be filled again next to the one that
// answers. One rebuild at a time.
type Generations interface {
	Index

	// Reach asks the engine for the first time; what fails may be tried again. Before
	// it has succeeded all other methods but Close are ErrUnavailable at once.
	Reach(ctx context.Context) error

	// Sound tells why the generation that answers has to be made again, ErrUnsound or
	// ErrForeign; nil when it has not. Any other error is of the asking.
	Sound(ctx context.Context) error

	// Next returns the coming generation, which is empty; one that there is already is
	// dropped. No list answers from it. Promote of the same Generations closes it.
	Next(ctx context.Context) (Index, error)

	// Promote puts the coming generation in the place of the one that answers,
	// in one step for all kinds, and keeps the old one for Back; one that was
	// kept before is dropped. One that is not sound is not kept. No read fails
	// meanwhile, and none goes back in time: ErrBehind until the coming one has come as
	// far as the one that answers, which no writer gets any further by then. ErrNoNext
	// if none exists.
	Promote(ctx context.Context) error

	// Back puts the kept generation in place again, and keeps the one that it
	// replaces. ErrNoGeneration when none is kept. What was written since is
	// missing in it until a projector has caught up from its own position.
	Back(ctx context.Context) error

	// Forget drops everything that is kept of documents besides those that answer: the
	// kept generation, a coming one, and what an engine has of either in files. Back is
	// ErrNoGeneration then. It is for what has to be gone.
	Forget(ctx context.Context) error

	// Moved waits until another generation answers than the one that Marks told
	// about last, whichever process put it in place, and gives nil then; or the
	// context's error. A writer reads Marks again and goes on from there: what it
	// wrote last may be missing in the new one. Write gives ErrMoved meanwhile, or
	// writes where no list looks any more.
	Moved(ctx context.Context) error

	// Keep does the background work of the engine until the context ends, and then
	// what has to be done at the end.
	Keep(ctx context.Context) error

	// Close lets go of what the engine has open. Nothing is called afterwards.
	Close() error
}
