// A real program, hosted: reads a JSON document from standard input, prints it with its keys sorted, and what it
// counted. Exit code 0, or 3 with the place of the first error on standard output.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone))

enum kind { NOTHING, TRUTH, NUMBER, TEXT, LIST, OBJECT, KINDS };

struct value {
  enum kind kind;
  double number;
  char *text;
  struct member *members;
  size_t count, room;
};

struct member {
  char *key;
  struct value value;
};

struct reader {
  const char *start, *at;
  jmp_buf failed;
};

static unsigned seen[KINDS];

KEEP void *grow(void *old, size_t count, size_t *room, size_t size) {
  if (count < *room) return old;
  *room = *room == 0 ? 4 : *room * 2;
  void *grown = realloc(old, *room * size);
  if (grown == NULL) abort();
  return grown;
}

KEEP void refuse(struct reader *reader, const char *wanted) {
  printf("byte %td: %s expected\n", reader->at - reader->start, wanted);
  longjmp(reader->failed, 3);
}

KEEP void skip_space(struct reader *reader) { reader->at += strspn(reader->at, " \t\r\n"); }

KEEP int take(struct reader *reader, char wanted) {
  skip_space(reader);
  if (*reader->at != wanted) return 0;
  reader->at++;
  return 1;
}

KEEP void put_character(char **text, size_t *count, size_t *room, char c) {
  *text = grow(*text, *count, room, 1);
  (*text)[(*count)++] = c;
}

// A code point as UTF-8.
KEEP void put_code_point(char **text, size_t *count, size_t *room, unsigned code) {
  if (code < 0x80) {
    put_character(text, count, room, (char)code);
  } else if (code < 0x800) {
    put_character(text, count, room, (char)(0xc0 | code >> 6));
    put_character(text, count, room, (char)(0x80 | (code & 0x3f)));
  } else {
    put_character(text, count, room, (char)(0xe0 | code >> 12));
    put_character(text, count, room, (char)(0x80 | (code >> 6 & 0x3f)));
    put_character(text, count, room, (char)(0x80 | (code & 0x3f)));
  }
}

KEEP unsigned read_hexadecimal(struct reader *reader) {
  char digits[5] = "", *end;
  strncpy(digits, reader->at, 4);
  unsigned code = (unsigned)strtoul(digits, &end, 16);
  if (end != digits + 4) refuse(reader, "four hexadecimal digits");
  reader->at += 4;
  return code;
}

KEEP char *read_text(struct reader *reader) {
  static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  char *text = NULL;
  size_t count = 0, room = 0;
  if (!take(reader, '"')) refuse(reader, "text");
  while (*reader->at != '"') {
    char c = *reader->at++;
    if ((unsigned char)c < ' ') {
      reader->at--;
      refuse(reader, "\"");
    }
    if (c != '\\') {
      put_character(&text, &count, &room, c);
      continue;
    }
    c = *reader->at++;
    const char *escape = c == '\0' ? NULL : strchr(escapes, c);
    if (c == 'u') {
      put_code_point(&text, &count, &room, read_hexadecimal(reader));
    } else if (escape != NULL) {
      put_character(&text, &count, &room, meanings[escape - escapes]);
    } else {
      refuse(reader, "an escape");
    }
  }
  reader->at++;
  put_character(&text, &count, &room, '\0');
  return text;
}

KEEP void read_number(struct reader *reader, struct value *value) {
  char *end;
  value->number = strtod(reader->at, &end);
  if (end == reader->at) refuse(reader, "a value");
  reader->at = end;
}

KEEP int read_word(struct reader *reader, const char *word) {
  size_t length = strlen(word);
  if (strncmp(reader->at, word, length) != 0) return 0;
  reader->at += length;
  return 1;
}

KEEP void read_value(struct reader *reader, struct value *value);

KEEP void read_members(struct reader *reader, struct value *value, char last) {
  if (take(reader, last)) return;
  do {
    value->members = grow(value->members, value->count, &value->room, sizeof *value->members);
    struct member *member = &value->members[value->count++];
    memset(member, 0, sizeof *member);
    if (value->kind == OBJECT) {
      member->key = read_text(reader);
      if (!take(reader, ':')) refuse(reader, ":");
    }
    read_value(reader, &member->value);
  } while (take(reader, ','));
  if (!take(reader, last)) refuse(reader, last == ']' ? "]" : "}");
}

KEEP void read_value(struct reader *reader, struct value *value) {
  skip_space(reader);
  memset(value, 0, sizeof *value);
  switch (*reader->at) {
    case '{':
    case '[':
      value->kind = *reader->at++ == '{' ? OBJECT : LIST;
      read_members(reader, value, value->kind == OBJECT ? '}' : ']');
      break;
    case '"':
      value->kind = TEXT;
      value->text = read_text(reader);
      break;
    default:
      if (read_word(reader, "null")) {
        value->kind = NOTHING;
      } else if (read_word(reader, "true")) {
        value->kind = TRUTH;
        value->number = 1;
      } else if (read_word(reader, "false")) {
        value->kind = TRUTH;
      } else {
        value->kind = NUMBER;
        read_number(reader, value);
      }
  }
  seen[value->kind]++;
}

KEEP int by_key(const void *a, const void *b) {
  return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

KEEP void print_text(const char *text) {
  putchar('"');
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') putchar('\\');
    if ((unsigned char)*text < ' ') {
      printf("\\u%04x", *text);
    } else {
      putchar(*text);
    }
  }
  putchar('"');
}

KEEP double print_value(const struct value *value, int depth) {
  double sum = value->kind == NUMBER ? value->number : 0;
  switch (value->kind) {
    case NUMBER: printf("%.15g", value->number); break;
    case TRUTH: printf(value->number != 0 ? "true" : "false"); break;
    case TEXT: print_text(value->text); break;
    case LIST:
    case OBJECT:
      if (value->kind == OBJECT) qsort(value->members, value->count, sizeof *value->members, by_key);
      putchar(value->kind == OBJECT ? '{' : '[');
      for (size_t i = 0; i < value->count; i++) {
        printf("%s\n%*s", i == 0 ? "" : ",", 2 * depth + 2, "");
        if (value->kind == OBJECT) {
          print_text(value->members[i].key);
          printf(": ");
        }
        sum += print_value(&value->members[i].value, depth + 1);
      }
      printf("\n%*s%c", 2 * depth, "", value->kind == OBJECT ? '}' : ']');
      break;
    default: printf("null");
  }
  return sum;
}

KEEP void drop(struct value *value) {
  for (size_t i = 0; i < value->count; i++) {
    free(value->members[i].key);
    drop(&value->members[i].value);
  }
  free(value->members);
  free(value->text);
}

KEEP char *read_all(void) {
  char *text = NULL;
  size_t count = 0, room = 0;
  for (int c = getchar(); c != EOF; c = getchar()) put_character(&text, &count, &room, (char)c);
  put_character(&text, &count, &room, '\0');
  return text;
}

int main(void) {
  char *text = read_all();
  struct reader reader = {.start = text, .at = text};
  struct value document;
  int failed = setjmp(reader.failed);
  if (failed != 0) return failed;
  read_value(&reader, &document);
  skip_space(&reader);
  if (*reader.at != '\0') refuse(&reader, "the end");
  double sum = print_value(&document, 0);
  printf("\nsum %.10g; null %u, truth %u, numbers %u, texts %u, lists %u, objects %u\n", sum, seen[NOTHING], seen[TRUTH],
         seen[NUMBER], seen[TEXT], seen[LIST], seen[OBJECT]);
  drop(&document);
  free(text);
  return 0;
}
