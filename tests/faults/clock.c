/* Preloaded: the wall clock of a program is ahead by the seconds (8 bytes) in the file that CLOCK_AHEAD names.
   It needs no header and no library, so that a compiler alone builds it. */

enum { REALTIME = 0, REALTIME_COARSE = 5, READ_ONLY = 0, READABLE = 1, SHARED = 1 };
struct moment { long seconds, rest; };

extern char *getenv(const char *name);
extern int open(const char *path, int flags, ...);
extern void *mmap(void *where, unsigned long size, int access, int flags, int file, long from);
extern void *dlsym(void *handle, const char *name);

static int (*real)(int, struct moment *);
static volatile long *ahead;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CLOCK_AHEAD");
    int file = path ? open(path, READ_ONLY) : -1;
    void *found = file < 0 ? (void *)-1 : mmap(0, sizeof(long), READABLE, SHARED, file, 0);
    if (found != (void *)-1) ahead = found;
}

int clock_gettime(int clock, struct moment *now) {
    if (!real) real = (int (*)(int, struct moment *))dlsym((void *)-1, "clock_gettime"); /* RTLD_NEXT */
    int failed = real(clock, now);
    if (!failed && ahead && (clock == REALTIME || clock == REALTIME_COARSE)) now->seconds += *ahead;
    return failed;
}

int gettimeofday(struct moment *now, void *zone) {
    (void)zone;
    int failed = clock_gettime(REALTIME, now);
    now->rest /= 1000;
    return failed;
}

long time(long *now) {
    struct moment found;
    clock_gettime(REALTIME, &found);
    if (now) *now = found.seconds;
    return found.seconds;
}
