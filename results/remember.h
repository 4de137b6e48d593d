/* Facts that outlive runs, by name: which device was preconditioned, and how. */
#ifndef DBIO_RESULTS_REMEMBER_H
#define DBIO_RESULTS_REMEMBER_H

#include <stddef.h>

#include "engine/err.h"
#include "results/store.h"

/* Keeps text and the time under name, instead of what was kept there before. DBIO_IO. */
int dbio_store_remember(struct dbio_store *store, const char *name, const char *text, struct dbio_err *err);

/* What is kept under name, and since when (UTC, `2026-11-30 21:02:00`); both texts empty where there is nothing. */
int dbio_store_recall(struct dbio_store *store, const char *name, char *text, size_t size, char *since, size_t since_size,
                      struct dbio_err *err);

#endif
