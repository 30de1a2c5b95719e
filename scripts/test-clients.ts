/** Writes the clients of the control API for tests in other languages, from its OpenAPI document. */
import { controlOpenApi } from '../src/server/control/openapi.ts'

/** What tests need, as the document names it. */
const OPERATIONS = [
  ...['createChat', 'getChat', 'say', 'press', 'actAsAgent', 'readInbox', 'waitFor', 'getJournal', 'trigger'],
  ...['patchConfig', 'setAvailability', 'setFault', 'clearFaults', 'advanceClock', 'settle', 'reset'],
]

interface Operation {
  /** As in the document: `createChat`. */
  readonly id: string
  readonly method: string
  /** `/chats/{id}/press` */
  readonly path: string
  readonly summary: string
  /** Names of the parameters in the path. */
  readonly names: readonly string[]
  readonly hasQuery: boolean
  readonly hasBody: boolean
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

function operations(): Operation[] {
  const found: Operation[] = []
  for (const [path, methods] of Object.entries(controlOpenApi().paths as Record<string, Record<string, Described>>))
    for (const method of METHODS) {
      const described = methods[method]
      if (described === undefined || !OPERATIONS.includes(described.operationId)) continue
      found.push({
        id: described.operationId,
        method: method.toUpperCase(),
        path: path.replace('/_sim', ''),
        summary: described.summary,
        names: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
        hasQuery: described.parameters?.some(one => one.in === 'query') ?? false,
        hasBody: described.requestBody !== undefined && !['settle', 'reset'].includes(described.operationId),
      })
    }
  return found.sort((a, b) => OPERATIONS.indexOf(a.id) - OPERATIONS.indexOf(b.id))
}

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly { readonly in: string }[]
  readonly requestBody?: unknown
}

const snake = (id: string) => id.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
const pascal = (id: string) => id.charAt(0).toUpperCase() + id.slice(1)
const ABOUT =
  'The control API of handover-sim, for tests. Copy this file; it is made from the OpenAPI document of the API.'

function python(): string {
  const methods = operations().map(({ id, method, path, names, hasQuery, hasBody }) => {
    const takes = ['self', ...names, ...(hasBody ? ['body=None'] : []), ...(hasQuery ? ['**query'] : [])]
    const address = names.length > 0 ? `f"${path.replaceAll(/\{(\w+)\}/g, '{quote($1)}')}"` : `"${path}"`
    const given = [`"${method}"`, address, hasQuery ? 'query' : 'None', hasBody ? 'body or {}' : 'None']
    return `    def ${snake(id)}(${takes.join(', ')}):\n        return self.call(${given.join(', ')})\n`
  })
  return `"""${ABOUT}"""
import json, os
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener


class HandoverSim:
    def __init__(self, url=None, token=None):
        self.url = url or os.environ["HANDOVER_SIM_URL"]
        self.token = token or os.environ.get("HANDOVER_SIM_TOKEN")
        # Without the proxy that the environment may name.
        self.opener = build_opener(ProxyHandler({}))

    def call(self, method, path, query=None, body=None):
        address = f"{self.url}/_sim{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        try:
            with self.opener.open(Request(address, data, headers, method=method), timeout=60) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise AssertionError(json.load(error)["error"]["message"]) from None

${methods.join('\n')}`
}

function ruby(): string {
  const methods = operations().map(({ id, method, path, names, hasQuery, hasBody }) => {
    const takes = [...names, ...(hasBody ? ['body = {}'] : []), ...(hasQuery ? ['**query'] : [])]
    const address = path.replaceAll(/\{(\w+)\}/g, '#{$1}')
    const given = [`'${method}'`, names.length > 0 ? `"${address}"` : `'${address}'`]
    if (hasBody || hasQuery) given.push(hasBody ? 'body' : 'nil')
    if (hasQuery) given.push('query')
    const parameters = takes.length > 0 ? `(${takes.join(', ')})` : ''
    return `  def ${snake(id)}${parameters} = call(${given.join(', ')})`
  })
  return `# ${ABOUT}
require 'json'
require 'net/http'

class HandoverSim
  def initialize(url = ENV.fetch('HANDOVER_SIM_URL'), token = ENV['HANDOVER_SIM_TOKEN'])
    @url = url
    @token = token
  end

  def call(method, path, body = nil, query = {})
    address = URI("#{@url}/_sim#{path}")
    address.query = URI.encode_www_form(query) unless query.empty?
    headers = { 'content-type' => 'application/json' }
    headers['authorization'] = "Bearer #{@token}" if @token
    # Without the proxy that the environment may name.
    http = Net::HTTP.new(address.host, address.port, nil)
    answer = http.send_request(method, address.request_uri, body&.to_json, headers)
    json = JSON.parse(answer.body)
    raise json['error']['message'] unless answer.is_a?(Net::HTTPSuccess)
    json
  end

${methods.join('\n')}
end
`
}

