package main

import "reflect"

// commands are the command line. Its commands fill one config.
type commands struct {
	Config  string `placeholder:"FILE" type:"settings" help:"YAML file of settings, as per-page-max: 200; flags and environment win over it"`
	Version bool   `commandline:"" help:"print the version"`

	Serve  serveCommand  `cmd:"" group:"Service" help:"run the service"`
	Demo   demoCommand   `cmd:"" group:"Service" help:"run the service on a made-up calendar in a temporary directory"`
	Health healthCommand `cmd:"" group:"Service" help:"ask a running service how it is"`
	Ready  readyCommand  `cmd:"" group:"Service" help:"ask the process at --listen whether it is ready, as a probe"`
	User   userCommands  `cmd:"" group:"Service" help:"manage users and their tokens"`

	Import  importCommand   `cmd:"" group:"Records" help:"apply changes from a file"`
	Export  exportCommand   `cmd:"" group:"Records" help:"print all entries and checkpoints, one JSON object a line"`
	History historyCommands `cmd:"" group:"Records" help:"print the history of one record"`
	Changes changesCommands `cmd:"" group:"Records" help:"follow the changes of all records"`
	Erase   eraseCommand    `cmd:"" group:"Records" help:"erase a record for good, in every version and every place"`
	Verify  verifyCommand   `cmd:"" group:"Records" help:"check every entry against the chain"`
	Audit   auditCommands   `cmd:"" group:"Records" help:"prove the log to others: checkpoints, proofs, keys, exports"`
	Migrate migrateCommand  `cmd:"" group:"Records" help:"bring the schema of a PostgreSQL event store to the present form, as its owner; or carry the store of a directory into it"`

	Rebuild rebuildCommand `cmd:"" group:"Read model" help:"rebuild the read model from the event store"`
	Retry   retryCommand   `cmd:"" group:"Read model" help:"project a quarantined record again"`

	Settings   configCommands    `cmd:"" name:"config" group:"Tools" help:"print the settings in force"`
	Completion completionCommand `cmd:"" group:"Tools" help:"print what completes commands and flags in bash, zsh, fish or pwsh"`
	Program    versionCommand    `cmd:"" name:"version" group:"Tools" help:"print the version"`
}

// The groups of settings that commands take together.
type (
	// storeSettings say where the event store is.
	storeSettings struct {
		*DataOptions  `group:"event store"`
		*StoreOptions `group:"event store"`
	}
	feedSettings struct {
		*FeedOptions `group:"feed"`
	}
	indexSettings struct {
		*IndexOptions `group:"read model"`
	}
	// serviceSettings are those of the interface, the pages and the process.
	serviceSettings struct {
		*ListenOptions    `group:"interface"`
		*AddressOptions   `group:"interface"`
		*ZoneOptions      `group:"interface"`
		*InterfaceOptions `group:"interface"`
		*PagesOptions     `group:"pages"`
		*ProofOptions     `group:"proofs"`
		*ProcessOptions   `group:"process"`
	}
	outputSettings struct {
		*OutputOptions `group:"command"`
	}
	zoneSettings struct {
		*ZoneOptions `group:"interface"`
	}
	languageSettings struct {
		*LanguageOptions
	}
)

// newCommands returns the command line that fills a config.
func newCommands(s *config) *commands {
	c := new(commands)
	share(reflect.ValueOf(c).Elem(), reflect.ValueOf(s).Elem())
	return c
}

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
