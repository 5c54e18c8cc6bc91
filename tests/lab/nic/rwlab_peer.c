// SPDX-License-Identifier: GPL-2.0
/* The two symbols that OFED's ib_core has and the kernel's own does not: with them nvidia-peermem loads. */
#include <linux/module.h>

#include "peer_memory.h"

void *ib_register_peer_memory_client(const void *client, void *invalidate)
{
	static int registered;

	return &registered;
}
EXPORT_SYMBOL(ib_register_peer_memory_client);

void ib_unregister_peer_memory_client(void *registered) {}
EXPORT_SYMBOL(ib_unregister_peer_memory_client);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("lab only: the symbols of OFED's peer memory, without function");
MODULE_AUTHOR("Railwright maintainers");
