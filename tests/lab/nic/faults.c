// SPDX-License-Identifier: GPL-2.0
/* The faults: what each file of debugfs rwlab/<if>/ takes, does, and shows. Below port->lock. */
#include <linux/seq_file.h>

#include "lab.h"

static const char *const clamp_names[RWL_CLAMPS - RWL_CC_REGS] = { "rx_ring", "tx_ring", "buffer_size", "maxrate",
								   "cable" };

#define FOR_EACH_GROUP(fault, port) for (fault = (port)->fault; fault < (port)->fault + RWL_GROUPS; fault++)

static bool is_off(const char *text)
{
	return !strcmp(text, "off");
}

/* "LANE VALUE" or "all VALUE". */
static int parse_lane(const char *text, unsigned int *first, unsigned int *last, unsigned int *value)
{
	if (sscanf(text, "all %u", value) == 1) {
		*first = 0;
		*last = RWL_LANES - 1;
		return 0;
	}
	if (sscanf(text, "%u %u", first, value) != 2 || *first >= RWL_LANES)
		return -EINVAL;
	*last = *first;
	return 0;
}

static int write_attenuate(struct rwl_port *port, const char *text)
{
	unsigned int first = 0, last = RWL_LANES - 1, db = 0;

	if (!is_off(text) && (parse_lane(text, &first, &last, &db) || db > 40))
		return -EINVAL;
	rwl_phy_count(port);
	for (; first <= last; first++)
		port->lane[first].attenuation_db = db;
	rwl_phy_changed(port);
	return 0;
}

static int write_ber(struct rwl_port *port, const char *text)
{
	unsigned int first = 0, last = RWL_LANES - 1, exponent = 0;

	if (!is_off(text) &&
	    (parse_lane(text, &first, &last, &exponent) || (exponent && (exponent < 2 || exponent > 15))))
		return -EINVAL;
	rwl_phy_count(port);
	for (; first <= last; first++)
		port->lane[first].ber_exp = exponent;
	rwl_phy_changed(port);
	return 0;
}

static int write_carrier(struct rwl_port *port, const char *text)
{
	bool there = true;

	if (!is_off(text) && kstrtobool(text, &there))
		return -EINVAL;
	rwl_link_bit(port, RWL_LINK_UNPLUGGED, !there);
	return 0;
}

static int write_swap(struct rwl_port *port, const char *text)
{
	return rwl_swap(port, is_off(text) ? "none" : text);
}

static int write_counter(struct rwl_port *port, const char *text)
{
	char name[ETH_GSTRING_LEN];
	atomic64_t *counter;
	char sign;
	u64 value;

	if (sscanf(text, "%31s %c%llu", name, &sign, &value) != 3 || (sign != '+' && sign != '='))
		return -EINVAL;
	counter = rwl_counter_find(port, name);
	if (!counter)
		return -ENOENT;
	if (sign == '+')
		atomic64_add(value, counter);
	else
		atomic64_set(counter, value);
	return 0;
}

static struct rwl_group_fault *parse_group(struct rwl_port *port, const char *text, unsigned int *value)
{
	char name[16];
	int i;

	if (sscanf(text, "%15s %u", name, value) != 2)
		return NULL;
	i = match_string(rwl_group_names, RWL_GROUPS, name);
	return i < 0 ? NULL : &port->fault[i];
}

static int write_refuse(struct rwl_port *port, const char *text)
{
	struct rwl_group_fault *fault;
	unsigned int number;

	if (is_off(text)) {
		FOR_EACH_GROUP (fault, port)
			fault->refuse = 0;
		return 0;
	}
	fault = parse_group(port, text, &number);
	if (!fault || number > 127) /* the payload byte is a signed one */
		return -EINVAL;
	fault->refuse = number;
	return 0;
}

static int write_revert(struct rwl_port *port, const char *text)
{
	struct rwl_group_fault *fault;
	unsigned int ms;

	if (is_off(text)) {
		FOR_EACH_GROUP (fault, port)
			fault->revert_ms = 0;
		return 0;
	}
	fault = parse_group(port, text, &ms);
	if (!fault || ms > 600000)
		return -EINVAL;
	fault->revert_ms = ms;
	return 0;
}

static int write_clamp(struct rwl_port *port, const char *text)
{
	char name[32], value[24];
	u64 limit = RWL_NO_CLAMP;
	int reg;

	if (is_off(text)) {
		for (reg = 0; reg < RWL_CLAMPS; reg++)
			port->clamp[reg] = RWL_NO_CLAMP;
		return 0;
	}
	if (sscanf(text, "%31s %23s", name, value) != 2 || (!is_off(value) && kstrtou64(value, 0, &limit)))
		return -EINVAL;
	reg = rwl_cc_find(name);
	if (reg < 0) {
		reg = match_string(clamp_names, ARRAY_SIZE(clamp_names), name);
		if (reg < 0)
			return -ENOENT;
		reg += RWL_CC_REGS;
	}
	port->clamp[reg] = limit;
	return 0;
}

static int write_dcbx_peer(struct rwl_port *port, const char *text)
{
	int mask;

	if (is_off(text)) {
		port->peer_pfc_set = false;
		return 0;
	}
	if (sscanf(text, "pfc %i", &mask) != 1 || mask < 0 || mask > 0xff)
		return -EINVAL;
	port->peer_pfc_set = true;
	port->peer_pfc = mask;
	rwl_dcbx_peer_arm(port);
	return 0;
}

