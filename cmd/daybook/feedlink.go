package main

import (
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore/feed"
)

// openFeed connects to the feed that the settings name. Servers that are not there yet do
// not stop it: the connection is made when they come. Close its Conn in the end.
func openFeed(s *settings, log *slog.Logger) (jetstream.JetStream, error) {
	servers := redactedURLs(s.feed)
	_, js, err := feed.Connect(s.feed, feed.ConnectOptions{
		Log: log.With("servers", servers), Credentials: s.feedCredentials, NKey: s.feedNKey, Domain: s.feedDomain, APIPrefix: s.feedAPIPrefix,
		CA: s.feedCA, Cert: s.feedCert, Key: s.feedKey,
	})
	if err != nil {
		return nil, fmt.Errorf("feed %s: %w", servers, err)
	}
	return js, nil
}
