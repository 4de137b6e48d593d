/* A bound that a comparison must keep, and its answer: pass, fail or inconclusive by one-sided bounds. Pure.
 *
 * A relative gate (`user-reads.iops > -5%`) compares NEW with BASE, an absolute one (`log.commit.p99 < 2ms`) looks at
 * NEW alone. Pass: proved to be better than the limit. Fail: relative, the estimate breaks the limit and it did get
 * worse (p < 0.05); absolute, proved to be beyond the limit. A change exactly at a relative limit passes in 5 % of
 * cases and otherwise splits between fail and inconclusive, so a limit should be half of what must not be missed.
 * Several gates: pass when all pass; fail when one fails after Holm's correction; else inconclusive.
 */
#ifndef DBIO_RESULTS_GATE_H
#define DBIO_RESULTS_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/err.h"
#include "results/verdict.h"

enum dbio_gate_word { DBIO_GATE_PASS, DBIO_GATE_FAIL, DBIO_GATE_INCONCLUSIVE };

/* "PASS", "FAIL", "INCONCLUSIVE". */
const char *dbio_gate_word_name(enum dbio_gate_word word);

struct dbio_gate {
        bool relative;
        bool less;       /* `<`, `<=`: larger is worse; else smaller is worse */
        bool or_equal;   /* `<=`, `>=`: only a count can be just at its limit */
        double limit;    /* relative: a share (0.10 of `+10%`, above -1); absolute: in the unit of the values */
        bool exact_only; /* a count without noise (errors): every run is held to the limit */
};

struct dbio_gate_answer {
        enum dbio_gate_word word;
        bool computed;
        double b;             /* relative: ln(new / base); absolute: ln(new / limit) */
        double low, high;     /* one-sided 95 % bounds of b */
        double p;             /* one-sided, of "not worse" */
        unsigned repetitions; /* a side that would settle it; 0 = not known */
        char why[128];        /* where nothing could be computed */
};

/* question: new_ and, for a relative gate, base; margin, resolution and higher_is_better are not looked at. */
void dbio_gate_judge(const struct dbio_gate *gate, const struct dbio_verdict_question *question,
                     struct dbio_gate_answer *answer);

/* All gates together: DBIO_OK, DBIO_GATE_FAILED or DBIO_INVALID (inconclusive). Fails that Holm's correction takes away
 * become inconclusive in place. nr 0: DBIO_OK. Memory ran out: DBIO_BUG. */
enum dbio_code dbio_gates_conclude(struct dbio_gate_answer *answers, size_t nr);

/* "gate user-reads.iops > -5%: FAIL, -9.8 % (at best -7.1 %)". */
char *dbio_gate_line(char *text, size_t size, const char *expression, const struct dbio_gate *gate,
                     const struct dbio_gate_answer *answer);

#endif
