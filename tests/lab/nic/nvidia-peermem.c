// SPDX-License-Identifier: GPL-2.0
/* A stand-in for nvidia-peermem, lab only: its name, version and parameters, and what its load needs. */
#include <linux/module.h>

#include "peer_memory.h"

static int peerdirect_support;
module_param(peerdirect_support, int, 0444);
static int persistent_api_support = 1;
module_param(persistent_api_support, int, 0444);

static void *registered;

static int __init peermem_init(void)
{
	registered = ib_register_peer_memory_client("nv_mem", NULL);
	return registered ? 0 : -EINVAL;
}

static void __exit peermem_exit(void)
{
	ib_unregister_peer_memory_client(registered);
}

module_init(peermem_init);
module_exit(peermem_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION("580.159.04");
MODULE_DESCRIPTION("lab only: stands in for nvidia-peermem");
MODULE_AUTHOR("Railwright maintainers");
