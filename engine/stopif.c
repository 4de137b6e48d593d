#include "engine/stopif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "engine/units.h"

#define SAMPLE_NS 500000000u

static int find_device(struct dbio_stop_if *s)
{
        char path[96];
        struct stat st;
        unsigned maj, min;
        FILE *file;
        int n;

        if (strchr(s->device, '/')) {
                if (stat(s->device, &st) != 0 || !S_ISBLK(st.st_mode))
                        return -1;
                s->number = st.st_rdev;
                return 0;
        }
        snprintf(path, sizeof path, "/sys/class/block/%s/dev", s->device);
        file = fopen(path, "re");
        if (!file)
                return -1;
        n = fscanf(file, "%u:%u", &maj, &min);
        fclose(file);
        s->number = makedev(maj, min);
        return n == 2 ? 0 : -1;
}

int dbio_stop_if_parse(struct dbio_stop_if *s, const char *text, struct dbio_err *err)
{
        char name[64], operator[3], limit[32], word[4], span[32], rest;
        struct dbio_err why = {0};
        char *dot;

        memset(s, 0, sizeof *s);
        if (sscanf(text, " %63s %2[>=] %31s %3s %31s %c", name, operator, limit, word, span, &rest) != 5 ||
            strcmp(word, "for") != 0 || (strcmp(operator, ">") != 0 && strcmp(operator, ">=") != 0) ||
            !(dot = strrchr(name, '.')) || strcmp(dot, ".await") != 0)
                return dbio_err_set(err, DBIO_USAGE, "--stop-if '%s': DEVICE.await > TIME for TIME is right, as in "
                                                     "'sda.await > 20ms for 3s'", text);
        *dot = 0;
        snprintf(s->device, sizeof s->device, "%s", name);
        s->or_equal = operator[1] == '=';
        if (dbio_parse_time(limit, &s->limit_ns, &why) != 0 || dbio_parse_time(span, &s->for_ns, &why) != 0)
                return dbio_err_set(err, DBIO_USAGE, "--stop-if '%s': %s", text, why.message);
        if (find_device(s) != 0 || dbio_device_counters_read(&s->before, s->number, &why) != 0)
                return dbio_err_set(err, DBIO_USAGE, "--stop-if '%s': %s is no block device here", text, s->device);
        return 0;
}

bool dbio_stop_if_sample(struct dbio_stop_if *s, uint64_t now_ns, const struct dbio_device_counters *now)
{
        uint64_t ios = now->read_ios - s->before.read_ios + now->write_ios - s->before.write_ios;
        uint64_t ms = now->read_ms - s->before.read_ms + now->write_ms - s->before.write_ms;
        uint64_t began_ns = s->sampled_ns;
        bool over;

        s->before = *now;
        s->sampled_ns = now_ns;
        if (began_ns == 0)
                return false;
        s->await_ns = ios ? (double)ms * 1e6 / (double)ios : 0;
        over = ios > 0 && (s->or_equal ? s->await_ns >= (double)s->limit_ns : s->await_ns > (double)s->limit_ns);
        if (!over)
                s->since_ns = 0;
        else if (s->since_ns == 0)
                s->since_ns = began_ns;
        return over && now_ns - s->since_ns >= s->for_ns;
}

bool dbio_stop_if_check(struct dbio_stop_if *s, uint64_t now_ns)
{
        struct dbio_device_counters now;

        if (s->sampled_ns != 0 && now_ns - s->sampled_ns < SAMPLE_NS)
                return false;
        return dbio_device_counters_read(&now, s->number, NULL) == 0 && dbio_stop_if_sample(s, now_ns, &now);
}
