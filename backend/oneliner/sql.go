package oneliner

import "strings"

// sqlKind is what a token of SQL is, as far as it matters here.
type sqlKind int

const (
	sqlWord  sqlKind = iota
	sqlText          // between single quotes
	sqlName          // between double quotes: a name, or a text
	sqlOther         // a number or an operator
)

type sqlToken struct {
	kind sqlKind
	text string // of words in small letters, of texts what stands between the quotes
}

// SQLite says why statements for sqlite3 may do more than show what plain tables of the
// database hold, "" if they do not. What a view, a trigger or a virtual table does is the
// database's.
func SQLite(text string) string {
	return sqlOnlyAsks(text, sqlDialect{"select values with explain pragma", sqliteWords(), ""})
}

// DuckDB says the same of statements for duckdb, and which texts in them may be names of
// files that it reads, or patterns of names.
func DuckDB(text string) (files []string, reason string) {
	if reason := sqlOnlyAsks(text, sqlDialect{"select values with explain from show describe desc summarize", duckWords(), "["}); reason != "" {
		return nil, reason
	}
	tokens, _ := sqlTokens(text, "[")
	for i, t := range tokens {
		switch {
		case t.kind == sqlWord && sqlHas("inet geometry", t.text): // types for which it fetches an extension
			return nil, unclear
		case i > 0 && t.kind == sqlText && tokens[i-1].kind == sqlText: // one text, if lines are between
			return nil, unclear
		case sqlReadsFile(t) && i+1 < len(tokens) && tokens[i+1].text == "(" && !sqlNamesOnly(tokens[i+2:]):
			return nil, unclear
		case t.kind == sqlText || t.kind == sqlName:
			files = append(files, t.text)
		case i > 1 && t.kind != sqlOther && tokens[i-1].text == "." && tokens[i-2].kind == sqlWord: // a.csv is a file, or a column
			files = append(files, tokens[i-2].text+"."+t.text)
		}
	}
	return files, ""
}

// sqlReadsFile reports whether a word is a function that reads the file of a name.
func sqlReadsFile(t sqlToken) bool {
	return t.kind == sqlWord && (strings.HasPrefix(t.text, "read_") || strings.HasPrefix(t.text, "parquet_"))
}

// sqlNamesOnly reports whether what is between brackets is written out: the name of a file
// that is put together of others is none of these.
func sqlNamesOnly(rest []sqlToken) bool {
	for _, t := range rest {
		switch {
		case t.kind == sqlOther && t.text == ")":
			return true
		case t.kind == sqlOther && strings.Trim(t.text, "0123456789") != "" && !sqlHas(", = [ ]", t.text):
			return false
		}
	}
	return false
}

// sqlDialect is what of SQL one program knows.
type sqlDialect struct {
	begin string          // words with which a statement begins
	calls map[string]bool // words before a bracket: functions that only compute, and keywords
	more  string          // operators beside the usual ones
}

func sqlOnlyAsks(text string, d sqlDialect) string {
	if reason := legible(text); reason != "" {
		return reason
	}
	tokens, reason := sqlTokens(text, d.more)
	if reason != "" {
		return reason
	}
	first, some, read := true, false, false // read: the rest of the statement
	for i, t := range tokens {
		next := sqlToken{}
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch {
		case t.kind == sqlOther && t.text == ";":
			first, read = true, false
			continue
		case read:
			continue
		case first && (t.kind != sqlWord || !sqlHas(d.begin, t.text)):
			return unclear
		case first && t.text == "pragma":
			if reason := sqlPragma(tokens[i+1:]); reason != "" {
				return reason
			}
			read = true
		case t.kind == sqlWord && sqlHas(sqlActs, t.text) && (t.text != "replace" || next.text != "("), t.kind == sqlWord && !first && sqlHas("pragma set", t.text):
			return writes
		case t.kind != sqlText && strings.HasPrefix(strings.ToLower(t.text), "pragma_") && !d.calls[t.text]: // as a table
			return calls
		case next.kind == sqlOther && next.text == "(" && (t.kind == sqlText || t.kind == sqlName || t.kind == sqlWord && !d.calls[t.text]):
			return calls
		}
		first, some = false, true
	}
	if !some {
		return unclear
	}
	return ""
}

// sqlActs are words of statements that do more than ask, also behind WITH.
const sqlActs = "insert update delete replace into create drop alter attach detach copy export import install load call vacuum reindex begin commit merge truncate use checkpoint prepare execute returning"

