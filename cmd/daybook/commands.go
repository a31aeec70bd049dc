package main

// commands are the command line. Its commands fill one config.
type commands struct {
	Config  string `placeholder:"FILE" type:"file" help:"YAML file of settings, as per-page-max: 200; flags and environment win over it"`
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
		*dataOptions  `group:"event store"`
		*storeOptions `group:"event store"`
	}
	feedSettings struct {
		*feedOptions `group:"feed"`
	}
	indexSettings struct {
		*indexOptions `group:"read model"`
	}
	// serviceSettings are those of the interface, the pages and the process.
	serviceSettings struct {
		*listenOptions    `group:"interface"`
		*addressOptions   `group:"interface"`
		*zoneOptions      `group:"interface"`
		*interfaceOptions `group:"interface"`
		*pagesOptions     `group:"pages"`
		*proofOptions     `group:"proofs"`
		*processOptions   `group:"process"`
	}
	outputSettings struct {
		*outputOptions `group:"command"`
	}
	zoneSettings struct {
		*zoneOptions `group:"interface"`
	}
	languageSettings struct {
		*languageOptions
	}
)

// newCommands returns the command line that fills a config.
func newCommands(s *config) *commands {
	store := storeSettings{&s.dataOptions, &s.storeOptions}
	feed, index := feedSettings{&s.feedOptions}, indexSettings{&s.indexOptions}
	output, zone, language := outputSettings{&s.outputOptions}, zoneSettings{&s.zoneOptions}, languageSettings{&s.languageOptions}
	service := serviceSettings{
		&s.listenOptions, &s.addressOptions, &s.zoneOptions, &s.interfaceOptions, &s.pagesOptions, &s.proofOptions, &s.processOptions,
	}
	serve := serveSettings{store, feed, index, &s.roleOptions, service}
	c := &commands{
		Serve: serveCommand{serve}, Demo: demoCommand{serviceSettings: service},
		Health: healthCommand{store, feed, index, output}, Ready: readyCommand{&s.listenOptions},
		User:    userCommands{storeSettings: store, outputSettings: output},
		Import:  importCommand{storeSettings: store, outputSettings: output, zoneSettings: zone},
		Export:  exportCommand{storeSettings: store},
		History: historyCommands{storeSettings: store, outputSettings: output, zoneSettings: zone, languageSettings: language},
		Changes: changesCommands{storeSettings: store, outputSettings: output, Tail: changesTail{languageSettings: language}},
		Erase: eraseCommand{
			storeSettings: store, feedSettings: feed, indexSettings: index, addressOptions: &s.addressOptions, outputSettings: output,
		},
		Verify: verifyCommand{storeSettings: store, outputSettings: output},
		Audit: auditCommands{
			storeSettings: store, proofOptions: &s.proofOptions, addressOptions: &s.addressOptions, outputSettings: output, zoneSettings: zone,
		},
		Migrate: migrateCommand{storeSettings: store},
		Rebuild: rebuildCommand{storeSettings: store, indexSettings: index}, Retry: retryCommand{storeSettings: store, indexSettings: index},
		Settings: configCommands{serveSettings: serve, outputSettings: output},
	}
	return c
}
