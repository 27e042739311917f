// Signals that are read: of the process and of threads, queued ones, of timers, by poll and epoll.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_t first;
static int started, heard;

static void tell(const char *what, long result) {
  printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

__attribute__((noinline)) void hear(struct signalfd_siginfo *info) {
  heard++;
  printf("  %d code %d value %d from here %d\n", info->ssi_signo, info->ssi_code, (int) (long) info->ssi_ptr,
         info->ssi_code == SI_TIMER || info->ssi_code == SI_KERNEL || info->ssi_pid == getpid());
}

static void take(const char *what, int fd, int most) {
  struct signalfd_siginfo infos[5];
  long got = read(fd, infos, most * sizeof infos[0]);
  tell(what, got);
  for (int i = 0; got > 0 && i < got / (long) sizeof infos[0]; i++) hear(&infos[i]);
}

static sigset_t of(int one, int two) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, one);
  if (two) sigaddset(&set, two);
  return set;
}

static void queued(int fd) {
  take("nothing", fd, 1);
  raise(SIGUSR1);
  kill(getpid(), SIGUSR1);
  take("one of each", fd, 5);
  kill(getpid(), SIGUSR1);
  sigqueue(getpid(), SIGRTMIN + 3, (union sigval) {.sival_ptr = (void *) 42});
  sigqueue(getpid(), SIGRTMIN + 3, (union sigval) {.sival_ptr = (void *) 43});
  sigqueue(getpid(), SIGUSR2, (union sigval) {.sival_ptr = (void *) 44});
  take("two", fd, 2);
  take("all", fd, 5);
  take("nothing", fd, 5);
}

static void timed(int fd) {
  struct itimerval alarm = {{0, 3000}, {0, 5000}}, off = {};
  struct pollfd file = {fd, POLLIN};
  tell("poll", poll(&file, 1, 5));
  setitimer(ITIMER_REAL, &alarm, NULL);
  for (int i = 0; i < 3; i++) {
    tell("poll", poll(&file, 1, -1));
    take("alarm", fd, 1);
  }
  setitimer(ITIMER_REAL, &off, NULL);
  struct signalfd_siginfo late; // on a busy machine one more came meanwhile
  while (read(fd, &late, sizeof late) > 0);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3,
                           .sigev_value.sival_ptr = (void *) 7};
  struct itimerspec once = {{0, 0}, {0, 4000000}};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &once, NULL);
  int all = epoll_create1(0);
  struct epoll_event wanted = {EPOLLIN, {.u32 = 5}};
  epoll_ctl(all, EPOLL_CTL_ADD, fd, &wanted);
  tell("epoll", epoll_wait(all, &wanted, 1, -1));
  take("timer", fd, 1);
  tell("epoll", epoll_wait(all, &wanted, 1, 0));
  close(all);
}

static void *sends(void *argument) {
  pthread_kill(first, SIGUSR1);
  usleep(2000);
  kill(getpid(), SIGUSR2);
  return NULL;
}

static void *has_its_own(void *fd) {
  pthread_kill(pthread_self(), SIGUSR1);
  __atomic_store_n(&started, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) == 1) usleep(1000);
  take("own", *(int *) fd, 5);
  return NULL;
}

static void of_threads(int fd) {
  pthread_t other;
  first = pthread_self();
  fcntl(fd, F_SETFL, 0);
  pthread_create(&other, NULL, sends, NULL);
  take("of the thread", fd, 1);
  take("of the process", fd, 1);
  pthread_join(other, NULL);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  pthread_create(&other, NULL, has_its_own, &fd);
  while (!__atomic_load_n(&started, __ATOMIC_SEQ_CST)) usleep(1000);
  take("not mine", fd, 5);
  __atomic_store_n(&started, 2, __ATOMIC_SEQ_CST);
  pthread_join(other, NULL);
}

int main(void) {
  int ends[2];
  sigset_t all = of(SIGUSR1, SIGUSR2), more = of(SIGALRM, SIGRTMIN + 3);
  sigorset(&all, &all, &more);
  sigprocmask(SIG_BLOCK, &all, NULL);
  int fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
  tell("closes on exec", fcntl(fd, F_GETFD));
  queued(fd);
  timed(fd);
  of_threads(fd);
  sigset_t less = of(SIGUSR2, 0);
  tell("less", signalfd(fd, &less, 0) == fd);
  raise(SIGUSR1);
  raise(SIGUSR2);
  take("less", fd, 5);
  tell("flags", signalfd(-1, &all, 1));
  pipe(ends);
  tell("pipe", signalfd(ends[0], &all, 0));
  tell("closed", signalfd(99, &all, 0));
  tell("short", read(fd, &all, 4));
  tell("write", write(fd, &all, 4));
  printf("%d heard\n", heard);
  return 6;
}
