/* Verdicts and gates: the rules one by one, and by simulation how often they are wrong and what they find.
 *
 * The noise models: per second a gaussian AR(1) process (cv, phi), per run a gaussian factor, a dip of 45 % for 4 s in
 * every 20 s, and stalls. A run is 60 values. The expected shares come from an independent simulation in
 * NumPy with the same models (4,000 trials a cell); tolerances are three standard errors of both simulations. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "results/gate.h"
#include "results/number.h"
#include "results/verdict.h"

enum { SECONDS = 60, TRIALS = 2000 };

struct noise {
        double cv, phi, run_sd;
        bool dips;
        double stalls_per_s; /* each 1 to 2 s of nothing */
};

static const struct noise quiet = {0.03, 0.3, 0.01, false, 0};
static const struct noise typical = {0.05, 0.6, 0.02, true, 0};
static const struct noise noisy = {0.10, 0.6, 0.03, true, 1 / 120.0};

/* SplitMix64 (Steele, Lea, Flood). */
static double uniform(uint64_t *state)
{
        uint64_t z = *state += 0x9E3779B97F4A7C15u;

        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
        return sqrt(-2 * log(1 - uniform(state))) * cos(2 * M_PI * uniform(state));
}

static double run_mean(const struct noise *noise, double level, uint64_t *state)
{
        double x = normal(state), sum = 0, factor = 1 + noise->run_sd * normal(state), stalled = 0;

        for (int t = 0; t < SECONDS; t++) {
                double y = level * factor * (1 + noise->cv * x) * (noise->dips && t % 20 < 4 ? 0.55 : 1);

                if (noise->stalls_per_s > 0 && uniform(state) < noise->stalls_per_s)
                        stalled = 1 + uniform(state);
                y *= 1 - fmin(1, stalled);
                stalled = fmax(0, stalled - 1);
                sum += y;
                x = noise->phi * x + sqrt(1 - noise->phi * noise->phi) * normal(state);
        }
        return fmax(sum / SECONDS, 1);
}

struct shares {
        double same, cannot, faster, slower, gate_pass, gate_fail, sd;
};

/* n runs a side in the order ABBA…, the new side at (1 + change), the machine drifting by `drift` a run. */
static struct shares simulate(const struct noise *noise, unsigned n, double change, double drift)
{
        const struct dbio_gate gate = {.relative = true, .less = false, .limit = -0.05};
        struct shares shares = {0};
        uint64_t state = 20081216;

        for (int trial = 0; trial < TRIALS; trial++) {
                struct dbio_verdict_value side[2][8];
                struct dbio_verdict_question question = {.base = side[0],
                                                         .new_ = side[1],
                                                         .nr_base = n,
                                                         .nr_new = n,
                                                         .higher_is_better = true,
                                                         .margin = 0.05,
                                                         .alpha = 0.05};
                struct dbio_verdict verdict;
                struct dbio_gate_answer answer;
                unsigned at[2] = {0, 0};

                for (unsigned i = 0; i < 2 * n; i++) {
                        unsigned new_ = (i + 1) / 2 % 2;
                        double level = 10000 * (new_ ? 1 + change : 1) * pow(1 + drift, i);

                        side[new_][at[new_]++] = (struct dbio_verdict_value){run_mean(noise, level, &state), i};
                }
                dbio_verdict_decide(&question, &verdict);
                ck_assert(verdict.interleaved);
                ck_assert_int_eq(verdict.effect.method, DBIO_STAT_DRIFT);
                shares.same += verdict.word == DBIO_VERDICT_SAME;
                shares.cannot += verdict.word == DBIO_VERDICT_CANNOT_TELL;
                shares.faster += verdict.low95 > 0;
                shares.slower += verdict.high95 < 0;
                shares.sd += verdict.effect.sd;
                dbio_gate_judge(&gate, &question, &answer);
                shares.gate_pass += answer.word == DBIO_GATE_PASS;
                shares.gate_fail += answer.word == DBIO_GATE_FAIL;
        }
        shares.same *= 100.0 / TRIALS;
        shares.cannot *= 100.0 / TRIALS;
        shares.faster *= 100.0 / TRIALS;
        shares.slower *= 100.0 / TRIALS;
        shares.gate_pass *= 100.0 / TRIALS;
        shares.gate_fail *= 100.0 / TRIALS;
        shares.sd *= 100.0 / TRIALS;
        if (getenv("DBIO_TEST_PRINT"))
                fprintf(stderr,
                        "n %u change %g drift %g: same %.1f cannot %.1f faster %.1f slower %.1f pass %.1f "
                        "fail %.1f sd %.2f\n",
                        n, change, drift, shares.same, shares.cannot, shares.faster, shares.slower, shares.gate_pass,
                        shares.gate_fail, shares.sd);
        return shares;
}

