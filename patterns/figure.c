#include "patterns/workload.h"

#include <string.h>

#include "engine/op.h"
#include "engine/units.h"

static const char *const parts[] = {"response", "wait", "service", NULL};
static const char *const stats[] = {"iops", "mib_per_s", "mean", "p50", "p95", "p99", "p999", "max", "errors", NULL};
static const char *const operators[] = {
        [DBIO_OP_LT] = "<", [DBIO_OP_LE] = "<=", [DBIO_OP_GT] = ">", [DBIO_OP_GE] = ">="};

static int find(const char *const *words, const char *word, size_t length)
{
        for (int i = 0; words[i]; i++)
                if (strlen(words[i]) == length && !strncmp(words[i], word, length))
                        return i;
        return -1;
}

static int find_kind(const char *word, size_t length)
{
        char kind[16];

        if (length >= sizeof kind)
                return -1;
        memcpy(kind, word, length);
        kind[length] = '\0';
        return dbio_kind_find(kind);
}

static int wrong_part(const char *text, const char *part, size_t length, struct dbio_err *err)
{
        return dbio_err_set(err, DBIO_USAGE,
                            "\"%.100s\": \"%.*s\" is none of read write fsync trim commit, wait service response, or"
                            " iops mib_per_s mean p50 p95 p99 p999 max errors",
                            text, (int)(length < 40 ? length : 40), part);
}

/* STREAM[.KIND][.wait|.service|.response].STAT, from text to end. */
static int parse_name(struct dbio_figure *figure, const char *text, const char *end, struct dbio_err *err)
{
        const char *c = text, *dot;
        int kind = -1, part = -1, stat = -1;
        size_t length = strcspn(text, ".");

        if (length >= (size_t)(end - text) || !length)
                return dbio_err_set(err, DBIO_USAGE,
                                    "\"%.100s\" is no figure: write STREAM.KIND.STAT, such as"
                                    " log.commit.mean",
                                    text);
        if (length >= sizeof figure->stream)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s…\" is too long for a stream's name", text);
        memcpy(figure->stream, text, length);
        figure->stream[length] = '\0';
        for (c = text + length + 1; stat < 0; c = dot + 1) {
                bool taken;

                dot = memchr(c, '.', (size_t)(end - c));
                if (!dot)
                        dot = end;
                length = (size_t)(dot - c);
                taken = kind < 0 && part < 0 && (kind = find_kind(c, length)) >= 0;
                taken = taken || (part < 0 && (part = find(parts, c, length)) >= 0);
                if (taken && dot == end)
                        return dbio_err_set(err, DBIO_USAGE,
                                            "\"%.100s\" does not say which: end it with .mean, .p99, .iops …", text);
                if (taken)
                        continue;
                stat = find(stats, c, length);
                if (stat >= 0 && dot < end)
                        return dbio_err_set(err, DBIO_USAGE, "\"%.100s\": %s comes last: STREAM.KIND.PART.STAT", text,
                                            stats[stat]);
                if (stat < 0)
                        return wrong_part(text, c, length, err);
        }
        if (part >= 0 && (stat == DBIO_STAT_IOPS || stat == DBIO_STAT_MIB_PER_S || stat == DBIO_STAT_ERRORS))
                return dbio_err_set(err, DBIO_USAGE, "\"%.100s\": %s has no %s", text, stats[stat], parts[part]);
        figure->kind = kind;
        figure->part = part < 0 ? DBIO_FIGURE_RESPONSE : (unsigned)part;
        figure->stat = (unsigned)stat;
        return 0;
}

/* `+10%`, `-5%`, also over 100 %. */
static int parse_change(const char *text, size_t length, double *value, struct dbio_err *err)
{
        char number[32];

        if (length - 2 >= sizeof number)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is no change: write +10%% or -5%%", text);
        memcpy(number, text + 1, length - 2);
        number[length - 2] = '\0';
        if (dbio_parse_factor(number, value, NULL))
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is no change: write +10%% or -5%%", text);
        *value = (*text == '-' ? -*value : *value) / 100;
        return 0;
}

static int parse_value(struct dbio_figure *figure, const char *text, struct dbio_err *err)
{
        size_t length = strlen(text);
        uint64_t whole;
        int code;

        if (length > 1 && text[length - 1] == '%') {
                if (*text != '+' && *text != '-')
                        return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" needs a sign: +%.60s or -%.60s", text, text,
                                            text);
                figure->relative = true;
                return parse_change(text, length, &figure->value, err);
        }
        switch (figure->stat) {
        case DBIO_STAT_IOPS:
                return dbio_parse_rate(text, &figure->value, NULL, err);
        case DBIO_STAT_MIB_PER_S:
                return dbio_parse_rate(text, NULL, &figure->value, err);
        case DBIO_STAT_ERRORS:
                code = dbio_parse_count(text, &whole, err);
                break;
        default:
                code = dbio_parse_time(text, &whole, err);
                break;
        }
        if (!code)
                figure->value = (double)whole;
        return code;
}

static int begin(struct dbio_figure *figure, const char *text, struct dbio_err *err)
{
        memset(figure, 0, sizeof *figure);
        if (strlen(text) >= sizeof figure->text)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s…\" is too long for a figure", text);
        strcpy(figure->text, text);
        return 0;
}

int dbio_figure_parse(struct dbio_figure *figure, const char *text, struct dbio_err *err)
{
        const char *end, *value;
        size_t length;

        if (begin(figure, text, err))
                return -1;
        text = figure->text;
        text += strspn(text, " ");
        end = text + strcspn(text, " <>=");
        value = end + strspn(end, " ");
        length = strspn(value, "<>=");
        if (parse_name(figure, text, end, err))
                return -1;
        if (!*value)
                return 0;
        for (int i = DBIO_OP_LT; i <= DBIO_OP_GE; i++)
                if (strlen(operators[i]) == length && !strncmp(operators[i], value, length))
                        figure->comparison = (unsigned)i;
        if (figure->comparison == DBIO_OP_NONE)
                return dbio_err_set(err, DBIO_USAGE, "\"%.100s\": one of < <= > >= belongs before the value", text);
        value += length;
        value += strspn(value, " ");
        if (!*value)
                return dbio_err_set(err, DBIO_USAGE, "\"%.100s\" has no value behind the %s", text,
                                    operators[figure->comparison]);
        length = strlen(value);
        while (length && value[length - 1] == ' ')
                length--;
        figure->text[value + length - figure->text] = '\0';
        return parse_value(figure, value, err);
}

int dbio_figure_observed(struct dbio_figure *figure, const char *name, const char *value, struct dbio_err *err)
{
        if (begin(figure, name, err) || parse_name(figure, figure->text, figure->text + strlen(name), err) ||
            parse_value(figure, value, err))
                return -1;
        if (figure->relative)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" compares two runs: write what was seen, such as 18.4ms",
                                    value);
        return 0;
}
