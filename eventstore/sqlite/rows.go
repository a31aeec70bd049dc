package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// sizes are the numbers of rows that one statement carries: the cost of a
// statement is that of its start more than that of its rows.
var sizes = [...]int{64, 16, 4, 1}

// preparer prepares statements on a connection and keeps the first error.
type preparer struct {
	conn *sql.Conn
	all  []*sql.Stmt
	err  error
}

func (p *preparer) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	stmt, err := p.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	p.all = append(p.all, stmt)
	return stmt, nil
}

func (p *preparer) one(ctx context.Context, text string) *sql.Stmt {
	if p.err != nil {
		return nil
	}
	var stmt *sql.Stmt
	stmt, p.err = p.prepare(ctx, text)
	return stmt
}

// close closes the statements and the connection. Nothing else closes the
// statements, and with one of them open the engine keeps the file open.
func (p *preparer) close() error { return errors.Join(p.closeAll(), p.conn.Close()) }

// closeAll closes the statements.
func (p *preparer) closeAll() error {
	errs := make([]error, 0, len(p.all))
	for _, stmt := range p.all {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

// statement is one text in all sizes. The small one is prepared at once, so that
// a bad text is found; the others when they are first needed.
type statement struct {
	p       *preparer
	columns int
	texts   [len(sizes)]string
	bySize  [len(sizes)]*sql.Stmt
}

func (p *preparer) statement(ctx context.Context, columns int, text func(n int) string) *statement {
	s := &statement{p: p, columns: columns}
	for i, n := range sizes {
		s.texts[i] = text(n)
	}
	last := len(sizes) - 1
	s.bySize[last] = p.one(ctx, s.texts[last])
	return s
}

// each calls do with the statements and arguments that together carry all rows
// that args hold one after the other.
func (s *statement) each(ctx context.Context, args []any, do func(stmt *sql.Stmt, args []any) error) error {
	for i, n := range sizes {
		for width := n * s.columns; len(args) >= width; args = args[width:] {
			if s.bySize[i] == nil {
				var err error
				if s.bySize[i], err = s.p.prepare(ctx, s.texts[i]); err != nil { //nolint:sqlclosecheck // closed with all others by preparer.close
					return err
				}
			}
			if err := do(s.bySize[i], args[:width]); err != nil {
				return err
			}
		}
	}
	return nil
}

// rows writes any number of rows.
type rows struct{ *statement }

// rows prepares a statement; %s stands for its list of rows.
func (p *preparer) rows(ctx context.Context, text string, columns int) rows {
	one := "(" + repeat("?", columns) + ")"
	return rows{p.statement(ctx, columns, func(n int) string { return fmt.Sprintf(text, repeat(one, n)) })}
}

func (r rows) exec(ctx context.Context, args []any) error {
	return r.each(ctx, args, func(stmt *sql.Stmt, args []any) error {
		_, err := stmt.ExecContext(ctx, args...)
		return err
	})
}

// lookup finds rows by any number of keys.
type lookup struct{ *statement }

// lookup prepares a query; %s stands for the condition on key, one column or a
// list of them in parentheses.
func (p *preparer) lookup(ctx context.Context, text, key string) lookup {
	columns := strings.Count(key, ",") + 1
	values, one := "", "?"
	if columns > 1 { // in (?, ?) SQLite sees columns, not rows
		values, one = "VALUES ", "("+repeat("?", columns)+")"
	}
	return lookup{p.statement(ctx, columns, func(n int) string {
		if n == 1 {
			return fmt.Sprintf(text, key+" = "+one)
		}
		return fmt.Sprintf(text, key+" IN ("+values+repeat(one, n)+")")
	})}
}

// find calls found for each row that one of the keys finds.
func find[T any](ctx context.Context, l lookup, keys []any, scan func(row) (T, error), found func(T)) error {
	return l.each(ctx, keys, func(stmt *sql.Stmt, keys []any) error {
		got, err := allRows(ctx, stmt, scan, keys...)
		for _, v := range got {
			found(v)
		}
		return err
	})
}

func repeat(one string, n int) string {
	return strings.TrimSuffix(strings.Repeat(one+",", n), ",")
}