/* Three standard errors of the difference of a share here and in the reference, in points. */
static double error_of(double percent)
{
        double p = fmin(fmax(percent, 1), 99) / 100;

        return 300 * sqrt(p * (1 - p) * (1.0 / TRIALS + 1 / 4000.0)) + 0.5;
}

static void share_is(double got, double want, const char *what)
{
        ck_assert_msg(fabs(got - want) <= error_of(want), "%s: %.1f %%, expected %.1f", what, got, want);
}

START_TEST(false_alarms)
{
        static const struct noise *const models[] = {&quiet, &typical, &noisy};
        static const double sds[] = {1.1, 2.3, 4.4};

        for (int i = 0; i < 3; i++) {
                struct shares level = simulate(models[i], 5, 0, i == 1 ? -0.005 : 0);

                share_is(level.faster + level.slower, 5, "false alarms");
                ck_assert_msg(fabs(level.sd - sds[i]) < 0.1 * sds[i], "sd of a run mean %.2f", level.sd);
                ck_assert_msg(level.gate_fail <= 6, "gate fails in %.1f %%", level.gate_fail);
        }
}
END_TEST

START_TEST(power_of_five_runs)
{
        static const struct {
                const struct noise *noise;
                double change, want;
        } cells[] = {
                {&quiet, -0.05, 100}, {&typical, -0.05, 81}, {&typical, -0.10, 100},
                {&noisy, -0.05, 34},  {&noisy, -0.10, 87},   {&noisy, -0.20, 100},
        };

        for (unsigned i = 0; i < sizeof cells / sizeof *cells; i++) {
                struct shares shares = simulate(cells[i].noise, 5, cells[i].change, 0);

                share_is(shares.slower, cells[i].want, "found");
                /* A gate of -5 %: a change at the limit passes in 5 %, twice the limit never. */
                share_is(shares.gate_pass, cells[i].change > -0.07 ? 5 : 0, "gate passes");
        }
}
END_TEST

START_TEST(shares_of_verdicts)
{
        struct shares t5 = simulate(&typical, 5, 0, 0), t3 = simulate(&typical, 3, 0, 0);

        share_is(t5.same, 81, "same, five runs");
        share_is(t5.cannot, 16, "cannot tell, five runs");
        share_is(t3.same, 38, "same, three runs");
        share_is(t5.gate_pass, 91, "gate passes");
}
END_TEST

static void fill(struct dbio_verdict_value *into, const double *values, unsigned nr, int64_t first, int64_t step)
{
        for (unsigned i = 0; i < nr; i++)
                into[i] = (struct dbio_verdict_value){values[i], first + step * i};
}

static struct dbio_verdict decide(const double *base, unsigned nr_base, const double *new_, unsigned nr_new, bool turns,
                                  bool exact)
{
        struct dbio_verdict_value a[8], b[8];
        struct dbio_verdict verdict;

        fill(a, base, nr_base, 0, turns ? 2 : 1);
        fill(b, new_, nr_new, turns ? 1 : 100, turns ? 2 : 1);
        dbio_verdict_decide(&(struct dbio_verdict_question){.base = a,
                                                            .new_ = b,
                                                            .nr_base = nr_base,
                                                            .nr_new = nr_new,
                                                            .higher_is_better = true,
                                                            .margin = 0.05,
                                                            .alpha = 0.05,
                                                            .exact = exact},
                            &verdict);
        return verdict;
}

