// SPDX-License-Identifier: GPL-2.0
/*
 * Module EEPROM: pages made here (CMIS or SFF-8636), or loaded through debugfs. A read shows what the port's attenuated
 * lanes receive: less power, loss of signal and the alarm and warning flags by the image's own thresholds.
 */
#include <linux/unaligned.h>

#include "lab.h"

#define CMIS_OSFP 0x19
#define SFF8636_QSFP28 0x11
#define PAGES 0x40
#define UPPER(page, offset) (128 + (page)*128 + (offset)-128) /* in the image */
#define NO_LIGHT_DB 12                                        /* as in phy.c */

struct threshold {
	u16 high_alarm, low_alarm, high_warn, low_warn;
};
static const struct threshold temperature = { 75 * 256, (u16)(-5 * 256), 70 * 256, 0 }; /* 1/256 degree C */
static const struct threshold voltage = { 36300, 29700, 34650, 31350 };                 /* 100 uV */
static const struct threshold bias = { 60000, 5000, 50000, 7500 };                      /* 2 uA */
static const struct threshold power = { 31623, 1000, 25119, 1585 };                     /* 0.1 uW: 5 to -10 dBm */

static void put_text(u8 *at, const char *text, unsigned int length)
{
	memset(at, ' ', length);
	memcpy(at, text, min_t(unsigned int, length, strlen(text)));
}

static void put_threshold(u8 *at, const struct threshold *value)
{
	put_unaligned_be16(value->high_alarm, at);
	put_unaligned_be16(value->low_alarm, at + 2);
	put_unaligned_be16(value->high_warn, at + 4);
	put_unaligned_be16(value->low_warn, at + 6);
}

static u8 sum(const u8 *from, unsigned int length)
{
	u8 total = 0;

	while (length--)
		total += *from++;
	return total;
}

static void put_identity(u8 *vendor, u8 *oui, u8 *part, u8 *serial, u8 *date, const char *part_name,
			 const struct rwl_port *port)
{
	char number[17];

	snprintf(number, sizeof(number), "RWL%pm", port->dev->dev_addr);
	put_text(vendor, "Railwright lab", 16);
	memcpy(oui, "\x02\x52\x57", 3);
	put_text(part, part_name, 16);
	put_text(serial, number, 16);
	put_text(date, "260101", 8);
}

/* 400GBASE-DR4, all pages; or a passive copper cable of 2 m, flat. */
static void make_cmis(struct rwl_port *port, bool copper)
{
	u8 *low = port->eeprom, *up = low + UPPER(0, 128) - 128;
	u8 *page1 = low + UPPER(1, 128) - 128, *page2 = low + UPPER(2, 128) - 128,
	   *page11 = low + UPPER(0x11, 128) - 128;
	int i;

	low[0] = CMIS_OSFP;
	low[1] = 0x50;                  /* CMIS 5.0 */
	low[2] = copper ? BIT(7) : 0;   /* flat memory */
	low[3] = 3 << 1;                /* Ready */
	low[85] = copper ? 3 : 2;       /* passive copper; single mode fibre */
	low[86] = copper ? 0x4e : 0x4f; /* host: 400GBASE-CR4; 400GAUI-4-S */
	low[87] = copper ? 0x01 : 0x1c; /* media: copper cable; 400GBASE-DR4 */
	low[88] = 0x44;
	low[89] = 0x11; /* on host lanes 1 and 5 */
	low[90] = 0xff; /* no more applications */
	up[128] = CMIS_OSFP;
	put_identity(up + 129, up + 145, up + 148, up + 166, up + 182, copper ? "RWL-DAC-2M" : "RWL-OSFP-DR4", port);
	put_text(up + 164, "A1", 2);
	up[200] = copper ? 0 : 5 << 5;  /* power class 6 */
	up[201] = copper ? 1 : 14 * 4;  /* 14 W */
	up[202] = copper ? 0x42 : 0;    /* 2 m */
	up[203] = copper ? 0x23 : 0x0c; /* no separable connector; MPO 1x12 */
	if (copper)
		memcpy(up + 204, "\x05\x06\x0a\x0e", 4);
	up[212] = copper ? 0x0a : 0x06; /* copper, not equalised; 1310 nm EML */
	up[222] = sum(up + 128, 94);
	if (copper)
		return;

	put_unaligned_be16(42 * 256, low + 14);
	put_unaligned_be16(33000, low + 16);
	page1[132] = 5;                         /* 0.5 km of single mode fibre */
	put_unaligned_be16(26200, page1 + 138); /* 1310 nm */
	page1[142] = BIT(5);                    /* diagnostics pages */
	page1[157] = 0x0f;
	page1[158] = 0x06; /* rx LOS and CDR LOL flags */
	page1[159] = 0x03; /* temperature, Vcc */
	page1[160] = 0x07; /* bias (x1), tx power, rx power */
	page1[255] = sum(page1 + 130, 125);
	put_threshold(page2 + 128, &temperature);
	put_threshold(page2 + 136, &voltage);
	put_threshold(page2 + 176, &power);
	put_threshold(page2 + 184, &bias);
	put_threshold(page2 + 192, &power);
	page2[255] = sum(page2 + 128, 127);
	memset(page11 + 128, 0x44, 4); /* every data path is activated */
	for (i = 0; i < 8; i++) {
		put_unaligned_be16(10000 + 37 * i, page11 + 154 + 2 * i);
		put_unaligned_be16(30000 + 53 * i, page11 + 170 + 2 * i);
		put_unaligned_be16(8000 + 41 * i, page11 + 186 + 2 * i);
	}
}

