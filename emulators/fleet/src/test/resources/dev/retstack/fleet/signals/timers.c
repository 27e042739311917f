// Timers; what is printed does not depend on how fast the machine is. Who waits for a signal without an
// end asks for one again and again: a single one may come before the wait on a busy machine.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
static volatile int alarms, virtuals, profiles, timed, values, restarts;
static sem_t nobody, given;

APART void onAlarm(int signal) {
  alarms++;
  if (restarts && alarms == restarts) sem_post(&given);
}
APART void onVirtual(int signal) { virtuals++; }
APART void onProfile(int signal) { profiles++; }
APART void onTimer(int signal, siginfo_t *info, void *context) {
  timed++;
  values += info->si_value.sival_int + (info->si_code == SI_TIMER);
}

APART void install(int signal, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, 0);
}

APART int spin(int n) {
  volatile int x = 0;
  for (int i = 0; i < n; i++) x += i;
  return x != 1;
}

APART void every(int which, long micros) {
  struct itimerval value = {{0, micros}, {0, micros}};
  setitimer(which, &value, 0);
}

APART void pauses(void) {
  install(SIGALRM, onAlarm, 0);
  every(ITIMER_REAL, 2000);
  for (int i = 0; i < 10; i++) pause();
  every(ITIMER_REAL, 0);
  printf("paused %d\n", alarms >= 10);
  alarm(1);
  int failed = pause();
  printf("alarm %d %d %d\n", failed, errno == EINTR, alarm(0));
}

APART void sleeps(void) {
  struct timespec ten = {10, 0}, left = {0, 0};
  alarms = 0;
  struct itimerval value = {{0, 0}, {0, 300000}};
  setitimer(ITIMER_REAL, &value, 0);
  int failed = nanosleep(&ten, &left);
  printf("sleep %d %d %d %d\n", failed, errno == EINTR, left.tv_sec > 0 && left.tv_sec < 10, alarms);
  install(SIGALRM, SIG_IGN, 0);
  value.it_value.tv_usec = 1000;
  setitimer(ITIMER_REAL, &value, 0);
  struct timespec little = {0, 5000000};
  printf("ignored %d\n", nanosleep(&little, 0));
  install(SIGALRM, onAlarm, 0);
}

APART void waits(void) {
  sem_init(&nobody, 0, 0);
  sem_init(&given, 0, 0);
  every(ITIMER_REAL, 1000);
  int failed = sem_wait(&nobody);
  every(ITIMER_REAL, 0);
  printf("wait %d %d\n", failed, errno == EINTR);
  install(SIGALRM, onAlarm, SA_RESTART);
  alarms = 0;
  restarts = 3;
  every(ITIMER_REAL, 1000);
  failed = sem_wait(&given);
  every(ITIMER_REAL, 0);
  restarts = 0;
  printf("restarted %d %d\n", failed, alarms >= 3);
}

APART void processor(void) {
  install(SIGVTALRM, onVirtual, 0);
  install(SIGPROF, onProfile, SA_RESTART);
  every(ITIMER_VIRTUAL, 100);
  every(ITIMER_PROF, 150);
  while (virtuals < 20 || profiles < 10) spin(100);
  every(ITIMER_VIRTUAL, 0);
  every(ITIMER_PROF, 0);
  struct itimerval now;
  getitimer(ITIMER_PROF, &now);
  printf("processor %d %d\n", virtuals >= 20 && profiles >= 10, (int)now.it_value.tv_usec);
}

APART void created(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = onTimer;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN + 1, &action, 0);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN + 1;
  event.sigev_value.sival_int = 100;
  timer_t timer, silent;
  printf("create %d", timer_create(CLOCK_MONOTONIC, &event, &timer));
  event.sigev_notify = SIGEV_NONE;
  printf(" %d", timer_create(CLOCK_REALTIME, &event, &silent));
  struct itimerspec value = {{0, 200000}, {0, 500000}}, left;
  timer_settime(timer, 0, &value, 0);
  timer_settime(silent, 0, &value, 0);
  while (timed < 5) spin(10);
  timer_gettime(silent, &left);
  printf(" %d", left.it_interval.tv_nsec == 200000 && left.it_value.tv_nsec > 0);
  memset(&value, 0, sizeof value);
  timer_settime(timer, 0, &value, 0);
  timer_gettime(timer, &left);
  printf(" %ld %d", (long)left.it_value.tv_nsec, values == timed * 101);
  // blocked: one signal, the others are overruns
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  sigprocmask(SIG_BLOCK, &set, 0);
  value.it_value.tv_nsec = value.it_interval.tv_nsec = 50000;
  timed = 0;
  timer_settime(timer, 0, &value, 0);
  struct timespec some = {0, 10000000};
  nanosleep(&some, 0);
  siginfo_t info;
  int got = sigwaitinfo(&set, &info);
  printf(" %d %d %d\n", got == SIGRTMIN + 1, info.si_overrun > 50, timed);
  printf("delete %d", timer_delete(timer));
  printf(" %d %d\n", timer_delete(silent), timer_delete((timer_t)7) != 0);
}

static pthread_barrier_t begun;
static __thread volatile int own;
static volatile int direct[4], wrong, stop;
static pthread_t threads[4];

APART void onDirect(int signal) {
  own++;
  for (int i = 0; i < 4; i++)
    if (pthread_equal(pthread_self(), threads[i])) direct[i]++;
}

APART void *worker(void *n) {
  sigset_t set;
  pthread_sigmask(SIG_SETMASK, 0, &set);
  wrong += !sigismember(&set, SIGUSR2);
  pthread_barrier_wait(&begun);
  while (own < 5 * ((long)n + 1)) spin(10);
  return (void *)(long)own;
}

APART void *waiter(void *n) {
  sigset_t set;
  int got;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigwait(&set, &got);
  return (void *)(long)got;
}

APART void directed(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, 0);
  install(SIGUSR1, onDirect, SA_RESTART);
  pthread_barrier_init(&begun, 0, 5);
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, worker, (void *)i);
  pthread_barrier_wait(&begun);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 5 * (i + 1);) {
      pthread_kill(threads[i], SIGUSR1);
      for (k++; direct[i] < k;) sched_yield();
    }
  long sum = 0;
  void *result;
  for (int i = 0; i < 4; i++) pthread_join(threads[i], &result), sum += (long)result;
  printf("directed %d %d %d %d %ld %d\n", direct[0], direct[1], direct[2], direct[3], sum, wrong);
  pthread_t one;
  pthread_create(&one, 0, waiter, 0);
  usleep(1000);
  kill(getpid(), SIGUSR2);
  pthread_join(one, &result);
  printf("waited %d\n", (long)result == SIGUSR2);
}

int main(void) {
  setvbuf(stdout, 0, _IONBF, 0);
  pauses();
  sleeps();
  waits();
  processor();
  created();
  directed();
  return 4;
}
