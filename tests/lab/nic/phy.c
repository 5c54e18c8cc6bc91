// SPDX-License-Identifier: GPL-2.0
/* The wire: what attenuated light and wrong bits do to FEC's counts, to frames and to the link. */
#include <linux/math64.h>
#include <linux/random.h>

#include "lab.h"

#define NO_LIGHT_DB 12  /* a lane attenuated by more loses its signal */
#define DIM_DB 6        /* from here on each dB costs a decade of bit errors: 7 dB 10^-8 … 11 dB 10^-4 */
#define BLOCK_BITS 5440 /* RS(544,514) code word */

static u64 power_of_ten(unsigned int exponent)
{
	u64 value = 1;

	while (exponent--)
		value *= 10;
	return value;
}

/* Bit error rate 10^-n of a lane before FEC; 0: none. */
static unsigned int lane_ber(const struct rwl_lane *lane)
{
	unsigned int dim = lane->attenuation_db > DIM_DB ? max(4, 15 - lane->attenuation_db) : 0;

	if (dim && lane->ber_exp)
		return min_t(unsigned int, dim, lane->ber_exp);
	return dim ?: lane->ber_exp;
}

/* The rate from which FEC no longer corrects all: 10^-3 for RS, 10^-5 for BASE-R, which corrects bursts of 11 bits. */
static unsigned int fec_limit(const struct rwl_port *port)
{
	return port->regs.fec == ETHTOOL_FEC_RS ? 3 : 5;
}

/* Counts the bit errors since the last call. port->lock is held. */
void rwl_phy_count(struct rwl_port *port)
{
	unsigned long now = jiffies, passed = jiffies_to_msecs(now - port->lane_time);
	unsigned int i;

	port->lane_time = now;
	if (!netif_carrier_ok(port->dev))
		return;
	for (i = 0; i < RWL_LANES; i++) {
		struct rwl_lane *lane = &port->lane[i];
		unsigned int ber = lane_ber(lane);
		u64 rate, wrong, blocks;

		if (!ber)
			continue;
		rate = power_of_ten(ber);
		lane->bits += (u64)passed * (port->speed / RWL_LANES) * 1000;
		wrong = div64_u64(lane->bits, rate);
		lane->bits -= wrong * rate;
		blocks = div64_u64(wrong * rate, BLOCK_BITS);
		if (port->regs.fec == ETHTOOL_FEC_OFF) {
			atomic64_add(wrong, &port->counter[RWL_RX_PCS_SYMBOL_ERR_PHY]);
			atomic64_add(wrong, &port->counter[RWL_RX_SYMBOL_ERR_PHY]);
			continue;
		}
		lane->corrected_bits += wrong;
		lane->corrected_blocks += min(wrong, blocks);
		atomic64_add(wrong, &port->counter[RWL_RX_CORRECTED_BITS_PHY]);
		atomic64_add(wrong, &port->counter[RWL_RX_ERR_LANE_PHY + i]);
		if (ber <= fec_limit(port)) { /* one block in a thousand is past repair */
			lane->bad_blocks += min(wrong, blocks);
			lane->uncorrectable_blocks += lane->bad_blocks / 1000;
			lane->bad_blocks %= 1000;
		}
	}
}

/* After a change of a lane or of FEC: which frames are lost, whether there is a signal. port->lock is held. */
void rwl_phy_changed(struct rwl_port *port)
{
	unsigned int i, worst = 0;
	bool dark = false;

	for (i = 0; i < RWL_LANES; i++) {
		unsigned int ber = lane_ber(&port->lane[i]);

		dark |= port->lane[i].attenuation_db >= NO_LIGHT_DB;
		if (ber && (!worst || ber < worst))
			worst = ber;
	}
	WRITE_ONCE(port->bare_ber_exp, port->regs.fec == ETHTOOL_FEC_OFF ? worst : 0);
	WRITE_ONCE(port->loss_exp, port->regs.fec != ETHTOOL_FEC_OFF && worst && worst <= fec_limit(port) ? 6 : 0);
	rwl_link_bit(port, RWL_LINK_NO_SIGNAL, dark || (worst && worst <= 2));
	rwl_link_bit(port, RWL_LINK_OTHER_FEC, port->far_fec && port->far_fec != port->regs.fec);
}

/* Whether the wire lost this received frame. Any context. */
bool rwl_phy_lost(struct rwl_port *port, unsigned int len)
{
	unsigned int loss = READ_ONCE(port->loss_exp), bare = READ_ONCE(port->bare_ber_exp);
	bool lost = false;

	if (loss)
		lost = !(get_random_u32() & (BIT(loss) - 1));
	else if (bare && bare <= 9)
		lost = get_random_u32_below(power_of_ten(bare)) < len * 8;
	if (lost)
		atomic64_inc(&port->counter[RWL_RX_CRC_ERRORS_PHY]);
	return lost;
}
