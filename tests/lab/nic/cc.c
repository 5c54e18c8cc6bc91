// SPDX-License-Identifier: GPL-2.0
/* DCQCN registers: names, widths, what a fresh NIC holds. */
#include "lab.h"

#define U32 0xffffffff

const struct rwl_cc_desc rwl_cc_table[RWL_CC_REGS] = {
	[RP_CLAMP_TGT_RATE] = { "clamp_tgt_rate", "rp_clamp_tgt_rate", false, 1, 0 },
	[RP_CLAMP_TGT_RATE_ATI] = { "clamp_tgt_rate_after_time_inc", "rp_clamp_tgt_rate_ati", false, 1, 1 },
	[RP_TIME_RESET] = { "rpg_time_reset", "rp_time_reset", false, U32, 300 },
	[RP_BYTE_RESET] = { "rpg_byte_reset", "rp_byte_reset", false, U32, 32767 },
	[RP_THRESHOLD] = { "rpg_threshold", "rp_threshold", false, U32, 1 },
	[RP_MAX_RATE] = { "rpg_max_rate", "rp_max_rate", false, U32, 0 },
	[RP_AI_RATE] = { "rpg_ai_rate", "rp_ai_rate", false, U32, 5 },
	[RP_HAI_RATE] = { "rpg_hai_rate", "rp_hai_rate", false, U32, 50 },
	[RP_GD] = { "rpg_gd", "rp_gd", false, U32, 11 },
	[RP_MIN_DEC_FAC] = { "rpg_min_dec_fac", "rp_min_dec_fac", false, U32, 50 },
	[RP_MIN_RATE] = { "rpg_min_rate", "rp_min_rate", false, U32, 1 },
	[RP_RATE_FIRST_CNP] = { "rate_to_set_on_first_cnp", "rp_rate_to_set_on_first_cnp", false, U32, 0 },
	[RP_DCE_TCP_G] = { "dce_tcp_g", "rp_dce_tcp_g", false, U32, 1019 },
	[RP_DCE_TCP_RTT] = { "dce_tcp_rtt", "rp_dce_tcp_rtt", false, U32, 1 },
	[RP_REDUCE_MONITOR] = { "rate_reduce_monitor_period", "rp_rate_reduce_monitor_period", false, U32, 4 },
	[RP_INITIAL_ALPHA] = { "initial_alpha_value", "rp_initial_alpha_value", false, U32, 1023 },
	[NP_MIN_TIME_CNPS] = { "min_time_between_cnps", "np_min_time_between_cnps", true, U32, 4 },
	[NP_CNP_DSCP] = { "cnp_dscp", "np_cnp_dscp", true, 0x3f, 48 },
	[NP_CNP_PRIO] = { "cnp_802p_prio", "np_cnp_prio", true, 7, 6 },
	[NP_CNP_PRIO_MODE] = { NULL, "np_cnp_prio_mode", true, 1, 0 },
	[RTT_RESP_DSCP_VALID] = { NULL, "rtt_resp_dscp_valid", true, 1, 0 },
	[RTT_RESP_DSCP] = { NULL, "rtt_resp_dscp", true, 0x3f, 0 },
};

void rwl_cc_init(struct rwl_port *port)
{
	unsigned int i;

	for (i = 0; i < RWL_CC_REGS; i++)
		port->regs.cc[i] = rwl_cc_table[i].initial;
	port->regs.cc_enable[0] = 0xff;
	port->regs.cc_enable[1] = 0xff;
}

/* By either name; -ENOENT: there is none. */
int rwl_cc_find(const char *name)
{
	int i;

	for (i = 0; i < RWL_CC_REGS; i++)
		if (!strcmp(name, rwl_cc_table[i].inbox) ||
		    (rwl_cc_table[i].ofed && !strcmp(name, rwl_cc_table[i].ofed)))
			return i;
	return -ENOENT;
}

/* What the firmware does with a value: a field narrower than the command's 32 bits loses the rest, no range is checked.
 */
int rwl_cc_write(struct rwl_port *port, enum rwl_cc_reg reg, u32 value)
{
	int err;

	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_ECN);
	if (!err) {
		port->regs.cc[reg] = rwl_clamped(port, reg, value & rwl_cc_table[reg].mask);
		if (reg == NP_CNP_PRIO)
			port->regs.cc[NP_CNP_PRIO_MODE] = 0;
	}
	err = rwl_write_end(port, RWL_ECN, err);
	mutex_unlock(&port->lock);
	return err;
}
