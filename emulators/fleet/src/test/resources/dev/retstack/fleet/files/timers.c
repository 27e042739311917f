// Timers that are read: by reads that wait and that do not, by poll, select and epoll, of threads.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int ticks;

static void tell(const char *what, long result) {
  printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

static void nothing(int signal) {}

static int set(int fd, int flags, long long first_ms, long every_ms) {
  struct itimerspec when = {{every_ms / 1000, every_ms % 1000 * 1000000},
                            {first_ms / 1000, first_ms % 1000 * 1000000}};
  return timerfd_settime(fd, flags, &when, NULL);
}

static long expired(int fd) {
  uint64_t times = 77;
  long got = read(fd, &times, sizeof times);
  return got == sizeof times ? (long) times : got;
}

static void once(void) {
  struct itimerspec left, old, off = {};
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  tell("closes on exec", fcntl(fd, F_GETFD));
  tell("gettime", timerfd_gettime(fd, &left));
  printf("off %ld %ld\n", (long) left.it_value.tv_sec, (long) left.it_value.tv_nsec);
  tell("set", set(fd, 0, 20, 0));
  tell("read", expired(fd));
  timerfd_gettime(fd, &left);
  printf("off %ld %ld\n", (long) left.it_value.tv_sec, (long) left.it_value.tv_nsec);
  tell("set", set(fd, 0, 5000, 700));
  tell("off", timerfd_settime(fd, 0, &off, &old));
  printf("was %d, every %ld\n", old.it_value.tv_sec == 4 && old.it_value.tv_nsec > 0,
         (long) old.it_interval.tv_nsec);
  tell("in the past", set(fd, TFD_TIMER_ABSTIME, 1, 0));
  tell("read", expired(fd));
  struct timespec now;
  int wall = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
  clock_gettime(CLOCK_REALTIME, &now);
  tell("tomorrow", set(wall, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, (now.tv_sec + 86400) * 1000LL, 0));
  tell("not yet", expired(wall));
  timerfd_gettime(wall, &left);
  printf("left %d\n", left.it_value.tv_sec > 86000 && left.it_value.tv_sec <= 86400);
  tell("yesterday", set(wall, TFD_TIMER_ABSTIME, (now.tv_sec - 86400) * 1000LL, 0));
  tell("read", expired(wall));
  close(wall);
  close(fd);
}

static void again(void) {
  int fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK);
  tell("read", expired(fd));
  set(fd, 0, 10, 10);
  usleep(45000);
  tell("several", expired(fd) >= 3);
  struct pollfd file = {fd, POLLIN | POLLOUT};
  tell("poll", poll(&file, 1, 1000));
  printf("events %x\n", file.revents);
  tell("some", expired(fd) >= 1);
  fd_set in;
  FD_ZERO(&in);
  FD_SET(fd, &in);
  tell("select", select(fd + 1, &in, NULL, NULL, NULL));
  struct itimerspec left;
  timerfd_gettime(fd, &left);
  printf("every %ld\n", (long) left.it_interval.tv_nsec);
  set(fd, 0, 500, 0);
  tell("forgets", expired(fd));
  tell("poll", poll(&file, 1, 5));
  close(fd);
}

static void edges(void) {
  int fd = timerfd_create(CLOCK_MONOTONIC, 0), all = epoll_create1(0);
  struct epoll_event event = {EPOLLIN | EPOLLET, {.u32 = 5}};
  tell("add", epoll_ctl(all, EPOLL_CTL_ADD, fd, &event));
  for (int i = 0; i < 3; i++) {
    set(fd, 0, 5, 0);
    tell("edge", epoll_wait(all, &event, 1, -1));
    tell("no edge", epoll_wait(all, &event, 1, 10));
  }
  close(fd);
  close(all);
}

__attribute__((noinline)) void tick(void) { ticks++; }

static void *reads(void *argument) {
  int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  set(fd, 0, 2, 3);
  for (int i = 0; i < 5; i++)
    if (expired(fd) > 0) tick();
  close(fd);
  return NULL;
}

static void interrupted(void) {
  struct sigaction action = {.sa_handler = nothing};
  struct itimerval often = {{0, 5000}, {0, 5000}}, off = {};
  int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  sigaction(SIGALRM, &action, NULL);
  set(fd, 0, 60000, 0);
  setitimer(ITIMER_REAL, &often, NULL); // a single one may come before the wait on a busy machine
  tell("interrupted", expired(fd));
  setitimer(ITIMER_REAL, &off, NULL);
  close(fd);
}

int main(void) {
  pthread_t threads[4];
  int ends[2];
  char few[4];
  once();
  again();
  edges();
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, reads, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("%d ticks\n", ticks);
  interrupted();
  tell("clock", timerfd_create(99, 0));
  tell("processor", timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0));
  tell("flags", timerfd_create(CLOCK_MONOTONIC, 1));
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  pipe(ends);
  tell("pipe", set(ends[0], 0, 1, 0));
  tell("closed", set(99, 0, 1, 0));
  tell("flags", set(fd, 8, 1, 0));
  tell("negative", set(fd, 0, -1, 0));
  tell("short", read(fd, few, sizeof few));
  tell("write", write(fd, &fd, 8));
  tell("seek", lseek(fd, 0, SEEK_SET));
  return 4;
}
