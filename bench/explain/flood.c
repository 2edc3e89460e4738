/* Datagrams as fast as one CPU can, for so many seconds: flood CPU ADDRESS SECONDS. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
	struct iovec payload = {"18 octets of data.", 18};
	struct mmsghdr messages[32] = {0};
	cpu_set_t cpus;
	int out, i;
	time_t end;

	if (argc != 4 || inet_pton(AF_INET, argv[2], &to.sin_addr) != 1) {
		fprintf(stderr, "usage: flood CPU ADDRESS SECONDS\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	out = socket(AF_INET, SOCK_DGRAM, 0);
	if (sched_setaffinity(0, sizeof cpus, &cpus) || out < 0) {
		perror("flood");
		return 2;
	}
	for (i = 0; i < 32; i++) {
		messages[i].msg_hdr.msg_iov = &payload;
		messages[i].msg_hdr.msg_iovlen = 1;
		messages[i].msg_hdr.msg_name = &to;
		messages[i].msg_hdr.msg_namelen = sizeof to;
	}
	for (end = time(0) + atoi(argv[3]); time(0) < end;)
		for (i = 0; i < 100; i++)
			sendmmsg(out, messages, 32, 0);
	return 0;
}
