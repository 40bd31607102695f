package command

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/oneliner"
)

// maxDatabase bounds how much of a database is read, and maxSchema how many pages and rows
// say what is in it.
const (
	maxDatabase = 8 << 20
	maxSchema   = 2000
)

// asksTables reports whether sqlite3 is given nothing but statements that ask, for a
// database that holds nothing but plain tables. A view calls functions of the client, of
// which some start programs: so each object of the database is looked at.
func (a *arguments) asksTables() bool {
	return len(a.named) > 1 && a.asksDatabase() && a.plainDatabase()
}

// plainDatabase reports whether the database holds nothing but plain tables, and nothing
// beside it, such as a journal, changes it as it is opened.
func (a *arguments) plainDatabase() bool {
	file, err := a.look(join(a.start, a.named[0].text))
	if err != nil || !file.IsRegular() || !a.spend(reading) {
		return false
	}
	for _, name := range []string{file.Path, path.Clean(join(a.start, a.named[0].text))} { // some follow a link first
		for _, ending := range []string{"-journal", "-wal"} {
			if beside, err := a.look(name + ending); err == nil && beside.Size > 0 {
				return false
			}
		}
	}
	for _, seg := range append(slices.Clone(a.plan.Segments), approval.Segment{Targets: a.plan.Targets}) {
		for _, to := range seg.Targets {
			if strings.HasPrefix(to.Path, file.Path) || strings.HasPrefix(file.Path, to.Path+"/") {
				return false // the same request changes it before
			}
		}
	}
	a.looked = true
	if file.Size == 0 {
		return true
	}
	data, err := a.World.Head(file, maxDatabase)
	return err == nil && a.bytes(len(data)) && plainTables(data)
}

// asksDatabase reports whether the words behind the database are statements and commands
// that only show something, all known, and the database is a file here by its plain name.
func (a *arguments) asksDatabase() bool {
	for i, word := range a.named {
		if word.open != nil || i > 0 && !showsTables(word.text) {
			return false
		}
	}
	at := a.named[0].text
	return a.start != "" && at != "" && !strings.ContainsAny(at, ":?") && a.isFile(at)
}

// fedStatements judges what sqlite3 reads from its input as it does words behind the
// database: a line that begins with a dot is a command. It reports false where it can say
// nothing of them.
func (a *arguments) fedStatements(text string) bool {
	var statements []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case endsStatement(line):
			return false
		case !strings.HasPrefix(strings.TrimSpace(line), "."):
			statements = append(statements, line)
		case !showsTables(line):
			return false
		}
	}
	if len(a.named) != 1 || !showsTables(strings.Join(statements, "\n")) || !a.asksDatabase() || !a.asksFile() {
		return false
	}
	about := func(f approval.Finding) bool { return f.Reason == approval.ReasonInlineCode }
	if a.plainDatabase() {
		a.findings = slices.DeleteFunc(a.findings, about)
		a.input = nil
		return true
	}
	for i := range a.findings {
		if about(a.findings[i]) {
			a.findings[i].Allowed = approval.AllowDatabaseReads
		}
	}
	return true
}

// endsStatement reports whether a line ends a statement for sqlite3 without a semicolon.
func endsStatement(line string) bool {
	line = strings.TrimSpace(line)
	return line == "/" || strings.EqualFold(line, "go")
}

// showsTables reports whether a word for sqlite3 is a statement that only asks, or one of
// a few commands.
func showsTables(text string) bool {
	if strings.HasPrefix(strings.TrimSpace(text), ".") {
		name, _, _ := strings.Cut(text, " ")
		return tells().MatchString(text) && name != ".dump" && name != ".fullschema"
	}
	return oneliner.SQLite(text) == "" && !otherFiles().MatchString(text) && !strings.Contains(text, "\n.")
}

