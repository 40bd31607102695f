package oneliner

import "strings"

// SQL returns "" when a statement surely changes nothing and calls nothing but
// what computes, and else why not, as a clause that follows "the statement of
// sqlite3". Commands of a client that only list tables count as statements.
func SQL(text string) string {
	if reason := legible(text); reason != "" {
		return reason
	}
	if !selects(text) {
		return unread
	}
	return ""
}

// unread says of a statement why it does not pass.
const unread = "may do more than read"

// reading is how a statement of SQL begins that only reads, and what a client
// of a database tells about it.
var reading = expression(`(?i)^(explain (query plan |analyze )?)?(select|with)\s|^(show|describe|desc)\s+[\w\s.%\x27]+$` +
	`|^pragma (table_x?info|index_x?info|index_list|foreign_key_list)\s*\(\s*['"]?\w+['"]?\s*\)$|^pragma (user_version|database_list|integrity_check|quick_check|foreign_keys|journal_mode|page_count|page_size|encoding)$` +
	`|^\.(tables|schema|indexes|databases|fullschema|mode|headers?|timer|nullvalue)(\s+\w+)?$|^\\(d[tivnfusx]?|l)\+?(\s+[\w.*]+)?$`)

// sqlWord are the words, quoted texts and signs of SQL, as far as all
// databases read them in one way.
var sqlWord = expression(`^(\s+|'[^'\\]*'|"[\w .%-]*"|[A-Za-z_]\w*|[0-9][0-9.]*|[.,*=<>!)%+:|?/-])`)

// sqlCalls may stand before a parenthesis; sqlChanges are not in statements
// that only read.
var (
	sqlCalls = set(`abs and any array_agg as avg between by case cast ceil char_length coalesce concat count date datetime
		dense_rank distinct else exists extract filter first_value floor format from group_concat having ifnull iif in instr
		interval isnull json_array_length json_each json_extract json_group_array json_object julianday lag last_value lead
		left length like limit lower ltrim max min not now nullif on or over partition power pg_size_pretty
		pg_total_relation_size pg_relation_size pg_database_size printf quote random rank right round row_number rtrim select
		sqlite_version sqrt strftime string_agg substr substring sum then time to_char total trim typeof unixepoch union
		upper using values version when where year month day`)
	sqlChanges = set(`alter analyse attach begin call commit copy create deallocate declare delete detach do drop dumpfile
		exec execute grant handler import infile insert install into kill listen load lock merge notify outfile prepare
		pager procedure refresh reindex release rename replace reset returning revoke rollback savepoint set shell source system tee truncate
		update upsert vacuum`)
)

// selects reports whether it understands a statement as one that only reads.
func selects(text string) bool {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), ";"))
	if !reading().MatchString(text) {
		return false
	}
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, `\`) {
		return true
	}
	if strings.Contains(text, "--") || strings.Contains(text, "/*") || strings.Contains(text, "#") {
		return false
	}
	callable, dot := true, false // what stands before an open parenthesis
	for begins := true; text != ""; begins = false {
		if text[0] == '(' {
			if !callable {
				return false
			}
			text = text[1:]
			continue
		}
		word := sqlWord().FindString(text)
		if word == "" {
			return false
		}
		text = text[len(word):]
		switch name := strings.ToLower(word); {
		case strings.TrimSpace(word) == "":
		case sqlChanges()[name]:
			return false
		case begins && name == "pragma":
			return true
		default:
			callable = sqlCalls()[name] && !dot || strings.ContainsAny(word[:1], ",=<>!%+:|*/-")
			dot = word == "."
		}
	}
	return true
}
