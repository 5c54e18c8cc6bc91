// SPDX-License-Identifier: GPL-2.0
/* dcbnl, IEEE part, with the rules of mlx5's driver. The kernel's core returns each result in a payload byte. */
#include <linux/math64.h>

#include "lab.h"

#define CABLE_DEFAULT_M 7
#define CABLE_LIMIT_M 1000   /* from here on the value is ignored, as is 0 */
#define BUFFER_TOTAL 1027712 /* bytes of the port's receive buffer */
#define BUFFER_CELL 128
#define HEADROOM_MTU 9216 /* a lossless buffer is sized for at least this MTU */
#define KBPS_100M 100000ULL
#define KBPS_1G 1000000ULL
#define UNITS_MAX 255 /* a rate is a byte and a unit */

static const u8 default_prio_tc[RWL_PRIOS] = { 1, 0, 2, 3, 4, 5, 6, 7 };

static int getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct rwl_port *port = netdev_priv(dev);

	mutex_lock(&port->lock);
	*ets = port->regs.ets;
	mutex_unlock(&port->lock);
	return 0;
}

static int check_ets(const struct ieee_ets *ets)
{
	unsigned int sum = 0, i;
	bool any = false;

	for (i = 0; i < RWL_PRIOS; i++) {
		if (ets->prio_tc[i] >= RWL_PRIOS)
			return -EINVAL;
		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS) {
			any = true;
			sum += ets->tc_tx_bw[i];
		}
	}
	if (any && sum != 100)
		return -EINVAL;
	for (i = 0; i < RWL_PRIOS; i++)
		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_CB_SHAPER)
			return -EOPNOTSUPP;
	return 0;
}

static int setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct rwl_port *port = netdev_priv(dev);
	int err = check_ets(ets), i;

	if (err)
		return err;
	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_ETS);
	if (!err) {
		memcpy(port->regs.ets.prio_tc, ets->prio_tc, sizeof(ets->prio_tc));
		memcpy(port->regs.ets.tc_tsa, ets->tc_tsa, sizeof(ets->tc_tsa));
		for (i = 0; i < RWL_PRIOS; i++) /* 6.12 reads 0 where the TC has no ETS share */
			port->regs.ets.tc_tx_bw[i] = ets->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS ? ets->tc_tx_bw[i] : 0;
	}
	err = rwl_write_end(port, RWL_ETS, err);
	mutex_unlock(&port->lock);
	return err;
}

static int getmaxrate(struct net_device *dev, struct ieee_maxrate *rate)
{
	struct rwl_port *port = netdev_priv(dev);

	mutex_lock(&port->lock);
	memcpy(rate->tc_maxrate, port->regs.maxrate, sizeof(rate->tc_maxrate));
	mutex_unlock(&port->lock);
	return 0;
}

/* kbit/s, rounded down to the unit that the register has: 100 Mb/s up to 25.5 Gb/s, then 1 Gb/s; 0: no limit. */
static int setmaxrate(struct net_device *dev, struct ieee_maxrate *rate)
{
	struct rwl_port *port = netdev_priv(dev);
	u64 rounded[RWL_PRIOS];
	int err = 0, i;

	for (i = 0; i < RWL_PRIOS; i++) {
		u64 wanted = rate->tc_maxrate[i];

		if (wanted > UNITS_MAX * KBPS_1G)
			return -EINVAL;
		if (!wanted)
			rounded[i] = 0;
		else if (wanted < UNITS_MAX * KBPS_100M)
			rounded[i] = max(div64_u64(wanted, KBPS_100M), 1ULL) * KBPS_100M;
		else
			rounded[i] = max(div64_u64(wanted, KBPS_1G), 1ULL) * KBPS_1G;
	}
	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_MAXRATE);
	for (i = 0; !err && i < RWL_PRIOS; i++)
		port->regs.maxrate[i] = rwl_clamped(port, RWL_CLAMP_MAXRATE, rounded[i]);
	err = rwl_write_end(port, RWL_MAXRATE, err);
	mutex_unlock(&port->lock);
	return err;
}