static const double a5[] = {9871, 10042, 9950, 10110, 9903};
static const double b5[] = {9412, 9530, 9388, 9601, 9475};
static const double c5[] = {9905, 10003, 9921, 10081, 9866};

START_TEST(rules)
{
        const double zero[] = {0, 0, 0}, one[] = {10000}, bad[] = {NAN, 1, 1};
        struct dbio_verdict verdict;
        char text[400];

        /* The same data as the vectors of SciPy: lower, and same within 5 %. */
        verdict = decide(a5, 5, b5, 5, false, false);
        ck_assert_int_eq(verdict.word, DBIO_VERDICT_SLOWER);
        ck_assert(!verdict.interleaved);
        dbio_verdict_line(text, sizeof text, &verdict, "read IOPS", "", 1);
        ck_assert_str_eq(text, "slower: read IOPS 9,975 -> 9,481, -5.0 % (between -6.3 % and -3.6 %), 5 runs each, "
                               "not interleaved");
        verdict = decide(a5, 5, c5, 5, true, false);
        ck_assert_int_eq(verdict.word, DBIO_VERDICT_SAME);
        ck_assert_int_eq(verdict.effect.method, DBIO_STAT_DRIFT);
        dbio_verdict_label(text, sizeof text, &verdict);
        ck_assert_str_eq(text, "same within 5 %");
        /* One run each claims nothing. */
        verdict = decide(a5, 1, b5, 1, true, false);
        ck_assert_int_eq(verdict.word, DBIO_VERDICT_CANNOT_TELL);
        dbio_verdict_line(text, sizeof text, &verdict, "read IOPS", "", 1);
        ck_assert_str_eq(text, "cannot tell: read IOPS 9,871 -> 9,412 (-4.6 %), one run each; a run like this may "
                               "differ by itself; use --repeat 5");
        ck_assert_int_eq(decide(one, 1, b5, 5, false, false).word, DBIO_VERDICT_CANNOT_TELL);
        ck_assert_int_eq(decide(a5, 3, zero, 3, true, false).word, DBIO_VERDICT_CANNOT_TELL);
        ck_assert_int_eq(decide(a5, 3, bad, 3, true, false).word, DBIO_VERDICT_CANNOT_TELL);
        ck_assert_int_eq(decide(a5, 5, NULL, 0, true, false).word, DBIO_VERDICT_CANNOT_TELL);
        /* Simulated with one seed: no noise, judged against the margin. */
        verdict = decide(a5, 1, b5, 1, true, true);
        ck_assert_int_eq(verdict.word, DBIO_VERDICT_SAME);
        ck_assert(verdict.exact);
        ck_assert_int_eq(decide(one, 1, c5 + 3, 1, true, true).word, DBIO_VERDICT_SAME);
        verdict = decide(one, 1, (const double[]){9000}, 1, true, true);
        dbio_verdict_label(text, sizeof text, &verdict);
        ck_assert_str_eq(text, "slower");
        dbio_verdict_line(text, sizeof text, &verdict, "read IOPS", "", 1);
        ck_assert_str_eq(text, "slower (exact, simulated): read IOPS 10,000 -> 9,000, -10.0 %, one run each");
}
END_TEST

START_TEST(sides_exchanged_flip_the_sign)
{
        struct dbio_verdict forth = decide(a5, 5, b5, 5, false, false), back = decide(b5, 5, a5, 5, false, false);

        ck_assert_double_eq(forth.effect.b, -back.effect.b);
        ck_assert_double_eq(forth.p, back.p);
        ck_assert_int_eq(back.word, DBIO_VERDICT_FASTER);
}
END_TEST

/* Runs that spread by 6 % can say little, and say how little: by SciPy's noncentral t for 6 degrees of freedom, 3.3669
 * standard errors of 4.27 %, 13.4 %. */
