package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/oasdiff/yaml3"

	"daybook/internal/demo"
)

// settingValue is the value of a setting and where it came from: a flag, a variable of the
// environment, FILE:LINE, or byDefault.
type settingValue struct {
	Value string `json:"value"`
	From  string `json:"from"`

	err error // why it is refused
}

const byDefault = "default"

// settingsReader reads settings from flags, else from the environment, else from the file
// of settings, and notes what is wrong with any of them.
type settingsReader struct {
	env      map[string]string
	model    *kong.Application
	given    map[*kong.Value]settingValue
	from     string // where the value that is read now comes from, "" for the command line
	file     map[string]settingValue
	problems []string // of the file
}

// parser returns the parser of a command line that fills config.
func (settingsReader *settingsReader) parser(config *config, output io.Writer, exit func(int)) (*kong.Kong, error) {
	settingsReader.given = map[*kong.Value]settingValue{}
	grammar := new(commands)
	share(reflect.ValueOf(grammar).Elem(), reflect.ValueOf(config).Elem())
	parser, err := kong.New(grammar, append(settingsReader.mappers(),
		kong.Name("daybook"), kong.Vars{"version": "daybook " + version}, kong.Description(description), kong.Writers(output, output), kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, FlagsLast: true}), kong.ValueFormatter(helpText),
		kong.Resolvers(kong.ResolverFunc(settingsReader.resolve)), kong.WithBeforeReset(func() error { settingsReader.from = byDefault; return nil }))...)
	if err != nil {
		return nil, err
	}
	settingsReader.model = parser.Model
	parser.Model.HelpFlag.Help = "print this help"
	return parser, nil
}

// mapper is a mapper of one value, or of a list with commas between. An empty text is no value
// where a setting has no default. It notes what flags
// are given and what is wrong with them, so that all of it is reported together.
func (settingsReader *settingsReader) mapper(read valueReader) kong.Mapper {
	return kong.MapperFunc(func(ctx *kong.DecodeContext, to reflect.Value) error {
		setting := ctx.Value
		if setting.IsBool() && ctx.Scan.Peek().Type != kong.FlagValueToken { // a flag alone
			ctx.Scan.PushTyped("true", kong.FlagValueToken)
		}
		token, err := ctx.Scan.PopValue("a")
		if err != nil {
			return err
		}
		now := settingValue{Value: token.String(), From: cmp.Or(settingsReader.from, "--"+setting.Name)}
		parts := []string{now.Value}
		if setting.IsSlice() {
			parts = splitList(now.Value)
		} else if to.SetZero(); now.Value == "" && !setting.Tag.HasDefault && !setting.Required {
			parts = nil
		}
		for _, part := range parts {
			value, err := read(part, setting)
			switch {
			case err != nil:
				now.err = err
			case !setting.IsSlice():
				to.Set(reflect.ValueOf(value).Convert(to.Type()))
			case value != "": // the word for none
				to.Set(reflect.Append(to, reflect.ValueOf(value)))
			}
		}
		if setting.Flag == nil || settingsReader.from == byDefault {
			return now.err
		}
		if before, again := settingsReader.given[setting]; again && setting.IsSlice() { // it may stand several times
			now.Value, now.err = before.Value+","+now.Value, errors.Join(before.err, now.err)
		}
		settingsReader.given[setting] = now
		return nil
	})
}

// variable is the name of a setting in the environment, "" when it is of the command line only.
func variable(value *kong.Value) string {
	if value.Flag == nil || value.Tag.Has("commandline") || value.Name == "help" {
		return ""
	}
	return "DAYBOOK_" + strings.ToUpper(strings.ReplaceAll(value.Name, "-", "_"))
}

// resolve is a kong.ResolverFunc: it returns the value of a flag that does not stand on the
// command line.
func (settingsReader *settingsReader) resolve(_ *kong.Context, parent *kong.Path, flag *kong.Flag) (any, error) {
	name := variable(flag.Value)
	text, set := settingsReader.env[name]
	given, inFile := settingsReader.file[flag.Name]
	switch {
	case name == "":
		return nil, nil
	case set:
		settingsReader.from = name
		return text, nil
	case inFile:
		settingsReader.from = given.From
		return given.Value, nil
	case parent.Command == nil || parent.Command.Name != "demo":
		return nil, nil
	}
	town, err := demo.Read()
	if text, set = town.Settings[flag.Name]; !set {
		return nil, err
	}
	settingsReader.from = "demo"
	return text, err
}

