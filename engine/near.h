/* "Did you mean": the name that a mistyped word stands for. Pure. */
#ifndef DBIO_ENGINE_NEAR_H
#define DBIO_ENGINE_NEAR_H

/* The candidate nearest to word by edit distance (swaps of neighbours are one edit, letters' case and - for _ none)
 * where that is near enough; else the only one that has word as a part between `/`, `.` and `-`; else NULL. */
const char *dbio_near_miss(const char *word, const char *const *candidates, unsigned n);

#endif