START_TEST(cannot_tell_names_what_it_could_see)
{
        const double base[] = {10000, 11000, 9500, 10600}, new_[] = {10400, 9600, 10900, 9900};
        struct dbio_verdict verdict = decide(base, 4, new_, 4, false, false);
        char text[400];

        ck_assert_int_eq(verdict.word, DBIO_VERDICT_CANNOT_TELL);
        ck_assert(verdict.repetitions > 4);
        dbio_verdict_line(text, sizeof text, &verdict, "read IOPS", "", 1);
        ck_assert_ptr_nonnull(strstr(text, "4 runs show changes above 13 %, about "));
        ck_assert_ptr_nonnull(strstr(text, " runs each would show 10 %"));
        verdict = decide(base, 2, new_, 2, false, false);
        dbio_verdict_line(text, sizeof text, &verdict, "read IOPS", "", 1);
        ck_assert_ptr_nonnull(strstr(text, "2 runs show only changes above "));
}
END_TEST

/* Five earlier equal runs give the noise that one run a side lacks. */
START_TEST(history_allows_one_run_a_side)
{
        const struct dbio_verdict_value base = {10000, 0}, new_ = {8000, 1};
        struct dbio_verdict_question question = {.base = &base,
                                                 .new_ = &new_,
                                                 .nr_base = 1,
                                                 .nr_new = 1,
                                                 .history = a5,
                                                 .nr_history = 5,
                                                 .higher_is_better = true,
                                                 .margin = 0.05,
                                                 .alpha = 0.05};
        struct dbio_verdict verdict;
        char text[400];

        dbio_verdict_decide(&question, &verdict);
        ck_assert_int_eq(verdict.word, DBIO_VERDICT_SLOWER);
        ck_assert_double_eq(verdict.effect.df, 4);
        dbio_verdict_line(text, sizeof text, &verdict, "read IOPS", "", 1);
        ck_assert_ptr_nonnull(strstr(text, "noise from 5 earlier runs"));
        question.nr_history = 4;
        dbio_verdict_decide(&question, &verdict);
        ck_assert_int_eq(verdict.word, DBIO_VERDICT_CANNOT_TELL);
}
END_TEST

START_TEST(no_spread_falls_back_on_the_resolution)
{
        const double same[] = {1000, 1000, 1000}, next[] = {1016, 1016, 1016};
        struct dbio_verdict_value a[3], b[3];
        struct dbio_verdict verdict;

        fill(a, same, 3, 0, 1);
        fill(b, next, 3, 10, 1);
        dbio_verdict_decide(&(struct dbio_verdict_question){.base = a,
                                                            .new_ = b,
                                                            .nr_base = 3,
                                                            .nr_new = 3,
                                                            .margin = 0.05,
                                                            .alpha = 0.05,
                                                            .resolution = log(129 / 128.0)},
                            &verdict);
        ck_assert_double_eq_tol(verdict.effect.se, log(129 / 128.0) / sqrt(12) * sqrt(2 / 3.0), 1e-15);
        ck_assert_int_eq(verdict.word, DBIO_VERDICT_SAME);
}
END_TEST

START_TEST(holm_takes_lonely_verdicts_back)
{
        struct dbio_verdict rows[12], *table[12];
        char text[64];

        for (int i = 0; i < 12; i++) {
                rows[i] = decide(a5, 5, i ? c5 : b5, 5, false, false);
                rows[i].p = i ? 0.6 : 0.02;
                table[i] = &rows[i];
        }
        ck_assert_int_eq(dbio_verdict_correct(table, 12), 0);
        dbio_verdict_label(text, sizeof text, &rows[0]);
        ck_assert_str_eq(text, "cannot tell (1 of 12)");
        ck_assert_double_eq_tol(rows[0].p_holm, 0.24, 1e-12);
        ck_assert_int_eq(rows[1].word, DBIO_VERDICT_SAME);
}
END_TEST

