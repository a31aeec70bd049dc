package calendar

import "slices"

// Role is what a user may do (interface 6.1).
type Role uint8

// The roles. Anonymous is the zero Role; the auditor is outside of the
// rising order of the others.
const (
	Anonymous Role = iota
	Subscriber
	Contributor
	Author
	Editor
	Administrator
	Auditor
)

var roleNames = [...]string{"anonymous", "subscriber", "contributor", "author", "editor", "administrator", "auditor"}

// String returns the name of the role.
func (role Role) String() string { return roleNames[role] }

// MarshalText writes the name.
func (role Role) MarshalText() ([]byte, error) { return []byte(role.String()), nil }

// ParseRole reads the name of a role that a user can have.
func ParseRole(text string) (Role, bool) {
	r := max(0, slices.Index(roleNames[:], text))
	return Role(r), r > 0
}

// Caller is the user that the credentials of a request name; the zero Caller is
// the anonymous one.
type Caller struct {
	ID   ID
	Role Role
}
