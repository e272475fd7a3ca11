/*
 * The same as bench_bare, with io_uring in place of epoll: multishot requests
 * accept connections and receive bytes into buffers that the kernel picks,
 * answers are submitted once a turn of the loop, and completions run when this
 * thread waits for them (DEFER_TASKRUN).
 * usage: bench_uring PORT
 */
#include <errno.h>
#include <liburing.h>
#include <llhttp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/bench/bare.h"

#define ENTRIES		4096
#define BUFFERS		1024 /* a power of two */
#define BUFFER_SIZE	4096
#define GROUP		0
#define DESCRIPTORS_MAX 65536

/* The completed operation; the descriptor is in the bits above it. */
enum what {
	ACCEPTED,
	RECEIVED,
	SHUT_DOWN,
	OTHER,
	WHATS
};

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static char bytes[BUFFERS][BUFFER_SIZE];
static llhttp_t parsers[DESCRIPTORS_MAX]; /* by descriptor */
/* The number of operations that must complete before a descriptor can be closed
 * and reused. */
static uint8_t pending[DESCRIPTORS_MAX];
static llhttp_settings_t settings;

static struct io_uring_sqe *next_sqe(void)
{
	struct io_uring_sqe *sqe;

	while (!(sqe = io_uring_get_sqe(&ring)))
		io_uring_submit(&ring);
	return sqe;
}

static void tag_sqe(struct io_uring_sqe *sqe, enum what what, int fd)
{
	io_uring_sqe_set_data64(sqe, (uint64_t)fd * WHATS + what);
}

static void accept_on(int listener)
{
	struct io_uring_sqe *sqe = next_sqe();

	io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, 0);
	tag_sqe(sqe, ACCEPTED, listener);
}

static void receive_from(int fd)
{
	struct io_uring_sqe *sqe = next_sqe();

	io_uring_prep_recv_multishot(sqe, fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
	tag_sqe(sqe, RECEIVED, fd);
}

static void close_later(int fd)
{
	struct io_uring_sqe *sqe = next_sqe();

	io_uring_prep_close(sqe, fd);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	tag_sqe(sqe, OTHER, fd);
}

static void end_one(int fd)
{
	if (--pending[fd] == 0)
		close_later(fd);
}

/* This also ends the receiving. */
static void shut_down(int fd)
{
	struct io_uring_sqe *sqe = next_sqe();

	io_uring_prep_shutdown(sqe, fd, SHUT_RDWR);
	tag_sqe(sqe, SHUT_DOWN, fd);
	pending[fd]++;
}

static int on_complete(llhttp_t *parser)
{
	int fd = (int)(parser - parsers);
	bool keep = llhttp_should_keep_alive(parser);
	struct io_uring_sqe *sqe;

	/* The two linked operations must be submitted together. */
	if (io_uring_sq_space_left(&ring) < 2)
		io_uring_submit(&ring);
	sqe = next_sqe();
	io_uring_prep_send(sqe, fd, keep ? kept : last,
			   keep ? sizeof(kept) - 1 : sizeof(last) - 1,
			   MSG_NOSIGNAL | MSG_WAITALL);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS | (keep ? 0 : IOSQE_IO_LINK);
	tag_sqe(sqe, OTHER, fd);
	if (!keep)
		shut_down(fd);
	return 0;
}

static void give_back(unsigned buffer)
{
	io_uring_buf_ring_add(buffers, bytes[buffer], BUFFER_SIZE,
			      (unsigned short)buffer,
			      io_uring_buf_ring_mask(BUFFERS), 0);
	io_uring_buf_ring_advance(buffers, 1);
}

static void on_accepted(const struct io_uring_cqe *cqe, int listener)
{
	int fd = cqe->res;

	if (!(cqe->flags & IORING_CQE_F_MORE))
		accept_on(listener);
	if (fd < 0)
		return;
	if (fd >= DESCRIPTORS_MAX) {
		close_later(fd);
		return;
	}
	llhttp_init(&parsers[fd], HTTP_REQUEST, &settings);
	pending[fd] = 1;
	receive_from(fd);
}

static void on_received(const struct io_uring_cqe *cqe, int fd)
{
	bool more = cqe->flags & IORING_CQE_F_MORE;
	unsigned buffer = cqe->flags >> IORING_CQE_BUFFER_SHIFT;

	if (cqe->res > 0 && llhttp_execute(&parsers[fd], bytes[buffer],
					   (size_t)cqe->res) != HPE_OK)
		shut_down(fd);
	if (cqe->flags & IORING_CQE_F_BUFFER)
		give_back(buffer);
	if (more)
		return;
	if (cqe->res > 0 || cqe->res == -ENOBUFS)
		receive_from(fd);
	else
		end_one(fd);
}

/* Returns 0 or -errno. */
static int make_ring(void)
{
	struct io_uring_params params = {.flags = IORING_SETUP_SINGLE_ISSUER |
						  IORING_SETUP_DEFER_TASKRUN};
	struct io_uring_buf_reg reg = {.ring_entries = BUFFERS, .bgid = GROUP};
	int status = io_uring_queue_init_params(ENTRIES, &ring, &params);

	if (status < 0)
		return status;
	if (posix_memalign((void **)&buffers, 4096,
			   BUFFERS * sizeof(struct io_uring_buf)))
		return -ENOMEM;
	reg.ring_addr = (uintptr_t)buffers;
	status = io_uring_register_buf_ring(&ring, &reg, 0);
	if (status < 0)
		return status;
	io_uring_buf_ring_init(buffers);
	for (unsigned i = 0; i < BUFFERS; i++)
		give_back(i);
	return 0;
}

static void dispatch_cqe(const struct io_uring_cqe *cqe)
{
	uint64_t data = io_uring_cqe_get_data64(cqe);
	int fd = (int)(data / WHATS);

	switch ((enum what)(data % WHATS)) {
	case ACCEPTED:
		on_accepted(cqe, fd);
		break;
	case RECEIVED:
		on_received(cqe, fd);
		break;
	case SHUT_DOWN:
		end_one(fd);
		break;
	default: /* the peer has closed: receiving ends, too */
		break;
	}
}

int main(int argc, char **argv)
{
	struct io_uring_cqe *cqe;
	unsigned head, count;
	int listener, status;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_uring PORT\n");
		return 64;
	}
	status = make_ring();
	if (status < 0) {
		fprintf(stderr, "bench_uring: io_uring: %s\n",
			strerror(-status));
		return 1;
	}
	listener = listen_on(argv[1], 0);
	if (listener < 0) {
		perror("bench_uring");
		return 1;
	}
	llhttp_settings_init(&settings);
	settings.on_message_complete = on_complete;
	accept_on(listener);
	for (;;) {
		io_uring_submit_and_wait(&ring, 1);
		count = 0;
		io_uring_for_each_cqe(&ring, head, cqe)
		{
			dispatch_cqe(cqe);
			count++;
		}
		io_uring_cq_advance(&ring, count);
	}
}
