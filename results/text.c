#include "results/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* Bytes of the first n characters of UTF-8. */
static size_t bytes_of(const char *text, unsigned n)
{
        size_t i = 0;

        while (text[i]) {
                if (((unsigned char)text[i] & 0xc0) != 0x80 && n-- == 0)
                        break;
                i++;
        }
        return i;
}

/* Text from column `at` on; further lines stand behind `indent` blanks. */
static void print_wrapped(FILE *out, unsigned at, unsigned indent, const char *text)
{
        do {
                size_t room = bytes_of(text, DBIO_COLUMNS - at), n = room;

                if (text[room]) {
                        while (n && text[n] != ' ')
                                n--;
                        if (!n)
                                n = room;
                }
                size_t end = n;
                while (end && text[end - 1] == ' ')
                        end--;
                fprintf(out, "%.*s\n", (int)end, text);
                text += n;
                text += strspn(text, " ");
                if (*text)
                        fprintf(out, "%*s", (int)indent, "");
                at = indent;
        } while (*text);
}

void dbio_text_line(FILE *out, const char *format, ...)
{
        char line[1024];
        va_list args;

        va_start(args, format);
        vsnprintf(line, sizeof line, format, args);
        va_end(args);
        unsigned blanks = (unsigned)strspn(line, " "), indent = blanks < DBIO_COLUMNS / 2 ? blanks : 0;
        fprintf(out, "%*s", (int)indent, "");
        print_wrapped(out, indent, indent + 4, line + indent);
}

void dbio_text_wrap(FILE *out, unsigned indent, const char *text)
{
        if (!*text)
                return;
        fprintf(out, "%*s", (int)indent, "");
        print_wrapped(out, indent, indent, text);
}

void dbio_text_hang(FILE *out, const char *lead, unsigned indent, const char *text)
{
        fputs(lead, out);
        print_wrapped(out, (unsigned)strlen(lead), indent, text);
}

char *dbio_text_shell_word(char *text, size_t size, const char *word)
{
        bool plain = word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./=,:")] == 0;

        snprintf(text, size, plain ? "%s" : "'%s'", word);
        return text;
}

char *dbio_text_duration(char *text, size_t size, double ns)
{
        double seconds = ns / 1e9;
        unsigned long whole = (unsigned long)llround(seconds);

        if (!(seconds >= 0))
                snprintf(text, size, "-");
        else if (seconds < 10)
                snprintf(text, size, fabs(seconds - (double)whole) < 0.005 ? "%.0fs" : "%.2fs", seconds);
        else if (whole < 60)
                snprintf(text, size, "%lus", whole);
        else if (whole < 3600)
                snprintf(text, size, "%lum%02lus", whole / 60, whole % 60);
        else
                snprintf(text, size, "%luh%02lum", whole / 3600, whole % 3600 / 60);
        return text;
}

char *dbio_text_size(char *text, size_t size, double bytes)
{
        static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
        unsigned unit = 0;

        while (bytes >= 1024 && unit < 5) {
                bytes /= 1024;
                unit++;
        }
        snprintf(text, size, bytes >= 100 || bytes == floor(bytes) ? "%.0f %s" : bytes >= 10 ? "%.1f %s" : "%.2f %s",
                 bytes, units[unit]);
        return text;
}

char *dbio_text_moment(char *text, size_t size, const char *stored)
{
        struct tm tm = {0};
        time_t moment;

        if (!strptime(stored, "%Y-%m-%dT%H:%M:%SZ", &tm)) {
                snprintf(text, size, "%s", stored);
                return text;
        }
        moment = timegm(&tm);
        strftime(text, size, "%Y-%m-%d %H:%M:%S", localtime_r(&moment, &tm));
        return text;
}