/* 100GBASE-SR4. */
static void make_sff8636(struct rwl_port *port)
{
	u8 *low = port->eeprom, *up = low + UPPER(0, 128) - 128, *page3 = low + UPPER(3, 128) - 128;
	int i;

	low[0] = SFF8636_QSFP28;
	low[1] = 0x08; /* revision 2.8 and later */
	put_unaligned_be16(38 * 256, low + 22);
	put_unaligned_be16(33000, low + 26);
	for (i = 0; i < 4; i++) {
		put_unaligned_be16(8000 + 41 * i, low + 34 + 2 * i);
		put_unaligned_be16(30000 + 53 * i, low + 42 + 2 * i);
		put_unaligned_be16(10000 + 37 * i, low + 50 + 2 * i);
	}
	up[128] = SFF8636_QSFP28;
	up[129] = 0xcc; /* 3.5 W, CDR in both directions */
	up[130] = 0x0c; /* MPO 1x12 */
	up[131] = 0x80; /* see byte 192 */
	up[140] = 0xff; /* above 25.4 Gb/s, see byte 222 */
	up[143] = 50;   /* 100 m of OM3 */
	put_identity(up + 148, up + 165, up + 168, up + 196, up + 212, "RWL-QSFP28-SR4", port);
	put_text(up + 184, "A1", 2);
	put_unaligned_be16(17000, up + 186); /* 850 nm */
	up[191] = sum(up + 128, 63);
	up[192] = 0x02; /* 100GBASE-SR4 */
	up[220] = 0x0c; /* average rx power, tx power */
	up[222] = 103;  /* 25.75 Gb/s a lane */
	up[223] = sum(up + 192, 31);
	put_threshold(page3 + 128, &temperature);
	put_threshold(page3 + 144, &voltage);
	put_threshold(page3 + 176, &power);
	put_threshold(page3 + 184, &bias);
	put_threshold(page3 + 192, &power);
}

/* osfp | dac | qsfp28 | absent. port->lock is held, or the port is new. */
int rwl_eeprom_model(struct rwl_port *port, const char *name)
{
	bool absent = !strcmp(name, "absent");

	if (!absent && strcmp(name, "osfp") && strcmp(name, "dac") && strcmp(name, "qsfp28"))
		return -EINVAL;
	if (absent && !port->module_absent)
		atomic64_inc(&port->counter[RWL_MODULE_UNPLUG]);
	port->module_absent = absent;
	memset(port->eeprom, 0, sizeof(port->eeprom));
	if (!strcmp(name, "qsfp28"))
		make_sff8636(port);
	else if (!absent)
		make_cmis(port, !strcmp(name, "dac"));
	return 0;
}

bool rwl_eeprom_is_cmis(const struct rwl_port *port)
{
	return port->eeprom[0] >= 0x18;
}

/* 1 dB less is a factor of 0.794328. */
static u16 attenuated(u16 value, unsigned int db)
{
	u64 power = (u64)value * 1000000;

	while (db--)
		power = power * 794328 / 1000000;
	return power / 1000000;
}

/* The received power at *at, less what the lane loses. Returns flags: 1 LOS, 2 low alarm, 4 low warning. */
static unsigned int dim(const struct rwl_port *port, int lane, u8 *at, const u8 *thresholds)
{
	unsigned int db = port->lane[lane].attenuation_db, flags = 0;
	u16 now;

	if (!db)
		return 0;
	now = attenuated(get_unaligned_be16(at), db);
	put_unaligned_be16(now, at);
	if (db >= NO_LIGHT_DB)
		flags |= 1;
	if (now < get_unaligned_be16(thresholds + 2))
		flags |= 2;
	if (now < get_unaligned_be16(thresholds + 6))
		flags |= 4;
	return flags;
}

/* half: 128 bytes of the image, the lower half or an upper page. */
static void apply_lanes(const struct rwl_port *port, bool lower, u8 page, u8 *half)
{
	int lane;

	for (lane = 0; lane < RWL_LANES; lane++) {
		if (rwl_eeprom_is_cmis(port)) {
			u8 *byte = half - 128;
			unsigned int flags;

			if (lower || page != 0x11 || (port->eeprom[2] & BIT(7)))
				return;
			flags = dim(port, lane, byte + 186 + 2 * lane, port->eeprom + UPPER(2, 192));
			byte[147] |= flags & 1 ? BIT(lane) : 0;
			byte[150] |= flags & 2 ? BIT(lane) : 0;
			byte[152] |= flags & 4 ? BIT(lane) : 0;
		} else {
			unsigned int flags,
				nibble = lane % 2 ? 0 : 4; /* HA LA HW LW, the odd channel in the high half */

			if (!lower || (port->eeprom[2] & BIT(2)))
				return;
			flags = dim(port, lane, half + 34 + 2 * lane, port->eeprom + UPPER(3, 176));
			half[3] |= flags & 1 ? BIT(lane) : 0;
			half[9 + lane / 2] |= (flags & 2 ? BIT(2) : 0) << nibble;
			half[9 + lane / 2] |= (flags & 4 ? BIT(0) : 0) << nibble;
		}
	}
}

/*
 * Up to the end of the half: offset 0-127 the lower half, 128-255 the upper page. Returns the bytes read; -EIO: no
 * module or no such page, as mlx5 says it. port->lock is held.
 */
int rwl_eeprom_read(struct rwl_port *port, u8 page, u32 offset, u32 length, u8 *data)
{
	bool lower = offset < 128;
	u8 half[128];

	if (port->module_absent || page >= PAGES || offset >= 256)
		return -EIO;
	length = min(length, 128 - offset % 128);
	memcpy(half, port->eeprom + (lower ? 0 : UPPER(page, 128)), sizeof(half));
	apply_lanes(port, lower, page, half);
	memcpy(data, half + offset % 128, length);
	return length;
}
