package power

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// Redfish (DMTF DSP0266) is how board controllers answer over HTTPS. Each chassis under /redfish/v1/Chassis links to
// EnvironmentMetrics, whose PowerWatts reads what the chassis takes, or to the older Power, whose PowerControl does.

const (
	redfishUser     = "TEPS_REDFISH_USER"
	redfishPassword = "TEPS_REDFISH_PASSWORD"

	redfishPace  = time.Second
	redfishLimit = 10 * time.Second // for finding the meters
	redfishMost  = 4 << 20          // bytes of an answer
)

// findRedfish opens a meter for each chassis that reads power. Name and password come from the environment, so that
// they stand in no list of processes and in no record.
func findRedfish(ctx context.Context, s spec, getenv func(string) string) ([]Meter, []Absence) {
	absent := func(format string, args ...any) ([]Meter, []Absence) {
		return nil, []Absence{{Source: "redfish", Reason: fmt.Sprintf(format, args...)}}
	}
	user, password := getenv(redfishUser), getenv(redfishPassword)
	if host := s.url.Hostname(); user != "" && s.url.Scheme == "http" && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return absent("%s is not encrypted, and the password would go over the network as it is: write https", s.url.Redacted())
	}
	c := &redfishClient{base: s.url, user: user, password: password, http: &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: s.source == "redfish-insecure", MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1, DisableCompression: true,
		},
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if r.URL.Host != s.url.Host || r.URL.Scheme != s.url.Scheme {
				return errors.New("it sends on to another address, which is not followed")
			}
			return nil
		},
	}}
	ctx, cancel := context.WithTimeout(ctx, redfishLimit)
	defer cancel()
	var list struct{ Members []redfishLink }
	if err := c.get(ctx, "/redfish/v1/Chassis", &list); err != nil {
		c.http.CloseIdleConnections()
		return absent("%v", err)
	}
	var meters []Meter
	for _, member := range list.Members {
		var chassis struct{ EnvironmentMetrics, Power redfishLink }
		if c.get(ctx, member.ID, &chassis) != nil {
			continue
		}
		for _, link := range []redfishLink{chassis.EnvironmentMetrics, chassis.Power} {
			if link.ID == "" {
				continue
			}
			m := &redfishMeter{client: c, path: link.ID, info: Info{
				Name: "redfish:" + s.url.Host + "/" + path.Base(member.ID), Source: "redfish", Scope: s.scope, Method: Measured, Quantity: Power,
				Detail: s.url.Scheme + "://" + s.url.Host + link.ID,
			}}
			if _, err := m.Read(ctx); err == nil {
				meters = append(meters, m)
				break
			}
		}
	}
	if len(meters) == 0 {
		c.http.CloseIdleConnections()
		return absent("none of the %d chassis of %s reads its power", len(list.Members), s.url.Host)
	}
	return meters, nil
}

type redfishLink struct {
	ID string `json:"@odata.id"`
}

type redfishClient struct {
	base           *url.URL
	user, password string
	http           *http.Client
}

// get reads a resource of this server as JSON.
func (c *redfishClient) get(ctx context.Context, resource string, into any) error {
	if !strings.HasPrefix(resource, "/") || strings.HasPrefix(resource, "//") {
		return fmt.Errorf("it links to %q, which is not on this server", resource)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.Scheme+"://"+c.base.Host+resource, nil)
	if err != nil {
		return err
	}
	if c.user != "" {
		request.SetBasicAuth(c.user, c.password)
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	var unknown *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is not trusted (%w): add its authority to the system's, or ask for redfish-insecure=%s", c.base.Host, unknown.Err, c.base)
	case err != nil:
		return fmt.Errorf("%s does not answer: %w", c.base.Host, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, redfishMost))
	switch {
	case err != nil:
		return err
	case response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s wants a login (%s): set %s and %s", c.base.Host, response.Status, redfishUser, redfishPassword)
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answers %s to %s", c.base.Host, response.Status, resource)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s%s is not what Redfish answers: %w", c.base.Host, resource, err)
	}
	return nil
}

type redfishMeter struct {
	client *redfishClient
	path   string
	info   Info
}

func (*redfishMeter) told()               {}
func (m *redfishMeter) Info() Info        { return m.info }
func (*redfishMeter) Pace() time.Duration { return redfishPace }

func (m *redfishMeter) Close() error {
	m.client.http.CloseIdleConnections()
	return nil
}

func (m *redfishMeter) Read(ctx context.Context) ([]Reading, error) {
	begin := time.Now()
	var answer struct {
		PowerWatts   struct{ Reading *float64 } // EnvironmentMetrics
		PowerControl []struct{ PowerConsumedWatts *float64 }
	}
	if err := m.client.get(ctx, m.path, &answer); err != nil {
		return nil, err
	}
	window := time.Since(begin)
	watts := answer.PowerWatts.Reading
	for _, control := range answer.PowerControl { // the first is the chassis' own
		if watts == nil {
			watts = control.PowerConsumedWatts
		}
	}
	if watts == nil || *watts <= 0 {
		return nil, errors.New("it shows no power now")
	}
	return []Reading{{Time: begin.Add(window / 2), Value: *watts, Window: window}}, nil
}
