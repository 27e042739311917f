// Threads that wait for each other by pipes, pairs of sockets and counters; names of threads.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int in[2], out[2], pair[2], counter;
static volatile int signals;

static void count(int signal) { signals++; }

static void tell(const char *what, long result) {
  printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

__attribute__((noinline)) static int doubled(int n) { return 2 * n; }

// Reads numbers, writes their doubles, and ends with its input.
static void *doubles(void *unused) {
  int n;
  while (read(in[0], &n, sizeof n) == sizeof n) {
    n = doubled(n);
    write(out[1], &n, sizeof n);
  }
  close(out[1]);
  return NULL;
}

static void *fills(void *unused) {
  static char much[300000];
  memset(much, 'x', sizeof much);
  long written = write(out[1], much, sizeof much);
  close(out[1]);
  return (void *) written;
}

static void *counts(void *unused) {
  unsigned long long one = 1;
  for (int i = 0; i < 50; i++) write(counter, &one, sizeof one);
  return NULL;
}

static void *echoes(void *unused) {
  char text[20];
  long got;
  while ((got = read(pair[1], text, sizeof text)) > 0) write(pair[1], text, got);
  return NULL;
}

static void numbers(void) {
  pthread_t other;
  long sum = 0;
  int n;
  pipe(in);
  pipe2(out, O_CLOEXEC);
  pthread_create(&other, NULL, doubles, NULL);
  for (int i = 0; i < 200; i++) {
    write(in[1], &i, sizeof i);
    struct pollfd ready = {out[0], POLLIN, 0};
    if (i % 2) poll(&ready, 1, -1);
    read(out[0], &n, sizeof n);
    sum += n;
  }
  close(in[1]);
  tell("end", read(out[0], &n, sizeof n));
  pthread_join(other, NULL);
  close(in[0]);
  close(out[0]);
  tell("sum", sum);
}

static void much(void) {
  pthread_t other;
  static char piece[1000];
  long sum = 0, got;
  void *written;
  pipe(out);
  pthread_create(&other, NULL, fills, NULL);
  while ((got = read(out[0], piece, sizeof piece)) > 0) sum += got;
  pthread_join(other, &written);
  tell("read", sum);
  tell("written", (long) written);
  close(out[0]);
}

static void counters(void) {
  pthread_t other;
  unsigned long long value, sum = 0;
  counter = eventfd(0, 0);
  pthread_create(&other, NULL, counts, NULL);
  while (sum < 50) {
    read(counter, &value, sizeof value);
    sum += value;
  }
  pthread_join(other, NULL);
  tell("counted", sum);
  int slow = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
  tell("one", read(slow, &value, sizeof value));
  tell("one", read(slow, &value, sizeof value));
  tell("none", read(slow, &value, sizeof value));
}

static void sockets(void) {
  pthread_t other;
  char text[20] = "";
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  pthread_create(&other, NULL, echoes, NULL);
  write(pair[0], "hello", 5);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pair[0], &set);
  tell("select", select(pair[0] + 1, &set, NULL, NULL, NULL));
  tell("is in", FD_ISSET(pair[0], &set));
  tell("read", read(pair[0], text, sizeof text));
  puts(text);
  close(pair[0]);
  pthread_join(other, NULL);
}

static void waits(void) {
  int ends[2];
  char one;
  pipe(ends);
  struct pollfd both[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLOUT, 0}};
  tell("poll", poll(both, 2, -1));
  tell("of the writer", both[1].revents == POLLOUT && both[0].revents == 0);
  tell("late", poll(both, 1, 10));
  struct timeval soon = {0, 10000};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  tell("late", select(ends[0] + 1, &set, NULL, NULL, &soon));
  tell("is in", FD_ISSET(ends[0], &set));
  struct sigaction act = {.sa_handler = count};
  sigaction(SIGALRM, &act, NULL);
  struct itimerval timer = {{0, 0}, {0, 10000}}, often = {{0, 10000}, {0, 10000}}, off = {};
  setitimer(ITIMER_REAL, &often, NULL); // a single one may come before the wait on a busy machine
  tell("poll with a signal", poll(both, 1, -1));
  tell("read with a signal", read(ends[0], &one, 1));
  setitimer(ITIMER_REAL, &off, NULL);
  signals = 0;
  sigset_t alarms, none;
  sigemptyset(&none);
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarms, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  struct timespec second = {1, 0};
  tell("ppoll with a signal", ppoll(both, 1, &second, &none));
  tell("signals", signals);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  tell("empty", read(ends[0], &one, 1));
  close(ends[0]);
  sigaction(SIGPIPE, &act, NULL);
  tell("nobody reads", write(ends[1], "x", 1));
  tell("signals", signals);
  struct pollfd bad = {77, POLLIN, 0};
  tell("poll", poll(&bad, 1, 0));
  tell("invalid", bad.revents == POLLNVAL);
}

static void *named(void *unused) {
  char name[17] = "";
  prctl(PR_GET_NAME, name);
  puts(name);
  prctl(PR_SET_NAME, "a name that is too long");
  read(in[0], name, 1);
  pthread_getname_np(pthread_self(), name, 16);
  puts(name);
  return NULL;
}

static void names(void) {
  pthread_t other;
  char name[17] = "";
  prctl(PR_SET_NAME, "first");
  pipe(in);
  pthread_create(&other, NULL, named, NULL);
  sched_yield();
  struct pollfd none = {-1, 0, 0};
  poll(&none, 1, 300); // a busy machine takes its time
  pthread_getname_np(other, name, 16);
  puts(name);
  pthread_setname_np(other, "second");
  write(in[1], "x", 1);
  pthread_join(other, NULL);
  FILE *comm = fopen("/proc/self/comm", "r");
  fgets(name, 16, comm);
  printf("%s", name);
}

int main(void) {
  numbers();
  much();
  counters();
  sockets();
  waits();
  names();
  return 9;
}
