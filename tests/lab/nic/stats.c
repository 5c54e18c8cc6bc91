// SPDX-License-Identifier: GPL-2.0
/* ethtool -S by mlx5's names. Frames are counted on the priority that the port's trust gives them. */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "lab.h"

const char *const rwl_counter_names[RWL_COUNTERS] = {
	[RWL_RX_PACKETS] = "rx_packets",
	[RWL_RX_BYTES] = "rx_bytes",
	[RWL_TX_PACKETS] = "tx_packets",
	[RWL_TX_BYTES] = "tx_bytes",
	[RWL_RX_OUT_OF_BUFFER] = "rx_out_of_buffer",
	[RWL_RX_PACKETS_PHY] = "rx_packets_phy",
	[RWL_TX_PACKETS_PHY] = "tx_packets_phy",
	[RWL_RX_BYTES_PHY] = "rx_bytes_phy",
	[RWL_TX_BYTES_PHY] = "tx_bytes_phy",
	[RWL_RX_CRC_ERRORS_PHY] = "rx_crc_errors_phy",
	[RWL_RX_SYMBOL_ERR_PHY] = "rx_symbol_err_phy",
	[RWL_RX_DISCARDS_PHY] = "rx_discards_phy",
	[RWL_TX_DISCARDS_PHY] = "tx_discards_phy",
	[RWL_TX_ERRORS_PHY] = "tx_errors_phy",
	[RWL_RX_PCS_SYMBOL_ERR_PHY] = "rx_pcs_symbol_err_phy",
	[RWL_RX_CORRECTED_BITS_PHY] = "rx_corrected_bits_phy",
	[RWL_RX_ERR_LANE_PHY] = "rx_err_lane_0_phy",
	[RWL_RX_ERR_LANE_PHY + 1] = "rx_err_lane_1_phy",
	[RWL_RX_ERR_LANE_PHY + 2] = "rx_err_lane_2_phy",
	[RWL_RX_ERR_LANE_PHY + 3] = "rx_err_lane_3_phy",
	[RWL_LINK_DOWN_EVENTS_PHY] = "link_down_events_phy",
	[RWL_STORM_WARNING] = "tx_pause_storm_warning_events",
	[RWL_STORM_ERROR] = "tx_pause_storm_error_events",
	[RWL_MODULE_UNPLUG] = "module_unplug",
	[RWL_MODULE_BUS_STUCK] = "module_bus_stuck",
	[RWL_MODULE_HIGH_TEMP] = "module_high_temp",
	[RWL_MODULE_BAD_SHORTED] = "module_bad_shorted",
	[RWL_PCI_STALLED_RD] = "outbound_pci_stalled_rd",
	[RWL_PCI_STALLED_WR] = "outbound_pci_stalled_wr",
};

/* %s: "prioN", or "global" for the pause counters. */
static const char *const prio_names[RWL_PRIO_COUNTERS] = {
	[RWL_P_RX_BYTES] = "rx_%s_bytes",
	[RWL_P_RX_PACKETS] = "rx_%s_packets",
	[RWL_P_RX_DISCARDS] = "rx_%s_discards",
	[RWL_P_RX_BUF_DISCARD] = "rx_%s_buf_discard",
	[RWL_P_RX_CONG_DISCARD] = "rx_%s_cong_discard",
	[RWL_P_RX_MARKED] = "rx_%s_marked",
	[RWL_P_TX_BYTES] = "tx_%s_bytes",
	[RWL_P_TX_PACKETS] = "tx_%s_packets",
	[RWL_P_RX_PAUSE] = "rx_%s_pause",
	[RWL_P_RX_PAUSE_DURATION] = "rx_%s_pause_duration",
	[RWL_P_RX_PAUSE_TRANSITION] = "rx_%s_pause_transition",
	[RWL_P_TX_PAUSE] = "tx_%s_pause",
	[RWL_P_TX_PAUSE_DURATION] = "tx_%s_pause_duration",
};

static void prio_counter_name(char *to, int row, int counter)
{
	char who[16] = "global";

	if (row != RWL_GLOBAL)
		snprintf(who, sizeof(who), "prio%d", row);
	snprintf(to, ETH_GSTRING_LEN, prio_names[counter], who);
}

/* Calls what(…) for every counter that is listed, in their order. */
static int for_each_listed(struct rwl_port *port, void (*what)(struct rwl_port *, int n, int row, int counter, void *),
			   void *arg)
{
	int n = 0, row, c;

	for (c = 0; c < RWL_COUNTERS; c++, n++)
		what(port, n, -1, c, arg);
	for (row = 0; row < RWL_PRIOS; row++)
		for (c = 0; c < RWL_P_TRAFFIC; c++, n++)
			what(port, n, row, c, arg);
	for (row = 0; row <= RWL_GLOBAL; row++)
		for (c = RWL_P_TRAFFIC; (port->pause_rows & BIT(row)) && c < RWL_PRIO_COUNTERS; c++, n++)
			what(port, n, row, c, arg);
	return n;
}

static void nothing(struct rwl_port *port, int n, int row, int counter, void *arg) {}