// read reads a command line. All that is wrong with settings is in one error.
func (settingsReader *settingsReader) read(parser *kong.Kong, config *config, args []string) (*kong.Context, error) {
	parsed, err := parser.Parse(args)
	if failed, ok := errors.AsType[*kong.ParseError](err); ok {
		parsed = failed.Context
	}
	problems := settingsReader.problems
	for _, flag := range parsed.Flags() {
		if given := settingsReader.given[flag.Value]; given.err != nil {
			if strings.Contains(given.From, ":") { // FILE:LINE
				given.From += ": " + flag.Name
			}
			problems = append(problems, fmt.Sprintf("%s: %s, not %q", given.From, given.err, shown(flag, given.Value)))
		}
	}
	if err == nil {
		problems = append(problems, config.misfits()...)
	}
	switch {
	case len(problems) > 0:
		return parsed, usageError("%s", strings.Join(problems, "\n"))
	case err != nil:
		return parsed, usageError("%w; see %s --help", err, cmp.Or(parsed.Selected(), parser.Model.Node).FullPath())
	}
	return parsed, nil
}

// shown is a value as it may be printed.
func shown(flag *kong.Flag, text string) string {
	if flag.Tag.Has("secret") {
		return redactedURLs(text)
	}
	return text
}

// readFile is the reader of the file of settings: a YAML map of their names, with texts, numbers,
// true and false, and lists of them. What is wrong in it has places of its own.
func (settingsReader *settingsReader) readFile(path string, _ *kong.Value) (any, error) {
	text, err := readAtMost(path, maxFile)
	if err != nil {
		return path, err
	}
	wrong := func(at string, args ...any) {
		settingsReader.problems = append(settingsReader.problems, at+": "+fmt.Sprint(args...))
	}
	var nodes map[string]yaml.Node
	if err := yaml.Unmarshal(text, &nodes); err != nil {
		wrong(path, err)
	}
	known := map[string]bool{}
	for _, leaf := range settingsReader.model.Leaves(false) {
		for _, flag := range slices.Concat(leaf.AllFlags(false)...) {
			known[flag.Name] = known[flag.Name] || flag.Name != "config" && variable(flag.Value) != ""
		}
	}
	settingsReader.file = make(map[string]settingValue, len(nodes))
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		node := nodes[name]
		at := fmt.Sprintf("%s:%d", path, node.Line)
		texts := make([]string, 1)
		var into any = &texts
		if node.Kind != yaml.SequenceNode {
			into = &texts[0]
		}
		if node.Decode(into) != nil {
			wrong(at, name, ": must be a text, a number, true, false or a list of them")
		}
		if !known[name] {
			wrong(at, fmt.Sprintf("there is no setting %q; daybook config print lists them", name))
		}
		settingsReader.file[name] = settingValue{Value: strings.Join(texts, ","), From: at}
	}
	return path, nil
}

// serveSettings are the settings of the service.
type serveSettings struct {
	storeSettings
	feedSettings
	indexSettings
	*RoleOptions `group:"role" json:"-"`
	serviceSettings
}

type configCommands struct {
	serveSettings
	outputSettings

	Print configPrint `cmd:"" help:"print the settings as environment variables, and where each value comes from"`
}

type configPrint struct{}

// Run prints the settings in the form of a file of environment variables; a comment says
// where those below it came from.
func (*configPrint) Run(console *console, settingsReader *settingsReader, parsed *kong.Context) error {
	all, from := map[string]settingValue{}, ""
	for _, flag := range parsed.Flags() {
		if variable(flag.Value) == "" || flag.Name == "json" {
			continue
		}
		value, ok := settingsReader.given[flag.Value]
		if !ok {
			value = settingValue{Value: flag.Default, From: byDefault}
		}
		value.Value = shown(flag, value.Value)
		all[flag.Name] = value
		if console.JSON {
			continue
		}
		if value.From != from {
			fmt.Fprintf(console.output, "# %s\n", value.From)
		}
		from = value.From
		fmt.Fprintf(console.output, "%s=%s\n", variable(flag.Value), value.Value)
	}
	if console.JSON {
		return console.printJSON(all)
	}
	return nil
}

