/* One PFC frame (IEEE 802.1Qbb) from a netdev.   send_pfc DEV MASK QUANTA */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
	unsigned char frame[60] = { 0x01, 0x80, 0xc2, 0, 0, 0x01, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0x01, 0x01 };
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(0x8808), .sll_halen = 6 };
	int fd, i, quanta;

	if (argc != 4)
		return 64;
	quanta = atoi(argv[3]);
	frame[17] = strtoul(argv[2], NULL, 0);
	for (i = 0; i < 8; i++) {
		frame[18 + 2 * i] = frame[17] & 1 << i ? quanta >> 8 : 0;
		frame[19 + 2 * i] = frame[17] & 1 << i ? quanta : 0;
	}
	to.sll_ifindex = if_nametoindex(argv[1]);
	memcpy(to.sll_addr, frame, 6);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	return sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to)) == sizeof(frame) ? 0 : 1;
}
