// Package handoversim: The control API of handover-sim, for tests. Copy this file.
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

func (sim *Sim) CreateChat(body JSON) JSON {
	return sim.call("POST", "/chats", body, nil)
}
func (sim *Sim) GetChat(id string, query Query) JSON {
	return sim.call("GET", "/chats/"+url.PathEscape(id), nil, query)
}
func (sim *Sim) Say(id string, body JSON, query Query) JSON {
	return sim.call("POST", "/chats/"+url.PathEscape(id)+"/messages", body, query)
}
func (sim *Sim) Press(id string, body JSON, query Query) JSON {
	return sim.call("POST", "/chats/"+url.PathEscape(id)+"/press", body, query)
}
func (sim *Sim) ActAsAgent(body JSON) JSON {
	return sim.call("POST", "/agent", body, nil)
}
func (sim *Sim) ReadInbox(query Query) JSON {
	return sim.call("GET", "/agent/inbox", nil, query)
}
func (sim *Sim) WaitFor(query Query) JSON {
	return sim.call("GET", "/wait", nil, query)
}
func (sim *Sim) GetJournal(query Query) JSON {
	return sim.call("GET", "/journal", nil, query)
}
func (sim *Sim) Trigger(body JSON) JSON {
	return sim.call("POST", "/trigger", body, nil)
}
func (sim *Sim) PatchConfig(body JSON) JSON {
	return sim.call("PATCH", "/config", body, nil)
}
func (sim *Sim) SetAvailability(body JSON) JSON {
	return sim.call("PUT", "/availability", body, nil)
}
func (sim *Sim) SetFault(body JSON) JSON {
	return sim.call("POST", "/faults", body, nil)
}
func (sim *Sim) ClearFaults() JSON {
	return sim.call("DELETE", "/faults", nil, nil)
}
func (sim *Sim) AdvanceClock(body JSON) JSON {
	return sim.call("POST", "/clock/advance", body, nil)
}
func (sim *Sim) Settle() JSON {
	return sim.call("POST", "/settle", nil, nil)
}
func (sim *Sim) Reset() JSON {
	return sim.call("POST", "/reset", nil, nil)
}
