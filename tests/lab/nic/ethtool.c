// SPDX-License-Identifier: GPL-2.0
/* ethtool: link, rings, channels, pause, FEC, tunables, statistics. Module EEPROM pages are in eeprom.c. */
#include <linux/log2.h>

#include "lab.h"

#define RING_MAX 8192
#define RING_MIN 64
#define CHANNELS_MAX 63
#define TOUT_AUTO_MS 100 /* what mlx5 programs for "auto", and reads back */
#define TOUT_MIN_MS 80
#define TOUT_MAX_MS 8000

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, rwl_driver, sizeof(info->driver));
	strscpy(info->fw_version, "28.39.1002 (RWL_0000000001)", sizeof(info->fw_version));
}

static int get_link_ext_state(struct net_device *dev, struct ethtool_link_ext_state_info *info)
{
	struct rwl_port *port = netdev_priv(dev);
	unsigned long bits = READ_ONCE(port->link_bits);

	if (netif_carrier_ok(dev))
		return -ENODATA;
	if (bits & BIT(RWL_LINK_UNPLUGGED))
		info->link_ext_state = ETHTOOL_LINK_EXT_STATE_NO_CABLE;
	else if (bits & BIT(RWL_LINK_NO_SIGNAL))
		info->link_ext_state = ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY;
	else if (bits & BIT(RWL_LINK_OTHER_FEC))
		info->link_ext_state = ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH;
	else if (bits & BIT(RWL_LINK_FLAPPING))
		info->link_ext_state = ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE;
	else
		info->link_ext_state = ETHTOOL_LINK_EXT_STATE_NO_CABLE;
	return 0;
}

static void get_ringparam(struct net_device *dev, struct ethtool_ringparam *ring, struct kernel_ethtool_ringparam *more,
			  struct netlink_ext_ack *extack)
{
	struct rwl_port *port = netdev_priv(dev);

	mutex_lock(&port->lock);
	ring->rx_max_pending = RING_MAX;
	ring->tx_max_pending = RING_MAX;
	ring->rx_pending = port->regs.rx_ring;
	ring->tx_pending = port->regs.tx_ring;
	mutex_unlock(&port->lock);
}

static int set_ringparam(struct net_device *dev, struct ethtool_ringparam *ring, struct kernel_ethtool_ringparam *more,
			 struct netlink_ext_ack *extack)
{
	struct rwl_port *port = netdev_priv(dev);
	u32 rx, tx;
	int err;

	if (ring->rx_pending < RING_MIN || ring->tx_pending < RING_MIN) {
		NL_SET_ERR_MSG(extack, "a ring has at least 64 entries");
		return -EINVAL;
	}
	rx = roundup_pow_of_two(ring->rx_pending);
	tx = roundup_pow_of_two(ring->tx_pending);
	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_RING);
	if (!err) {
		rx = rwl_clamped(port, RWL_CLAMP_RX_RING, rx);
		tx = rwl_clamped(port, RWL_CLAMP_TX_RING, tx);
		if (rx != port->regs.rx_ring || tx != port->regs.tx_ring) {
			port->regs.rx_ring = rx;
			port->regs.tx_ring = tx;
			rwl_flap(port, RWL_REOPEN_MS);
		}
	}
	err = rwl_write_end(port, RWL_RING, err);
	mutex_unlock(&port->lock);
	return err;
}

static void get_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	struct rwl_port *port = netdev_priv(dev);

	channels->max_combined = CHANNELS_MAX;
	channels->combined_count = port->regs.channels;
}

static int set_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	struct rwl_port *port = netdev_priv(dev);

	if (!channels->combined_count)
		return -EINVAL;
	mutex_lock(&port->lock);
	if (port->regs.channels != channels->combined_count) {
		port->regs.channels = channels->combined_count;
		rwl_flap(port, RWL_REOPEN_MS);
	}
	mutex_unlock(&port->lock);
	return 0;
}

static void get_pauseparam(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	struct rwl_port *port = netdev_priv(dev);

	mutex_lock(&port->lock);
	pause->rx_pause = port->regs.rx_pause;
	pause->tx_pause = port->regs.tx_pause;
	mutex_unlock(&port->lock);
}

static int set_pauseparam(struct net_device *dev, struct ethtool_pauseparam *pause)
{
	struct rwl_port *port = netdev_priv(dev);
	int err;

	if (pause->autoneg)
		return -EINVAL;
	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_PAUSE);
	if (!err) {
		port->regs.rx_pause = pause->rx_pause;
		port->regs.tx_pause = pause->tx_pause;
	}
	err = rwl_write_end(port, RWL_PAUSE, err);
	mutex_unlock(&port->lock);
	return err;
}

