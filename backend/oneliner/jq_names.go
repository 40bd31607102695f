package oneliner

// jqNames are the functions and words of jq, up to 1.8, and the operators of
// yq that read and compute and do nothing else. A name that is neither here
// nor defined by the program refuses it.
var jqNames = set(`
	and as break catch elif else end false foreach if label not null or reduce
	then true try

	IN INDEX GROUP_BY UNIQUE_BY JOIN abs acos acosh add all any arrays ascii
	ascii_downcase ascii_upcase asin asinh atan atan2 atanh booleans bsearch
	builtins capture cbrt ceil combinations contains copysign cos cosh dateadd
	datesub date debug del delpaths drem empty endswith erf erfc error exp exp10
	exp2 explode expm1 fabs fdim finites first flatten floor fma fmax fmin fmod
	format frexp from_entries fromdate fromdateiso8601 fromjson fromstream gamma
	getpath gmtime group_by gsub halt halt_error has have_decnum
	have_literal_numbers hypot implode in index indices infinite input
	input_filename input_line_number inputs inside isempty isfinite isinfinite
	isnan isnormal isvalid iterables j0 j1 jn join keys keys_unsorted last ldexp
	leaf_paths length lgamma lgamma_r limit localtime log log10 log1p log2 logb
	ltrim ltrimstr map map_values match max max_by min min_by mktime modf nan
	nearbyint nextafter nexttoward normals now nth nulls numbers objects path
	paths pick pow pow10 range recurse recurse_down remainder repeat reverse
	rindex rint round rtrim rtrimstr scalars scalars_or_empty scalb scalbln scan
	select setpath significand sin sinh skip sort sort_by split splits sqrt
	startswith stderr strflocaltime strftime strings strptime sub tan tanh test
	tgamma to_entries toarray toboolean todate todateiso8601 tojson
	tonumber tostream tostring transpose trim trimstr trunc truncate_stream type
	unique unique_by until utf8bytelength values walk while with_entries y0 y1 yn

	alias all_c anchor any_c array_to_map collect column comments del_paths
	delPaths di document_index documentIndex downcase fi file_index file_name
	fileIndex fileName filename filter foot_comment footComment format_datetime
	from_csv from_json from_props from_tsv from_unix from_xml from_yaml fromEntries
	groupBy head_comment headComment ireduce is_key key kind line line_comment
	lineComment omit parent parents pivot ref root set_path setPath shuffle
	sort_keys sortBy sortKeys split_doc splitDoc style tag to_csv to_json to_number
	to_props to_string to_tsv to_unix to_xml to_yaml toEntries tz uniqueBy upcase
	with with_dtf withEntries
`)

// jqFormats may stand behind an @.
var jqFormats = set(`text json html uri urid csv csvd tsv tsvd sh base64 base64d
	base32 base32d base64url base64urld yaml yamld jsond props propsd xml xmld`)

// jqRefused are names with a reason that says more.
var jqRefused = map[string]string{
	"env":             environment,
	"strenv":          environment,
	"envsubst":        environment,
	"import":          reads,
	"include":         reads,
	"module":          reads,
	"modulemeta":      reads,
	"system":          starts,
	"exec":            starts,
	"to_file":         writes,
	"write":           writes,
	"eval":            unclear,
	"str_load":        reads,
	"strload":         reads,
	"xml_load":        reads,
	"xmlload":         reads,
	"ENV":             environment,
	"__prog_args":     unclear,
	"get_search_list": unclear,
}