START_TEST(paced_rate_is_no_verdict)
{
        struct dbio_verdict_value a[3], b[3];
        struct dbio_verdict verdict;

        fill(a, a5, 3, 0, 1);
        fill(b, b5, 3, 10, 1);
        dbio_verdict_decide(&(struct dbio_verdict_question){.base = a,
                                                            .new_ = b,
                                                            .nr_base = 3,
                                                            .nr_new = 3,
                                                            .margin = 0.05,
                                                            .alpha = 0.05,
                                                            .rate_set = true},
                            &verdict);
        ck_assert_str_eq(dbio_verdict_word_name(verdict.word), "rate set by schedule");
}
END_TEST

static struct dbio_gate_answer judge(struct dbio_gate gate, const double *base, const double *new_, unsigned nr)
{
        struct dbio_verdict_value a[8], b[8];
        struct dbio_gate_answer answer;

        if (base)
                fill(a, base, nr, 0, 1);
        fill(b, new_, nr, 100, 1);
        dbio_gate_judge(&gate,
                        &(struct dbio_verdict_question){.base = a, .new_ = b, .nr_base = base ? nr : 0, .nr_new = nr},
                        &answer);
        return answer;
}

START_TEST(gates)
{
        const struct dbio_gate iops5 = {.relative = true, .limit = -0.05}, iops2 = {.relative = true, .limit = -0.02};
        const struct dbio_gate p99 = {.relative = true, .less = true, .limit = 0.10};
        const struct dbio_gate below = {.less = true, .limit = 10500}, above = {.limit = 10500};
        const struct dbio_gate errors = {.less = true, .limit = 1, .exact_only = true};
        const struct dbio_gate none = {.less = true, .or_equal = true, .limit = 0, .exact_only = true};
        const double clean[] = {0, 0, 0}, one_bad[] = {0, 3, 0}, some[] = {0, 20000, 0}, unknown[] = {NAN, NAN, NAN};
        struct dbio_gate_answer answer = judge(iops2, a5, b5, 5);
        char text[300];

        /* B is 4.95 % below A, 95 % two-sided from -6.3 to -3.6 %. */
        ck_assert_int_eq(answer.word, DBIO_GATE_FAIL);
        dbio_gate_line(text, sizeof text, "reads.iops > -2%", &iops2, &answer);
        ck_assert_str_eq(text, "gate reads.iops > -2%: FAIL, -5.0 % (at best -3.9 %)");
        ck_assert_int_eq(judge(iops5, a5, b5, 5).word, DBIO_GATE_INCONCLUSIVE);
        ck_assert_int_eq(judge(iops5, a5, c5, 5).word, DBIO_GATE_PASS);
        ck_assert_int_eq(judge(p99, a5, b5, 5).word, DBIO_GATE_PASS);
        ck_assert_int_eq(judge(p99, b5, a5, 1).word, DBIO_GATE_INCONCLUSIVE);
        ck_assert_int_eq(judge(below, NULL, a5, 5).word, DBIO_GATE_PASS);
        ck_assert_int_eq(judge(above, NULL, a5, 5).word, DBIO_GATE_FAIL);
        ck_assert_int_eq(judge(below, NULL, clean, 3).word, DBIO_GATE_PASS); /* 0 < limit in each, though 0 has no logarithm */
        ck_assert_int_eq(judge(above, NULL, clean, 3).word, DBIO_GATE_FAIL);
        ck_assert_int_eq(judge(below, NULL, clean, 1).word, DBIO_GATE_INCONCLUSIVE);
        ck_assert_int_eq(judge(above, NULL, some, 3).word, DBIO_GATE_INCONCLUSIVE);
        ck_assert_int_eq(judge(below, NULL, unknown, 3).word, DBIO_GATE_INCONCLUSIVE);
        ck_assert_int_eq(judge(errors, NULL, clean, 3).word, DBIO_GATE_PASS);
        ck_assert_int_eq(judge(errors, NULL, one_bad, 3).word, DBIO_GATE_FAIL);
        ck_assert_int_eq(judge(none, NULL, clean, 3).word, DBIO_GATE_PASS); /* errors <= 0 */
        ck_assert_int_eq(judge(none, NULL, one_bad, 3).word, DBIO_GATE_FAIL);
}
END_TEST