static void put_name(struct rwl_port *port, int n, int row, int counter, void *arg)
{
	char *to = (char *)arg + n * ETH_GSTRING_LEN;

	if (row < 0)
		strscpy(to, rwl_counter_names[counter], ETH_GSTRING_LEN);
	else
		prio_counter_name(to, row, counter);
}

static void put_value(struct rwl_port *port, int n, int row, int counter, void *arg)
{
	((u64 *)arg)[n] = atomic64_read(row < 0 ? &port->counter[counter] : &port->prio[row][counter]);
}

/*
 * mlx5 lists a priority's pause counters while PFC is on for it, the global ones while global pause is on. The core
 * counts, allocates and fills under one RTNL; a fault's delayed work can change a register between, so the fill goes by
 * what the count saw.
 */
int rwl_stats_count(struct rwl_port *port)
{
	port->pause_rows = port->regs.pfc_en;
	if (port->regs.rx_pause || port->regs.tx_pause)
		port->pause_rows |= BIT(RWL_GLOBAL);
	return for_each_listed(port, nothing, NULL);
}

void rwl_stats_strings(struct rwl_port *port, u8 *data)
{
	for_each_listed(port, put_name, data);
}

void rwl_stats_values(struct rwl_port *port, u64 *data)
{
	rwl_phy_count(port);
	for_each_listed(port, put_value, data);
}

/* By name, listed or not; NULL: there is none. */
atomic64_t *rwl_counter_find(struct rwl_port *port, const char *name)
{
	char each[ETH_GSTRING_LEN];
	int row, c;

	for (c = 0; c < RWL_COUNTERS; c++)
		if (!strcmp(name, rwl_counter_names[c]))
			return &port->counter[c];
	for (row = 0; row <= RWL_GLOBAL; row++)
		for (c = row == RWL_GLOBAL ? RWL_P_TRAFFIC : 0; c < RWL_PRIO_COUNTERS; c++) {
			prio_counter_name(each, row, c);
			if (!strcmp(name, each))
				return &port->prio[row][c];
		}
	return NULL;
}

/* Trust PCP: the tag's priority, untagged 0. Trust DSCP: the register of the DSCP; what is not IP goes by PCP. */
static int frame_priority(const struct rwl_port *port, const struct sk_buff *skb, int network)
{
	u8 header[2];
	int dscp = -1;

	if (READ_ONCE(port->regs.trust_dscp) && skb_copy_bits(skb, network, header, sizeof(header)) == 0) {
		if (skb->protocol == htons(ETH_P_IP))
			dscp = header[1] >> 2;
		else if (skb->protocol == htons(ETH_P_IPV6))
			dscp = ((header[0] & 0x0f) << 2) | (header[1] >> 6);
	}
	if (dscp >= 0)
		return READ_ONCE(port->regs.dscp2prio[dscp]) & 7;
	return skb_vlan_tag_present(skb) ? skb_vlan_tag_get_prio(skb) : 0;
}

/* IEEE 802.3 annex 31B (opcode 1: one time for all) and 31D (opcode 0x0101: an enable bit and a time a priority). */
static void count_pause(struct rwl_port *port, const struct sk_buff *skb, int network, bool rx)
{
	int count = rx ? RWL_P_RX_PAUSE : RWL_P_TX_PAUSE, i;
	__be16 field[10];

	if (skb_copy_bits(skb, network, field, 4))
		return;
	if (field[0] == htons(0x0001)) {
		atomic64_inc(&port->prio[RWL_GLOBAL][count]);
	} else if (field[0] == htons(0x0101) && skb_copy_bits(skb, network, field, sizeof(field)) == 0) {
		for (i = 0; i < RWL_PRIOS; i++) {
			if (!(ntohs(field[1]) & BIT(i)))
				continue;
			atomic64_inc(&port->prio[i][count]);
			if (rx && field[2 + i])
				atomic64_inc(&port->prio[i][RWL_P_RX_PAUSE_TRANSITION]);
		}
	}
}

/* len: with the Ethernet header; network: where the network header is in skb's data. Any context. */
void rwl_count_frame(struct rwl_port *port, const struct sk_buff *skb, int network, unsigned int len, bool rx)
{
	unsigned int frames = max_t(unsigned int, 1, skb_shinfo(skb)->gso_segs);
	int prio;

	if (skb->protocol == htons(ETH_P_PAUSE)) {
		count_pause(port, skb, network, rx);
		return;
	}
	prio = frame_priority(port, skb, network);
	atomic64_add(frames, &port->counter[rx ? RWL_RX_PACKETS : RWL_TX_PACKETS]);
	atomic64_add(len, &port->counter[rx ? RWL_RX_BYTES : RWL_TX_BYTES]);
	atomic64_add(frames, &port->counter[rx ? RWL_RX_PACKETS_PHY : RWL_TX_PACKETS_PHY]);
	atomic64_add(len, &port->counter[rx ? RWL_RX_BYTES_PHY : RWL_TX_BYTES_PHY]);
	atomic64_add(frames, &port->prio[prio][rx ? RWL_P_RX_PACKETS : RWL_P_TX_PACKETS]);
	atomic64_add(len, &port->prio[prio][rx ? RWL_P_RX_BYTES : RWL_P_TX_BYTES]);
}
