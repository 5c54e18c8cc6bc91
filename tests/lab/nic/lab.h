/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rwlab: a lab NIC. What its parts share: the port, its registers ("firmware"), its faults.
 *
 * Locks, outermost first:
 *   RTNL            ops of the kernel's network core; the list of ports changes under it
 *   rwl_port.lock   registers and faults of one port; never take RTNL below it
 *   rwl_topo_lock   cables, link bits and carrier (BH-safe spinlock)
 * debugfs and sysfs stores take only port.lock: their files are removed under RTNL, which waits for them.
 */
#ifndef RWLAB_LAB_H
#define RWLAB_LAB_H

#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <net/dcbnl.h>

#define RWL_PRIOS 8
#define RWL_DSCPS 64
#define RWL_LANES 4
#define RWL_LINK_FLAP_MS 1500        /* a port register that takes the link down: PFC mask, FEC */
#define RWL_REOPEN_MS 100            /* channels closed and opened again: rings, channel count */
#define RWL_DCBX_PEER_MS 500         /* the firmware's DCBX puts its peer's values back after this */
#define RWL_EEPROM_SIZE (128 * 0x41) /* lower half, then upper pages 00h-3Fh, 128 bytes each */

/* Groups of registers, as named in the debugfs files "refuse" and "revert". */
enum rwl_group {
	RWL_PFC,
	RWL_ETS,
	RWL_MAXRATE,
	RWL_APP,
	RWL_BUFFER,
	RWL_DCBX,
	RWL_PAUSE,
	RWL_FEC,
	RWL_RING,
	RWL_ECN,
	RWL_GROUPS
};
extern const char *const rwl_group_names[RWL_GROUPS];

/* DCQCN registers; the table in cc.c has their names, defaults and widths. */
enum rwl_cc_reg {
	RP_CLAMP_TGT_RATE,
	RP_CLAMP_TGT_RATE_ATI,
	RP_TIME_RESET,
	RP_BYTE_RESET,
	RP_THRESHOLD,
	RP_MAX_RATE,
	RP_AI_RATE,
	RP_HAI_RATE,
	RP_GD,
	RP_MIN_DEC_FAC,
	RP_MIN_RATE,
	RP_RATE_FIRST_CNP,
	RP_DCE_TCP_G,
	RP_DCE_TCP_RTT,
	RP_REDUCE_MONITOR,
	RP_INITIAL_ALPHA,
	NP_MIN_TIME_CNPS,
	NP_CNP_DSCP,
	NP_CNP_PRIO,
	NP_CNP_PRIO_MODE,
	RTT_RESP_DSCP_VALID,
	RTT_RESP_DSCP,
	RWL_CC_REGS
};

struct rwl_cc_desc {
	const char *ofed;  /* below ecn/roce_rp or ecn/roce_np; NULL: not there */
	const char *inbox; /* below cc_params */
	bool np;
	u32 mask; /* bits that the register has */
	u32 initial;
};
extern const struct rwl_cc_desc rwl_cc_table[RWL_CC_REGS];

/* Further registers that "clamp" knows, after the DCQCN ones. */
enum {
	RWL_CLAMP_RX_RING = RWL_CC_REGS,
	RWL_CLAMP_TX_RING,
	RWL_CLAMP_BUFFER,
	RWL_CLAMP_MAXRATE,
	RWL_CLAMP_CABLE,
	RWL_CLAMPS
};
#define RWL_NO_CLAMP (~0ULL)

/* What a write changes and "revert" puts back: the port's registers. */
struct rwl_regs {
	u8 pfc_en;
	u16 cable_m;
	struct ieee_ets ets;
	u64 maxrate[RWL_PRIOS];
	bool trust_dscp;
	u8 dscp2prio[RWL_DSCPS];
	u64 listed; /* DSCPs that have an entry in the kernel's APP table */
	struct dcbnl_buffer buffer;
	bool buffer_manual; /* owned by the host since its first write */
	u8 dcbx;            /* DCB_CAP_DCBX_*; without HOST the firmware runs DCBX */
	bool rx_pause, tx_pause;
	u32 fec; /* one ETHTOOL_FEC_* bit */
	u32 rx_ring, tx_ring, channels;
	u16 pfc_tout; /* ms; 0: no storm prevention */
	u32 cc[RWL_CC_REGS];
	u8 cc_enable[2]; /* a bit a priority; [0] RP, [1] NP */
};

