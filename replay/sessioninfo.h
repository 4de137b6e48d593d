/* What is kept with a run of its circumstances: options, targets, host, devices. */
#ifndef DBIO_REPLAY_SESSIONINFO_H
#define DBIO_REPLAY_SESSIONINFO_H

#include "replay/session.h"

/* --db, else $DBIO_DB, else dbio.db. */
const char *dbio_database_path(const struct dbio_cmdline *line);

/* Fills the session's devices, JSON texts, trust, how, limits and observed; released by dbio_session_info_release. */
int dbio_session_inform(struct dbio_session *session, struct dbio_err *err);
void dbio_session_info_release(struct dbio_session *session);

/* A workload's figure as results keep it; its texts stay the figure's. */
struct dbio_limit dbio_limit_from_figure(const struct dbio_figure *figure);

#endif