static void get_pause_stats(struct net_device *dev, struct ethtool_pause_stats *stats)
{
	struct rwl_port *port = netdev_priv(dev);

	stats->tx_pause_frames = atomic64_read(&port->prio[RWL_GLOBAL][RWL_P_TX_PAUSE]);
	stats->rx_pause_frames = atomic64_read(&port->prio[RWL_GLOBAL][RWL_P_RX_PAUSE]);
}

static int get_fecparam(struct net_device *dev, struct ethtool_fecparam *fec)
{
	struct rwl_port *port = netdev_priv(dev);

	mutex_lock(&port->lock);
	fec->fec = port->regs.fec;
	fec->active_fec = netif_carrier_ok(dev) ? port->regs.fec : ETHTOOL_FEC_NONE;
	mutex_unlock(&port->lock);
	return 0;
}

static int set_fecparam(struct net_device *dev, struct ethtool_fecparam *fec)
{
	struct rwl_port *port = netdev_priv(dev);
	u32 mode = fec->fec;
	int err;

	if (mode == ETHTOOL_FEC_AUTO)
		mode = ETHTOOL_FEC_RS; /* what a PAM4 link ends with */
	if (mode != ETHTOOL_FEC_OFF && mode != ETHTOOL_FEC_RS && mode != ETHTOOL_FEC_BASER)
		return -EOPNOTSUPP; /* one mode at a time */
	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_FEC);
	if (!err && port->regs.fec != mode) {
		rwl_phy_count(port);
		port->regs.fec = mode;
		rwl_phy_changed(port);
		rwl_flap(port, RWL_LINK_FLAP_MS);
	}
	err = rwl_write_end(port, RWL_FEC, err);
	mutex_unlock(&port->lock);
	return err;
}

static void get_fec_stats(struct net_device *dev, struct ethtool_fec_stats *stats)
{
	struct rwl_port *port = netdev_priv(dev);
	int i;

	mutex_lock(&port->lock);
	rwl_phy_count(port);
	for (i = 0; i < RWL_LANES; i++) {
		stats->corrected_blocks.lanes[i] = port->lane[i].corrected_blocks;
		stats->uncorrectable_blocks.lanes[i] = port->lane[i].uncorrectable_blocks;
		stats->corrected_bits.lanes[i] = port->lane[i].corrected_bits;
	}
	mutex_unlock(&port->lock);
}

static int get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *link)
{
	struct rwl_port *port = netdev_priv(dev);
	static const int modes[] = {
		ETHTOOL_LINK_MODE_400000baseDR4_Full_BIT,
		ETHTOOL_LINK_MODE_400000baseCR4_Full_BIT,
		ETHTOOL_LINK_MODE_200000baseCR4_Full_BIT,
		ETHTOOL_LINK_MODE_100000baseCR4_Full_BIT,
		ETHTOOL_LINK_MODE_FEC_NONE_BIT,
		ETHTOOL_LINK_MODE_FEC_RS_BIT,
		ETHTOOL_LINK_MODE_FEC_BASER_BIT,
		ETHTOOL_LINK_MODE_Autoneg_BIT,
		ETHTOOL_LINK_MODE_Pause_BIT,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		__set_bit(modes[i], link->link_modes.supported);
		__set_bit(modes[i], link->link_modes.advertising);
	}
	link->base.autoneg = port->autoneg;
	link->base.port = port->module_absent ? PORT_NONE : PORT_FIBRE;
	link->base.speed = netif_carrier_ok(dev) ? port->speed : SPEED_UNKNOWN;
	link->base.duplex = netif_carrier_ok(dev) ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	link->lanes = netif_carrier_ok(dev) ? RWL_LANES : 0;
	return 0;
}

static int set_link_ksettings(struct net_device *dev, const struct ethtool_link_ksettings *link)
{
	struct rwl_port *port = netdev_priv(dev);
	u32 speed = link->base.speed;

	if (!link->base.autoneg && speed != 100000 && speed != 200000 && speed != 400000)
		return -EINVAL;
	mutex_lock(&port->lock);
	rwl_phy_count(port);
	if (link->base.autoneg)
		speed = 400000;
	if (speed != port->speed || link->base.autoneg != port->autoneg) {
		port->speed = speed;
		port->autoneg = link->base.autoneg;
		rwl_flap(port, RWL_LINK_FLAP_MS);
	}
	mutex_unlock(&port->lock);
	return 0;
}