static int write_ecn_query_fails(struct rwl_port *port, const char *text)
{
	bool fails = false;

	if (!is_off(text) && kstrtobool(text, &fails))
		return -EINVAL;
	WRITE_ONCE(port->ecn_query_fails, fails);
	return 0;
}

static const struct {
	const char *name;
	u32 mode;
} far_fecs[] = { { "rs", ETHTOOL_FEC_RS }, { "baser", ETHTOOL_FEC_BASER } };

static int write_far_fec(struct rwl_port *port, const char *text)
{
	int i;

	if (is_off(text)) {
		port->far_fec = 0;
		rwl_phy_changed(port);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(far_fecs); i++) {
		if (strcmp(text, far_fecs[i].name))
			continue;
		port->far_fec = far_fecs[i].mode;
		rwl_phy_changed(port);
		return 0;
	}
	return -EINVAL;
}

static int write_module(struct rwl_port *port, const char *text)
{
	return rwl_eeprom_model(port, is_off(text) ? "osfp" : text);
}

/* Each prints nothing while its fault is off. */
static void show_attenuate(struct rwl_port *port, struct seq_file *to)
{
	int i;

	for (i = 0; i < RWL_LANES; i++)
		if (port->lane[i].attenuation_db)
			seq_printf(to, "%d %u;", i, port->lane[i].attenuation_db);
}

static void show_ber(struct rwl_port *port, struct seq_file *to)
{
	int i;

	for (i = 0; i < RWL_LANES; i++)
		if (port->lane[i].ber_exp)
			seq_printf(to, "%d %u;", i, port->lane[i].ber_exp);
}

static void show_carrier(struct rwl_port *port, struct seq_file *to)
{
	if (READ_ONCE(port->link_bits) & BIT(RWL_LINK_UNPLUGGED))
		seq_puts(to, "0;");
}

static void show_swap(struct rwl_port *port, struct seq_file *to)
{
	spin_lock_bh(&rwl_topo_lock);
	if (port->swapped)
		seq_printf(to, "%s;", port->swapped->dev->name);
	spin_unlock_bh(&rwl_topo_lock);
}

static void show_refuse(struct rwl_port *port, struct seq_file *to)
{
	struct rwl_group_fault *fault;

	FOR_EACH_GROUP (fault, port)
		if (fault->refuse)
			seq_printf(to, "%s %d;", rwl_group_names[fault->group], fault->refuse);
}

static void show_revert(struct rwl_port *port, struct seq_file *to)
{
	struct rwl_group_fault *fault;

	FOR_EACH_GROUP (fault, port)
		if (fault->revert_ms)
			seq_printf(to, "%s %u;", rwl_group_names[fault->group], fault->revert_ms);
}

static void show_clamp(struct rwl_port *port, struct seq_file *to)
{
	int reg;

	for (reg = 0; reg < RWL_CLAMPS; reg++)
		if (port->clamp[reg] != RWL_NO_CLAMP)
			seq_printf(to, "%s %llu;",
				   reg < RWL_CC_REGS ? rwl_cc_table[reg].inbox : clamp_names[reg - RWL_CC_REGS],
				   port->clamp[reg]);
}

static void show_dcbx_peer(struct rwl_port *port, struct seq_file *to)
{
	if (port->peer_pfc_set)
		seq_printf(to, "pfc 0x%02x;", port->peer_pfc);
}

static void show_ecn_query_fails(struct rwl_port *port, struct seq_file *to)
{
	if (port->ecn_query_fails)
		seq_puts(to, "1;");
}

static void show_far_fec(struct rwl_port *port, struct seq_file *to)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(far_fecs); i++)
		if (port->far_fec == far_fecs[i].mode)
			seq_printf(to, "%s;", far_fecs[i].name);
}

static void show_module(struct rwl_port *port, struct seq_file *to)
{
	if (port->module_absent)
		seq_puts(to, "absent;");
}

static void show_nothing(struct rwl_port *port, struct seq_file *to) {}

const struct rwl_fault rwl_faults[] = {
	{ "attenuate", "dirty or bent fibre: a lane receives less power", write_attenuate, show_attenuate },
	{ "ber", "a lane with bit errors before FEC", write_ber, show_ber },
	{ "carrier", "cable pulled", write_carrier, show_carrier },
	{ "swap", "two cables exchanged", write_swap, show_swap },
	{ "counter", "a counter that jumps", write_counter, show_nothing },
	{ "refuse", "firmware that refuses a write", write_refuse, show_refuse },
	{ "clamp", "firmware that stores less than was written, silently", write_clamp, show_clamp },
	{ "revert", "firmware that puts the old value back later", write_revert, show_revert },
	{ "dcbx_peer", "a switch's DCBX that the firmware obeys", write_dcbx_peer, show_dcbx_peer },
	{ "ecn_query_fails", "a firmware query that fails: enable/N reads empty", write_ecn_query_fails,
	  show_ecn_query_fails },
	{ "far_fec", "a far end with another forward error correction: no carrier", write_far_fec, show_far_fec },
	{ "module", "another module in the cage, or none", write_module, show_module },
	{}
};
