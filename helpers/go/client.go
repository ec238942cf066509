package kafkadouble

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// LibraryVersion is the version of this library.
const LibraryVersion = "0.1.0"

// Client calls the control plane of a kafkadouble. It is safe for concurrent use.
type Client struct {
	url     string
	token   string
	version string
	http    *http.Client
}

// Connect returns a client for a kafkadouble that runs already, such as one in a container. The URL
// is that of the line control.url on its stdout. The token may be empty.
func Connect(url, token string) *Client {
	return &Client{url: strings.TrimRight(url, "/"), token: token, http: &http.Client{Transport: &http.Transport{}}}
}

// Call calls any verb, and decodes its result into the value that result points to, if it is not
// nil. Use it for a verb that is newer than this library.
func (c *Client) Call(ctx context.Context, verb string, parameters map[string]any, result any) error {
	body, err := encoded(parameters)
	if err != nil {
		return err
	}
	answer := struct {
		Result any `json:"result"`
	}{result}
	err = c.request(ctx, http.MethodPost, "/verbs/"+verb, body, &answer)
	if unknown, ok := err.(*UsageError); ok && unknown.Status == http.StatusNotFound {
		unknown.Message += fmt.Sprintf(
			" (program kafkadouble %s, library %s: upgrade the older one)", c.programVersion(ctx), LibraryVersion)
	}
	return err
}

// LastRequests returns the last requests of clients, at most count of them (up to 1000), oldest
// first.
func (c *Client) LastRequests(ctx context.Context, count int) ([]Request, error) {
	var page struct {
		Requests []Request `json:"requests"`
	}
	err := c.request(ctx, http.MethodGet, fmt.Sprintf("/requests?limit=%d", count), nil, &page)
	return page.Requests, err
}

// call is Call with the parameters of a generated method. Rules that it returns get their client.
func (c *Client) call(ctx context.Context, verb string, required, optional []Param, result any) error {
	parameters := map[string]any{}
	for _, param := range append(required, optional...) {
		parameters[param.Name] = param.Value
	}
	err := c.Call(ctx, verb, parameters, result)
	switch made := result.(type) {
	case **Rule:
		if *made != nil {
			(*made).client = c
		}
	case *[]*Rule:
		for _, rule := range *made {
			rule.client = c
		}
	}
	return err
}

func (c *Client) request(ctx context.Context, method, path string, body []byte, result any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "kafkadouble-go/"+LibraryVersion) // errors are in the words of Go
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("kafkadouble: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("kafkadouble: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return failed(response.StatusCode, text)
	}
	if err := json.Unmarshal(text, result); err != nil {
		return fmt.Errorf("kafkadouble: the answer to %s is not what this library %s reads: %w", path, LibraryVersion, err)
	}
	return nil
}

func failed(status int, text []byte) error {
	var answer struct {
		Error problem `json:"error"`
	}
	if json.Unmarshal(text, &answer) != nil || answer.Error.Kind == "" {
		answer.Error = problem{Kind: "unknown", Message: string(text)}
	}
	return answer.Error.asError(status)
}

func (c *Client) programVersion(ctx context.Context) string {
	var health struct {
		Version string `json:"version"`
	}
	if c.version == "" && c.request(ctx, http.MethodGet, "/health", nil, &health) == nil {
		return health.Version
	}
	return c.version
}