/* Bytes that a lossless buffer must hold: what arrives after the pause frame left, and a frame. */
static u32 lossless_bytes(const struct rwl_port *port)
{
	u32 gbps = max(port->speed / 1000, 40U);
	u32 xoff = (301 + 216 * port->regs.cable_m / 100) * gbps + 272 * port->dev->mtu / 100;

	return roundup(xoff + max_t(u32, port->dev->mtu, HEADROOM_MTU), BUFFER_CELL);
}

static bool fits(const struct rwl_port *port, const struct dcbnl_buffer *buffer)
{
	bool all = port->regs.rx_pause || port->regs.tx_pause; /* global pause: every buffer is lossless */
	int i;

	for (i = 0; i < RWL_PRIOS; i++) {
		u32 size = buffer->buffer_size[buffer->prio2buffer[i]];

		if ((all || (port->regs.pfc_en & BIT(i))) && size && size < lossless_bytes(port))
			return false;
		if ((port->regs.pfc_en & BIT(i)) && !size)
			return false;
	}
	return true;
}

/* The firmware's own choice while the host never wrote: buffer 1 for what PFC protects, buffer 0 for the rest. */
static void buffers_by_firmware(struct rwl_port *port)
{
	struct dcbnl_buffer *buffer = &port->regs.buffer;
	int i;

	memset(buffer->buffer_size, 0, sizeof(buffer->buffer_size));
	for (i = 0; i < RWL_PRIOS; i++)
		buffer->prio2buffer[i] = !!(port->regs.pfc_en & BIT(i));
	if (port->regs.pfc_en)
		buffer->buffer_size[1] = 2 * lossless_bytes(port);
	buffer->buffer_size[0] = 262144;
}

static int getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct rwl_port *port = netdev_priv(dev);
	int i;

	mutex_lock(&port->lock);
	pfc->pfc_cap = RWL_PRIOS;
	pfc->pfc_en = port->regs.pfc_en;
	pfc->delay = port->regs.cable_m;
	for (i = 0; i < RWL_PRIOS; i++) {
		pfc->requests[i] = atomic64_read(&port->prio[i][RWL_P_TX_PAUSE]);
		pfc->indications[i] = atomic64_read(&port->prio[i][RWL_P_RX_PAUSE]);
	}
	mutex_unlock(&port->lock);
	return 0;
}

/* The mask alone, without a flap. port->lock is held. */
void rwl_pfc_apply(struct rwl_port *port, u8 mask)
{
	port->regs.pfc_en = mask;
	if (!port->regs.buffer_manual)
		buffers_by_firmware(port);
}

static int setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct rwl_port *port = netdev_priv(dev);
	bool cable, mask;
	int err;

	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_PFC);
	if (err)
		goto out;
	mask = pfc->pfc_en != port->regs.pfc_en;
	cable = pfc->delay && pfc->delay < CABLE_LIMIT_M && pfc->delay != port->regs.cable_m;
	if (mask) {
		rwl_pfc_apply(port, pfc->pfc_en);
		rwl_flap(port, RWL_LINK_FLAP_MS); /* the driver toggles the port; an unchanged mask does not */
	}
	if (cable) {
		u16 old = port->regs.cable_m;

		port->regs.cable_m = rwl_clamped(port, RWL_CLAMP_CABLE, pfc->delay);
		if (!port->regs.buffer_manual)
			buffers_by_firmware(port);
		else if (!fits(port, &port->regs.buffer))
			port->regs.cable_m = old, err = -ENOMEM;
	}
	/* The mask is in the hardware already when the buffers turn out too small: an error, and yet changed. */
	if (mask && port->regs.buffer_manual && !fits(port, &port->regs.buffer))
		err = -ENOMEM;
	rwl_dcbx_peer_arm(port);
out:
	err = rwl_write_end(port, RWL_PFC, err);
	mutex_unlock(&port->lock);
	return err;
}

