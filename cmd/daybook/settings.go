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
	"time"

	"github.com/alecthomas/kong"
	"github.com/oasdiff/yaml3"

	"daybook/calendar"
	"daybook/eventstore/feed"
	"daybook/eventstore/postgres"
	"daybook/internal/demo"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/proof"
	"daybook/internal/telemetry"
	"daybook/query/readmodel/elastic"
)

// config are the settings of one run. A command takes whole groups of them. Each is a flag,
// a variable of the environment and a line of the file that --config names.
//
// Tags besides those of kong: min and max bound numbers and durations, choices are the words
// that a text may be as people write them, pattern and must its form, schemes those of URLs, none makes 0 the -1 of options, secret marks what is never shown, and
// commandline what stands in no environment and no file.
type config struct {
	StoreOptions
	FeedOptions
	IndexOptions
	RoleOptions
	ListenOptions
	AddressOptions
	ZoneOptions
	InterfaceOptions
	PagesOptions
	ProofOptions
	ProcessOptions
	OutputOptions
	LanguageOptions
	LogOptions

	Demo *demo.Highlights // nil: not a demonstration
}

type StoreOptions struct {
	Data     string           `default:"./daybook-data" placeholder:"DIR" pattern:"." must:"name a directory" help:"directory of the event store and the snapshot"`
	Store    string           `placeholder:"URL" type:"urls" schemes:"postgres,postgresql" must:"be a postgres:// URL" secret:"" help:"postgres://… of the event store; empty: SQLite in --data"`
	Database postgres.Options `embed:"" prefix:"store-"`
}

type FeedOptions struct {
	Feed         string              `placeholder:"URLS" type:"urls" schemes:"nats,tls,ws,wss" must:"be nats:// or tls:// URLs" secret:"" help:"nats://… servers of the feed, separated by commas; empty: none"`
	FeedServers  feed.ConnectOptions `embed:"" prefix:"feed-"`
	FeedPrefix   string              `default:"daybook" placeholder:"NAME" pattern:"^[a-z][a-z0-9_-]{0,59}$" must:"be lower-case letters, digits, - and _, beginning with a letter, at most 60" help:"prefix of the names of stream and subjects, one per installation on an account"`
	FeedReplicas int                 `default:"1" min:"1" max:"5" placeholder:"N" help:"NATS servers that store the stream, 1 to 5"`
}

type IndexOptions struct {
	Index           string          `placeholder:"URLS" type:"urls" schemes:"http,https" must:"be http:// or https:// URLs" secret:"" help:"http(s)://… nodes of the read model, separated by commas; empty: in memory"`
	Engine          elastic.Options `embed:"" prefix:"index-"`
	IndexCA         string          `placeholder:"FILE" type:"file" help:"PEM certificates of the authorities of its nodes"`
	IndexAPIKeyFile string          `placeholder:"FILE" type:"file" help:"file with an API key, instead of a user in the URL; read again when the key is refused"`
}

type RoleOptions struct {
	Role string `default:"all" choices:"all, api, relay or projector" placeholder:"ROLE" help:"all, api, relay or projector: what this process does"`
}

type ListenOptions struct {
	Listen string `default:"127.0.0.1:8080" placeholder:"ADDR" pattern:"^([[][^]]+[]]|[^:]*):[^:]+$" must:"be host:port, as 127.0.0.1:8080" help:"address and port to serve on"`
}

type AddressOptions struct {
	BaseURL   string `placeholder:"URL" pattern:"^https?://[^/?#@]+(/[^?#]*)?$" trim:"/" must:"be an absolute http or https URL without user, query and fragment" help:"public URL of the service; empty: taken from each request"`
	APIPrefix string `default:"api" placeholder:"PATH" type:"prefix" trim:"/" help:"first segment of all paths"`
}

type ZoneOptions struct {
	Timezone string `placeholder:"ZONE" type:"zone" help:"time zone of the site, for example Europe/Rome or UTC+2; empty: UTC"`
}

type InterfaceOptions struct {
	httpapi.Options
	HistoryMemory int `default:"64" type:"mebibytes" min:"8" max:"16384" placeholder:"N" help:"MiB of all images for lists of the past, 8 to 16384; lists that would need more are refused"`
	HistoryImages int `default:"4" min:"1" max:"64" placeholder:"N" help:"cached images of the past, 1 to 64"`
}

type PagesOptions struct {
	Pages       bool          `default:"true" help:"serve pages for people: lists, months, events, venues and all else that has a url"`
	PageOptions pages.Options `embed:""`
}

type ProofOptions struct {
	LogOrigin          string           `placeholder:"NAME" type:"origin-of-log" help:"name of the log in checkpoints, stored with the first one; empty: host and path of the public URL"`
	SigningKey         []string         `placeholder:"FILES" type:"file" help:"files of keys PRIVATE+KEY+…, separated by commas; each of them signs checkpoints; empty: audit.key in --data if the event store is there"`
	Witnesses          []*proof.Witness `placeholder:"LIST" type:"witness" help:"VKEY@URL of witnesses that cosign checkpoints, at most 16"`
	CheckpointInterval time.Duration    `default:"1m" min:"1s" max:"1h" placeholder:"DURATION" help:"how often a checkpoint is signed while there are new entries"`
}

