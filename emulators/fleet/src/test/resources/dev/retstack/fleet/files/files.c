// Makes, changes, finds and removes files, and prints what it sees of them.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/resource.h>
#include <unistd.h>

static void tell(const char *what, long result) {
  printf("%s: %s\n", what, result < 0 ? strerror(errno) : "fine");
}

static void content(const char *name) {
  char text[100] = "";
  int fd = open(name, O_RDONLY);
  struct stat s;
  fstat(fd, &s);
  long got = read(fd, text, sizeof text);
  printf("%s: %ld of %ld, mode %o:", name, got, (long) s.st_size, s.st_mode);
  for (int i = 0; i < got; i++) printf(text[i] ? "%c" : "\\0", text[i]);
  printf("\n");
  close(fd);
}

static void regular(void) {
  int fd = open("data", O_CREAT | O_RDWR | O_TRUNC, 0666);
  tell("write", write(fd, "0123456789", 10));
  printf("at %ld\n", (long) lseek(fd, -4, SEEK_END));
  tell("write", write(fd, "abc", 3));
  tell("pwrite", pwrite(fd, "xy", 2, 12));
  tell("pwrite before", pwrite(fd, "xy", 2, -1));
  content("data");
  tell("ftruncate", ftruncate(fd, 5));
  tell("fchmod", fchmod(fd, 0640));
  tell("fchown", fchown(fd, getuid(), getgid()));
  tell("chown", chown("data", getuid(), -1));
  tell("lchown", lchown("data", -1, getgid()));
  tell("chown of nothing", chown("nothing", -1, -1));
  tell("getgroups", getgroups(0, NULL));
  close(fd);
  tell("exclusive", open("data", O_CREAT | O_EXCL | O_RDWR, 0600));
  tell("directory", open("data", O_DIRECTORY));
  fd = open("data", O_WRONLY | O_APPEND);
  lseek(fd, 0, SEEK_SET);
  tell("append", write(fd, "end", 3));
  printf("flags %d\n", (fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND)) == (O_WRONLY | O_APPEND));
  tell("read", read(fd, &fd, 1));
  close(fd);
  content("data");
  tell("truncate", truncate("data", 3));
  content("data");
  tell("rename", rename("data", "other"));
  tell("gone", access("data", F_OK));
  tell("there", access("other", R_OK | W_OK));
  tell("readlink", readlink("other", (char[10]) {0}, 10));
  tell("below a file", open("other/x", O_RDONLY));
  tell("unlink", unlink("other"));
  tell("unlink", unlink("other"));
}

static void folders(void) {
  tell("mkdir", mkdir("dir", 0750));
  tell("mkdir", mkdir("dir", 0750));
  tell("mkdir", mkdir("dir/sub", 0777));
  int dir = open("dir", O_RDONLY | O_DIRECTORY);
  tell("read", read(dir, (char[10]) {0}, 10));
  for (int i = 0; i < 300; i++) {
    char name[100];
    sprintf(name, "file-with-a-name-%d", i * 7 % 300);
    close(openat(dir, name, O_CREAT | O_WRONLY, 0644));
  }
  struct dirent **found;
  int count = scandir("dir", &found, NULL, alphasort);
  printf("%d entries: %s %s %s, %d\n", count, found[0]->d_name, found[1]->d_name,
         found[count - 1]->d_name, found[count - 1]->d_type == DT_DIR);
  tell("rmdir", rmdir("dir"));
  tell("unlink", unlink("dir/sub"));
  tell("rmdir", rmdir("dir/sub/."));
  char here[4096], there[4096];
  getcwd(here, sizeof here);
  tell("chdir", chdir("dir/sub"));
  getcwd(there, sizeof there);
  printf("in %s\n", strncmp(here, there, strlen(here)) ? "?" : there + strlen(here));
  tell("up", access("../file-with-a-name-3", F_OK));
  tell("chdir", chdir("../file-with-a-name-3"));
  chdir(here);
  char *real = realpath("dir/../dir/sub", NULL);
  printf("real %d\n", real && !strcmp(real, there));
  for (int i = 2; i < count; i++) {
    if (unlinkat(dir, found[i]->d_name, 0)) unlinkat(dir, found[i]->d_name, AT_REMOVEDIR);
  }
  tell("rmdir", rmdir("dir"));
}

static void temporary(void) {
  char name[] = "/tmp/retstack-XXXXXX";
  int fd = mkstemp(name);
  tell("mkstemp", fd);
  tell("unlink", unlink(name));
  tell("write", write(fd, "still there", 11));
  FILE *unnamed = tmpfile();
  int sum = 0;
  for (int i = 0; i < 1000; i++) fprintf(unnamed, "%d ", i);
  rewind(unnamed);
  for (int i; fscanf(unnamed, "%d", &i) == 1;) sum += i;
  printf("sum %d\n", sum);
}

int main(void) {
  struct rusage used;
  umask(027);
  tell("getrusage", getrusage(RUSAGE_SELF, &used));
  regular();
  folders();
  temporary();
  tell("socket in /dev", open("/dev/null", O_RDWR));
  tell("zeroes", read(open("/dev/zero", O_RDONLY), (char[10]) {0}, 10));
  return 7;
}
