package eventstore

import (
	"fmt"

	"daybook/calendar"
)

// DamageError is the ErrDamaged of an entry.
type DamageError struct {
	Position calendar.Position // 0: no entry is at fault
	Why      string            // in words, without the position
}

// Error names the entry.
func (damageError *DamageError) Error() string {
	if damageError.Position == 0 {
		return fmt.Sprintf("%v: %s", ErrDamaged, damageError.Why)
	}
	return fmt.Sprintf("entry %d: %v: %s", damageError.Position, ErrDamaged, damageError.Why)
}

// Unwrap returns ErrDamaged.
func (damageError *DamageError) Unwrap() error { return ErrDamaged }

// Damaged returns the DamageError of the entry at a position, 0 when none is at fault.
func Damaged(position calendar.Position, format string, args ...any) error {
	return &DamageError{position, fmt.Sprintf(format, args...)}
}

// Damaged returns the DamageError of the entry.
func (entry *Entry) Damaged(format string, args ...any) error {
	return Damaged(entry.Position, format, args...)
}
