package main

import (
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore/feed"
)

// openFeed connects to the feed that the settings name. Servers that are not there yet do
// not stop it: the connection is made when they come. Close its Conn in the end.
func openFeed(s *config, log *slog.Logger) (jetstream.JetStream, error) {
	servers := redactedURLs(s.Feed)
	_, js, err := feed.Connect(s.Feed, feed.ConnectOptions{
		Log: log.With("servers", servers), Credentials: s.FeedCredentials, NKey: s.FeedNKey, Domain: s.FeedDomain, APIPrefix: s.FeedAPIPrefix,
		CA: s.FeedCA, Cert: s.FeedCert, Key: s.FeedKey,
	})
	if err != nil {
		return nil, fmt.Errorf("feed %s: %w", servers, err)
	}
	return js, nil
}
