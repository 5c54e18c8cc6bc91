/* SPDX-License-Identifier: GPL-2.0 */
/* What rwlab offers to rwlab_tc. */
#ifndef RWLAB_TRAFFIC_CLASS_H
#define RWLAB_TRAFFIC_CLASS_H

struct net_device;

/* The TOS (0-255; its ECN bits are not used) of RoCE v2 frames that leave dev; -1: as they come. -EOPNOTSUPP: dev is no
 * lab NIC. */
int rwlab_set_traffic_class(struct net_device *dev, int tclass);

#endif