START_TEST(gates_together)
{
        struct dbio_gate_answer answers[3] = {{.word = DBIO_GATE_PASS, .p = 0.9, .low = -1},
                                              {.word = DBIO_GATE_INCONCLUSIVE, .p = 0.5, .low = -1},
                                              {.word = DBIO_GATE_FAIL, .p = 0.001, .low = -1}};

        ck_assert_int_eq(dbio_gates_conclude(answers, 1), DBIO_OK);
        ck_assert_int_eq(dbio_gates_conclude(answers, 2), DBIO_INVALID);
        ck_assert_int_eq(dbio_gates_conclude(answers, 3), DBIO_GATE_FAILED);
        answers[2].p = 0.03; /* three gates: 0.09 */
        ck_assert_int_eq(dbio_gates_conclude(answers, 3), DBIO_INVALID);
        ck_assert_int_eq(answers[2].word, DBIO_GATE_INCONCLUSIVE);
        ck_assert_int_eq(dbio_gates_conclude(NULL, 0), DBIO_OK);
}
END_TEST

START_TEST(numbers)
{
        char text[DBIO_NUMBER_SIZE];
        static const struct {
                double value;
                const char *want;
        } shorts[] = {{41200, "41,200"}, {1234567.8, "1,234,568"}, {158.4, "158"}, {20.17, "20.2"},
                      {1.8, "1.80"},     {0.0854, "0.085"},        {0, "0"},       {-0.0, "0"},
                      {999.6, "1,000"},  {99.97, "100"},           {9.996, "10.0"}};

        for (unsigned i = 0; i < sizeof shorts / sizeof *shorts; i++)
                ck_assert_str_eq(dbio_number_short(text, sizeof text, shorts[i].value), shorts[i].want);
        ck_assert_str_eq(dbio_number_short(text, sizeof text, NAN), "-");
        /* Two digits of the width and never more; a factor from 2 on. */
        ck_assert_str_eq(dbio_number_change(text, sizeof text, log(1.1476), log(1.06)), "+14.8 %");
        ck_assert_str_eq(dbio_number_change(text, sizeof text, log(0.993), log(1.022)), "-0.7 %");
        ck_assert_str_eq(dbio_number_change(text, sizeof text, log(1.06), log(1.105)), "+6 %");
        ck_assert_str_eq(dbio_number_change(text, sizeof text, log(11.21), log(1.02)), "x 11.2");
        ck_assert_str_eq(dbio_number_change(text, sizeof text, log(0.089), log(1.03)), "-91.1 %");
        /* the bounds of the lines in facts/statistics.md 0.6: halves of 6, 2.2, 10.5, 2.7 and 5 % */
        ck_assert_str_eq(dbio_number_bound(text, sizeof text, log(1.09), log(1.06)), "+9 %");
        ck_assert_str_eq(dbio_number_bound(text, sizeof text, log(0.971), log(1.022)), "-2.9 %");
        ck_assert_str_eq(dbio_number_bound(text, sizeof text, log(1.17), log(1.105)), "+17 %");
        ck_assert_str_eq(dbio_number_bound(text, sizeof text, log(0.929), log(1.027)), "-7.1 %");
        ck_assert_str_eq(dbio_number_bound(text, sizeof text, log(0.92), log(1.05)), "-8 %");
        ck_assert_str_eq(dbio_number_percent(text, sizeof text, 0.0554), "6 %");
        ck_assert_str_eq(dbio_number_percent(text, sizeof text, 0.0032), "0.3 %");
}
END_TEST

TEST_MAIN("verdict", false_alarms, power_of_five_runs, shares_of_verdicts, rules, sides_exchanged_flip_the_sign,
          cannot_tell_names_what_it_could_see, history_allows_one_run_a_side, no_spread_falls_back_on_the_resolution,
          holm_takes_lonely_verdicts_back, paced_rate_is_no_verdict, gates, gates_together, numbers)