function php(): string {
  const methods = operations().map(({ id, method, path, names, hasQuery, hasBody }) => {
    const takes = [
      ...names.map(name => `string $${name}`),
      ...(hasBody ? ['array $body = []'] : []),
      ...(hasQuery ? ['array $query = []'] : []),
    ]
    const given = [`'${method}'`, `"${path.replaceAll(/\{(\w+)\}/g, '{$$$1}')}"`]
    if (hasBody || hasQuery) given.push(hasBody ? '$body' : 'null')
    if (hasQuery) given.push('$query')
    return `    public function ${id}(${takes.join(', ')}): array { return $this->call(${given.join(', ')}); }`
  })
  return `<?php
// ${ABOUT}
final class HandoverSim
{
    private string $url;
    private string $token;

    public function __construct(?string $url = null, ?string $token = null)
    {
        $this->url = $url ?? getenv('HANDOVER_SIM_URL');
        $this->token = $token ?? (getenv('HANDOVER_SIM_TOKEN') ?: '');
    }

    public function call(string $method, string $path, ?array $body = null, array $query = []): array
    {
        $headers = ['content-type: application/json'];
        if ($this->token !== '') $headers[] = "authorization: Bearer {$this->token}";
        $http = ['method' => $method, 'header' => $headers, 'ignore_errors' => true, 'timeout' => 60];
        if ($body !== null) $http['content'] = json_encode((object) $body);
        $address = "{$this->url}/_sim$path" . ($query === [] ? '' : '?' . http_build_query($query));
        $json = json_decode(file_get_contents($address, false, stream_context_create(['http' => $http])), true);
        if (isset($json['error']['message'])) throw new RuntimeException($json['error']['message']);
        return $json;
    }

${methods.join('\n')}
}
`
}

function go(): string {
  const methods = operations().map(({ id, method, path, names, hasQuery, hasBody }) => {
    const takes = [
      ...names.map(name => `${name} string`),
      ...(hasBody ? ['body JSON'] : []),
      ...(hasQuery ? ['query Query'] : []),
    ]
    const parts = path.split(/\{(\w+)\}/)
    const address = parts.map((part, index) => (index % 2 ? `url.PathEscape(${part})` : part === '' ? '' : `"${part}"`))
    const given = [
      `"${method}"`,
      address.filter(part => part !== '').join('+'),
      hasBody ? 'body' : 'nil',
      hasQuery ? 'query' : 'nil',
    ]
    return `func (sim *Sim) ${pascal(id)}(${takes.join(', ')}) JSON {\n\treturn sim.call(${given.join(', ')})\n}`
  })
  return `// Package handoversim: ${ABOUT}
package handoversim

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"
)

type JSON map[string]any
type Query map[string]string

type Sim struct {
	t      *testing.T
	client http.Client
}

// New fails the test when a call is refused. Its client uses no proxy that the environment may name.
func New(t *testing.T) *Sim { return &Sim{t, http.Client{Transport: &http.Transport{}}} }

func (sim *Sim) call(method, path string, body JSON, query Query) JSON {
	sim.t.Helper()
	values := url.Values{}
	for name, value := range query {
		values.Set(name, value)
	}
	var data bytes.Buffer
	if body != nil {
		json.NewEncoder(&data).Encode(body)
	}
	request, _ := http.NewRequest(method, os.Getenv("HANDOVER_SIM_URL")+"/_sim"+path+"?"+values.Encode(), &data)
	request.Header.Set("content-type", "application/json")
	if token := os.Getenv("HANDOVER_SIM_TOKEN"); token != "" {
		request.Header.Set("authorization", "Bearer "+token)
	}
	response, err := sim.client.Do(request)
	if err != nil {
		sim.t.Fatal(err)
	}
	defer response.Body.Close()
	answer := JSON{}
	json.NewDecoder(response.Body).Decode(&answer)
	if response.StatusCode >= 400 {
		sim.t.Fatal(answer["error"])
	}
	return answer
}

${methods.join('\n')}
`
}

