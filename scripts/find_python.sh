#!/bin/sh
# Prints a Python that memvault runs on, or one line that says what is missing. PYTHON names the only one to consider.
oldest=11 newest=13

minor() {
    "$1" -c 'import sys; print(sys.version_info[1] if sys.version_info[0] == 3 else -1)' 2>/dev/null
}

suits() {
    found=$(minor "$1") && [ -n "$found" ] && [ "$found" -ge $oldest ] && [ "$found" -le $newest ]
}

for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python}; do
    if suits "$candidate"; then
        command -v "$candidate"
        exit 0
    fi
done

seen=$("${PYTHON:-python3}" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])' 2>/dev/null) || seen="no usable Python"
echo "memvault needs Python 3.$oldest to 3.$newest, found $seen (${PYTHON:-python3}): install one, or run 'make PYTHON=/path/to/python3.$oldest ...'" >&2
exit 1
