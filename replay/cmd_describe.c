#include "replay/command.h"

#include <stdio.h>
#include <string.h>

#include "engine/backend.h"
#include "patterns/profile.h"
#include "patterns/reference.h"
#include "replay/derive.h"
#include "replay/oldresults.h"
#include "replay/trace.h"
#include "results/bands.h"

static void describe_engines(FILE *out)
{
        for (const struct dbio_backend *const *backend = dbio_backends; *backend; backend++)
                fprintf(out, "%-10s %s\n", (*backend)->name, (*backend)->summary);
}

static void describe_bands(FILE *out)
{
        fputs("What show and compare call the mean of a read, write or commit:\n", out);
        for (const struct dbio_band *band = dbio_bands; band->name; band++)
                fprintf(out, "  %-10s %s\n", band->name, band->range);
        fprintf(out, "Source: %s\n", dbio_bands_source);
}

static void describe_formats(FILE *out)
{
        dbio_trace_formats_print(out);
        fputc('\n', out);
        fputs("dbio derive FORMAT FILE...: workloads from logs, counters and other tools' job files\n", out);
        dbio_derive_formats_print(out);
        fputs("\ndbio import FORMAT FILE..., without -o: past results of other tools as runs\n", out);
        dbio_old_formats_print(out);
}

static int describe_pattern(const char *name, struct dbio_err *err)
{
        const struct dbio_pattern *pattern = dbio_pattern_find(name);
        const char *near;

        if (pattern)
                return dbio_reference_pattern(stdout, pattern), DBIO_OK;
        near = dbio_reference_near(name);
        return dbio_err_set(err, DBIO_USAGE, "no pattern or page %s%s%s; `dbio describe` lists the patterns,"
                                            " `dbio help describe` the pages", name,
                            near ? "; did you mean " : "", near ? near : "");
}

/* Pages that need no more than a place to write to. */
static const struct {
        const char *name;
        void (*print)(FILE *out);
} pages[] = {
        {"patterns", dbio_reference_patterns},
        {"workloads", dbio_reference_workloads},
        {"engines", describe_engines},
        {"devices", dbio_profile_list},
        {"formats", describe_formats},
        {"keys", dbio_reference_keys},
        {"bands", describe_bands},
};

int dbio_cmd_describe(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *what = line->narguments ? line->arguments[0] : "patterns";

        if (!strcmp(what, "keys") && dbio_cmdline_has(line, DBIO_OPT_MARKDOWN))
                return dbio_reference_markdown(stdout), DBIO_OK;
        if (!strcmp(what, "keys") && dbio_cmdline_has(line, DBIO_OPT_JSON_SCHEMA))
                return dbio_reference_schema(stdout) ? dbio_err_set(err, DBIO_IO, "cannot write to stdout") : DBIO_OK;
        if (!strncmp(what, "sim:", 4))
                return dbio_profile_describe(what + 4, stdout, err);
        for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
                if (!strcmp(pages[i].name, what))
                        return pages[i].print(stdout), DBIO_OK;
        return describe_pattern(what, err);
}
