#include "replay/sessioninfo.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sha256.h"
#include "results/host.h"

const char *dbio_database_path(const struct dbio_cmdline *line)
{
        const char *given = dbio_cmdline_value(line, DBIO_OPT_DB);

        if (!given)
                given = getenv("DBIO_DB");
        return given && *given ? given : "dbio.db";
}

/* Options as an argument list, for --like: those that make the run what it is. What permits destruction is asked for
 * again each time. */
static char *options_text(const struct dbio_session *session)
{
        static const signed char left_out[] = {DBIO_OPT_LABEL, DBIO_OPT_LIKE, DBIO_OPT_DB, DBIO_OPT_ALLOW_WRITE,
                                               DBIO_OPT_DESTROY, DBIO_OPT_ALLOW_BUSY, DBIO_OPT_JSON, DBIO_OPT_QUIET,
                                               DBIO_OPT_YES, DBIO_OPT_REPEAT, DBIO_OPT_TARGET, DBIO_OPT_BIND,
                                               DBIO_OPT_SET, DBIO_OPT_DURATION, DBIO_OPT_CREATE, DBIO_OPT_PREPARE,
                                               DBIO_OPT_OPS_LOG, DBIO_OPT_QUICK, DBIO_OPT_RESUME,
                                               DBIO_OPT_MAKE_FILESYSTEMS};
        json_t *list = json_array(), *bindings = json_array();

        for (int i = 0; i < DBIO_OPTIONS; i++) {
                const struct dbio_option_value *slot = &session->line->options[i];
                if (memchr(left_out, i, sizeof left_out))
                        continue;
                for (unsigned k = 0; k < slot->n; k++) {
                        char text[64];
                        snprintf(text, sizeof text, "--%s", dbio_options[i].name);
                        json_array_append_new(list, json_string(text));
                        if (dbio_options[i].argument)
                                json_array_append_new(list, json_string(slot->values[k]));
                }
        }
        for (unsigned i = 0; i < session->nbindings; i++) {
                char *text = NULL;
                if (asprintf(&text, "%s=%s", session->bindings[i].target, session->bindings[i].text) < 0)
                        continue;
                json_array_append_new(bindings, json_string(text));
                free(text);
        }
        json_t *root = json_pack("{s:o, s:o}", "options", list, "bindings", bindings);
        char *text = json_dumps(root, JSON_COMPACT);
        json_decref(root);
        return text;
}

static char *targets_text(const struct dbio_session *session)
{
        const char **bindings = calloc(session->targets.n + 1, sizeof *bindings);

        for (unsigned i = 0; i < session->targets.n; i++)
                for (unsigned b = 0; b < session->nbindings; b++)
                        if (session->targets.targets[i].kind != DBIO_TARGET_NONE &&
                            !strcmp(session->bindings[b].target, session->targets.targets[i].name))
                                bindings[i] = session->bindings[b].text;
        char *text = dbio_host_targets_json(&session->targets, bindings);
        free(bindings);
        return text;
}

struct dbio_limit dbio_limit_from_figure(const struct dbio_figure *figure)
{
        return (struct dbio_limit){
                .text = figure->text,
                .stream = figure->stream,
                .kind = figure->kind,
                .part = (enum dbio_limit_part)figure->part,
                .stat = (enum dbio_limit_stat)figure->stat,
                .comparison = (enum dbio_limit_comparison)figure->comparison,
                .value = figure->value,
        };
}
_Static_assert((int)DBIO_FIGURE_SERVICE == (int)DBIO_PART_SERVICE && (int)DBIO_STAT_ERRORS == (int)DBIO_LIMIT_ERRORS &&
                       (int)DBIO_STAT_P50 == (int)DBIO_LIMIT_P50 && (int)DBIO_OP_GE == (int)DBIO_COMPARE_GE,
               "figures and limits count alike");

static struct dbio_limit *limits_of(const struct dbio_figure *figures, unsigned n)
{
        struct dbio_limit *limits = calloc(n + 1, sizeof *limits);

        for (unsigned i = 0; i < n; i++)
                limits[i] = dbio_limit_from_figure(&figures[i]);
        return limits;
}

static void describe_how(struct dbio_session *session)
{
        const struct dbio_workload *workload = &session->demand.workload;
        enum dbio_target_kind kind = session->targets.n ? session->targets.targets[0].kind : DBIO_TARGET_NONE;
        bool through = false, off = false, real = kind == DBIO_TARGET_FILE || kind == DBIO_TARGET_BLOCK;
        uint64_t depth = 0;

        for (unsigned i = 0; i < workload->nstreams; i++) {
                const struct dbio_workload_stream *stream = &workload->streams[i];
                bool read = stream->pattern->keys & DBIO_KEYS_READ;
                if (stream->pattern->keys & DBIO_KEYS_WRITE) {
                        through |= stream->keys.write_through;
                        off |= !stream->keys.write_through && stream->pattern->write_through;
                }
                if (read && !dbio_is_set(stream->keys.rate.per_s))
                        depth += stream->keys.threads * (stream->keys.depth == DBIO_UNSET ? 1 : stream->keys.depth);
        }
        int used = snprintf(session->how, sizeof session->how, "%s%s%s%s", session->options.backend->name,
                            real ? ", O_DIRECT" : "",
                            through ? " + write-through" : "", off ? " (write_through: no on some streams)" : "");
        if (session->demand.trace && used > 0 && (size_t)used < sizeof session->how)
                snprintf(session->how + used, sizeof session->how - (size_t)used, ", trace %s",
                         dbio_cmdline_value(session->line, DBIO_OPT_PACE));
        if (depth && used > 0 && (size_t)used < sizeof session->how)
                snprintf(session->how + used, sizeof session->how - (size_t)used, ", depth %llu kept",
                         (unsigned long long)depth);
}

/* Trust, text and hash of the profiles used, in the order of the devices. */
static void inform_profiles(struct dbio_session *session)
{
        char *text = NULL;
        size_t size = 0;
        FILE *all = open_memstream(&text, &size);

        for (unsigned i = 0; i < session->sim.nprofiles; i++) {
                const struct dbio_sim_profile *profile = session->sim.profiles[i];
                size_t used = strlen(session->trust);
                fprintf(all, "%s%s", i ? "---\n" : "", profile->text);
                if (!strstr(session->trust, profile->name))
                        snprintf(session->trust + used, sizeof session->trust - used, "%s%s: %s", used ? " " : "",
                                 profile->name, profile->trust);
        }
        fclose(all);
        dbio_sha256_hex(text, size, session->profile_hash);
        session->profile_text = text;
}

int dbio_session_inform(struct dbio_session *session, struct dbio_err *err)
{
        const struct dbio_workload *workload = &session->demand.workload;

        if (dbio_host_devices_init(&session->devices, &session->targets, err))
                return -1;
        session->options_json = options_text(session);
        session->targets_json = targets_text(session);
        session->host_json = dbio_host_json();
        session->nlimits = workload->nlimits;
        session->limits = limits_of(workload->limits, workload->nlimits);
        session->nobserved = workload->nobserved;
        session->observed = limits_of(workload->observed, workload->nobserved);
        describe_how(session);
        if (session->simulated)
                inform_profiles(session);
        if (!session->options_json || !session->targets_json || !session->host_json)
                return dbio_err_set(err, DBIO_BUG, "out of memory");
        return 0;
}

void dbio_session_info_release(struct dbio_session *session)
{
        dbio_host_devices_release(&session->devices);
        free(session->options_json);
        free(session->targets_json);
        free(session->host_json);
        free(session->limits);
        free(session->observed);
        free(session->profile_text);
}
