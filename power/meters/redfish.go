// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"time"

	"github.com/tepsbench/teps/power"
)

// Board controllers serve Redfish over HTTPS (DMTF DSP0266). Each chassis under /redfish/v1/Chassis links to
// EnvironmentMetrics, where PowerWatts is the power of the chassis, or to the older Power, which has PowerControl.

const (
	redfishUser      = "TEPS_REDFISH_USER"
	redfishPassword  = "TEPS_REDFISH_PASSWORD"
	redfishMaxAnswer = 4 << 20 // bytes
)

func redfishSource(name, help string, insecure bool) Source {
	return Source{
		Name: name, Example: name + "=https://bmc.example", Scope: power.Node, Check: checkRedfishURL, Help: help,
		Open: func(ctx context.Context, r Request) ([]power.Meter, error) { return openRedfish(ctx, r, insecure) },
	}
}

func checkRedfishURL(value string) error {
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return errors.New("the value is not an http or https address")
	case u.User != nil:
		return fmt.Errorf("others can read a name and password in the address: set %s and %s instead", redfishUser,
			redfishPassword)
	}
	return nil
}

// A redfishClient reads resources of one server. Name and password come from the environment, so that they are not in
// the list of processes or a record.
type redfishClient struct {
	server         url.URL
	user, password string
	http           http.Client
}

func openRedfish(ctx context.Context, r Request, insecure bool) (meters []power.Meter, _ error) {
	base, err := url.Parse(r.Value)
	if err != nil {
		return nil, err
	}
	c := &redfishClient{
		server: url.URL{Scheme: base.Scheme, Host: base.Host}, user: os.Getenv(redfishUser),
		password: os.Getenv(redfishPassword),
	}
	c.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: insecure}}
	c.http.CheckRedirect = func(to *http.Request, _ []*http.Request) error {
		if to.URL.Host != base.Host || to.URL.Scheme != base.Scheme {
			return errors.New("redirects to another server are not followed")
		}
		return nil
	}
	if host := base.Hostname(); c.user != "" && base.Scheme == "http" && host != "localhost" &&
		!net.ParseIP(host).IsLoopback() {
		return nil, fmt.Errorf("%s is not encrypted and would expose the password: write https", base)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var list struct{ Members []redfishLink }
	err = c.get(ctx, "/redfish/v1/Chassis", &list)
	for _, member := range list.Members {
		var chassis struct{ EnvironmentMetrics, Power redfishLink }
		if c.get(ctx, member.ID, &chassis) != nil {
			continue
		}
		for _, link := range []redfishLink{chassis.EnvironmentMetrics, chassis.Power} {
			m := &polled{
				info: power.Info{
					Name: "redfish:" + base.Host + "/" + path.Base(member.ID), Source: "redfish", Scope: r.Scope,
					Method: power.Measured, Quantity: power.Power, MinInterval: time.Second, Detail: c.server.String() + link.ID,
				},
				show:  func(ctx context.Context) (float64, error) { return c.watts(ctx, link.ID) },
				close: func() { c.http.CloseIdleConnections() },
			}
			if _, err := m.Read(ctx); err == nil {
				meters = append(meters, m)
				break
			}
		}
	}
	if len(meters) == 0 {
		c.http.CloseIdleConnections()
		if err == nil {
			err = fmt.Errorf("none of the %d chassis of %s reports its power", len(list.Members), base.Host)
		}
	}
	return meters, err
}

type redfishLink struct {
	ID string `json:"@odata.id"`
}

func (c *redfishClient) get(ctx context.Context, resource string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server.JoinPath(resource).String(), nil)
	if err != nil {
		return err
	}
	if c.user != "" {
		request.SetBasicAuth(c.user, c.password)
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return fmt.Errorf("the certificate of %s is not trusted (%w): add its authority to those of the system, "+
			"or use redfish-insecure", c.server.Host, untrusted.Err)
	}
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", c.server.Host, err)
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s requires a login (%s): set %s and %s", c.server.Host, response.Status, redfishUser,
			redfishPassword)
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answered %s to %s", c.server.Host, response.Status, resource)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, redfishMaxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("%s%s is not a Redfish answer: %w", c.server.Host, resource, err)
	}
	return nil
}

func (c *redfishClient) watts(ctx context.Context, resource string) (float64, error) {
	var answer struct {
		PowerWatts   struct{ Reading *float64 } // EnvironmentMetrics
		PowerControl []struct{ PowerConsumedWatts *float64 }
	}
	if err := c.get(ctx, resource, &answer); err != nil {
		return 0, err
	}
	readings := []*float64{answer.PowerWatts.Reading}
	for _, control := range answer.PowerControl { // the first is that of the chassis
		readings = append(readings, control.PowerConsumedWatts)
	}
	if watts := cmp.Or(readings...); watts != nil && *watts > 0 {
		return *watts, nil
	}
	return 0, errors.New("the controller reports no power now")
}
