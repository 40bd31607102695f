package oneliner

// pythonKeywords are those of statements and operators that do nothing by themselves.
// class, async, await, exec and what decorates are not understood.
var pythonKeywords = set(`and as assert break continue def del elif else except False finally for from global if import in
	is lambda None nonlocal not or pass raise return True try while with yield`)

// pythonBuiltins are functions and classes that only compute, and exceptions.
var pythonBuiltins = set(`abs all any ascii basestring bin bool bytearray bytes callable chr cmp complex dict divmod enumerate exit filter float format
	frozenset hash hex id int isinstance issubclass iter len list long map max min next object oct ord pow print quit range reduce repr
	reversed round set slice sorted str sum tuple unichr unicode xrange zip
	ArithmeticError AssertionError AttributeError BaseException BrokenPipeError EOFError EnvironmentError Exception
	FileExistsError FileNotFoundError IOError ImportError IndexError IsADirectoryError KeyError KeyboardInterrupt LookupError
	MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError PermissionError
	RecursionError RuntimeError StopIteration SystemExit TimeoutError TypeError UnboundLocalError UnicodeDecodeError
	UnicodeEncodeError UnicodeError ValueError ZeroDivisionError`)

// pythonRefused are names that refuse a program wherever they stand by themselves, also
// where it gives them a value: by then the old meaning may have been used.
var pythonRefused = set(`apply breakpoint buffer class classmethod async await compile copyright credits delattr
	dir eval exec execfile file getattr globals hasattr help input intern license locals memoryview property
	raw_input reload setattr staticmethod super vars WindowsError Ellipsis NotImplemented aiter anext
	coerce StandardError`)

// pythonModules are those of which nothing that pythonAttributes names writes, starts,
// or looks at more than its arguments.
var pythonModules = set(`ast base64 binascii bisect calendar collections copy csv datetime decimal difflib fnmatch fractions
	functools hashlib heapq html io ipaddress itertools json math operator pprint random re shlex statistics string struct
	sys textwrap time tomllib unicodedata urllib.parse zlib`)

// pythonAttributes are the names behind a dot, of any value. None of them, on a value or
// a module above, writes, starts, or leads to something that does: so there is no sys
// of another module, no frame, no buffer of a file, no modules, path, codecs.
var pythonAttributes = set(`
	append extend insert remove pop sort reverse index count clear copy
	items keys values get setdefault update popitem fromkeys
	add discard union intersection difference symmetric_difference issubset issuperset isdisjoint
	join split rsplit splitlines strip lstrip rstrip startswith endswith replace lower upper title capitalize casefold
	swapcase find rfind rindex encode decode zfill ljust rjust center isdigit isalpha isalnum isspace isupper islower
	isnumeric isdecimal isidentifier partition rpartition expandtabs removeprefix removesuffix translate maketrans
	bit_length bit_count as_integer_ratio is_integer to_bytes from_bytes fromhex hex conjugate real imag
	read readline readlines write writelines flush close stdin stdout stderr argv exit version version_info platform
	maxsize byteorder getsizeof
	load loads dump dumps JSONDecodeError
	compile search match fullmatch finditer findall sub subn escape group groups groupdict start end span pattern string
	lastindex I IGNORECASE M MULTILINE S DOTALL X VERBOSE A ASCII U UNICODE
	Counter defaultdict OrderedDict deque most_common elements subtract total appendleft popleft rotate move_to_end
	datetime date timedelta timezone time now today utcnow fromisoformat isoformat strftime strptime fromtimestamp
	utcfromtimestamp timestamp total_seconds year month day hour minute second microsecond days seconds microseconds
	weekday isoweekday isocalendar toordinal fromordinal astimezone utc tzinfo combine min max
	sleep gmtime localtime mktime perf_counter perf_counter_ns monotonic time_ns
	reader DictReader writer DictWriter writerow writerows writeheader Sniffer sniff has_header delimiter quotechar
	fieldnames line_num QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC
	ceil floor sqrt exp log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh pi e tau inf nan isnan isinf
	isfinite isclose fabs fmod fsum gcd lcm factorial comb perm prod hypot dist degrees radians trunc modf copysign isqrt
	mean median mode multimode stdev pstdev variance pvariance quantiles fmean harmonic_mean geometric_mean correlation
	linear_regression median_low median_high
	Decimal quantize normalize to_integral_value getcontext prec ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN ROUND_UP
	ROUND_FLOOR ROUND_CEILING ROUND_HALF_DOWN as_tuple Fraction numerator denominator limit_denominator
	chain from_iterable combinations permutations product islice accumulate zip_longest cycle repeat takewhile dropwhile
	starmap tee groupby pairwise batched combinations_with_replacement compress filterfalse
	reduce partial cmp_to_key itemgetter
	nlargest nsmallest heappush heappop heapify bisect_left bisect_right insort
	choice choices sample shuffle seed random randint randrange uniform gauss
	sha1 sha224 sha256 sha384 sha512 md5 blake2b hexdigest digest new crc32 adler32
	b64decode b64encode urlsafe_b64decode urlsafe_b64encode b32decode b32encode hexlify unhexlify decompress
	pack unpack unpack_from calcsize iter_unpack
	dedent indent fill wrap shorten pprint pformat unescape ascii_letters ascii_lowercase ascii_uppercase digits
	punctuation whitespace hexdigits
	unified_diff ndiff context_diff SequenceMatcher ratio quick_ratio get_matching_blocks get_opcodes get_close_matches
	parse urlparse urlsplit urlunparse parse_qs parse_qsl quote unquote quote_plus unquote_plus urlencode urljoin netloc
	scheme hostname port query fragment params
	literal_eval normalize category name lookup bidirectional numeric decimal combining
	StringIO BytesIO getvalue monthrange isleap month_name day_name fnmatch fnmatchcase filter
	ip_address ip_network ip_interface num_addresses hosts overlaps network_address broadcast_address prefixlen netmask
	is_private is_loopback is_global deepcopy fold utcoffset tzname
	errno strerror msg lineno colno pos doc`)
