#include "engine/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define NEAR_LENGTH 63 /* of a name; longer words are near nothing */

static char folded(char c)
{
        return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

/* Edit distance with swaps of neighbours as one edit (optimal string alignment). */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
        unsigned d[3][NEAR_LENGTH + 1];

        for (size_t j = 0; j <= nb; j++)
                d[0][j] = (unsigned)j;
        for (size_t i = 1; i <= na; i++) {
                unsigned *row = d[i % 3], *above = d[(i + 2) % 3], *second = d[(i + 1) % 3];

                row[0] = (unsigned)i;
                for (size_t j = 1; j <= nb; j++) {
                        bool same = folded(a[i - 1]) == folded(b[j - 1]);

                        row[j] = above[j - 1] + !same;
                        if (above[j] + 1 < row[j])
                                row[j] = above[j] + 1;
                        if (row[j - 1] + 1 < row[j])
                                row[j] = row[j - 1] + 1;
                        if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                            folded(a[i - 2]) == folded(b[j - 1]) && second[j - 2] + 1 < row[j])
                                row[j] = second[j - 2] + 1;
                }
        }
        return d[na % 3][nb];
}

/* Whether the word is one of the parts, or several in a row, of a name such as sqlserver/oltp or raid10-15k-sas. */
static bool is_part(const char *name, const char *word, size_t length)
{
        static const char separators[] = "/.-";

        for (const char *at = name; (at = strstr(at, word)); at++)
                if ((at == name || strchr(separators, at[-1])) && (!at[length] || strchr(separators, at[length])))
                        return true;
        return false;
}

/* The only candidate that the word is part of. */
static const char *whole_of(const char *word, size_t length, const char *const *candidates, unsigned n)
{
        const char *found = NULL;

        for (unsigned i = 0; i < n; i++)
                if (is_part(candidates[i], word, length)) {
                        if (found)
                                return NULL;
                        found = candidates[i];
                }
        return found;
}

const char *dbio_near_miss(const char *word, const char *const *candidates, unsigned n)
{
        size_t length = strlen(word);
        const char *best = NULL;
        unsigned least = length <= 3 ? 2 : (unsigned)(length / 3 < 4 ? length / 3 : 4) + 1;

        if (!length || length > NEAR_LENGTH)
                return NULL;
        for (unsigned i = 0; i < n; i++) {
                size_t other = strlen(candidates[i]);
                unsigned d;

                if (other > NEAR_LENGTH || other > length + least || length > other + least)
                        continue;
                d = distance(word, length, candidates[i], other);
                /* more of it right than wrong: "on" is not near "no", nor "x" near "r" */
                if (d < least && (!d || 2 * d < (length > other ? length : other))) {
                        least = d;
                        best = candidates[i];
                }
        }
        return best ? best : whole_of(word, length, candidates, n);
}