// plainTables reports whether all objects of a database of SQLite are tables and indexes
// that compute nothing when they are read, or triggers, which only writing starts.
func plainTables(data []byte) bool {
	if len(data) < 100 || !bytes.HasPrefix(data, []byte("SQLite format 3\x00")) || binary.BigEndian.Uint32(data[56:]) != 1 {
		return false
	}
	size := int(binary.BigEndian.Uint16(data[16:]))
	if size == 1 {
		size = 65536
	}
	s := schema{data: data, size: size, usable: size - int(data[20])}
	if size < 512 || size&(size-1) != 0 || s.usable < 480 {
		return false
	}
	return s.page(1, 0)
}

// schema reads the tree of pages in which a database says what it holds.
type schema struct {
	data         []byte
	size, usable int
	seen         int
}

// bytesOf is a page, by its number from 1 on.
func (s *schema) bytesOf(page int) []byte {
	if s.seen++; s.seen > maxSchema || page < 1 || page > len(s.data)/s.size {
		return nil
	}
	return s.data[(page-1)*s.size : page*s.size]
}

func (s *schema) page(number, depth int) bool {
	b := s.bytesOf(number)
	if b == nil || depth > 8 {
		return false
	}
	head := 0
	if number == 1 {
		head = 100
	}
	kind, cells := b[head], int(binary.BigEndian.Uint16(b[head+3:]))
	first := head + 8
	if kind == 5 {
		first += 4
	}
	if kind != 5 && kind != 13 || first+2*cells > len(b) {
		return false
	}
	for i := range cells {
		at := int(binary.BigEndian.Uint16(b[first+2*i:]))
		if at+4 > len(b) {
			return false
		}
		if kind == 5 && !s.page(int(binary.BigEndian.Uint32(b[at:])), depth+1) || kind == 13 && !s.row(b, at) {
			return false
		}
	}
	return kind == 13 || s.page(int(binary.BigEndian.Uint32(b[head+8:])), depth+1)
}

// row reads one object: its type, name, table, page and the statement that makes it.
func (s *schema) row(b []byte, at int) bool {
	length, n := varint(b[at:])
	_, m := varint(b[min(len(b), at+n):])
	if n == 0 || m == 0 || length > 1<<20 {
		return false
	}
	record, ok := s.payload(b, at+n+m, int(length))
	if !ok {
		return false
	}
	head, n := varint(record)
	if n == 0 || head < uint64(n) || head > uint64(len(record)) {
		return false
	}
	place, kinds := int(head), record[n:head]
	for column := range 5 {
		kind, n := varint(kinds)
		if n == 0 {
			return false
		}
		kinds = kinds[n:]
		wide := columnSize(kind)
		if wide < 0 || wide > len(record)-place {
			return false
		}
		if column == 4 {
			return kind == 0 || kind >= 13 && kind%2 == 1 && plainObject(string(record[place:place+wide]))
		}
		place += wide
	}
	return false
}

// payload joins a record whose end lies on other pages.
func (s *schema) payload(b []byte, at, length int) ([]byte, bool) {
	local, most := length, s.usable-35
	if length > most {
		least := (s.usable-12)*32/255 - 23
		if local = least + (length-least)%(s.usable-4); local > most {
			local = least
		}
	}
	if at+local > len(b) || local < length && at+local+4 > len(b) {
		return nil, false
	}
	record := bytes.Clone(b[at : at+local])
	if local == length {
		return record, true
	}
	for next := binary.BigEndian.Uint32(b[at+local:]); len(record) < length; {
		more := s.bytesOf(int(next))
		if more == nil {
			return nil, false
		}
		next = binary.BigEndian.Uint32(more)
		record = append(record, more[4:min(s.usable, 4+length-len(record))]...)
	}
	return record, true
}

func columnSize(kind uint64) int {
	switch {
	case kind >= 12 && kind < 1<<24:
		return int(kind-12) / 2
	case kind < 10:
		return []int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind]
	}
	return -1
}

// varint reads a number of SQLite, and how many bytes it has: 0 where it ends too early.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 8 {
		c := b[n]
		v, n = v<<7|uint64(c&0x7f), n+1
		if c < 0x80 {
			return v, n
		}
	}
	if n < 8 || len(b) < 9 {
		return 0, 0
	}
	return v<<8 | uint64(b[8]), 9
}

