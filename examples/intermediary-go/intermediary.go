// An intermediary between the chat platform and a small help desk, which you replace by your own.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxAttempts       = 5
	longestRetryAfter = 5 * time.Minute
	clockMargin       = 25 * time.Millisecond // two clocks differ by milliseconds, and a retry must not be early
	typingTimeoutMs   = 10_000                // limit of the indicator when the agent stops typing
)

type fields map[string]any

// event has only the fields that this program reads. The platform may add others.
type event struct {
	Event, Message string
	Bot            struct{ ID json.Number }
	Chat           struct{ ID string }
	Attachments    []fields
}

// answer has only the fields that this program reads.
type answer struct {
	Notice string `json:"chatmessage_id"`
	Chat   struct {
		Messages []struct{ ID, Message, Name string }
	}
}

// chat is pending (the user asked for an agent), open, closed, or held: a user writes and no request is known.
type chat struct {
	id, status, agent string
	botID             json.Number
	request           int // the number of its last request: the order of the queue
	typing            bool
	inbox             []fields
	accepted          int       // the length of the inbox when the agent accepted
	notices           [2]string // the ids of what the platform wrote at the last two starts and ends
	calls             calls
}

// calls are made one after the other. last is closed when the last one has its answer.
type calls struct{ last chan struct{} }

