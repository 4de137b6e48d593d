#include "results/bands.h"

#include <math.h>
#include <stddef.h>

const struct dbio_band dbio_bands[] = {
        {2e6, "excellent", "<= 2 ms"},
        {5e6, "very good", "2-5 ms"},
        {15e6, "good", "5-15 ms"},
        {100e6, "poor", "16-100 ms"},
        {500e6, "bad", "100-500 ms"},
        {INFINITY, "deplorable", "> 500 ms"},
        {0, NULL, NULL},
};

const char dbio_bands_source[] =
        "Microsoft, Troubleshoot slow SQL Server performance caused by I/O issues (script over "
        "sys.dm_io_virtual_file_stats)";

const struct dbio_band *dbio_band_of(double mean_ns)
{
        const struct dbio_band *band = dbio_bands;

        if (isnan(mean_ns))
                return NULL;
        while (mean_ns > band->up_to_ns)
                band++;
        return band;
}
