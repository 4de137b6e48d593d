/* JUnit's XML: a test suite a comparison, a test case a gate; what is inconclusive is an error, not a failure. */
#include "results/compare_state.h"

static void print_escaped(const char *text, FILE *out)
{
        for (; *text; text++) {
                unsigned char byte = (unsigned char)*text;

                switch (byte) {
                case '&':
                        fputs("&amp;", out);
                        break;
                case '<':
                        fputs("&lt;", out);
                        break;
                case '>':
                        fputs("&gt;", out);
                        break;
                case '"':
                        fputs("&quot;", out);
                        break;
                default:
                        /* Control characters have no place in XML 1.0. */
                        fputc(byte < 0x20 && byte != '\n' && byte != '\t' ? '?' : byte, out);
                }
        }
}

static void print_attribute(const char *name, const char *value, FILE *out)
{
        fprintf(out, " %s=\"", name);
        print_escaped(value, out);
        fputc('"', out);
}

static void print_case(const struct dbio_compare_answer *a, FILE *out)
{
        char line[400];

        fprintf(out, "    <testcase");
        print_attribute("classname", a->phase, out);
        print_attribute("name", a->text, out);
        if (a->answer.word == DBIO_GATE_PASS) {
                fprintf(out, "/>\n");
                return;
        }
        fprintf(out, ">\n      <%s", a->answer.word == DBIO_GATE_FAIL ? "failure" : "error");
        print_attribute("message", dbio_gate_line(line, sizeof line, a->text, &a->rule, &a->answer), out);
        fprintf(out, "/>\n    </testcase>\n");
}

void dbio_compare_junit(struct dbio_comparison *const *comparisons, unsigned nr, FILE *out)
{
        fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
        for (unsigned i = 0; i < nr; i++) {
                const struct dbio_comparison *c = comparisons[i];
                unsigned failures = 0, errors = 0;
                char name[200];

                for (unsigned k = 0; k < c->nanswers; k++) {
                        failures += c->answers[k].answer.word == DBIO_GATE_FAIL;
                        errors += c->answers[k].answer.word == DBIO_GATE_INCONCLUSIVE;
                }
                snprintf(name, sizeof name, "dbio compare %.80s %.80s", c->base.name, c->new_.name);
                fprintf(out, "  <testsuite");
                print_attribute("name", name, out);
                fprintf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\">\n", c->nanswers + !c->nanswers, failures,
                        errors + (!c->nanswers && c->code == DBIO_INVALID));
                for (unsigned k = 0; k < c->nanswers; k++)
                        print_case(&c->answers[k], out);
                if (!c->nanswers)
                        fprintf(out, "    <testcase classname=\"compare\" name=\"demand\">%s</testcase>\n",
                                c->code == DBIO_INVALID ? "<error message=\"not judged: the demand is not the same, or "
                                                          "no run can be used\"/>"
                                                        : "");
                fprintf(out, "  </testsuite>\n");
        }
        fprintf(out, "</testsuites>\n");
}
