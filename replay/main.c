#include <stdio.h>

int main(void)
{
        fputs("dbio " DBIO_VERSION "\n", stdout);
        return 0;
}
