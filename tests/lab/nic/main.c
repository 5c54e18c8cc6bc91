// SPDX-License-Identifier: GPL-2.0
/* Parameters, the ports that they ask for, the cables between them, and what happens when a lower NIC goes. */
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "lab.h"

#define RWL_MAX 16

static char *stack[RWL_MAX];
static int stack_count;
module_param_array(stack, charp, &stack_count, 0444);
MODULE_PARM_DESC(stack, "netdevs to stack one lab NIC over each");

static char *names[RWL_MAX];
static int names_count;
module_param_array(names, charp, &names_count, 0444);
MODULE_PARM_DESC(names, "names of the lab NICs: the stacked ones first, then the pairs (default labN)");

static unsigned int pairs;
module_param(pairs, uint, 0444);
MODULE_PARM_DESC(pairs, "pairs of lab NICs joined by a cable");

static char *cc = "ofed";
module_param(cc, charp, 0444);
MODULE_PARM_DESC(cc, "where the DCQCN parameters are: ofed (sysfs ecn/) or inbox (debugfs cc_params)");

bool rwl_dcbx_fw;
module_param_named(dcbx_fw, rwl_dcbx_fw, bool, 0444);
MODULE_PARM_DESC(dcbx_fw, "start with DCBX in the firmware");

char *rwl_driver = "rwlab";
module_param_named(driver, rwl_driver, charp, 0444);
MODULE_PARM_DESC(driver, "the driver's name that ethtool -i shows");

DEFINE_SPINLOCK(rwl_topo_lock);
LIST_HEAD(rwl_ports);
struct dentry *rwl_debugfs;
bool rwl_cc_inbox;

#define TOPO(pointer) rcu_dereference_protected(pointer, lockdep_is_held(&rwl_topo_lock))

static bool end_is_up(const struct rwl_port *port)
{
	return port->link_bits == BIT(RWL_LINK_RUNNING);
}

static void set_carrier(struct rwl_port *port, bool up)
{
	if (up) {
		netif_carrier_on(port->dev);
	} else if (netif_carrier_ok(port->dev)) {
		atomic64_inc(&port->counter[RWL_LINK_DOWN_EVENTS_PHY]);
		netif_carrier_off(port->dev);
	}
}

/* Both ends of a cable are up or none is. rwl_topo_lock is held. */
static void update_carrier_locked(struct rwl_port *port)
{
	struct rwl_port *peer = TOPO(port->peer);
	struct rwl_lower *lower = TOPO(port->lower);
	bool up = end_is_up(port);

	if (lower)
		up = up && netif_running(lower->dev) && netif_carrier_ok(lower->dev);
	else
		up = up && peer && end_is_up(peer);
	set_carrier(port, up);
	if (peer)
		set_carrier(peer, up);
}

void rwl_update_carrier(struct rwl_port *port)
{
	spin_lock_bh(&rwl_topo_lock);
	update_carrier_locked(port);
	spin_unlock_bh(&rwl_topo_lock);
}

void rwl_link_bit(struct rwl_port *port, int bit, bool on)
{
	spin_lock_bh(&rwl_topo_lock);
	if (on)
		port->link_bits |= BIT(bit);
	else
		port->link_bits &= ~BIT(bit);
	update_carrier_locked(port);
	spin_unlock_bh(&rwl_topo_lock);
}

/* Takes the link down for ms; a flap that is running already is not shortened. */
void rwl_flap(struct rwl_port *port, unsigned int ms)
{
	unsigned long at = jiffies + msecs_to_jiffies(ms);

	rwl_link_bit(port, RWL_LINK_FLAPPING, true);
	if (!delayed_work_pending(&port->flap_end) || time_after(at, port->flap_end.timer.expires))
		mod_delayed_work(system_wq, &port->flap_end, msecs_to_jiffies(ms));
}

static void exchange_cables(struct rwl_port *a, struct rwl_port *b)
{
	struct rwl_lower *a_lower = TOPO(a->lower), *b_lower = TOPO(b->lower);
	struct rwl_port *a_peer = TOPO(a->peer), *b_peer = TOPO(b->peer);

	if (a_peer == b)
		return; /* the two ends of one cable */
	rcu_assign_pointer(a->lower, b_lower);
	rcu_assign_pointer(b->lower, a_lower);
	if (b_lower)
		rcu_assign_pointer(b_lower->port, a);
	if (a_lower)
		rcu_assign_pointer(a_lower->port, b);
	rcu_assign_pointer(a->peer, b_peer);
	rcu_assign_pointer(b->peer, a_peer);
	if (b_peer)
		rcu_assign_pointer(b_peer->peer, a);
	if (a_peer)
		rcu_assign_pointer(a_peer->peer, b);
}

/* name: the port to exchange cables with; empty or "none": as it was. */
int rwl_swap(struct rwl_port *port, const char *name)
{
	struct rwl_port *other = NULL, *each;
	int err = 0;

	spin_lock_bh(&rwl_topo_lock);
	if (!*name || !strcmp(name, "none")) {
		other = port->swapped;
		if (!other)
			goto out;
		port->swapped = NULL;
		other->swapped = NULL;
	} else {
		list_for_each_entry (each, &rwl_ports, link)
			if (!strcmp(each->dev->name, name))
				other = each;
		if (!other || other == port)
			err = other ? -EINVAL : -ENODEV;
		else if (port->swapped || other->swapped)
			err = -EBUSY;
		if (err)
			goto out;
		port->swapped = other;
		other->swapped = port;
	}
	exchange_cables(port, other);
	update_carrier_locked(port);
	update_carrier_locked(other);
out:
	spin_unlock_bh(&rwl_topo_lock);
	return err;
}

