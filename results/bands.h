/* Words for latencies, as SQL Server people use them: the mean of an op's service as the database sees it.
 *
 * Source: Microsoft's script for sys.dm_io_virtual_file_stats ("Troubleshoot slow SQL Server performance caused by I/O
 * issues"): below 2 ms excellent, 2 to 5 very good, 6 to 15 good, 16 to 100 poor, 100 to 500 bad, above deplorable. */
#ifndef DBIO_RESULTS_BANDS_H
#define DBIO_RESULTS_BANDS_H

struct dbio_band {
        double up_to_ns; /* inclusive; INFINITY in the last */
        const char *name, *range; /* "poor", "16-100 ms" */
};

extern const struct dbio_band dbio_bands[]; /* rising; ended by name NULL */
extern const char dbio_bands_source[];

/* The band of a mean; NULL for NAN. */
const struct dbio_band *dbio_band_of(double mean_ns);

#endif
