/* SPDX-License-Identifier: GPL-2.0 */
/* The names that OFED's ib_core exports; nothing is behind them here. */
#ifndef RWLAB_PEER_MEMORY_H
#define RWLAB_PEER_MEMORY_H

void *ib_register_peer_memory_client(const void *client, void *invalidate);
void ib_unregister_peer_memory_client(void *registered);

#endif
