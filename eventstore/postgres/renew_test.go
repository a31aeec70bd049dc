package postgres

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRenewSecrets: certificate, key and authorities are read again for each connection.
func TestRenewSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "client.crt"), filepath.Join(dir, "client.key")
	rotate := func(serial int64) {
		t.Helper()
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		form := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Unix(1<<33, 0)}
		cert, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
			if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	rotate(1)
	url := "postgres://a@one.example,two.example/db?sslmode=verify-full&sslrootcert=" + certFile + "&sslcert=" + certFile + "&sslkey=" + keyFile
	config, err := parse(url)
	if err != nil {
		t.Fatal(err)
	}
	rotate(2)
	connConfig := config.ConnConfig.Copy()
	if err := renewSecrets(connConfig, url); err != nil {
		t.Fatal(err)
	}
	uses := []*tls.Config{connConfig.TLSConfig}
	for _, other := range connConfig.Fallbacks {
		uses = append(uses, other.TLSConfig)
	}
	for i, used := range uses {
		cert, err := x509.ParseCertificate(used.Certificates[0].Certificate[0])
		if err != nil || cert.SerialNumber.Int64() != 2 {
			t.Errorf("host %d: certificate %v, %v", i, cert, err)
		}
	}
	if config.ConnConfig.TLSConfig.RootCAs.Equal(connConfig.TLSConfig.RootCAs) {
		t.Error("the authorities are those of before")
	}
}
