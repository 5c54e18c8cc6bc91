// SPDX-License-Identifier: GPL-2.0
/* Trust and the DSCP map: APP entries, by mlx5's rules. */
#include "lab.h"

static int check_app(const struct dcb_app *app)
{
	return app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol < RWL_DSCPS && app->priority < RWL_PRIOS
		       ? 0
		       : -EINVAL;
}

static struct dcb_app entry(const struct rwl_regs *regs, unsigned int dscp)
{
	return (struct dcb_app){ .selector = IEEE_8021QAZ_APP_SEL_DSCP,
				 .protocol = dscp,
				 .priority = regs->dscp2prio[dscp] };
}

/*
 * mlx5 has no trust register of its own in dcbnl: the first DSCP entry switches the port to trust DSCP, the removal of
 * the last one back to PCP. The hardware's map of the other DSCPs stays as it is, listed or not.
 */
int rwl_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct rwl_port *port = netdev_priv(dev);
	struct rwl_regs *regs = &port->regs;
	int err = check_app(app);

	if (err)
		return err;
	mutex_lock(&port->lock);
	err = rwl_write_begin(port, RWL_APP);
	if (err) {
		if (app->priority != regs->dscp2prio[app->protocol])
			WRITE_ONCE(regs->trust_dscp, false); /* the driver falls back; entries stay listed */
		goto out;
	}
	WRITE_ONCE(regs->trust_dscp, true);
	if (regs->listed & BIT_ULL(app->protocol)) { /* replaces */
		struct dcb_app old = entry(regs, app->protocol);

		dcb_ieee_delapp(dev, &old);
		regs->listed &= ~BIT_ULL(app->protocol);
	}
	WRITE_ONCE(regs->dscp2prio[app->protocol], app->priority);
	err = dcb_ieee_setapp(dev, app);
	if (!err)
		regs->listed |= BIT_ULL(app->protocol);
out:
	err = rwl_write_end(port, RWL_APP, err);
	mutex_unlock(&port->lock);
	return err;
}

int rwl_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct rwl_port *port = netdev_priv(dev);
	struct rwl_regs *regs = &port->regs;
	int err = check_app(app);

	if (err)
		return err;
	mutex_lock(&port->lock);
	if (!(regs->listed & BIT_ULL(app->protocol)) || app->priority != regs->dscp2prio[app->protocol]) {
		err = -ENOENT;
		goto unlock;
	}
	err = rwl_write_begin(port, RWL_APP);
	if (!err)
		err = dcb_ieee_delapp(dev, app);
	if (!err) {
		regs->listed &= ~BIT_ULL(app->protocol);
		WRITE_ONCE(regs->dscp2prio[app->protocol], 0); /* not dscp >> 3 */
		if (!regs->listed)
			WRITE_ONCE(regs->trust_dscp, false);
	}
	err = rwl_write_end(port, RWL_APP, err);
unlock:
	mutex_unlock(&port->lock);
	return err;
}

/* The APP table and the map as they were in old. port->lock is held. */
void rwl_app_restore(struct rwl_port *port, const struct rwl_regs *old)
{
	struct rwl_regs *regs = &port->regs;
	unsigned int dscp;

	for (dscp = 0; dscp < RWL_DSCPS; dscp++) {
		bool is = regs->listed & BIT_ULL(dscp), was = old->listed & BIT_ULL(dscp);
		struct dcb_app now = entry(regs, dscp), then = entry(old, dscp);

		if (is && (!was || now.priority != then.priority))
			dcb_ieee_delapp(port->dev, &now);
		if (was && (!is || now.priority != then.priority))
			dcb_ieee_setapp(port->dev, &then);
		WRITE_ONCE(regs->dscp2prio[dscp], old->dscp2prio[dscp]);
	}
	regs->listed = old->listed;
	WRITE_ONCE(regs->trust_dscp, old->trust_dscp);
}

/* The netdev goes: the core flushed its table already, unless a fault's work came after that. */
void rwl_dcb_flush(struct rwl_port *port)
{
	unsigned int dscp;

	for (dscp = 0; dscp < RWL_DSCPS; dscp++) {
		struct dcb_app app = entry(&port->regs, dscp);

		if (port->regs.listed & BIT_ULL(dscp))
			dcb_ieee_delapp(port->dev, &app);
	}
	port->regs.listed = 0;
}
