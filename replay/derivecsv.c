#include "replay/derivecsv.h"

#include <math.h>
#include <string.h>

unsigned dbio_csv_cut(char *line, char separator, char **columns, unsigned max)
{
        unsigned n = 0;
        char *at = line;

        while (n < max) {
                char *to, *begin;
                bool quoted;

                at += strspn(at, separator == '\t' ? " " : " \t");
                quoted = *at == '"';
                if (quoted)
                        at++;
                columns[n++] = begin = to = at;
                while (*at) {
                        if (quoted && *at == '"' && at[1] != '"') {
                                quoted = false;
                                at++;
                                continue;
                        }
                        if (quoted && *at == '"')
                                at++;
                        else if (!quoted && *at == separator)
                                break;
                        *to++ = *at++;
                }
                bool last = !*at;
                while (to > begin && (to[-1] == ' ' || to[-1] == '\t'))
                        to--;
                *to = 0;
                if (last)
                        break;
                at++;
        }
        return n;
}

char dbio_csv_separator(const char *line)
{
        static const char separators[] = ",;\t";
        unsigned counts[3] = {0}, best = 0;

        for (const char *c = line; *c; c++)
                for (unsigned i = 0; i < 3; i++)
                        counts[i] += *c == separators[i];
        for (unsigned i = 1; i < 3; i++)
                if (counts[i] > counts[best])
                        best = i;
        return separators[best];
}

bool dbio_csv_number(const char *text, bool comma, double *value)
{
        double sum = 0, place = 1;
        int exponent = 0;
        bool digits = false;

        for (; *text >= '0' && *text <= '9'; text++, digits = true)
                sum = 10 * sum + (*text - '0');
        if (*text == '.' || (comma && *text == ','))
                for (text++; *text >= '0' && *text <= '9'; text++, digits = true)
                        sum += (*text - '0') * (place /= 10);
        if (digits && (*text == 'e' || *text == 'E')) {
                bool minus = *++text == '-';

                if (*text == '-' || *text == '+')
                        text++;
                if (*text < '0' || *text > '9')
                        return false;
                for (; *text >= '0' && *text <= '9' && exponent < 1000; text++)
                        exponent = 10 * exponent + (*text - '0');
                sum *= pow(10, minus ? -exponent : exponent);
        }
        *value = sum;
        return digits && !*text && sum < 1e300;
}
