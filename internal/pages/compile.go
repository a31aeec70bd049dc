package pages

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/template/parse"

	"daybook/calendar"
)

// program is templates that html/template has read and escaped by their context, made into
// functions: it runs templates by looking up names and calling by reflection at every step,
// which was half the work on a page (ADR 66). What it says of a place is what is done here;
// a test holds the bytes of both against each other.
type program map[string]*block

// block is one template.
type block struct {
	run  step
	vars int // how many variables it has at once, the data among them
}

type (
	// step writes a part of a page.
	step func(x *execution, dot reflect.Value) error
	// value gives a value; the zero one where there is none.
	value func(x *execution, dot reflect.Value) (reflect.Value, error)
)

// execution is one run of a program.
type execution struct {
	markup

	vars []reflect.Value // of the templates that are open, those of the innermost from base on
	base int
}

// executions are kept for the next pages: what a page is written into is larger than the page.
var executions = sync.Pool{New: func() any { return &execution{markup: markup{b: make([]byte, 0, 64<<10)}} }}

// Larger ones are not kept.
const maxExecution = 1 << 20

// execute writes a template.
func (p program) execute(name string, data any) ([]byte, error) {
	b := p[name]
	if b == nil {
		return nil, errors.New("no template " + name)
	}
	x := executions.Get().(*execution)
	defer func() {
		if cap(x.b) > maxExecution {
			return
		}
		clear(x.vars[:cap(x.vars)])
		x.b, x.vars, x.base = x.b[:0], x.vars[:0], 0
		executions.Put(x)
	}()
	if err := b.call(x, reflect.ValueOf(data)); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	return slices.Clone(x.b), nil
}

func (b *block) call(x *execution, data reflect.Value) error {
	base, size := x.base, len(x.vars)
	x.base = size
	x.vars = slices.Grow(x.vars, b.vars)[:size+b.vars]
	x.vars[size] = data
	err := b.run(x, data)
	x.base, x.vars = base, x.vars[:size]
	return err
}

// compiler makes a program.
type compiler struct {
	program program
	funcs   map[string]reflect.Value
	vars    []string // those in scope, by their place
	most    int
}

// The templates that pages are made of.
const (
	wholePage    = "layout"
	embeddedPage = "embed"
)

// compiled gives the templates in a language.
func compiled(l calendar.Lang) (program, error) {
	t, funcs, err := parseTemplates(l)
	if err != nil {
		return nil, err
	}
	return compile(t, funcs, wholePage, embeddedPage)
}

// compile makes templates into a program; all are reached from those that roots names.
func compile(t *template.Template, funcs template.FuncMap, roots ...string) (program, error) {
	var all strings.Builder
	for _, name := range roots {
		all.WriteString(`{{template "` + name + `"}}`)
	}
	// They are escaped when they are first run, which is done without writing anything.
	if _, err := t.New("roots").Parse("{{if false}}" + all.String() + "{{end}}"); err != nil {
		return nil, err
	}
	if err := t.ExecuteTemplate(io.Discard, "roots", nil); err != nil {
		return nil, err
	}
	c := &compiler{program: program{}, funcs: map[string]reflect.Value{}}
	for name, f := range funcs {
		c.funcs[name] = reflect.ValueOf(f)
	}
	for _, t := range t.Templates() {
		c.program[t.Name()] = &block{}
	}
	for _, t := range t.Templates() {
		if t.Tree == nil || t.Name() == "roots" {
			continue
		}
		c.vars, c.most = []string{"$"}, 1
		run, err := c.list(t.Tree.Root)
		if err != nil {
			return nil, fmt.Errorf("template %s: %w", t.Name(), err)
		}
		*c.program[t.Name()] = block{run, c.most}
	}
	return c.program, nil
}

// declare gives a place to a variable.
func (c *compiler) declare(v *parse.VariableNode) int {
	c.vars = append(c.vars, v.Ident[0])
	c.most = max(c.most, len(c.vars))
	return len(c.vars) - 1
}