static int getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct rwl_port *port = netdev_priv(dev);

	mutex_lock(&port->lock);
	*buffer = port->regs.buffer;
	mutex_unlock(&port->lock);
	return 0;
}

static int setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct rwl_port *port = netdev_priv(dev);
	struct dcbnl_buffer wanted = *buffer;
	u64 sum = 0;
	int err, i;

	for (i = 0; i < RWL_PRIOS; i++)
		if (wanted.prio2buffer[i] >= RWL_PRIOS)
			return -EINVAL;
	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_BUFFER);
	if (err)
		goto out;
	for (i = 0; i < RWL_PRIOS; i++) {
		wanted.buffer_size[i] = rwl_clamped(port, RWL_CLAMP_BUFFER, wanted.buffer_size[i]);
		sum += wanted.buffer_size[i];
	}
	wanted.total_size = BUFFER_TOTAL;
	if (sum > BUFFER_TOTAL) {
		err = -EINVAL;
	} else if (!fits(port, &wanted)) {
		err = -ENOMEM;
	} else {
		port->regs.buffer = wanted;
		port->regs.buffer_manual = true;
	}
out:
	err = rwl_write_end(port, RWL_BUFFER, err);
	mutex_unlock(&port->lock);
	return err;
}

static u8 getdcbx(struct net_device *dev)
{
	struct rwl_port *port = netdev_priv(dev);

	/* dcb_ieee_setapp() asks for it too, and that is called with the lock held. */
	return READ_ONCE(port->regs.dcbx);
}

/* Any failure is 1. Mode 0 hands DCBX to the firmware; other modes need HOST; an LLD that manages is refused. */
static u8 setdcbx(struct net_device *dev, u8 mode)
{
	struct rwl_port *port = netdev_priv(dev);
	int err;

	if ((mode & DCB_CAP_DCBX_LLD_MANAGED) || (mode && !(mode & DCB_CAP_DCBX_HOST)))
		return 1;
	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_DCBX);
	if (!err) {
		WRITE_ONCE(port->regs.dcbx, mode ? mode : port->regs.dcbx & ~DCB_CAP_DCBX_HOST);
		rwl_dcbx_peer_arm(port);
	}
	err = rwl_write_end(port, RWL_DCBX, err);
	mutex_unlock(&port->lock);
	return err ? 1 : 0;
}

const struct dcbnl_rtnl_ops rwl_dcbnl_ops = {
	.ieee_getets = getets,
	.ieee_setets = setets,
	.ieee_getmaxrate = getmaxrate,
	.ieee_setmaxrate = setmaxrate,
	.ieee_getpfc = getpfc,
	.ieee_setpfc = setpfc,
	.ieee_setapp = rwl_setapp,
	.ieee_delapp = rwl_delapp,
	.getdcbx = getdcbx,
	.setdcbx = setdcbx,
	.dcbnl_getbuffer = getbuffer,
	.dcbnl_setbuffer = setbuffer,
};

/* What mlx5 has after its driver loaded. */
void rwl_dcb_init(struct rwl_port *port)
{
	struct rwl_regs *regs = &port->regs;
	unsigned int i;

	regs->cable_m = CABLE_DEFAULT_M;
	regs->ets.ets_cap = RWL_PRIOS;
	memset(regs->ets.tc_tsa, IEEE_8021QAZ_TSA_VENDOR, sizeof(regs->ets.tc_tsa));
	memcpy(regs->ets.prio_tc, default_prio_tc, sizeof(default_prio_tc));
	for (i = 0; i < RWL_DSCPS; i++)
		regs->dscp2prio[i] = i >> 3;
	regs->buffer.total_size = BUFFER_TOTAL;
	buffers_by_firmware(port);
	regs->dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE | (rwl_dcbx_fw ? 0 : DCB_CAP_DCBX_HOST);
	regs->rx_pause = true; /* as the firmware ships */
	regs->tx_pause = true;
	regs->fec = ETHTOOL_FEC_RS;
	regs->rx_ring = 1024;
	regs->tx_ring = 1024;
	regs->channels = 8;
	regs->pfc_tout = 8000;
}
