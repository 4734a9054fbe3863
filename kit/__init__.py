"""Programs for instructors, operators and authors."""

import sys

# nbformat imports jsonschema, which makes 39 parsers of web addresses in any script: more
# than a second at each start. No schema of a notebook has such an address. (None is
# Python's own way to say that there is no such module.)
sys.modules.setdefault("rfc3987_syntax", None)  # ty: ignore[no-matching-overload]
