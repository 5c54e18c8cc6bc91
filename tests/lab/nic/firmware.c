// SPDX-License-Identifier: GPL-2.0
/* What the firmware does with a write besides storing it: refuse, clamp, revert, obey its DCBX peer. */
#include "lab.h"

const char *const rwl_group_names[RWL_GROUPS] = { "pfc",  "ets",   "maxrate", "app",  "buffer",
						  "dcbx", "pause", "fec",     "ring", "ecn" };

/* Before a write of the group: the errno to refuse it with, or 0. port->lock is held, as in the next three. */
int rwl_write_begin(struct rwl_port *port, enum rwl_group group)
{
	struct rwl_group_fault *fault = &port->fault[group];

	if (fault->refuse)
		return -fault->refuse;
	if (fault->revert_ms && !delayed_work_pending(&fault->work))
		fault->old = port->regs;
	return 0;
}

/* After it: err as it is. */
int rwl_write_end(struct rwl_port *port, enum rwl_group group, int err)
{
	struct rwl_group_fault *fault = &port->fault[group];

	if (!err && fault->revert_ms)
		queue_delayed_work(system_wq, &fault->work, msecs_to_jiffies(fault->revert_ms));
	return err;
}

u64 rwl_clamped(struct rwl_port *port, int reg, u64 value)
{
	return min(value, port->clamp[reg]);
}

/* The firmware puts the group's old value back. It tells nobody: no notification, no flap. */
static void revert(struct work_struct *work)
{
	struct rwl_group_fault *fault = container_of(work, struct rwl_group_fault, work.work);
	struct rwl_regs *regs = &fault->port->regs, *old = &fault->old;

	mutex_lock(&fault->port->lock);
	switch (fault->group) {
	case RWL_PFC:
		regs->cable_m = old->cable_m;
		rwl_pfc_apply(fault->port, old->pfc_en);
		break;
	case RWL_ETS:
		regs->ets = old->ets;
		break;
	case RWL_MAXRATE:
		memcpy(regs->maxrate, old->maxrate, sizeof(regs->maxrate));
		break;
	case RWL_APP:
		rwl_app_restore(fault->port, old);
		break;
	case RWL_BUFFER:
		regs->buffer = old->buffer;
		regs->buffer_manual = old->buffer_manual;
		break;
	case RWL_DCBX:
		WRITE_ONCE(regs->dcbx, old->dcbx);
		break;
	case RWL_PAUSE:
		regs->rx_pause = old->rx_pause;
		regs->tx_pause = old->tx_pause;
		break;
	case RWL_FEC:
		rwl_phy_count(fault->port);
		regs->fec = old->fec;
		rwl_phy_changed(fault->port);
		break;
	case RWL_RING:
		regs->rx_ring = old->rx_ring;
		regs->tx_ring = old->tx_ring;
		break;
	case RWL_ECN:
		memcpy(regs->cc, old->cc, sizeof(regs->cc));
		memcpy(regs->cc_enable, old->cc_enable, sizeof(regs->cc_enable));
		break;
	case RWL_GROUPS:
		break;
	}
	mutex_unlock(&fault->port->lock);
}

/* Firmware DCBX is willing: the peer's PFC mask takes the place of the host's. */
static void dcbx_peer_wins(struct work_struct *work)
{
	struct rwl_port *port = container_of(work, struct rwl_port, dcbx_work.work);

	mutex_lock(&port->lock);
	if (port->peer_pfc_set && !(port->regs.dcbx & DCB_CAP_DCBX_HOST))
		rwl_pfc_apply(port, port->peer_pfc);
	mutex_unlock(&port->lock);
}

void rwl_dcbx_peer_arm(struct rwl_port *port)
{
	if (port->peer_pfc_set && !(port->regs.dcbx & DCB_CAP_DCBX_HOST))
		queue_delayed_work(system_wq, &port->dcbx_work, msecs_to_jiffies(RWL_DCBX_PEER_MS));
}

static void flap_ended(struct work_struct *work)
{
	rwl_link_bit(container_of(work, struct rwl_port, flap_end.work), RWL_LINK_FLAPPING, false);
}

void rwl_firmware_init(struct rwl_port *port)
{
	int i;

	for (i = 0; i < RWL_GROUPS; i++) {
		port->fault[i].port = port;
		port->fault[i].group = i;
		INIT_DELAYED_WORK(&port->fault[i].work, revert);
	}
	for (i = 0; i < RWL_CLAMPS; i++)
		port->clamp[i] = RWL_NO_CLAMP;
	INIT_DELAYED_WORK(&port->dcbx_work, dcbx_peer_wins);
	INIT_DELAYED_WORK(&port->flap_end, flap_ended);
	port->lane_time = jiffies;
}

/* No write comes any more. */
void rwl_firmware_stop(struct rwl_port *port)
{
	int i;

	for (i = 0; i < RWL_GROUPS; i++)
		cancel_delayed_work_sync(&port->fault[i].work);
	cancel_delayed_work_sync(&port->dcbx_work);
	cancel_delayed_work_sync(&port->flap_end);
}
