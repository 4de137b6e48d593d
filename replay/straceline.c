#include "replay/straceline.h"

#include <string.h>

#include "replay/tracelines.h"

#define SECOND_NS 1000000000ull
#define DAY_NS (86400 * SECOND_NS)
#define STAMP_WIDTH 6 /* of the seconds of -r, which no other stamp has */

static const char *blanks(const char *at)
{
        while (*at == ' ' || *at == '\t')
                at++;
        return at;
}

/* Over midnight. */
static bool time_of_day(struct dbio_strace_clock *clock, const char **text, uint64_t *t_ns, bool *coarse)
{
        const char *at = *text;
        uint64_t hours, minutes, seconds;

        if (!dbio_trace_number(&at, &hours) || *at++ != ':' || !dbio_trace_number(&at, &minutes) || *at++ != ':' || hours > 23 ||
            minutes > 59 || !dbio_trace_time(&at, SECOND_NS, &seconds, coarse) || *at != ' ' || seconds > 61 * SECOND_NS)
                return false;
        *t_ns = clock->day_ns + (hours * 60 + minutes) * 60 * SECOND_NS + seconds;
        if (*t_ns + DAY_NS / 2 < clock->last_ns) {
                clock->day_ns += DAY_NS;
                *t_ns += DAY_NS;
        }
        clock->last_ns = *t_ns;
        *text = at;
        return true;
}

/* The first stamp of -r is 0; that of a trace whose begin is missing is padded, and too small for seconds since 1970. */
static bool is_relative(const char *line, const char *text, uint64_t t_ns)
{
        const char *begin = text;

        while (begin > line && begin[-1] == ' ')
                begin--;
        return !t_ns || (strchr(text, '.') - begin >= STAMP_WIDTH && t_ns < 100000000 * SECOND_NS);
}

static bool seconds(struct dbio_strace_clock *clock, const char *line, const char **text, uint64_t *t_ns, bool *coarse)
{
        const char *at = *text;

        if (!dbio_trace_time(&at, SECOND_NS, t_ns, coarse) || *coarse || *at != ' ')
                return false;
        if (!clock->timed)
                clock->relative = is_relative(line, *text, *t_ns);
        if (clock->relative) {
                if (__builtin_add_overflow(clock->now_ns, *t_ns, t_ns))
                        return false;
                clock->now_ns = *t_ns;
        }
        *text = at;
        return true;
}

bool dbio_strace_time(struct dbio_strace_clock *clock, const char *line, const char **text, uint64_t *t_ns, bool *coarse)
{
        const char *at = *text;
        uint64_t delta;

        if (at[strspn(at, "0123456789")] == ':' ? !time_of_day(clock, &at, t_ns, coarse) : !seconds(clock, line, &at, t_ns, coarse))
                return false;
        at = blanks(at);
        if (!strncmp(at, "(+", 2)) {
                at = blanks(at + 2);
                if (!dbio_trace_time(&at, SECOND_NS, &delta, coarse) || *at++ != ')')
                        return false;
                *t_ns = clock->now_ns = clock->deltas ? clock->now_ns + delta : *t_ns;
                clock->deltas = true;
        }
        clock->timed = true;
        *text = blanks(at);
        return true;
}

uint64_t dbio_strace_pid(const char **text)
{
        const char *at = *text;
        bool marked = !strncmp(at, "[pid", 4);
        uint64_t pid;

        at = marked ? blanks(at + 4) : at;
        if (!dbio_trace_number(&at, &pid) || (marked ? *at++ != ']' : *at != ' ' && *at != '\t'))
                return 0;
        *text = blanks(at);
        return pid;
}

bool dbio_strace_call_parse(const char *text, struct dbio_strace_call *call)
{
        const char *open = strchr(text, '('), *equal = NULL, *at;
        bool ignored;

        for (at = text; (at = strstr(at, " = ")); at++)
                equal = at;
        if (!open || !equal || equal < open)
                return false;
        for (at = equal; at > open && *at != ')'; at--)
                ;
        if (at == open)
                return false;
        call->name = text;
        call->args = open + 1;
        call->end = at;
        call->result_text = at = blanks(equal + 3);
        call->failed = *at == '-' || *at == '?';
        call->result = 0;
        if (!call->failed && !dbio_trace_number(&at, &call->result))
                return false;
        const char *angle = strrchr(at, '<');
        call->latency_ns = UINT64_MAX;
        if (angle && (angle++, !dbio_trace_time(&angle, SECOND_NS, &call->latency_ns, &ignored) || *angle != '>'))
                call->latency_ns = UINT64_MAX;
        return true;
}

bool dbio_strace_argument(const struct dbio_strace_call *call, unsigned n, uint64_t *value)
{
        const char *at = call->end;

        for (;; n--) {
                while (at > call->args && at[-1] != ',')
                        at--;
                if (!n || at == call->args)
                        break;
                at--;
        }
        at = blanks(at);
        return !n && dbio_trace_number(&at, value);
}

bool dbio_strace_name_parse(const char *at, const char *end, struct dbio_strace_name *name)
{
        if (at >= end || *at != '<')
                return false;
        name->text = ++at;
        while (at < end && *at != '<' && *at != '>')
                at++;
        name->size = (size_t)(at - name->text);
        name->character = end - at > 5 && !strncmp(at, "<char", 5);
        return name->size > 0;
}
