#!/bin/sh
# Prints a C source with the given files as arrays, and a table of them (see engine/embedded.h). NAME=FILE embeds FILE as
# NAME.
echo '#include "engine/embedded.h"'
n=0
for file; do
        echo "static const char file_$n[] = {"
        od -An -v -tu1 "${file#*=}" | sed 's/\([0-9][0-9]*\)/\1,/g'
        echo '0};'
        n=$((n + 1))
done
echo 'const struct dbio_embedded dbio_embedded[] = {'
n=0
for file; do
        echo "        {\"${file%%=*}\", file_$n, sizeof file_$n - 1},"
        n=$((n + 1))
done
echo '        {0, 0, 0}};'
