package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore/feed"
)

// transport is what carries the feed.
type transport struct {
	js     jetstream.JetStream
	conn   *nats.Conn
	shared bool // by several processes
	close  func() error
}

// openFeed opens the feed that the settings name. Servers that are not there yet
// do not stop it: the connection is made when they come.
func openFeed(s *settings, log *slog.Logger) (*transport, error) {
	if s.feed == "" {
		e, err := feed.StartEmbedded(feed.EmbeddedOptions{Dir: s.data, Log: log})
		if err != nil {
			return nil, fmt.Errorf("feed: %w", err)
		}
		return &transport{js: e.JetStream(), conn: e.Conn(), close: e.Close}, nil
	}
	conn, js, err := feed.Connect(s.feed, feed.ConnectOptions{
		Log: log, Credentials: s.feedCredentials, NKey: s.feedNKey, Domain: s.feedDomain, APIPrefix: s.feedAPIPrefix,
		CA: s.feedCA, Cert: s.feedCert, Key: s.feedKey,
	})
	if err != nil {
		return nil, err // names the setting
	}
	return &transport{js: js, conn: conn, shared: true, close: func() error { conn.Close(); return nil }}, nil
}

// errNoFeed says that no server of the feed is connected.
var errNoFeed = errors.New("no server of the feed is connected")

// reachable tells whether the feed can be used now.
func (t *transport) reachable() error {
	if !t.conn.IsConnected() {
		return errNoFeed
	}
	return nil
}