static int get_tunable(struct net_device *dev, const struct ethtool_tunable *tunable, void *data)
{
	struct rwl_port *port = netdev_priv(dev);

	if (tunable->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EOPNOTSUPP;
	*(u16 *)data = READ_ONCE(port->regs.pfc_tout);
	return 0;
}

static int set_tunable(struct net_device *dev, const struct ethtool_tunable *tunable, const void *data)
{
	struct rwl_port *port = netdev_priv(dev);
	u16 ms = *(const u16 *)data;

	if (tunable->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EOPNOTSUPP;
	if (ms == PFC_STORM_PREVENTION_AUTO)
		ms = TOUT_AUTO_MS;
	else if (ms && (ms < TOUT_MIN_MS || ms > TOUT_MAX_MS))
		return -EINVAL;
	WRITE_ONCE(port->regs.pfc_tout, ms);
	return 0;
}

static int get_sset_count(struct net_device *dev, int set)
{
	struct rwl_port *port = netdev_priv(dev);
	int n;

	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	mutex_lock(&port->lock);
	n = rwl_stats_count(port);
	mutex_unlock(&port->lock);
	return n;
}

static void get_strings(struct net_device *dev, u32 set, u8 *data)
{
	struct rwl_port *port = netdev_priv(dev);

	if (set != ETH_SS_STATS)
		return;
	mutex_lock(&port->lock);
	rwl_stats_strings(port, data);
	mutex_unlock(&port->lock);
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct rwl_port *port = netdev_priv(dev);

	mutex_lock(&port->lock);
	rwl_stats_values(port, data);
	mutex_unlock(&port->lock);
}

static int get_module_info(struct net_device *dev, struct ethtool_modinfo *info)
{
	struct rwl_port *port = netdev_priv(dev);
	int err = 0;

	mutex_lock(&port->lock);
	if (port->module_absent) {
		err = -EIO;
	} else if (rwl_eeprom_is_cmis(port)) {
		info->type = ETH_MODULE_SFF_8636; /* what mlx5 says of CMIS here; by page is the way */
		info->eeprom_len = ETH_MODULE_SFF_8636_LEN;
	} else {
		info->type = ETH_MODULE_SFF_8636;
		info->eeprom_len = ETH_MODULE_SFF_8636_MAX_LEN;
	}
	mutex_unlock(&port->lock);
	return err;
}

/* The flat view: lower half, then upper pages 00h, 01h … one after the other. */
static int get_module_eeprom(struct net_device *dev, struct ethtool_eeprom *eeprom, u8 *data)
{
	struct rwl_port *port = netdev_priv(dev);
	u32 done = 0;
	int n = 0;

	mutex_lock(&port->lock);
	while (done < eeprom->len && n >= 0) {
		u32 at = eeprom->offset + done, upper = at < 128 ? at : 128 + at % 128;

		n = rwl_eeprom_read(port, at < 128 ? 0 : at / 128 - 1, upper, min(eeprom->len - done, 128 - at % 128),
				    data + done);
		done += n > 0 ? n : 0;
		if (!n)
			break;
	}
	mutex_unlock(&port->lock);
	return n < 0 ? n : 0;
}

static int get_module_eeprom_by_page(struct net_device *dev, const struct ethtool_module_eeprom *page,
				     struct netlink_ext_ack *extack)
{
	struct rwl_port *port = netdev_priv(dev);
	int n;

	if (page->i2c_address != 0x50) {
		NL_SET_ERR_MSG(extack, "this module answers at I2C address 0x50 only");
		return -EINVAL;
	}
	mutex_lock(&port->lock); /* bank is ignored, as mlx5 does */
	n = rwl_eeprom_read(port, page->page, page->offset, page->length, page->data);
	mutex_unlock(&port->lock);
	return n;
}

const struct ethtool_ops rwl_ethtool_ops = {
	.cap_link_lanes_supported = true,
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ext_state = get_link_ext_state,
	.get_ts_info = ethtool_op_get_ts_info,
	.get_ringparam = get_ringparam,
	.set_ringparam = set_ringparam,
	.get_channels = get_channels,
	.set_channels = set_channels,
	.get_pauseparam = get_pauseparam,
	.set_pauseparam = set_pauseparam,
	.get_pause_stats = get_pause_stats,
	.get_fecparam = get_fecparam,
	.set_fecparam = set_fecparam,
	.get_fec_stats = get_fec_stats,
	.get_link_ksettings = get_link_ksettings,
	.set_link_ksettings = set_link_ksettings,
	.get_tunable = get_tunable,
	.set_tunable = set_tunable,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
	.get_module_info = get_module_info,
	.get_module_eeprom = get_module_eeprom,
	.get_module_eeprom_by_page = get_module_eeprom_by_page,
};