// plainObject reports whether a statement makes a table without computed columns, an index
// of columns, or a trigger.
func plainObject(sql string) bool {
	switch {
	case strings.HasPrefix(sql, "CREATE TRIGGER "):
		return true
	case strings.HasPrefix(sql, "CREATE TABLE "):
		return !computed().MatchString(sql)
	case strings.HasPrefix(sql, "CREATE INDEX "), strings.HasPrefix(sql, "CREATE UNIQUE INDEX "):
		return strings.Count(sql, "(") == 1
	}
	return false
}

// computed is a word of tables with columns that are computed as they are read, or that
// were made of a view.
var computed = expression(`(?i)(^|[^a-z0-9_])(as|generated)([^a-z0-9_]|$)`)

// finishDuck asks about duckdb where it is not given statements that only ask, about files
// of the project and what is in memory: a view of a database may read any file or address.
func (a *arguments) finishDuck(p *profile) {
	if !p.is["duck"] || a.has["alone"] {
		return
	}
	var texts, files []string
	database := false
	for i, word := range a.named {
		if i > 0 {
			texts = append(texts, word.text)
		} else if word.text != ":memory:" {
			database = true
		}
	}
	texts = append(texts, a.given("-c", "-s")...)
	if len(texts) == 0 {
		a.find(approval.ReasonInlineCode, "%s reads its program from its input", p.name)
		a.readsInput(true)
		return
	}
	only := !a.gaveOpen()
	for _, text := range texts {
		named, why := oneliner.DuckDB(text)
		only = only && why == "" && !strings.Contains(text, "\n.")
		files = append(files, named...)
	}
	for _, file := range files {
		only = only && a.dataFile(file)
	}
	if only && !database {
		return
	}
	a.find(approval.ReasonInlineCode, "%s may read or write what its statements or its database name", p.name)
	if a.plan.Folder.Holds(a.start) {
		a.findings[len(a.findings)-1].Allowed = approval.AllowThisCode
	}
	if only && a.plan.Folder.Holds(a.start) && a.asksFile() {
		a.findings[len(a.findings)-1].Allowed = approval.AllowDatabaseReads
	}
}

// gaveOpen reports whether a word is known only when it runs.
func (a *arguments) gaveOpen() bool {
	for _, s := range a.said {
		if s.value.open != nil {
			return true
		}
	}
	return false
}

// asksFile reports whether the first operand is a file of the project.
func (a *arguments) asksFile() bool {
	return len(a.named) > 0 && !strings.ContainsAny(a.named[0].text, ":?") && a.isFile(a.named[0].text) && a.inside(a.named[0].text) && !a.inGit(a.named[0].text)
}

// address is a text that begins as an address does.
var address = expression(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// fetches is the end of a name for which duckdb fetches an extension.
var fetches = expression(`(?i)\.(xlsx|shp|gpkg|fgb|avro|db|duckdb|sqlite)$`)

// dataFile reports whether a text in a statement is no name of a file, or only of files in
// the project: of a pattern each that it means.
func (a *arguments) dataFile(text string) bool {
	if text == "" {
		return true
	}
	if address().MatchString(text) || strings.HasPrefix(text, "~") || fetches().MatchString(text) || strings.ContainsAny(text, "[]{}") || a.start == "" {
		return false
	}
	if !strings.ContainsAny(text, "*?") {
		a.values = append(a.values, text)
		return a.inside(text) && !a.inGit(text)
	}
	dir, name := path.Split(text)
	if strings.ContainsAny(dir, "*?") || strings.Contains(name, "**") {
		return false
	}
	if dir == "" {
		dir = "."
	}
	names, err := a.list(join(a.start, dir))
	if err != nil {
		return !strings.Contains(text, "/") || a.inside(dir) // it means no file
	}
	a.looked = true
	for _, found := range names {
		if ok, _ := path.Match(name, found); ok {
			at := path.Join(dir, found)
			if a.values = append(a.values, at); !a.inside(at) || a.inGit(at) {
				return false
			}
		}
	}
	return true
}