var (
	platform = setting("HANDOVER_SIM_URL", "http://127.0.0.1:4747")
	apiKey   = setting("HANDOVER_SIM_API_KEY", "sim-handover-key")
	botKey   = setting("HANDOVER_SIM_BOT_API_KEY", "sim-bot-key") // for transcripts
	secret   = setting("HANDOVER_SIM_WEBHOOK_SECRET", apiKey)
	// Does not follow a redirect, which would send the key to another address.
	client = http.Client{Timeout: 15 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}

	mu           sync.Mutex // guards what follows; is released before a call
	chats        = map[string]*chat{}
	requests     int
	availability calls
)

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func main() {
	http.HandleFunc("/webhook", webhook)
	http.HandleFunc("/desk/", desk)
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) { reply(w, 200, fields{"ok": true}) })
	listener, err := net.Listen("tcp", "127.0.0.1:"+setting("PORT", "3000"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Ready: http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

// webhook verifies the raw bytes before it reads them as JSON.
func webhook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	e := event{Attachments: []fields{}}
	switch {
	case r.Method != "POST":
		reply(w, 405, fields{"error": "use POST"})
	case err != nil:
		reply(w, 413, fields{"error": "the body is too long, or ends early"})
	case !isSigned(body, r.Header.Values("Kindly-HMAC")):
		reply(w, 401, fields{"error": "the signature is missing or wrong"})
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		reply(w, 415, fields{"error": "Content-Type must be application/json"})
	case json.Unmarshal(body, &e) != nil || e.Event == "":
		reply(w, 400, fields{"error": "the body is not an event"})
	default:
		store(e) // makes no call: the platform may wait for this answer
		reply(w, 200, fields{"ok": true})
	}
}

// isSigned compares the one signature of the request with the right one, in constant time.
func isSigned(body []byte, signatures []string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	expected := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return len(signatures) == 1 && hmac.Equal([]byte(signatures[0]), []byte(expected))
}

// store ignores unknown events, and typing events: a typing call in return would loop endlessly.
func store(e event) {
	if e.Event != "REQUESTING TAKEOVER" && e.Event != "MESSAGE FROM USER" {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	c := chats[e.Chat.ID]
	if c == nil {
		c = &chat{id: e.Chat.ID, status: "held", agent: "Anna", botID: e.Bot.ID}
		chats[c.id] = c
	}
	if e.Event == "MESSAGE FROM USER" { // stores each one: a copy looks like a user who writes "ok" twice
		c.inbox = append(c.inbox, fields{"text": e.Message, "attachments": e.Attachments})
	} else if c.status != "pending" && c.status != "open" { // otherwise a copy of the request
		requests++
		c.status, c.agent, c.request = "pending", "Anna", requests
		c.inbox = append(c.inbox, fields{"request": true})
	}
}

// possible has the actions of the agent, with the statuses of the chat in which each is possible.
var possible = map[string]string{"accept": "pending held", "messages": "open", "typing": "open", "close": "open held",
	"transfer": "open", "announce": "pending"}

// desk queues the calls that follow from an action of the agent, so a slow platform does not block the agent.
func desk(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Text, Team string
		On, Open   bool
	}
	json.NewDecoder(r.Body).Decode(&body) // accept, announce and close have no body
	mu.Lock()
	defer mu.Unlock()
	id, action, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/desk/"), "/")
	c := chats[id]
	switch {
	case id == "availability":
		state := map[bool]string{true: "OPEN", false: "CLOSED"}[body.Open]
		call := fields{"availability": state, "queue": "DEFAULT", "reason": "AGENT_AVAILABILITY"}
		availability.add("availability", call, func(answer, bool) {})
	case c != nil && r.Method == "GET" && action == "inbox":
		reply(w, 200, c.inbox)
		return
	case c == nil || possible[action] == "":
		reply(w, 404, fields{"error": "there is no such chat or action"})
		return
	case !strings.Contains(possible[action], c.status):
		reply(w, 409, fields{"error": "the chat is " + c.status})
		return
	case action == "messages" && body.Text == "":
		reply(w, 400, fields{"error": "text must not be empty"})
		return
	case action == "accept":
		c.status, c.accepted = "open", len(c.inbox)
		sender := senderOf(c.agent)
		sender["language_codes"] = []string{"en"} // the platform translates for them
		c.call("start", fields{"sender": sender, "supports_attachment": true})
	case action == "messages":
		c.say(c.agent, body.Text)
	case action == "typing":
		c.setTyping(body.On)
	case action == "close":
		c.status, c.typing = "closed", false
		c.call("end", fields{"sender": senderOf(c.agent)})
	case action == "transfer":
		c.say("Support desk", "You are being transferred to "+body.Team+".")
		c.agent = body.Team + " agent"
	case action == "announce":
		position := 1
		for _, other := range chats {
			if other.status == "pending" && other.request < c.request {
				position++
			}
		}
		c.say("Support desk", fmt.Sprintf("You are number %d in the queue.", position))
	}
	reply(w, 202, fields{"queued": true})
}

func senderOf(name string) fields {
	return fields{"name": name, "avatar": "https://desk.example.test/agent.png"}
}

func (c *chat) say(sender, text string) {
	if c.typing { // a message does not hide the indicator
		c.setTyping(false)
	}
	c.call("message/", fields{"message": text, "sender": senderOf(sender)})
}

func (c *chat) setTyping(on bool) {
	c.typing = on
	if on {
		c.call("typing_start", fields{"timeout": typingTimeoutMs})
	} else {
		c.call("typing_stop", fields{})
	}
}

// call adds a call about the chat. When a start or an end fails, the agent can try again.
func (c *chat) call(name string, body fields) {
	body["bot_id"], body["chat_id"] = c.botID, c.id
	c.calls.add(name, body, func(got answer, ok bool) {
		switch {
		case !ok && name == "start" && c.status == "open":
			c.status = "pending"
		case !ok && name == "end" && c.status == "closed":
			c.status = "held"
		case ok && (name == "start" || name == "end"):
			c.notices = [2]string{c.notices[1], got.Notice}
		}
		if ok && name == "start" {
			var reads calls // of its own, so that no message waits for the transcript
			reads.add("transcript", fields{"chat_id": c.id}, func(got answer, ok bool) { c.showHistory(got) })
		}
	})
}

// showHistory shows the agent what was written while no agent was in the chat: no event brings it. It is between two notices
// of the platform: at the last end, and at this start, whose id is in the answer to it. What is behind the second comes by
// webhook, and may be in the transcript too, because the user goes on writing while it is read. Texts could not tell the two
// apart: a user may write "ok" twice.
func (c *chat) showHistory(got answer) {
	lines := []fields{}
	for _, message := range got.Chat.Messages {
		if message.ID == c.notices[1] {
			break
		}
		lines = append(lines, fields{"text": message.Message, "from": message.Name, "attachments": []fields{}})
		if message.ID == c.notices[0] {
			lines = nil
		}
	}
	place := 0 // behind the request, and so before the messages that came by webhook meanwhile
	for i, item := range c.inbox {
		if item["request"] != nil {
			place = i + 1
		}
	}
	for i := place; i < c.accepted; i++ { // came before the agent accepted, as after a restart: it is in both
		for j := len(lines) - 1; j >= 0; j-- {
			if lines[j]["text"] == c.inbox[i]["text"] {
				lines = append(lines[:j], lines[j+1:]...)
				break
			}
		}
	}
	c.inbox = append(c.inbox[:place:place], append(lines, c.inbox[place:]...)...)
}

// add makes a call as soon as the one before it has its answer.
func (q *calls) add(name string, body fields, answered func(got answer, ok bool)) {
	previous, done := q.last, make(chan struct{})
	q.last = done
	go func() {
		defer close(done)
		if previous != nil {
			<-previous
		}
		got, ok := send(name, body)
		mu.Lock()
		defer mu.Unlock()
		answered(got, ok)
	}()
}

// closeAsGone ends the conversation of a chat that the platform does not know any more: no event says that its user has left.
func closeAsGone(id any) {
	mu.Lock()
	defer mu.Unlock()
	if name, _ := id.(string); chats[name] != nil {
		chats[name].status, chats[name].typing = "closed", false
	}
}

// send repeats a call that the platform may accept later. The answer to a call that was made can be lost, so a user may
// get a message twice: the API has no idempotency key.
func send(name string, body fields) (got answer, ok bool) {
	text, _ := json.Marshal(body)
	method, path, key := "POST", "/api/v2/handover/"+name, apiKey
	if name == "transcript" { // the handover transcript ends at the request; this one has what the user wrote while waiting
		method, path, key = "GET", "/api/v1/chats/"+url.PathEscape(body["chat_id"].(string)), botKey
	}
	for attempt := 1; ; attempt++ {
		status, wait := 0, time.Second/2<<(attempt-1)
		request, err := http.NewRequest(method, platform+path, bytes.NewReader(text))
		if err != nil {
			log.Fatal(err) // HANDOVER_SIM_URL is no address
		}
		request.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
		if response, err := client.Do(request); err == nil {
			json.NewDecoder(response.Body).Decode(&got)
			response.Body.Close()
			status = response.StatusCode
			if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
				wait = time.Duration(seconds)*time.Second + clockMargin
			}
		}
		if status/100 == 2 {
			return got, true
		}
		if status == 404 {
			closeAsGone(body["chat_id"])
		}
		mayPass := status == 0 || status == 429 || status >= 500 // 0: no answer
		if !mayPass || attempt == maxAttempts || wait > longestRetryAfter {
			log.Printf("%s failed with status %d in attempt %d, chat %v", name, status, attempt, body["chat_id"])
			return got, false
		}
		time.Sleep(wait)
	}
}
