// Makes links and second names of files, and prints what it sees through them.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void tell(const char *what, long result) {
  printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

__attribute__((noinline)) void content(const char *name) {
  char text[20] = "";
  int fd = open(name, O_RDONLY);
  tell(name, fd < 0 ? fd : read(fd, text, sizeof text - 1));
  printf("  %s\n", text);
  if (fd >= 0) close(fd);
}

static void seen(const char *name) {
  struct stat of, followed;
  char text[50] = "";
  tell(name, lstat(name, &of));
  printf("  type %o, names %d", of.st_mode & S_IFMT, S_ISREG(of.st_mode) ? (int) of.st_nlink : 1);
  long stated = stat(name, &followed);
  printf(", leads to %o\n", stated < 0 ? 0 : followed.st_mode & S_IFMT);
  tell("  readlink", readlink(name, text, sizeof text - 1));
  printf("  %s\n", text);
}

int main(void) {
  mkdir("linked", 0755);
  chdir("linked");
  mkdir("sub", 0755);
  int fd = open("data", O_CREAT | O_RDWR, 0644), dir = open("sub", O_RDONLY);
  write(fd, "one", 3);
  tell("symlink", symlink("data", "link"));
  tell("again", symlink("other", "link"));
  tell("below", symlink("sub/deep", "down"));
  tell("at", symlinkat("deep", dir, "beside"));
  tell("nowhere", symlink("missing", "dangling"));
  tell("itself", symlink("loop", "loop"));
  tell("empty", symlink("", "empty"));
  tell("no folder", symlink("data", "missing/link"));
  tell("in a file", symlink("data", "data/link"));
  seen("link");
  seen("down");
  seen("dangling");
  content("link");
  content("dangling");
  content("loop");
  tell("exclusive", open("dangling", O_CREAT | O_EXCL | O_WRONLY, 0644));
  tell("no follow", open("dangling", O_CREAT | O_NOFOLLOW | O_WRONLY, 0644));
  tell("chain", symlink("dangling", "chain"));
  tell("into nothing", symlink("gone/missing", "lost"));
  tell("lost", open("lost", O_CREAT | O_WRONLY, 0644));
  fd = open("chain", O_CREAT | O_WRONLY, 0640);
  tell("through two links", write(fd, "made", 4));
  close(fd);
  seen("dangling");
  content("missing");
  tell("unlink", unlink("missing"));
  fd = open("data", O_RDWR);
  lseek(fd, 0, SEEK_END);
  close(open("sub/deep", O_CREAT | O_WRONLY, 0644));
  seen("down");
  content("sub/beside");
  tell("open no follow", open("link", O_RDONLY | O_NOFOLLOW));
  tell("link", link("data", "second"));
  tell("again", link("data", "link"));
  tell("missing", link("missing", "third"));
  tell("folder", link("sub", "third"));
  tell("at", linkat(AT_FDCWD, "link", dir, "third", AT_SYMLINK_FOLLOW));
  tell("flags", linkat(AT_FDCWD, "data", dir, "fourth", 1));
  seen("data");
  seen("second");
  struct stat one, two;
  stat("data", &one);
  stat("sub/third", &two);
  tell("same file", one.st_ino == two.st_ino);
  write(fd, " two", 4);
  content("second");
  tell("unlink", unlink("data"));
  content("second");
  content("link");
  tell("fstat", fstat(fd, &one));
  printf("type %o\n", one.st_mode & S_IFMT);
  struct dirent **found;
  int count = scandir(".", &found, NULL, alphasort);
  for (int i = 0; i < count; i++) printf("%s %d\n", found[i]->d_name, found[i]->d_type);
  for (int i = 0; i < count; i++) unlink(found[i]->d_name);
  unlink("sub/deep");
  unlink("sub/beside");
  unlink("sub/third");
  tell("rmdir", rmdir("sub"));
  chdir("..");
  tell("rmdir", rmdir("linked"));
  return 3;
}