/* Counters of the port, by their mlx5 names (stats.c). */
enum rwl_counter {
	RWL_RX_PACKETS,
	RWL_RX_BYTES,
	RWL_TX_PACKETS,
	RWL_TX_BYTES,
	RWL_RX_OUT_OF_BUFFER,
	RWL_RX_PACKETS_PHY,
	RWL_TX_PACKETS_PHY,
	RWL_RX_BYTES_PHY,
	RWL_TX_BYTES_PHY,
	RWL_RX_CRC_ERRORS_PHY,
	RWL_RX_SYMBOL_ERR_PHY,
	RWL_RX_DISCARDS_PHY,
	RWL_TX_DISCARDS_PHY,
	RWL_TX_ERRORS_PHY,
	RWL_RX_PCS_SYMBOL_ERR_PHY,
	RWL_RX_CORRECTED_BITS_PHY,
	RWL_RX_ERR_LANE_PHY,
	RWL_RX_ERR_LANE_PHY_LAST = RWL_RX_ERR_LANE_PHY + RWL_LANES - 1,
	RWL_LINK_DOWN_EVENTS_PHY,
	RWL_STORM_WARNING,
	RWL_STORM_ERROR,
	RWL_MODULE_UNPLUG,
	RWL_MODULE_BUS_STUCK,
	RWL_MODULE_HIGH_TEMP,
	RWL_MODULE_BAD_SHORTED,
	RWL_PCI_STALLED_RD,
	RWL_PCI_STALLED_WR,
	RWL_COUNTERS
};
enum rwl_prio_counter {
	RWL_P_RX_BYTES,
	RWL_P_RX_PACKETS,
	RWL_P_RX_DISCARDS,
	RWL_P_RX_BUF_DISCARD,
	RWL_P_RX_CONG_DISCARD,
	RWL_P_RX_MARKED,
	RWL_P_TX_BYTES,
	RWL_P_TX_PACKETS,
	RWL_P_TRAFFIC,
	RWL_P_RX_PAUSE = RWL_P_TRAFFIC,
	RWL_P_RX_PAUSE_DURATION,
	RWL_P_RX_PAUSE_TRANSITION,
	RWL_P_TX_PAUSE,
	RWL_P_TX_PAUSE_DURATION,
	RWL_PRIO_COUNTERS
};
#define RWL_GLOBAL RWL_PRIOS /* the row of the global pause counters */

struct rwl_lane {
	u8 attenuation_db;
	u8 ber_exp;     /* bit error rate 10^-ber_exp before FEC; 0: none */
	u64 bits;       /* received and not yet counted as errors */
	u64 bad_blocks; /* not yet counted as uncorrectable, below 1000 */
	u64 corrected_bits, corrected_blocks, uncorrectable_blocks;
};

/* Why a link can be down, besides what is at the far end. */
enum {
	RWL_LINK_RUNNING,
	RWL_LINK_FLAPPING,
	RWL_LINK_UNPLUGGED,
	RWL_LINK_OTHER_FEC, /* the far end corrects otherwise */
	RWL_LINK_NO_SIGNAL
};

struct rwl_port;

struct rwl_lower {
	struct net_device *dev;
	netdevice_tracker tracker;
	struct rwl_port __rcu *port; /* who gets its frames; "swap" changes it */
};

struct rwl_group_fault {
	struct rwl_port *port;
	enum rwl_group group;
	int refuse;    /* errno, positive; 0: no fault */
	u32 revert_ms; /* 0: no fault */
	struct rwl_regs old;
	struct delayed_work work;
};

struct rwl_port {
	struct net_device *dev;
	struct list_head link; /* RTNL for changes, rwl_topo_lock for readers */
	struct mutex lock;
	struct rwl_regs regs;

	/* The cable: over a NIC of the guest, or to the other end of a pair. */
	struct rwl_lower *home; /* the lower that it was made for; NULL: one of a pair */
	struct rwl_lower __rcu *lower;
	struct rwl_port __rcu *peer;
	struct rwl_port *swapped; /* rwl_topo_lock */
	unsigned long link_bits;
	struct delayed_work flap_end;
	struct delayed_work dcbx_work;

	/* Link. */
	u32 speed, autoneg;
	int tclass; /* of RoCE v2 frames that leave; -1: as they are */
	struct rwl_lane lane[RWL_LANES];
	unsigned long lane_time; /* jiffies of the last count of bit errors */
	u8 loss_exp;             /* FEC's limit is passed: one frame in 2^loss_exp is lost; 0: none */
	u8 bare_ber_exp;         /* FEC is off: a frame is lost by any wrong bit; 0: none */

