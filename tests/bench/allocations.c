/*
 * allocations.c - counts how often each thread of a process allocates memory.
 * Use it by LD_PRELOAD, and name a file in ALLOCATIONS.
 *
 * The file, in the byte order of the machine:
 *
 *	u64	how many threads follow
 *	{ u64 thread id, u64 calls, u64 calls from librdkafka }...
 *
 * Calls of malloc, calloc, realloc and the functions for aligned memory count;
 * free does not.  A call counts for librdkafka if its return address is there;
 * allocations by libraries that librdkafka calls count for no library.
 * Threads beyond THREADS_MAX are not counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS_MAX 255

struct thread {
	uint64_t id, calls, librdkafka;
};

struct counts {
	_Atomic uint64_t threads;
	struct thread of[THREADS_MAX];
};

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static struct counts *counts;
static uintptr_t library, library_end;
/* The access must not need a call that allocates. */
static _Thread_local
	__attribute__((tls_model("initial-exec"))) struct thread *own;
static _Thread_local __attribute__((tls_model("initial-exec"))) int uncounted;

static int find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (!strstr(info->dlpi_name, "/librdkafka.so"))
		return 0;
	library = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t end = library + part->p_vaddr + part->p_memsz;

		if (part->p_type == PT_LOAD && end > library_end)
			library_end = end;
	}
	return 1;
}

__attribute__((constructor)) static void map_counts(void)
{
	const char *path = getenv("ALLOCATIONS");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	void *at;

	if (fd < 0)
		return;
	dl_iterate_phdr(find_library, NULL);
	at = ftruncate(fd, sizeof(*counts))
		     ? MAP_FAILED
		     : mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		counts = at;
}

static struct thread *own_counts(void)
{
	uint64_t number;

	if (own || uncounted || !counts)
		return own;
	number = atomic_fetch_add(&counts->threads, 1);
	if (number >= THREADS_MAX) {
		uncounted = 1;
		return NULL;
	}
	own = &counts->of[number];
	own->id = (uint64_t)gettid();
	return own;
}

static void count_allocation(const void *caller)
{
	struct thread *t = own_counts();

	if (!t)
		return;
	t->calls++;
	if ((uintptr_t)caller >= library && (uintptr_t)caller < library_end)
		t->librdkafka++;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size)
{
	count_allocation(CALLER);
	return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
	count_allocation(CALLER);
	return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
	count_allocation(CALLER);
	return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
	count_allocation(CALLER);
	return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	count_allocation(CALLER);
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *made;

	count_allocation(CALLER);
	if (alignment % sizeof(void *) || alignment & (alignment - 1))
		return EINVAL;
	made = __libc_memalign(alignment, size);
	if (!made)
		return ENOMEM;
	*ret = made;
	return 0;
}
