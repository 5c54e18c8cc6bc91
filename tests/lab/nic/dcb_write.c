/* One dcbnl write, and the result byte of its answer: iproute2's dcb 6.1 does not look at it for most objects.
 *   dcb_write DEV pfc MASK [DELAY] | ets TSA0,…,TSA7 BW0,…,BW7 | maxrate KBPS0,…,KBPS7 | buffer PRIO… SIZE…
 *             | app PRIO DSCP | delapp PRIO DSCP | dcbx MODE
 * Prints 0 or the negative errno (of dcbx: 0 or 1); "netlink -N" when the message itself was refused. */
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char message[1024] __attribute__((aligned(4)));
static struct nlmsghdr *header = (struct nlmsghdr *)message;

static struct rtattr *put(int type, const void *data, size_t length)
{
	struct rtattr *attr = (struct rtattr *)(message + NLMSG_ALIGN(header->nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(length);
	if (data)
		memcpy(RTA_DATA(attr), data, length);
	header->nlmsg_len = NLMSG_ALIGN(header->nlmsg_len) + RTA_ALIGN(attr->rta_len);
	return attr;
}

static void end(struct rtattr *nest)
{
	nest->rta_len = message + header->nlmsg_len - (char *)nest;
}

/* "1,2,3" → up to eight numbers */
static void list(const char *text, unsigned long long *to)
{
	char *next = (char *)text;
	int i;

	for (i = 0; i < 8 && *next; i++) {
		to[i] = strtoull(next, &next, 0);
		if (*next == ',')
			next++;
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[2] : "";
	const char *more = argc > 4 ? argv[4] : "";
	int app = !strcmp(what, "app"), delapp = !strcmp(what, "delapp"), dcbx = !strcmp(what, "dcbx"), i, fd, length;
	unsigned long long a[8] = { 0 }, b[8] = { 0 };
	struct dcbmsg *dcb = NLMSG_DATA(header);
	char answer[8192] __attribute__((aligned(4)));
	struct nlmsghdr *got = (struct nlmsghdr *)answer;
	struct rtattr *nest = NULL, *table = NULL, *attr;
	struct dcbnl_buffer buffer = { 0 };
	struct ieee_maxrate rate = { 0 };
	struct ieee_pfc pfc = { 0 };
	struct ieee_ets ets = { 0 };

	if (argc < 4)
		return 64;
	list(argv[3], a);
	list(more, b);
	header->nlmsg_len = NLMSG_LENGTH(sizeof(*dcb));
	header->nlmsg_type = RTM_SETDCB;
	header->nlmsg_flags = NLM_F_REQUEST;
	dcb->cmd = dcbx ? DCB_CMD_SDCBX : delapp ? DCB_CMD_IEEE_DEL : DCB_CMD_IEEE_SET;
	put(DCB_ATTR_IFNAME, argv[1], strlen(argv[1]) + 1);
	if (!dcbx)
		nest = put(DCB_ATTR_IEEE | NLA_F_NESTED, NULL, 0);
	for (i = 0; i < 8; i++) {
		ets.tc_tsa[i] = a[i];
		ets.tc_tx_bw[i] = b[i];
		ets.prio_tc[i] = i;
		rate.tc_maxrate[i] = a[i];
		buffer.prio2buffer[i] = a[i];
		buffer.buffer_size[i] = b[i];
	}
	pfc.pfc_en = a[0];
	pfc.delay = b[0];
	if (dcbx) {
		unsigned char mode = a[0];

		put(DCB_ATTR_DCBX, &mode, 1);
	} else if (!strcmp(what, "pfc")) {
		put(DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	} else if (!strcmp(what, "ets")) {
		put(DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
	} else if (!strcmp(what, "maxrate")) {
		put(DCB_ATTR_IEEE_MAXRATE, &rate, sizeof(rate));
	} else if (!strcmp(what, "buffer")) {
		put(DCB_ATTR_DCB_BUFFER, &buffer, sizeof(buffer));
	} else if (app || delapp) {
		struct dcb_app entry = { IEEE_8021QAZ_APP_SEL_DSCP, a[0], b[0] };

		table = put(DCB_ATTR_IEEE_APP_TABLE | NLA_F_NESTED, NULL, 0);
		put(DCB_ATTR_IEEE_APP, &entry, sizeof(entry));
		end(table);
	} else {
		return 64;
	}
	if (nest)
		end(nest);

	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (fd < 0 || send(fd, message, header->nlmsg_len, 0) < 0)
		return 1;
	length = recv(fd, answer, sizeof(answer), 0);
	if (length < (int)NLMSG_LENGTH(sizeof(*dcb)))
		return 1;
	if (got->nlmsg_type == NLMSG_ERROR) {
		printf("netlink %d\n", ((struct nlmsgerr *)NLMSG_DATA(got))->error);
		return 0;
	}
	length -= NLMSG_LENGTH(sizeof(*dcb));
	for (attr = (struct rtattr *)((char *)NLMSG_DATA(got) + NLMSG_ALIGN(sizeof(*dcb))); RTA_OK(attr, length);
	     attr = RTA_NEXT(attr, length))
		if ((attr->rta_type & NLA_TYPE_MASK) == (dcbx ? DCB_ATTR_DCBX : DCB_ATTR_IEEE))
			printf("%d\n", *(signed char *)RTA_DATA(attr));
	return 0;
}
