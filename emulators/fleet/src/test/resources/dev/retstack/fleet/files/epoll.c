// Waits for several files by epoll: by level, by edge, once; of threads, and with a signal.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int signals;
static int jobs[4][2], done;

static void count(int signal) { signals++; }

static void tell(const char *what, long result) {
  printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

static int control(int set, int operation, int fd, unsigned events, unsigned long long data) {
  struct epoll_event event = {events, {.u64 = data}};
  return epoll_ctl(set, operation, fd, &event);
}

static void report(const char *what, int set, int timeout) {
  struct epoll_event got[4];
  int n = epoll_wait(set, got, 4, timeout);
  tell(what, n);
  for (int i = 0; i < n; i++)
    printf("  %x %llx\n", got[i].events, (unsigned long long) got[i].data.u64);
}

static void levels(void) {
  int ends[2], set = epoll_create1(EPOLL_CLOEXEC);
  char text[8];
  tell("closes on exec", fcntl(set, F_GETFD));
  pipe(ends);
  tell("add", control(set, EPOLL_CTL_ADD, ends[0], EPOLLIN, 0x123456789abcdef0));
  tell("again", control(set, EPOLL_CTL_ADD, ends[0], EPOLLIN, 1));
  report("empty", set, 0);
  report("late", set, 5);
  write(ends[1], "abc", 3);
  report("level", set, -1);
  report("level", set, -1);
  read(ends[0], text, 3);
  report("empty", set, 0);
  tell("edge", control(set, EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLET, 2));
  write(ends[1], "abc", 3);
  report("edge", set, -1);
  report("no edge", set, 0);
  read(ends[0], text, 1);
  report("no edge", set, 0);
  write(ends[1], "d", 1);
  report("edge", set, 0);
  tell("once", control(set, EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLONESHOT, 3));
  report("once", set, 0);
  report("no more", set, 0);
  tell("asked again", control(set, EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLONESHOT, 4));
  report("once", set, 0);
  tell("level", control(set, EPOLL_CTL_MOD, ends[0], EPOLLIN, 5));
  close(ends[1]);
  report("closed", set, 0);
  tell("delete", epoll_ctl(set, EPOLL_CTL_DEL, ends[0], NULL));
  tell("delete", epoll_ctl(set, EPOLL_CTL_DEL, ends[0], NULL));
  tell("add", control(set, EPOLL_CTL_ADD, ends[0], EPOLLIN, 6));
  close(ends[0]);
  report("gone", set, 0);
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  tell("add", control(set, EPOLL_CTL_ADD, pair[0], EPOLLIN | EPOLLOUT | EPOLLRDHUP, 7));
  report("socket", set, 0);
  close(pair[1]);
  report("socket", set, 0);
  close(pair[0]);
  close(set);
}

static void errors(void) {
  int set = epoll_create(1), ends[2];
  struct epoll_event got;
  pipe(ends);
  tell("create", epoll_create(0));
  tell("create", epoll_create1(1));
  tell("no set", control(ends[0], EPOLL_CTL_ADD, ends[1], EPOLLIN, 0));
  tell("itself", control(set, EPOLL_CTL_ADD, set, EPOLLIN, 0));
  tell("closed", control(set, EPOLL_CTL_ADD, 99, EPOLLIN, 0));
  tell("closed", control(99, EPOLL_CTL_ADD, ends[0], EPOLLIN, 0));
  tell("absent", control(set, EPOLL_CTL_MOD, ends[0], EPOLLIN, 0));
  tell("operation", control(set, 9, ends[0], EPOLLIN, 0));
  tell("no event", epoll_ctl(set, EPOLL_CTL_ADD, ends[0], NULL));
  int file = open("prog.c", O_RDONLY);
  tell("a file", control(set, EPOLL_CTL_ADD, file, EPOLLIN, 0));
  tell("none", epoll_wait(set, &got, 0, 0));
  tell("no set", epoll_wait(ends[0], &got, 1, 0));
}

__attribute__((noinline)) static int squared(int n) { return n * n; }

static void *works(void *number) {
  int n, *mine = jobs[(long) number];
  while (read(mine[1], &n, sizeof n) == sizeof n) {
    n = squared(n);
    write(mine[1], &n, sizeof n);
  }
  unsigned long long one = 1;
  write(done, &one, sizeof one);
  return NULL;
}

static void threads(void) {
  int set = epoll_create1(0), left = 4, sent[4] = {0};
  long sum = 0;
  pthread_t workers[4];
  done = eventfd(0, EFD_SEMAPHORE);
  control(set, EPOLL_CTL_ADD, done, EPOLLIN, 4);
  for (long i = 0; i < 4; i++) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, jobs[i]);
    control(set, EPOLL_CTL_ADD, jobs[i][0], EPOLLIN, i);
    write(jobs[i][0], &sent[i], sizeof(int));
    pthread_create(&workers[i], NULL, works, (void *) i);
  }
  while (left > 0) {
    struct epoll_event got[2];
    int n = epoll_wait(set, got, 2, -1), result;
    for (int i = 0; i < n; i++) {
      int which = got[i].data.u64;
      if (which == 4) {
        unsigned long long one;
        read(done, &one, sizeof one);
        left--;
        continue;
      }
      read(jobs[which][0], &result, sizeof result);
      sum += result;
      if (++sent[which] < 25) {
        write(jobs[which][0], &sent[which], sizeof(int));
      } else {
        control(set, EPOLL_CTL_DEL, jobs[which][0], 0, 0);
        close(jobs[which][0]);
      }
    }
  }
  for (int i = 0; i < 4; i++) pthread_join(workers[i], NULL);
  tell("sum", sum);
}

static void interrupted(void) {
  int set = epoll_create1(0), ends[2];
  struct epoll_event got;
  pipe(ends);
  control(set, EPOLL_CTL_ADD, ends[0], EPOLLIN, 0);
  struct sigaction act = {.sa_handler = count, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &act, NULL);
  struct itimerval timer = {{0, 0}, {0, 10000}}, often = {{0, 10000}, {0, 10000}}, off = {};
  setitimer(ITIMER_REAL, &often, NULL); // a single one may come before the wait on a busy machine
  tell("with a signal", epoll_wait(set, &got, 1, -1));
  setitimer(ITIMER_REAL, &off, NULL);
  signals = 0;
  sigset_t alarms, none;
  sigemptyset(&none);
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarms, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  tell("blocked", epoll_wait(set, &got, 1, 30));
  tell("with a mask", epoll_pwait(set, &got, 1, 1000, &none));
  tell("signals", signals);
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  levels();
  errors();
  threads();
  interrupted();
  return 3;
}