static const char *next_name(void)
{
	static int used;

	return used < names_count ? names[used++] : "lab%d";
}

/* The name that goes with stack[i]; the same again when its NIC came back. */
static const char *stack_name(int i)
{
	return i < names_count ? names[i] : "lab%d";
}

static struct rwl_port *port_of_lower(const struct net_device *lower)
{
	struct rwl_port *port;

	ASSERT_RTNL();
	list_for_each_entry (port, &rwl_ports, link)
		if (port->home && port->home->dev == lower)
			return port;
	return NULL;
}

static int stack_all(void)
{
	int i;

	ASSERT_RTNL();
	for (i = 0; i < stack_count; i++) {
		struct net_device *lower = __dev_get_by_name(&init_net, stack[i]);
		struct rwl_port *port;

		if (!lower || lower->reg_state != NETREG_REGISTERED) {
			pr_info("rwlab: %s is not there yet\n", stack[i]);
			continue;
		}
		if (port_of_lower(lower))
			continue;
		port = rwl_port_create(stack_name(i), lower);
		if (IS_ERR(port)) {
			pr_err("rwlab: over %s: error %ld\n", stack[i], PTR_ERR(port));
			return PTR_ERR(port);
		}
	}
	return 0;
}

static void rescan(struct work_struct *work)
{
	rtnl_lock();
	stack_all();
	rtnl_unlock();
}
static DECLARE_WORK(rescan_work, rescan);

static void rename_files(struct rwl_port *port)
{
	struct dentry *dir = debugfs_rename(rwl_debugfs, port->dir, rwl_debugfs, port->dev->name);

	if (!IS_ERR(dir))
		port->dir = dir;
}

static int on_netdev(struct notifier_block *self, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct rwl_port *port;
	LIST_HEAD(kill);
	int i;

	if (rwl_is_port(dev)) {
		if (event == NETDEV_CHANGENAME)
			rename_files(netdev_priv(dev));
		return NOTIFY_DONE;
	}
	if (event == NETDEV_REGISTER) {
		for (i = 0; i < stack_count; i++)
			if (!strcmp(dev->name, stack[i]))
				schedule_work(&rescan_work);
		return NOTIFY_DONE;
	}
	port = port_of_lower(dev);
	if (!port)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE: {
		struct rwl_port *each;

		list_for_each_entry (each, &rwl_ports, link) /* cables may be swapped */
			if (each->home)
				rwl_update_carrier(each);
		break;
	}
	case NETDEV_CHANGEMTU:
		dev_set_mtu(port->dev, dev->mtu);
		break;
	case NETDEV_UNREGISTER:
		if (dev->reg_state != NETREG_UNREGISTERING)
			break; /* it moves to another namespace */
		rwl_port_destroy(port, &kill);
		unregister_netdevice_many(&kill);
		break;
	}
	return NOTIFY_DONE;
}
static struct notifier_block netdev_notifier = { .notifier_call = on_netdev };

static void destroy_all(void)
{
	struct rwl_port *port, *next;
	LIST_HEAD(kill);

	rtnl_lock();
	list_for_each_entry_safe (port, next, &rwl_ports, link)
		rwl_port_destroy(port, &kill);
	unregister_netdevice_many(&kill);
	rtnl_unlock();
}

static int create_all(void)
{
	unsigned int i;
	int err;

	err = stack_all();
	for (i = 0; i < stack_count; i++)
		next_name(); /* theirs, present or not */
	for (i = 0; !err && i < pairs; i++) {
		struct rwl_port *a = rwl_port_create(next_name(), NULL), *b;

		if (IS_ERR(a))
			return PTR_ERR(a);
		b = rwl_port_create(next_name(), NULL);
		if (IS_ERR(b))
			return PTR_ERR(b);
		rwl_join(a, b);
	}
	return err;
}

static int __init rwl_init(void)
{
	int err;

	if (!strcmp(cc, "inbox"))
		rwl_cc_inbox = true;
	else if (strcmp(cc, "ofed"))
		return -EINVAL;
	if (!stack_count && !pairs)
		return -EINVAL;
	rwl_debugfs = debugfs_create_dir("rwlab", NULL);
	err = register_netdevice_notifier(&netdev_notifier); /* first: no lower goes unseen */
	if (err) {
		debugfs_remove_recursive(rwl_debugfs);
		return err;
	}
	rtnl_lock();
	err = create_all();
	rtnl_unlock();
	if (err) {
		unregister_netdevice_notifier(&netdev_notifier);
		cancel_work_sync(&rescan_work);
		destroy_all();
		rwl_cc_files_exit();
		debugfs_remove_recursive(rwl_debugfs);
	}
	return err;
}

static void __exit rwl_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
	cancel_work_sync(&rescan_work);
	destroy_all();
	rwl_cc_files_exit();
	debugfs_remove_recursive(rwl_debugfs);
}

module_init(rwl_init);
module_exit(rwl_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a lab NIC: DCB, optics and DCQCN as mlx5 has them, over another NIC or a cable of its own");
MODULE_AUTHOR("Railwright maintainers");
