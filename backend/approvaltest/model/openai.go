package model

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// responses answers a turn of Codex. It streams always.
func (m *Model) responses(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if !m.read(w, r, &q) {
		return
	}
	var results []string
	for _, item := range q.Input {
		if item.Type == "function_call_output" {
			results = append(results, text(item.Output))
		}
	}
	item := object{"type": "message", "id": "msg_1", "role": "assistant", "content": []object{{"type": "output_text", "text": "done"}}}
	if command, more := m.next(results); more {
		arguments, err := json.Marshal(object{"cmd": command})
		if err != nil {
			panic(err)
		}
		item = object{"type": "function_call", "id": fmt.Sprint("fc_", len(results)), "call_id": fmt.Sprint("call_", len(results)),
			"name": "exec_command", "arguments": string(arguments)}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send(w, object{"type": "response.created", "response": object{"id": "resp_1"}})
	send(w, object{"type": "response.output_item.done", "output_index": 0, "item": item})
	send(w, object{"type": "response.completed", "response": object{"id": "resp_1", "output": []object{item},
		"usage": object{"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2}}})
}
