"""What the names of Python's libraries do with a value: they compute, parse, read, write, print it, or are told how."""

from __future__ import annotations

COMPUTING = frozenset({
    "builtins", "collections", "csv", "datetime", "decimal", "fractions", "functools", "io", "itertools", "json",
    "math", "numpy", "operator", "pandas", "re", "scipy", "statistics", "statsmodels", "string", "textwrap",
})  # fmt: skip
"""Modules that compute; a function of any other one brings data, and its arguments say which."""
PARSERS = frozenset({
    "BytesIO", "DataFrame", "Decimal", "Fraction", "Series", "StringIO", "array", "asarray", "complex", "eval", "float",
    "fromstring", "int", "literal_eval", "loads", "to_numeric",
})  # fmt: skip
"""Make numbers of text."""
SETTINGS = frozenset({
    "Timedelta", "Timestamp", "date", "date_range", "datetime", "DateOffset", "diff", "ewm", "expanding", "get", "head",
    "len", "ljust", "nlargest", "nsmallest", "pct_change", "percentile", "quantile", "range", "resample", "rjust",
    "rolling", "round", "sample", "shift", "strftime", "strptime", "tail", "timedelta", "to_datetime", "to_string",
    "zfill",
})  # fmt: skip
"""What is given to these says how to look at the data."""
OF_DATA = frozenset({"percentile", "quantile", "round", "to_datetime"})
"""Of those the functions whose first argument is the data."""
WRITERS = frozenset({"dump", "to_csv", "to_excel", "to_html", "to_json", "to_parquet", "to_pickle", "write",
                      "write_text", "writelines", "writerow", "writerows"})  # fmt: skip
ONTO_HANDLES = frozenset({"dump", "write", "writelines", "writerow", "writerows"})
"""Of those the ones that write to what `open` gave; the others are given a name."""
TO_TEXT = frozenset({"to_csv", "to_html", "to_json"})
"""Of those the ones that give their text back where they are given no name."""
NAMED = frozenset({"buf", "path", "path_or_buf"})
READERS = frozenset({"open", "read_csv", "read_excel", "read_json", "read_parquet", "read_pickle", "read_table",
                      "read_text"})  # fmt: skip
PRINTERS = frozenset({"display", "pprint", "pp"})
