# Follows every attribute that a program of Python may name, from every value that it may
# begin with, and prints what should not be reached: a module that is not on the list, a
# frame, a program's code, the names of a module, a class or function that opens or starts.
import builtins
import importlib.util
import io
import json
import sys
import types

lists = json.load(sys.stdin)
attributes, allowed, functions = lists["attributes"], set(lists["modules"]), lists["builtins"]

known = {importlib.import_module(name) for name in allowed if importlib.util.find_spec(name)}
begin = [(name, getattr(builtins, name)) for name in functions if hasattr(builtins, name)]
begin += [(module.__name__, module) for module in known]
import ast, collections, csv, datetime, decimal, difflib, fractions, functools, hashlib, ipaddress, itertools, random, re, string, zoneinfo, zlib  # noqa


def generator():
    yield 1


def caught():
    try:
        json.loads("{")
    except ValueError as e:
        return e


text = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"a,b\n")))
begin += list({
    "file": open(__file__), "bytes of a file": open(__file__, "rb"), "text": "a", "number": 1, "float": 1.5, "bytes": b"a", "list": [1], "dict": {1: 2}, "set": {1},
    "tuple": (1,), "range": range(2), "slice": slice(1), "complex": 1j, "generator": generator(), "function": generator, "lambda": lambda: 0, "error": caught(),
    "keys": {}.keys(), "iterator": iter([]), "zip": zip(), "map": map(len, []), "match": re.match("a", "a"), "pattern": re.compile("a"), "csv": csv.reader([]),
    "csv rows": csv.DictReader(text), "csv out": csv.writer(io.StringIO()), "dialect": csv.Sniffer().sniff("a,b\n1,2\n"), "counter": collections.Counter("a"), "deque": collections.deque(),
    "hash": hashlib.sha256(), "decimal": decimal.Decimal(1), "context": decimal.getcontext(), "fraction": fractions.Fraction(1), "date": datetime.datetime.now(), "delta": datetime.timedelta(),
    "zone": datetime.timezone.utc, "zoneinfo": zoneinfo.ZoneInfo, "partial": functools.partial(len), "chain": itertools.chain(), "address": ipaddress.ip_address("::1"), "network": ipaddress.ip_network("10.0.0.0/8"),
    "sequence": difflib.SequenceMatcher(None, "a", "b"), "tree": ast.parse("a"), "memory": io.StringIO(), "zlib": zlib.decompressobj(), "random": random.Random(), "url": importlib.import_module("urllib.parse").urlparse("http://a"),
    "default": collections.defaultdict(list),
}.items())

namespaces = {id(vars(m)) for m in list(sys.modules.values()) if isinstance(m, types.ModuleType)}
opens = {io.open, io.FileIO, io.BufferedWriter, io.BufferedRandom, eval, exec, compile, getattr, setattr, __import__, type, vars, globals}
kinds = (types.FrameType, types.CodeType, types.TracebackType)
# Classes that are reached only as the class of a value are not here: none of the names
# leads from a value to its class.
plain = {"sys", "re", "json", "math", "csv", "collections", "datetime", "itertools", "functools", "_operator", "operator", "builtins", "str", "statistics"}

seen, found, keep = set(), [], []
queue = [(name, value, 0) for name, value in begin]
while queue:
    name, value, depth = queue.pop()
    if id(value) in seen:
        continue
    seen.add(id(value))
    bad = ""
    if isinstance(value, types.ModuleType) and value not in known and value.__name__ != "urllib":
        bad = "module"
    elif isinstance(value, kinds):
        bad = "kind"
    elif id(value) in namespaces:
        bad = "names"
    else:
        try:
            if value in opens:
                bad = "function"
        except Exception:
            pass
    if not bad and callable(value) and getattr(value, "__module__", None) in ("os", "posix", "subprocess", "_posixsubprocess", "shutil", "pathlib", "socket", "_socket", "ctypes", "_ctypes", "importlib", "runpy", "code", "codeop"):
        bad = "callable"
    if bad:
        found.append(f"{bad}: {name}")
        continue
    if depth == 4:
        continue
    keep.append(value)  # so that nothing else gets its id
    for attribute in attributes:
        try:
            queue.append((f"{name}.{attribute}", getattr(value, attribute), depth + 1))
        except Exception:
            pass
print(len(seen))
print("\n".join(sorted(found)))
