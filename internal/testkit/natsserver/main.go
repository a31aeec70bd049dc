// Command natsserver is nats-server for tests: the servers of a cluster notice in
// about a second, instead of four to nine, that a leader is gone. All else is as
// in the program of the module.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/nats-io/nats-server/v2/server"
)

// The times of Raft, a quarter or less of the server's own. It has no settings
// for them; its own tests change these variables in the same way.
//
//go:linkname minElectionTimeout github.com/nats-io/nats-server/v2/server.minElectionTimeout
var minElectionTimeout time.Duration

//go:linkname maxElectionTimeout github.com/nats-io/nats-server/v2/server.maxElectionTimeout
var maxElectionTimeout time.Duration

//go:linkname hbInterval github.com/nats-io/nats-server/v2/server.hbInterval
var hbInterval time.Duration

//go:linkname lostQuorumInterval github.com/nats-io/nats-server/v2/server.lostQuorumInterval
var lostQuorumInterval time.Duration

//go:linkname lostQuorumCheck github.com/nats-io/nats-server/v2/server.lostQuorumCheck
var lostQuorumCheck time.Duration

func main() {
	if err := run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hurry sets the times.
func hurry() error {
	for v, d := range map[*time.Duration]time.Duration{
		&minElectionTimeout: 750 * time.Millisecond,
		&maxElectionTimeout: 1500 * time.Millisecond,
		&hbInterval:         200 * time.Millisecond,
		&lostQuorumInterval: 2 * time.Second,
		&lostQuorumCheck:    time.Second,
	} {
		if *v == 0 { // linked with nothing
			return errors.New("nats-server has other names for the times of Raft, look into its raft.go")
		}
		*v = d
	}
	return nil
}

func run(args []string) error {
	if err := hurry(); err != nil {
		return err
	}
	opts, err := server.ConfigureOptions(flag.NewFlagSet(args[0], flag.ContinueOnError), args[1:], nil, nil, nil)
	if err != nil {
		return err
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	if err := server.Run(s); err != nil {
		return err
	}
	s.WaitForShutdown()
	return nil
}
