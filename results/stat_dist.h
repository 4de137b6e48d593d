/* Student's t, central and noncentral: the only distribution that the verdicts rest on.
 *
 * Pure functions, any thread. Own numerics of one special function (the incomplete beta), because the libraries that
 * have it for C (GSL, Rmath) are under the GPL and would put every binary of dbio under it. Held to SciPy's values
 * by tests/data/statistics-vectors.json.
 */
#ifndef DBIO_RESULTS_STAT_DIST_H
#define DBIO_RESULTS_STAT_DIST_H

/* P(T <= t). df > 0, need not be whole. */
double dbio_stat_t_cdf(double t, double df);

/* P(|T| >= |t|). Precise in the far tail too. */
double dbio_stat_t_two_sided(double t, double df);

/* The t with dbio_stat_t_cdf(t, df) = p, 0 < p < 1. */
double dbio_stat_t_quantile(double p, double df);

/* P(T > limit) where T is noncentral t: (Z + shift) / sqrt(chi2 / df). The power of a one-sided t test of that limit
 * when the true effect is `shift` standard errors. */
double dbio_stat_t_power(double limit, double shift, double df);

/* The effect, in standard errors, that a two-sided test at level alpha finds with the given power (its own side only):
 * the exact factor of the minimum detectable change. */
double dbio_stat_t_detectable(double alpha, double power, double df);

/* Least number of independent values for which a 97.5 % upper bound of quantile p exists: below it, "too few". */
double dbio_stat_quantile_min_count(double p);

#endif
