package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
)

// TestProcessesOfBefore: processes of the versions before, which call other functions,
// append to the same log while they are replaced.
func TestProcessesOfBefore(t *testing.T) {
	t.Parallel()
	name := schema(t)
	s := open(t, server(t), postgres.Options{Schema: name})
	c := admin(t)
	for i, function := range []string{"append", "append_known", "append_group"} {
		id, err := s.NewIDs(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		a := storetest.EventAppend(t, id, false)
		e := a.Entry(0)
		leaf := eventstore.Leaf(&e)
		claim := a.Drafts[0].Claims[0]
		// Digests are those of the present version, which finds the claim by it.
		digest := fmt.Sprintf("sha256(int8send(%d) || '%s%s'::bytea)", len(claim.Space), claim.Space, claim.Key)
		lists := fmt.Sprintf(`false, 0, '{}', '{event}', '{%[1]d}', '{1}', '{%[2]d}', '{7}', '{event.created}', ARRAY[$1::bytea],
			'{bench}', '{r}', '{""}', ARRAY[$2::bytea], ARRAY[$3::bytea], '{NULL}', '{t}', '{NULL}',
			ARRAY[%[3]s], '{%[1]d}', '{%[4]s}', '{%[5]s}', '{}', '{}', '{}', '{}', '{}', '{}', %[6]s $1::bytea`,
			id, e.Time.UnixMilli(), digest, claim.Space, claim.Key, strings.Repeat("'{}', ", 11))
		if function != "append" {
			lists = "0, '', " + lists
		}
		row := c.QueryRow(t.Context(), "SELECT f::text FROM "+name+"."+function+"("+lists+") f", leaf[:], []byte(e.Fields), []byte(e.State))
		var got string
		if err := row.Scan(&got); err != nil {
			t.Fatalf("%s: %v", function, err)
		}
		if head := fmt.Sprint(2 * i); strings.SplitN(strings.Trim(got, "()"), ",", 2)[0] != head {
			t.Errorf("%s: the head before it is %s, want %s", function, got, head)
		}
		if res := s.Append(t.Context(), []eventstore.Append{storetest.EventAppend(t, id+1, true)})[0]; res.Err != nil || res.Position != calendar.Position(2*i+2) {
			t.Errorf("an append after %s: %+v", function, res)
		}
	}
	if _, n, err := eventstore.Verify(t.Context(), s, nil); err != nil || n != 6 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
}