// list compiles nodes that follow each other; variables that are declared in them end with them.
func (c *compiler) list(l *parse.ListNode) (step, error) {
	if l == nil {
		return func(*execution, reflect.Value) error { return nil }, nil
	}
	scope := len(c.vars)
	steps := make([]step, 0, len(l.Nodes))
	for _, n := range l.Nodes {
		s, err := c.node(n)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	c.vars = c.vars[:scope]
	return func(x *execution, dot reflect.Value) error {
		for _, s := range steps {
			if err := s(x, dot); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (c *compiler) node(n parse.Node) (step, error) {
	switch n := n.(type) {
	case *parse.TextNode:
		text := string(n.Text)
		return func(x *execution, _ reflect.Value) error {
			x.raw(text)
			return nil
		}, nil
	case *parse.ActionNode:
		return c.action(n.Pipe)
	case *parse.IfNode:
		return c.branch(&n.BranchNode, func(_, dot reflect.Value) reflect.Value { return dot })
	case *parse.WithNode:
		return c.branch(&n.BranchNode, func(found, _ reflect.Value) reflect.Value { return found })
	case *parse.RangeNode:
		return c.each(n)
	case *parse.TemplateNode:
		b := c.program[n.Name]
		if b == nil { // one that is called inside of a tag has another name in each context
			return nil, fmt.Errorf("%s: a template within a tag", n)
		}
		data := value(func(*execution, reflect.Value) (reflect.Value, error) { return reflect.Value{}, nil })
		if n.Pipe != nil {
			var err error
			if data, err = c.pipe(n.Pipe); err != nil {
				return nil, err
			}
		}
		return func(x *execution, dot reflect.Value) error {
			v, err := data(x, dot)
			if err != nil {
				return err
			}
			return b.call(x, v)
		}, nil
	}
	return nil, fmt.Errorf("%s: not known", n)
}

// branch compiles if and with, of which each gives what the dot is where the value is true.
func (c *compiler) branch(n *parse.BranchNode, dotOf func(found, dot reflect.Value) reflect.Value) (step, error) {
	if len(n.Pipe.Decl) > 0 {
		return nil, fmt.Errorf("%s: not known", n.Pipe)
	}
	when, err := c.pipe(n.Pipe)
	if err != nil {
		return nil, err
	}
	then, err := c.list(n.List)
	if err != nil {
		return nil, err
	}
	otherwise, err := c.list(n.ElseList)
	if err != nil {
		return nil, err
	}
	return func(x *execution, dot reflect.Value) error {
		v, err := when(x, dot)
		if err != nil {
			return err
		}
		if truth(v) {
			return then(x, dotOf(v, dot))
		}
		return otherwise(x, dot)
	}, nil
}

func (c *compiler) each(n *parse.RangeNode) (step, error) {
	scope := len(c.vars)
	of, err := c.pipe(n.Pipe)
	if err != nil {
		return nil, err
	}
	places := make([]int, len(n.Pipe.Decl))
	for i, v := range n.Pipe.Decl {
		places[i] = c.declare(v)
	}
	body, err := c.list(n.List)
	if err != nil {
		return nil, err
	}
	c.vars = c.vars[:scope]
	otherwise, err := c.list(n.ElseList)
	if err != nil {
		return nil, err
	}
	return func(x *execution, dot reflect.Value) error {
		v, err := of(x, dot)
		if err != nil {
			return err
		}
		if !truth(v) {
			return otherwise(x, dot)
		}
		if v.Kind() != reflect.Slice {
			return fmt.Errorf("range over a %s", v.Type())
		}
		for i := range v.Len() {
			one := v.Index(i)
			switch len(places) {
			case 1:
				x.vars[x.base+places[0]] = one
			case 2:
				x.vars[x.base+places[0]], x.vars[x.base+places[1]] = reflect.ValueOf(i), one
			}
			if err := body(x, one); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// action compiles what is written, as its escapers have it, or the declaration of a variable.
func (c *compiler) action(p *parse.PipeNode) (step, error) {
	of, err := c.pipe(p)
	if err != nil {
		return nil, err
	}
	if len(p.Decl) == 1 && len(p.Cmds) == 1 {
		at := c.declare(p.Decl[0])
		return func(x *execution, dot reflect.Value) (err error) {
			x.vars[x.base+at], err = of(x, dot)
			return err
		}, nil
	}
	var by []string
	for _, cmd := range p.Cmds[1:] {
		by = append(by, strings.TrimPrefix(cmd.String(), "_html_template_"))
	}
	write := escapers[strings.Join(by, " ")]
	if write == nil {
		return nil, fmt.Errorf("%s: no escaper %s", p, by)
	}
	return func(x *execution, dot reflect.Value) error {
		v, err := of(x, dot)
		if err != nil {
			return err
		}
		text, is := textOf(v)
		if !write(&x.markup, text, is) {
			return fmt.Errorf("%s: a %s is not for this place", p, v.Type())
		}
		return nil
	}, nil
}

// pipe compiles the first command of a pipeline; the others are escapers.
func (c *compiler) pipe(p *parse.PipeNode) (value, error) {
	if p.IsAssign || slices.ContainsFunc(p.Cmds[1:], func(cmd *parse.CommandNode) bool { return !strings.HasPrefix(cmd.String(), "_html_template_") }) {
		return nil, fmt.Errorf("%s: not known", p)
	}
	cmd := p.Cmds[0]
	args := make([]value, len(cmd.Args)-1)
	for i, a := range cmd.Args[1:] {
		var err error
		if args[i], err = c.operand(a, nil); err != nil {
			return nil, err
		}
	}
	return c.operand(cmd.Args[0], args)
}

func constant(v any) value {
	of := reflect.ValueOf(v)
	return func(*execution, reflect.Value) (reflect.Value, error) { return of, nil }
}

// operand compiles a value, or a call of a method or function.
func (c *compiler) operand(n parse.Node, args []value) (value, error) {
	switch n := n.(type) {
	case *parse.IdentifierNode:
		return c.function(n.Ident, args)
	case *parse.FieldNode:
		return members(func(_ *execution, dot reflect.Value) (reflect.Value, error) { return dot, nil }, n.Ident, args), nil
	case *parse.VariableNode:
		at := 0
		for i, name := range c.vars { // the innermost one counts
			if name == n.Ident[0] {
				at = i
			}
		}
		return members(func(x *execution, _ reflect.Value) (reflect.Value, error) { return x.vars[x.base+at], nil }, n.Ident[1:], args), nil
	}
	if len(args) == 0 {
		switch n := n.(type) {
		case *parse.DotNode:
			return func(_ *execution, dot reflect.Value) (reflect.Value, error) { return dot, nil }, nil
		case *parse.PipeNode:
			return c.pipe(n)
		case *parse.StringNode:
			return constant(n.Text), nil
		}
	}
	return nil, fmt.Errorf("%s: not known", n)
}

// function compiles the call of a function.
func (c *compiler) function(name string, args []value) (value, error) {
	switch {
	case name == "or" && len(args) > 0:
		return func(x *execution, dot reflect.Value) (v reflect.Value, err error) {
			for _, a := range args {
				if v, err = a(x, dot); err != nil || truth(v) {
					break
				}
			}
			return v, err
		}, nil
	case name == "not" && len(args) == 1:
		return func(x *execution, dot reflect.Value) (reflect.Value, error) {
			v, err := args[0](x, dot)
			return reflect.ValueOf(!truth(v)), err
		}, nil
	case name == "eq" && len(args) == 2:
		return func(x *execution, dot reflect.Value) (reflect.Value, error) {
			a, err := args[0](x, dot)
			if err != nil {
				return a, err
			}
			b, err := args[1](x, dot)
			if err == nil && (a.Kind() != reflect.String || b.Kind() != reflect.String) {
				err = errors.New("eq compares texts")
			}
			if err != nil {
				return b, err
			}
			return reflect.ValueOf(a.String() == b.String()), nil
		}, nil
	}
	f, known := c.funcs[name]
	if !known {
		return nil, errors.New("no function " + name)
	}
	return func(x *execution, dot reflect.Value) (reflect.Value, error) { return call(f, args, x, dot) }, nil
}

// call calls a function or method, which gives a value and, maybe, an error.
func call(f reflect.Value, args []value, x *execution, dot reflect.Value) (reflect.Value, error) {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		v, err := a(x, dot)
		if err != nil {
			return v, err
		}
		if in[i] = v; !v.IsValid() {
			in[i] = reflect.Zero(f.Type().In(i))
		}
	}
	out := f.Call(in)
	if len(out) == 2 && !out[1].IsNil() {
		return out[0], out[1].Interface().(error)
	}
	return concrete(out[0]), nil
}

// member is what a name means for a type.
type member struct {
	of     reflect.Type
	method int // its place, -1: it is a field
	toAddr bool
	field  []int
}

// members follows names from a value; args are those of the last one, a method.
func members(from value, names []string, args []value) value {
	for i, name := range names {
		inner, of := from, []value(nil)
		if i == len(names)-1 {
			of = args
		}
		var known atomic.Pointer[member] // most places see one type only
		from = func(x *execution, dot reflect.Value) (reflect.Value, error) {
			v, err := inner(x, dot)
			if err != nil {
				return v, err
			}
			if v.Kind() == reflect.Map {
				return concrete(v.MapIndex(reflect.ValueOf(name))), nil
			}
			if !v.IsValid() {
				return v, fmt.Errorf("no value for .%s", name)
			}
			m := known.Load()
			if m == nil || m.of != v.Type() {
				if m, err = memberOf(v.Type(), name); err != nil {
					return v, err
				}
				known.Store(m)
			}
			if m.method >= 0 {
				if m.toAddr {
					v = v.Addr()
				}
				return call(v.Method(m.method), of, x, dot)
			}
			if v.Kind() == reflect.Pointer {
				if v.IsNil() {
					return v, fmt.Errorf("nothing for .%s", name)
				}
				v = v.Elem()
			}
			for _, i := range m.field {
				v = v.Field(i)
			}
			return concrete(v), nil
		}
	}
	return from
}

// memberOf finds the method or field of a name.
func memberOf(t reflect.Type, name string) (*member, error) {
	if m, ok := t.MethodByName(name); ok {
		return &member{of: t, method: m.Index}, nil
	}
	within := t
	if t.Kind() == reflect.Pointer {
		within = t.Elem()
	} else if m, ok := reflect.PointerTo(t).MethodByName(name); ok {
		return &member{of: t, method: m.Index, toAddr: true}, nil
	}
	if within.Kind() == reflect.Struct {
		if f, ok := within.FieldByName(name); ok && f.IsExported() {
			return &member{of: t, method: -1, field: f.Index}, nil
		}
	}
	return nil, fmt.Errorf("a %s has no %s", t, name)
}

// concrete is the value in an interface, the zero one for nil.
func concrete(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// truth tells whether a value is not empty, as templates see it.
func truth(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() > 0
	case reflect.Struct:
		return true
	default:
		return !v.IsZero()
	}
}

// content tells what a text is, beside a text for people.
type content byte

const (
	plainText content = iota
	asHTML
	asAddress
	asScript
)

var contents = map[reflect.Type]content{
	reflect.TypeFor[template.HTML](): asHTML, reflect.TypeFor[template.URL](): asAddress, reflect.TypeFor[template.JS](): asScript,
}

// textOf gives the text of a value.
func textOf(v reflect.Value) (string, content) {
	switch {
	case v.Kind() == reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			return v.String(), plainText
		}
		return v.String(), contents[v.Type()]
	case v.CanInt():
		if t := v.Type(); t.NumMethod() == 0 || t == reflect.TypeFor[calendar.ID]() {
			return strconv.FormatInt(v.Int(), 10), plainText
		}
	}
	return fmt.Sprint(v.Interface()), plainText
}

// escapers write a text into a place, by the names that html/template has for what the place
// needs. They refuse what is not for it.
var escapers = map[string]func(w *markup, s string, is content) bool{
	"htmlescaper": func(w *markup, s string, is content) bool {
		if is == asHTML {
			w.raw(s)
			return true
		}
		w.text(s)
		return true
	},
	"attrescaper":   func(w *markup, s string, is content) bool { w.text(s); return is != asHTML },
	"rcdataescaper": func(w *markup, s string, is content) bool { w.text(s); return is != asHTML },
	"urlfilter urlnormalizer attrescaper": func(w *markup, s string, is content) bool {
		if is != asAddress && runs(s) {
			w.raw(refused)
			return true
		}
		w.address(s)
		return true
	},
	"urlescaper attrescaper": func(w *markup, s string, is content) bool { w.part(s); return is == plainText },
	"jsvalescaper":           func(w *markup, s string, is content) bool { w.raw(s); return is == asScript },
}