// sqlPragma refuses all pragmas but those that show how a table is made, or a setting.
func sqlPragma(rest []sqlToken) string {
	for i, t := range rest {
		if t.text == ";" && t.kind == sqlOther {
			rest = rest[:i]
			break
		}
	}
	switch {
	case len(rest) == 1 && rest[0].kind == sqlWord && sqlHas("user_version journal_mode page_count page_size freelist_count encoding foreign_keys database_list compile_options schema_version application_id table_list", rest[0].text):
		return ""
	case len(rest) == 4 && rest[0].kind == sqlWord && sqlHas("table_info table_xinfo index_list index_info index_xinfo foreign_key_list table_list", rest[0].text) &&
		rest[1].text == "(" && rest[2].kind != sqlOther && rest[3].text == ")":
		return ""
	}
	return writes
}

// sqlHas reports whether a word is one of a list.
func sqlHas(list, word string) bool {
	return word != "" && strings.Contains(" "+list+" ", " "+word+" ")
}

// sqlTokens cuts statements into tokens, or says why not: comments, parameters and the
// quotes and letters that databases read in several ways are refused.
func sqlTokens(text, more string) (list []sqlToken, reason string) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			i++
		case c == '\'' || c == '"':
			end := i + 1
			for end < len(text) && (text[end] != c || end+1 < len(text) && text[end+1] == c) {
				if text[end] == c {
					end++
				}
				end++
			}
			if end >= len(text) || strings.Contains(text[i:end], `\`) {
				return nil, unclear
			}
			kind := sqlText
			if c == '"' {
				kind = sqlName
			}
			list = append(list, sqlToken{kind, strings.ReplaceAll(text[i+1:end], string(c)+string(c), string(c))})
			if i = end + 1; i < len(text) && (sqlLetter(text[i]) || text[i] == '\'' || text[i] == '"') {
				return nil, unclear
			}
		case sqlLetter(c) || c >= '0' && c <= '9':
			end := i
			for end < len(text) && (sqlLetter(text[end]) || text[end] >= '0' && text[end] <= '9') {
				end++
			}
			if end < len(text) && (text[end] == '\'' || text[end] == '"') {
				return nil, unclear // x'00', E'\n'
			}
			kind := sqlWord
			if !sqlLetter(c) {
				kind = sqlOther
			}
			list = append(list, sqlToken{kind, strings.ToLower(text[i:end])})
			i = end
		case strings.HasPrefix(text[i:], "--"), strings.HasPrefix(text[i:], "/*"):
			return nil, unclear
		case strings.HasPrefix(text[i:], "::") && more != "":
			list = append(list, sqlToken{sqlOther, "::"})
			i += 2
		case strings.IndexByte("()*,;=<>!+-/%.|&~"+more, c) >= 0 || c == ']' && more != "":
			list = append(list, sqlToken{sqlOther, string(c)})
			i++
		default:
			return nil, unclear
		}
	}
	return list, ""
}

func sqlLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// sqlCommon are keywords before a bracket, and functions of both that only compute.
const sqlCommon = `in as from join on using and or not exists values over filter when then else case where by having select union all except intersect
	between like ilike is distinct limit offset partition order group with materialized cast explain any some end left right full inner cross lateral
	count sum avg min max abs coalesce ifnull nullif iif length lower upper trim ltrim rtrim substr substring instr replace round printf format hex
	typeof date time datetime strftime json_extract json_array_length json_type json_valid json_group_array json_group_object json_each json_object
	json_array row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value ceil ceiling floor sqrt power pow
	ln log exp mod sign concat concat_ws group_concat string_agg total random unicode decimal numeric varchar char`

var sqliteWords = set(sqlCommon + ` julianday unixepoch timediff quote json json_tree likely unlikely glob sqlite_version
	pragma_table_info pragma_table_xinfo pragma_index_list pragma_index_info pragma_foreign_key_list pragma_table_list`)

var duckWords = set(sqlCommon + ` read_csv read_csv_auto read_parquet parquet_scan read_json read_json_auto parquet_schema parquet_metadata
	count_if median mode quantile quantile_cont quantile_disc approx_quantile approx_count_distinct stddev stddev_samp stddev_pop var_samp var_pop
	variance corr list array_agg first last any_value arg_max arg_min max_by min_by histogram bool_and bool_or try_cast date_trunc date_part
	date_diff datediff extract year month day hour minute strptime epoch regexp_replace regexp_matches regexp_extract split string_split str_split
	split_part len unnest range generate_series greatest least columns exclude contains starts_with ends_with lpad rpad trunc isnan qualify
	list_contains list_sort list_distinct struct_pack to_timestamp make_date rollup cube sets pivot if`)
