/* Loaded before libfaketime, which moves the moment that a timer is set to by the days of its clock, also on CLOCK_BOOTTIME,
 * which it does not move when it is read: whoever sleeps for a second would never wake, or at once. */

#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int timer, int flags, const struct itimerspec *to, struct itimerspec *before)
{
    return syscall(SYS_timerfd_settime, timer, flags, to, before);
}