	/* Faults (faults.c). */
	struct rwl_group_fault fault[RWL_GROUPS];
	u64 clamp[RWL_CLAMPS];
	bool peer_pfc_set;
	u8 peer_pfc;
	bool ecn_query_fails;

	u16 pause_rows; /* whose pause counters the last count listed; RTNL */
	atomic64_t counter[RWL_COUNTERS];
	atomic64_t prio[RWL_PRIOS + 1][RWL_PRIO_COUNTERS];

	u8 eeprom[RWL_EEPROM_SIZE];
	bool module_absent;
	u32 far_fec; /* ETHTOOL_FEC_*, 0: the same as this end's */

	struct dentry *dir, *cc_dir;
	struct kobject *ecn, *settings;
	struct list_head attributes; /* of ecn/ and settings/, freed with them (cc.c) */
};

extern spinlock_t rwl_topo_lock;
extern struct list_head rwl_ports;
extern struct dentry *rwl_debugfs;
extern bool rwl_cc_inbox, rwl_dcbx_fw;
extern char *rwl_driver;

/* main.c: cables and carrier. */
void rwl_update_carrier(struct rwl_port *port);
void rwl_link_bit(struct rwl_port *port, int bit, bool on);
void rwl_flap(struct rwl_port *port, unsigned int ms);
int rwl_swap(struct rwl_port *port, const char *name);
/* netdev.c */
struct rwl_port *rwl_port_create(const char *name, struct net_device *lower);
void rwl_join(struct rwl_port *a, struct rwl_port *b);
void rwl_port_destroy(struct rwl_port *port, struct list_head *kill);
bool rwl_is_port(const struct net_device *dev);
/* dcb.c, dcb_app.c */
extern const struct dcbnl_rtnl_ops rwl_dcbnl_ops;
void rwl_dcb_init(struct rwl_port *port);
int rwl_setapp(struct net_device *dev, struct dcb_app *app);
int rwl_delapp(struct net_device *dev, struct dcb_app *app);
void rwl_dcb_flush(struct rwl_port *port);
void rwl_app_restore(struct rwl_port *port, const struct rwl_regs *old);
void rwl_pfc_apply(struct rwl_port *port, u8 mask);
/* ethtool.c, stats.c */
extern const struct ethtool_ops rwl_ethtool_ops;
extern const char *const rwl_counter_names[RWL_COUNTERS];
int rwl_stats_count(struct rwl_port *port);
void rwl_stats_strings(struct rwl_port *port, u8 *data);
void rwl_stats_values(struct rwl_port *port, u64 *data);
atomic64_t *rwl_counter_find(struct rwl_port *port, const char *name);
void rwl_count_frame(struct rwl_port *port, const struct sk_buff *skb, int network, unsigned int len, bool rx);
/* phy.c */
void rwl_phy_count(struct rwl_port *port);
void rwl_phy_changed(struct rwl_port *port);
bool rwl_phy_lost(struct rwl_port *port, unsigned int len);
/* eeprom.c */
int rwl_eeprom_model(struct rwl_port *port, const char *name);
int rwl_eeprom_read(struct rwl_port *port, u8 page, u32 offset, u32 length, u8 *data);
bool rwl_eeprom_is_cmis(const struct rwl_port *port);
/* cc.c, cc_files.c */
void rwl_cc_init(struct rwl_port *port);
int rwl_cc_write(struct rwl_port *port, enum rwl_cc_reg reg, u32 value);
int rwl_cc_find(const char *name);
int rwl_cc_files_add(struct rwl_port *port);
void rwl_cc_files_remove(struct rwl_port *port);
void rwl_cc_files_exit(void);
/* firmware.c: what a write meets. Between begin and end the caller holds port->lock. */
void rwl_firmware_init(struct rwl_port *port);
void rwl_firmware_stop(struct rwl_port *port);
int rwl_write_begin(struct rwl_port *port, enum rwl_group group);
int rwl_write_end(struct rwl_port *port, enum rwl_group group, int err);
u64 rwl_clamped(struct rwl_port *port, int reg, u64 value);
void rwl_dcbx_peer_arm(struct rwl_port *port);
/* faults.c, faults_files.c */
struct rwl_fault {
	const char *name;
	const char *simulates;
	int (*write)(struct rwl_port *port, const char *text);
	void (*show)(struct rwl_port *port, struct seq_file *to); /* "STATE;" …, or nothing while it is off */
};
extern const struct rwl_fault rwl_faults[]; /* ends with a row without name */
void rwl_faults_files_add(struct rwl_port *port);

#endif
