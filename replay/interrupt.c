#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "replay/session.h"

atomic_int dbio_interrupt_flag;

static volatile sig_atomic_t caught;

static void handle(int number)
{
        if (dbio_interrupt_flag)
                _exit(128 + number);
        caught = number;
        dbio_interrupt_flag = 1;
}

void dbio_interrupt_watch(void)
{
        struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, before;

        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGHUP, &action, &before);
        if (before.sa_handler == SIG_IGN) /* nohup */
                sigaction(SIGHUP, &before, NULL);
}

int dbio_interrupt_signal(void)
{
        return (int)caught;
}