// commands are the command line. Its commands fill one config. Tags besides those of kong: model
// marks tasks on the read model, the others need the store only; makes those that may begin a store.
type commands struct {
	Config  string           `placeholder:"FILE" type:"settings" help:"YAML file of settings, for example per-page-max: 200; flags and environment win over it"`
	Version kong.VersionFlag `commandline:"" help:"print the version"`

	Serve  serveCommand  `cmd:"" group:"Service" help:"run the service"`
	Demo   demoCommand   `cmd:"" group:"Service" help:"run the service on a made-up calendar in a temporary directory"`
	Health healthCommand `cmd:"" model:"" group:"Service" help:"print the health of a running service"`
	Ready  readyCommand  `cmd:"" group:"Service" help:"check whether the process at --listen is ready, for probes"`
	User   userCommands  `cmd:"" group:"Service" help:"manage users and their tokens"`

	Import  importCommand   `cmd:"" makes:"" group:"Records" help:"apply changes from a file"`
	Export  exportCommand   `cmd:"" group:"Records" help:"print all entries and checkpoints, one JSON object per line"`
	History historyCommands `cmd:"" group:"Records" help:"print the history of one record"`
	Changes changesCommands `cmd:"" group:"Records" help:"follow the changes of all records"`
	Erase   eraseCommand    `cmd:"" model:"" group:"Records" help:"erase a record permanently, in every version and every place"`
	Verify  verifyCommand   `cmd:"" group:"Records" help:"check every entry against the chain"`
	Audit   auditCommands   `cmd:"" group:"Records" help:"prove the log to others: checkpoints, proofs, keys, exports"`
	Migrate migrateCommand  `cmd:"" group:"Records" help:"migrate the schema of a PostgreSQL event store, as its owner; or copy the store of a directory into it"`

	Rebuild rebuildCommand `cmd:"" model:"" group:"Read model" help:"rebuild the read model from the event store"`
	Retry   retryCommand   `cmd:"" model:"" group:"Read model" help:"project a quarantined record again"`

	Settings   configCommands    `cmd:"" name:"config" group:"Tools" help:"print the settings in force"`
	Program    versionCommand    `cmd:"" name:"version" group:"Tools" help:"print the version"`
	Completion completionCommand `cmd:"" group:"Tools" help:"print shell completion for bash, zsh, fish or pwsh"`
}

// The groups of settings that commands take together. They are no arguments of a task.
type (
	// storeSettings say where the event store is.
	storeSettings struct {
		*StoreOptions `group:"event store" json:"-"`
	}
	feedSettings struct {
		*FeedOptions `group:"feed" json:"-"`
	}
	indexSettings struct {
		*IndexOptions `group:"read model" json:"-"`
	}
	// serviceSettings are those of the interface, the pages and the process.
	serviceSettings struct {
		*ListenOptions    `group:"interface" json:"-"`
		*AddressOptions   `group:"interface" json:"-"`
		*ZoneOptions      `group:"interface" json:"-"`
		*InterfaceOptions `group:"interface" json:"-"`
		*PagesOptions     `group:"pages" json:"-"`
		*ProofOptions     `group:"proofs" json:"-"`
		*ProcessOptions   `group:"process" json:"-"`
	}
	outputSettings struct {
		*OutputOptions `group:"command" json:"-"`
	}
	zoneSettings struct {
		*ZoneOptions `group:"interface" json:"-"`
	}
	languageSettings struct {
		*LanguageOptions `json:"-"`
	}
)

// share points the groups of settings that a command embeds to those of all settings.
func share(command, settings reflect.Value) {
	for field, value := range command.Fields() {
		switch {
		case value.Kind() == reflect.Struct:
			share(value, settings)
		case field.Anonymous && value.Kind() == reflect.Pointer:
			value.Set(settings.FieldByName(field.Name).Addr())
		}
	}
}
