package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addTools makes the server's tools.
func (s *server) addTools() {
	add(s, execTool(), (*session).exec)
	add(s, statusTool(), (*session).status)
	add(s, stopTool(), (*session).stop)
	add(s, explainTool(), (*session).explain)
}

// add makes a tool of a method. What it returns is told as it is, an error as
// one of the tool.
func add[In any](s *server, t *sdk.Tool, serve func(*session, context.Context, *sdk.CallToolRequest, In) (any, error)) {
	sdk.AddTool(s.sdk, t, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		one := s.sessionOf(req)
		ctx, leave, err := one.enter(ctx, req)
		if err != nil {
			return nil, nil, err
		}
		defer leave()
		out, err := serve(one, ctx, req, in)
		if o, is := out.(Outcome); is && o.Receipt != nil {
			return refused(o), nil, nil
		}
		return nil, out, err
	})
}

// refused is a denial: in words first, which end the search for a way around,
// then as it is for machines.
func refused(o Outcome) *sdk.CallToolResult {
	text, _ := json.Marshal(o) // it holds nothing that cannot be encoded
	return &sdk.CallToolResult{
		IsError: true, StructuredContent: json.RawMessage(text),
		Content: []sdk.Content{&sdk.TextContent{Text: o.Receipt.Message}, &sdk.TextContent{Text: string(text)}},
	}
}

// The parts of the schemas that several tools share.
const (
	commandSchema = `"command": {
		"description": "A text, which is run as bash would run it, or a list of words, which is run without a shell. At most 65536 bytes.",
		"anyOf": [
			{"type": "string", "minLength": 1, "maxLength": 65536},
			{"type": "array", "minItems": 1, "maxItems": 4096, "items": {"type": "string", "maxLength": 65536}}]},
	"workdir": {"type": "string", "maxLength": 4096, "description": "Folder to run it in. Default: the folder of this server."},
	"env": {
		"type": "object", "maxProperties": 100, "propertyNames": {"maxLength": 256},
		"additionalProperties": {"type": "string", "maxLength": 65536},
		"description": "Environment variables to set for it."}`

	outcomeSchema = `"exitCode": {"type": ["integer", "null"], "description": "null when no program ended by itself"},
	"signal": {"type": "string", "description": "what ended it, empty for nothing"},
	"timedOut": {"type": "boolean"},
	"success": {"type": "boolean", "description": "it ran and ended with exit code 0"},
	"stdout": {"type": "string"},
	"stderr": {"type": "string"},
	"truncated": {"type": "boolean", "description": "output beyond 200000 bytes is missing"},
	"error": {"type": "string", "description": "why it did not come to its end"},
	"receipt": {
		"type": "object",
		"description": "of a denial: nothing ran",
		"properties": {
			"verdict": {"type": "string"}, "reason": {"type": "string"}, "sentence": {"type": "string"},
			"segment": {"type": "string"}, "askAgain": {"type": "boolean"}, "message": {"type": "string"}}}`

	viewSchema = `{
	"type": "object",
	"required": ["id", "state", "command", "startedAt"],
	"properties": {
		"id": {"type": "string"},
		"state": {"enum": ["waiting", "running", "done"]},
		"command": {"type": "string"},
		"startedAt": {"type": "integer", "description": "unix milliseconds"},
		"result": {"type": "object", "properties": {` + outcomeSchema + `}}}}`

	idSchema = `"id": {"type": "string", "minLength": 1, "maxLength": 64, "description": "What exec returned for a command in the background."}`
)

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

func execTool() *sdk.Tool {
	return &sdk.Tool{
		Name: "exec", Title: "Run a command",
		Description: "Runs a command on this machine, if policy allows it or a person says yes, and returns its exit code and output. " +
			"A person may take up to ten minutes. A denial says why, and whether asking again can help.",
		Annotations: &sdk.ToolAnnotations{Title: "Run a command", DestructiveHint: yes(), OpenWorldHint: yes()},
		InputSchema: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["command"], "properties": {` + commandSchema + `,
			"host": {"type": "string", "maxLength": 64, "description": "Where to run it. Only node, this machine, is offered, and is the default."},
			"timeout": {"type": "number", "minimum": 0, "maximum": 86400, "description": "Seconds after which it is ended. Default: 1800; in the background 86400."},
			"background": {"type": "boolean", "description": "Return at once with an id for exec_status and exec_stop. It ends with this connection."}}}`),
		OutputSchema: json.RawMessage(`{"type": "object", "properties": {` + outcomeSchema + `,
			"id": {"type": "string", "description": "of a command in the background"},
			"state": {"enum": ["waiting", "running", "done"]}, "command": {"type": "string"}, "startedAt": {"type": "integer"}}}`),
	}
}

func statusTool() *sdk.Tool {
	return &sdk.Tool{
		Name: "exec_status", Title: "Look at background commands",
		Description: "Tells how far a command in the background is, and its result once it is done: there is no output before. " +
			"Without an id it lists all of this connection, without their results.",
		Annotations:  &sdk.ToolAnnotations{Title: "Look at background commands", ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: no(), OpenWorldHint: no()},
		InputSchema:  json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {` + idSchema + `}}`),
		OutputSchema: json.RawMessage(`{"type": "object", "required": ["runs"], "properties": {"runs": {"type": "array", "items": ` + viewSchema + `}}}`),
	}
}

func stopTool() *sdk.Tool {
	return &sdk.Tool{
		Name: "exec_stop", Title: "Stop a background command",
		Description: "Ends a command in the background with all its processes, or withdraws its question, and waits up to five seconds for its end. " +
			"A state other than done means that it has not ended by then.",
		Annotations:  &sdk.ToolAnnotations{Title: "Stop a background command", IdempotentHint: true, DestructiveHint: yes(), OpenWorldHint: no()},
		InputSchema:  json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["id"], "properties": {` + idSchema + `}}`),
		OutputSchema: json.RawMessage(viewSchema),
	}
}

func explainTool() *sdk.Tool {
	return &sdk.Tool{
		Name: "explain", Title: "Judge a command without running it",
		Description: "Tells what exec would do with a command: allow, ask a person, or deny, and why. Nothing runs and nobody is asked.",
		Annotations: &sdk.ToolAnnotations{Title: "Judge a command without running it", ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: no(), OpenWorldHint: no()},
		InputSchema: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["command"], "properties": {` + commandSchema + `}}`),
		OutputSchema: json.RawMessage(`{"type": "object", "required": ["verdict", "askingCanHelp", "segments"], "properties": {
			"verdict": {"enum": ["allow", "ask", "deny"]},
			"reason": {"type": "string"}, "sentence": {"type": "string"},
			"askingCanHelp": {"type": "boolean", "description": "a person would be asked, and may say yes"},
			"segments": {"type": "array", "items": {"type": "object", "properties": {
				"command": {"type": "string"}, "verdict": {"type": "string"}, "reason": {"type": "string"}, "sentence": {"type": "string"}}}}}}`),
	}
}