type ProcessOptions struct {
	LogLevel   string                 `default:"info" placeholder:"LEVEL" choices:"debug, info, warn or error" help:"debug, info, warn or error"`
	LogFormat  string                 `default:"text" choices:"text or json" placeholder:"FORMAT" help:"text or json"`
	Pprof      string                 `placeholder:"ADDR" pattern:"^(127([.][0-9]{1,3}){3}|[[]::1[]]):[^:]+$" must:"be an address of this machine with a port, as 127.0.0.1:6060" help:"loopback address and port for runtime profiles; empty: none"`
	Metrics    string                 `placeholder:"ADDR" pattern:"^(same|([[][^]]+[]]|[^:]*):[^:]+)$" must:"be host:port, as 127.0.0.1:9464, or the word same" help:"address and port for Prometheus metrics, or same: with the service; empty: none"`
	Tracing    telemetry.TraceOptions `embed:""`
	DrainDelay time.Duration          `none:"" min:"0s" max:"5m" placeholder:"DURATION" help:"how long requests are still answered after SIGTERM while the process is not ready; empty: 5s, and 0 where no other process can serve its store"`
	DrainLimit time.Duration          `default:"50s" min:"1s" max:"1h" placeholder:"DURATION" help:"longest time from the signal to the end of the process, whatever hangs"`
}

type OutputOptions struct {
	JSON bool `default:"false" help:"print JSON for programs"`
}

type LanguageOptions struct {
	Lang string `default:"en" choices:"cn, en, fr or es" placeholder:"LANG" help:"language of sentences: cn, en, fr or es"`
}

type LogOptions struct {
	NewLog bool `commandline:"" help:"begin a new log in a data directory that has lost its log"`
}

// zone is the time zone of the site with its name.
func (zoneOptions *ZoneOptions) zone() calendar.Zone {
	zone, _ := calendar.ParseZone(cmp.Or(zoneOptions.Timezone, "UTC"))
	return zone
}

// holdsData reports whether a process that serves keeps anything in the data
// directory, which then belongs to it. The roles that share their work do not.
func (config *config) holdsData() bool {
	return config.does(servesAll) && (config.Store == "" || config.localIndex())
}

// defaultLameDuck is how long load balancers go on sending requests to a process that
// is not ready, or that they were told to forget.
const defaultLameDuck = 5 * time.Second

// lameDuck is how long a process that was told to end is not ready before it closes
// its listener.
func (config *config) lameDuck() time.Duration {
	switch {
	case !config.does(servesAPI): // nobody sends them requests
		return 0
	case config.DrainDelay != 0:
		return max(config.DrainDelay, 0)
	case config.Store == "": // there is nobody else to send requests to
		return 0
	default:
		return defaultLameDuck
	}
}

// The roles of processes.
const (
	servesAll       = "all"
	servesAPI       = "api"
	servesRelay     = "relay"
	servesProjector = "projector"
)

// does reports whether the process has a role. Commands have all of them, by default.
func (config *config) does(role string) bool {
	return config.Role == servesAll || config.Role == role
}

// misfits returns what does not go together, all of it.
func (config *config) misfits() []string {
	shares := config.Role != "" && config.Role != servesAll
	needs := fmt.Sprintf("--role %s shares its work with other processes, so it needs ", config.Role)
	feedServers, none := config.FeedServers, feed.ConnectOptions{}
	wrong := map[string]bool{
		needs + "--store postgres://…":                           shares && config.Store == "",
		needs + "--feed nats://…":                                config.Role == servesRelay && config.Feed == "",
		needs + "--index http://…":                               shares && config.Role != servesRelay && config.localIndex(),
		"--feed-cert and --feed-key need each other":             (feedServers.Cert == "") != (feedServers.Key == ""),
		"--feed-credentials and --feed-nkey exclude each other":  feedServers.Credentials != "" && feedServers.NKey != "",
		"--feed-domain and --feed-api-prefix exclude each other": feedServers.Domain != "" && feedServers.APIPrefix != "",
		"--feed-credentials, --feed-nkey, --feed-domain, --feed-api-prefix, --feed-ca, --feed-cert and --feed-replicas above 1 need --feed nats://…": config.Feed == "" && (feedServers != none || config.FeedReplicas > 1),
		fmt.Sprintf("--drain-limit must be longer than --drain-delay, which is %s", config.lameDuck()):                                               config.DrainLimit > 0 && config.lameDuck() >= config.DrainLimit,
		"--store-listen needs --store postgres://…":                    config.Store == "" && config.Database.ListenURL != "",
		"--index-ca and --index-api-key-file need --index http://…":    config.localIndex() && config.IndexCA+config.IndexAPIKeyFile != "",
		"--pages-tiles-hosts and {s} in --pages-tiles need each other": strings.Contains(config.PageOptions.Tiles, "{s}") != (len(config.PageOptions.TileHosts) > 0),
		"--witnesses must be at most 16":                               len(config.Witnesses) > proof.MaxWitnesses,
	}
	maps.DeleteFunc(wrong, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(wrong))
}

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
