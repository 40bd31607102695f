package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// message is a request of the Messages API, as far as it is looked at.
type message struct {
	Model    string
	Stream   bool
	Tools    []struct{ Name string }
	Messages []struct{ Content json.RawMessage }
}

// messages answers a turn of Claude Code.
func (m *Model) messages(w http.ResponseWriter, r *http.Request) {
	var q message
	if !m.read(w, r, &q) {
		return
	}
	// Requests beside the conversation bring no tool to run commands. In mode auto
	// one of them wants a number for each command: how much speaks against it.
	block := object{"type": "text", "text": "<severity>0</severity>"}
	if slices.ContainsFunc(q.Tools, func(t struct{ Name string }) bool { return t.Name == "Bash" }) {
		block["text"] = "done"
		results := q.results()
		if command, more := m.next(results); more {
			block = object{"type": "tool_use", "id": fmt.Sprint("toolu_", len(results)), "name": "Bash",
				"input": object{"command": command, "description": "A step of the task"}}
		}
	}
	answer := object{"id": "msg_1", "type": "message", "role": "assistant", "model": q.Model, "content": []object{block},
		"stop_reason": "end_turn", "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}}
	if block["type"] == "tool_use" {
		answer["stop_reason"] = "tool_use"
	}
	if !q.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	stream(w, answer, block)
}

// results are what the tools of a conversation gave.
func (q message) results() (list []string) {
	for _, one := range q.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		if json.Unmarshal(one.Content, &blocks) != nil {
			continue // a message that is only text
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				list = append(list, text(b.Content))
			}
		}
	}
	return list
}

// stream sends an answer of one block in parts: its head, the block, its end.
func stream(w http.ResponseWriter, answer, block object) {
	w.Header().Set("Content-Type", "text/event-stream")
	begun, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": block["text"]}
	if block["type"] == "tool_use" {
		input, err := json.Marshal(block["input"])
		if err != nil {
			panic(err)
		}
		begun = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": string(input)}
	}
	end := object{"stop_reason": answer["stop_reason"], "stop_sequence": nil}
	answer["content"], answer["stop_reason"] = []object{}, nil
	send(w, object{"type": "message_start", "message": answer})
	send(w, object{"type": "content_block_start", "index": 0, "content_block": begun})
	send(w, object{"type": "content_block_delta", "index": 0, "delta": delta})
	send(w, object{"type": "content_block_stop", "index": 0})
	send(w, object{"type": "message_delta", "delta": end, "usage": object{"output_tokens": 1}})
	send(w, object{"type": "message_stop"})
}
