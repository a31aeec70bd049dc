package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// sizes are the numbers of rows that one statement carries: the cost of a
// statement is that of its start more than that of its rows.
var sizes = [...]int{64, 16, 4, 1}

// preparer prepares statements on a connection and keeps the first error.
type preparer struct {
	conn *sql.Conn
	err  error
}

func (p *preparer) one(ctx context.Context, text string) *sql.Stmt {
	if p.err != nil {
		return nil
	}
	stmt, err := p.conn.PrepareContext(ctx, text)
	if err != nil {
		p.err = fmt.Errorf("prepare %q: %w", text, err)
		return nil
	}
	return stmt
}

// rows writes any number of rows with statements of a few sizes.
type rows struct {
	columns int
	bySize  [len(sizes)]*sql.Stmt
}

// rows prepares a statement; %s stands for its list of rows.
func (p *preparer) rows(ctx context.Context, text string, columns int) *rows {
	r := &rows{columns: columns}
	one := "(" + repeat("?", columns) + ")"
	for i, n := range sizes {
		r.bySize[i] = p.one(ctx, fmt.Sprintf(text, repeat(one, n)))
	}
	return r
}

// exec writes the rows that args hold one after the other.
func (r *rows) exec(ctx context.Context, args []any) error {
	for i, n := range sizes {
		for width := n * r.columns; len(args) >= width; args = args[width:] {
			if _, err := r.bySize[i].ExecContext(ctx, args[:width]...); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookup finds rows by keys, many at once.
type lookup struct {
	columns int
	bySize  [len(sizes)]*sql.Stmt
}

// lookup prepares a query; %s stands for the condition on key, one column or a
// list of them in parentheses.
func (p *preparer) lookup(ctx context.Context, text, key string) *lookup {
	l := &lookup{columns: strings.Count(key, ",") + 1}
	values, one := "", "?"
	if l.columns > 1 { // in (?, ?) SQLite sees columns, not rows
		values, one = "VALUES ", "("+repeat("?", l.columns)+")"
	}
	for i, n := range sizes {
		condition := key + " = " + one
		if n > 1 {
			condition = key + " IN (" + values + repeat(one, n) + ")"
		}
		l.bySize[i] = p.one(ctx, fmt.Sprintf(text, condition))
	}
	return l
}

// find calls found for each row that one of the keys finds.
func find[T any](ctx context.Context, l *lookup, keys []any, scan func(row) (T, error), found func(T)) error {
	for i, n := range sizes {
		for width := n * l.columns; len(keys) >= width; keys = keys[width:] {
			got, err := allRows(ctx, l.bySize[i], scan, keys[:width]...)
			if err != nil {
				return err
			}
			for _, v := range got {
				found(v)
			}
		}
	}
	return nil
}

func repeat(one string, n int) string {
	return strings.TrimSuffix(strings.Repeat(one+",", n), ",")
}