function java(): string {
  const methods = operations().map(({ id, method, path, names, hasQuery, hasBody }) => {
    const takes = [
      ...names.map(name => `String ${name}`),
      ...(hasBody ? ['Map<String, ?> body'] : []),
      ...(hasQuery ? ['Map<String, ?> query'] : []),
    ]
    const address = `"${path.replaceAll(/\{(\w+)\}/g, '" + $1 + "')}"`.replace(/ \+ ""$/, '')
    const given = [`"${method}"`, address, hasBody ? 'body' : 'null', hasQuery ? 'query' : 'Map.of()']
    return `    public JsonNode ${id}(${takes.join(', ')}) { return call(${given.join(', ')}); }`
  })
  return `import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/** ${ABOUT} */
public final class HandoverSim {
    private final String url = System.getenv("HANDOVER_SIM_URL");
    private final String token = System.getenv("HANDOVER_SIM_TOKEN");
    private final ObjectMapper json = new ObjectMapper();
    /** Without the proxy that the environment may name. */
    private final HttpClient http = HttpClient.newBuilder().proxy(ProxySelector.of(null)).build();

    public JsonNode call(String method, String path, Map<String, ?> body, Map<String, ?> query) {
        try {
            String values = query.entrySet().stream()
                .map(one -> one.getKey() + "=" + URLEncoder.encode(String.valueOf(one.getValue()), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + "/_sim" + path + "?" + values))
                .header("content-type", "application/json")
                .method(method, body == null ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(json.writeValueAsString(body)));
            if (token != null) request.header("authorization", "Bearer " + token);
            HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            JsonNode answer = json.readTree(response.body());
            if (response.statusCode() >= 400) throw new AssertionError(answer.at("/error/message").asText());
            return answer;
        } catch (java.io.IOException | InterruptedException error) {
            throw new AssertionError(error);
        }
    }

${methods.join('\n')}
}
`
}

function csharp(): string {
  const methods = operations().map(({ id, method, path, names, hasQuery, hasBody }) => {
    const takes = [
      ...names.map(name => `string ${name}`),
      ...(hasBody ? ['object? body = null'] : []),
      ...(hasQuery ? ['string query = ""'] : []),
    ]
    const address = names.length > 0 ? `$"${path}"` : `"${path}"`
    const given = [`"${method}"`, address, hasBody ? 'body ?? new { }' : 'null', hasQuery ? 'query' : '""']
    return `    public Task<JsonNode> ${pascal(id)}(${takes.join(', ')}) => Call(${given.join(', ')});`
  })
  return `using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;

/// <summary>${ABOUT} A query is text such as call=start.</summary>
public sealed class HandoverSim
{
    private readonly string url = Environment.GetEnvironmentVariable("HANDOVER_SIM_URL")!;
    private readonly string? token = Environment.GetEnvironmentVariable("HANDOVER_SIM_TOKEN");
    // Without the proxy that the environment may name.
    private readonly HttpClient http = new(new HttpClientHandler { UseProxy = false });

    public async Task<JsonNode> Call(string method, string path, object? body = null, string query = "")
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), $"{url}/_sim{path}?{query}");
        if (body != null) request.Content = new StringContent(JsonSerializer.Serialize(body), Encoding.UTF8, "application/json");
        if (token != null) request.Headers.Add("authorization", $"Bearer {token}");
        using var response = await http.SendAsync(request);
        var answer = JsonNode.Parse(await response.Content.ReadAsStringAsync())!;
        if (!response.IsSuccessStatusCode) throw new Exception((string?)answer["error"]!["message"]);
        return answer;
    }

${methods.join('\n')}
}
`
}

export const CLIENTS: Readonly<Record<string, () => string>> = {
  'examples/pytest/handover_sim.py': python,
  'examples/rspec/handover_sim.rb': ruby,
  'examples/phpunit/HandoverSim.php': php,
  'examples/go-test/handoversim.go': go,
  'examples/junit/HandoverSim.java': java,
  'examples/xunit/HandoverSim.cs': csharp,
}
