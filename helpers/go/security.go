package kafkadouble

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
)

// ClientSettings is what any Kafka client needs. A text that is not needed is empty: CAPEM is the
// authority to trust with TLS, CertificateAndKeyPEM the certificate of a user.
type ClientSettings struct {
	BootstrapServers     string `json:"bootstrap_servers"`
	SecurityProtocol     string `json:"security_protocol"`
	CAPEM                string `json:"ca_pem"`
	CertificateAndKeyPEM string `json:"certificate_and_key_pem"`
	Mechanism            string `json:"mechanism"`
	User                 string `json:"user"`
	Password             string `json:"password"`
}

// ClientSettings returns the settings of a client. With SASL it logs in as the user; with SSL it shows
// a certificate of the user, and none if the user is empty. Optional: Mechanism.
func (c *Client) ClientSettings(ctx context.Context, user string, params ...Param) (ClientSettings, error) {
	required := []Param{{"client", "generic"}}
	if user != "" {
		required = append(required, Param{"user", user})
	}
	var result ClientSettings
	err := c.call(ctx, "client_config", required, params, &result)
	return result, err
}

// Brokers is HOST:PORT of every broker.
func (s ClientSettings) Brokers() []string {
	return strings.Split(s.BootstrapServers, ",")
}

// TLS is the configuration of connections; nil if they have no TLS.
func (s ClientSettings) TLS() (*tls.Config, error) {
	if s.CAPEM == "" {
		return nil, nil
	}
	made := &tls.Config{RootCAs: x509.NewCertPool()}
	if !made.RootCAs.AppendCertsFromPEM([]byte(s.CAPEM)) {
		return nil, errors.New("kafkadouble: the authority is no certificate")
	}
	if s.CertificateAndKeyPEM == "" {
		return made, nil
	}
	own, err := tls.X509KeyPair([]byte(s.CertificateAndKeyPEM), []byte(s.CertificateAndKeyPEM))
	made.Certificates = []tls.Certificate{own}
	return made, err
}

// String shows neither the password nor a key.
func (s ClientSettings) String() string {
	return s.SecurityProtocol + " as " + s.User + " to " + s.BootstrapServers
}

// GoString is the same.
func (s ClientSettings) GoString() string {
	return s.String()
}
