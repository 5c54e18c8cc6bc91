// SPDX-License-Identifier: GPL-2.0
/* The files of the DCQCN registers: OFED's below the netdev in sysfs, or the inbox driver's in debugfs. */
#include <linux/pci.h>
#include <linux/slab.h>

#include "lab.h"

/* What a store that did not parse sends to the firmware. mlx5's is whatever was on the stack; this one repeats. */
#define GARBAGE 0xdeadbeef
#define TOUT_AUTO_MS 100
#define TOUT_DEFAULT_MS 8000

struct rwl_attr {
	struct kobj_attribute attr;
	struct list_head link;
	struct rwl_port *port;
	int which; /* a register; of enable/N: N; of a directory's own: unused */
	bool np;
	struct kobject *dir; /* set: not a file, a directory to remove */
};

#define to_attr(attribute) container_of(attribute, struct rwl_attr, attr)

static ssize_t cc_show(struct kobject *kobj, struct kobj_attribute *attribute, char *buf)
{
	struct rwl_attr *attr = to_attr(attribute);

	return sysfs_emit(buf, "%u\n", READ_ONCE(attr->port->regs.cc[attr->which]));
}

static ssize_t cc_store(struct kobject *kobj, struct kobj_attribute *attribute, const char *buf, size_t count)
{
	struct rwl_attr *attr = to_attr(attribute);
	u32 value = GARBAGE;
	int err;

	if (sscanf(buf, "%u", &value) != 1)
		value = GARBAGE; /* OFED does not look at sscanf's result */
	err = rwl_cc_write(attr->port, attr->which, value);
	return err ? err : count;
}

static ssize_t enable_show(struct kobject *kobj, struct kobj_attribute *attribute, char *buf)
{
	struct rwl_attr *attr = to_attr(attribute);

	if (READ_ONCE(attr->port->ecn_query_fails))
		return 0; /* the failed query is not an error there: an empty file */
	return sysfs_emit(buf, "%u\n", (READ_ONCE(attr->port->regs.cc_enable[attr->np]) >> attr->which) & 1);
}

static ssize_t enable_store(struct kobject *kobj, struct kobj_attribute *attribute, const char *buf, size_t count)
{
	struct rwl_attr *attr = to_attr(attribute);
	struct rwl_port *port = attr->port;
	int value, err;
	u8 bits;

	if (sscanf(buf, "%d", &value) != 1)
		return -EINVAL;
	mutex_lock(&port->lock);
	bits = port->regs.cc_enable[attr->np] & ~BIT(attr->which);
	bits |= (value & 1) << attr->which;
	err = 0;
	if (bits != port->regs.cc_enable[attr->np]) {
		err = rwl_write_begin(port, RWL_ECN);
		if (!err)
			WRITE_ONCE(port->regs.cc_enable[attr->np], bits);
		err = rwl_write_end(port, RWL_ECN, err);
	}
	mutex_unlock(&port->lock);
	return err ? err : count;
}

static ssize_t stall_show(struct kobject *kobj, struct kobj_attribute *attribute, char *buf)
{
	bool is_auto = READ_ONCE(to_attr(attribute)->port->regs.pfc_tout) == TOUT_AUTO_MS;

	return sysfs_emit(buf, "%s\n", is_auto ? "auto" : "default");
}

static ssize_t stall_store(struct kobject *kobj, struct kobj_attribute *attribute, const char *buf, size_t count)
{
	struct rwl_port *port = to_attr(attribute)->port;

	if (sysfs_streq(buf, "auto"))
		WRITE_ONCE(port->regs.pfc_tout, TOUT_AUTO_MS);
	else if (sysfs_streq(buf, "default"))
		WRITE_ONCE(port->regs.pfc_tout, TOUT_DEFAULT_MS);
	else
		return -EINVAL;
	return count;
}

typedef ssize_t (*show_fn)(struct kobject *, struct kobj_attribute *, char *);
typedef ssize_t (*store_fn)(struct kobject *, struct kobj_attribute *, const char *, size_t);

static int add_file(struct rwl_port *port, struct kobject *dir, const char *name, int which, bool np, show_fn show,
		    store_fn store)
{
	struct rwl_attr *attr = kzalloc(sizeof(*attr), GFP_KERNEL);

	if (!attr)
		return -ENOMEM;
	attr->port = port;
	attr->which = which;
	attr->np = np;
	sysfs_attr_init(&attr->attr.attr);
	attr->attr.attr.name = name;
	attr->attr.attr.mode = 0644;
	attr->attr.show = show;
	attr->attr.store = store;
	list_add(&attr->link, &port->attributes);
	return sysfs_create_file(dir, &attr->attr.attr);
}

static struct kobject *add_dir(struct rwl_port *port, const char *name, struct kobject *parent)
{
	struct rwl_attr *attr = kzalloc(sizeof(*attr), GFP_KERNEL);

	if (!attr)
		return NULL;
	attr->dir = kobject_create_and_add(name, parent);
	if (!attr->dir) {
		kfree(attr);
		return NULL;
	}
	list_add(&attr->link, &port->attributes);
	return attr->dir;
}

static int add_ecn_half(struct rwl_port *port, struct kobject *ecn, bool np)
{
	static const char *const digits[RWL_PRIOS] = { "0", "1", "2", "3", "4", "5", "6", "7" };
	struct kobject *dir = add_dir(port, np ? "roce_np" : "roce_rp", ecn), *enable;
	int err = 0, i;

	enable = dir ? add_dir(port, "enable", dir) : NULL;
	if (!enable)
		return -ENOMEM;
	for (i = 0; !err && i < RWL_PRIOS; i++)
		err = add_file(port, enable, digits[i], i, np, enable_show, enable_store);
	for (i = 0; !err && i < RWL_CC_REGS; i++)
		if (rwl_cc_table[i].ofed && rwl_cc_table[i].np == np)
			err = add_file(port, dir, rwl_cc_table[i].ofed, i, np, cc_show, cc_store);
	return err;
}

static ssize_t inbox_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct rwl_attr *attr = file->private_data;
	char text[16];
	int n = scnprintf(text, sizeof(text), "%u\n", READ_ONCE(attr->port->regs.cc[attr->which]));

	return simple_read_from_buffer(to, count, pos, text, n);
}

static ssize_t inbox_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	struct rwl_attr *attr = file->private_data;
	char text[12] = {};
	u32 value;
	int err;

	if (count > 11)
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	if (kstrtou32(text, 0, &value))
		return -EINVAL;
	err = rwl_cc_write(attr->port, attr->which, value);
	return err ? err : count;
}

static const struct file_operations inbox_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = inbox_read,
	.write = inbox_write,
};

static struct dentry *inbox_root; /* of all ports; RTNL */

static int add_inbox(struct rwl_port *port)
{
	struct device *parent = port->dev->dev.parent;
	struct dentry *dir;
	int i;

	if (!inbox_root)
		inbox_root = debugfs_create_dir("mlx5", NULL);
	port->cc_dir = debugfs_create_dir(parent ? dev_name(parent) : port->dev->name, inbox_root);
	dir = debugfs_create_dir("cc_params", port->cc_dir);
	for (i = 0; i < RWL_CC_REGS; i++) {
		struct rwl_attr *attr = kzalloc(sizeof(*attr), GFP_KERNEL);

		if (!attr)
			return -ENOMEM;
		attr->port = port;
		attr->which = i;
		list_add_tail(&attr->link, &port->attributes);
		debugfs_create_file(rwl_cc_table[i].inbox, 0600, dir, attr, &inbox_fops);
	}
	return 0;
}

int rwl_cc_files_add(struct rwl_port *port)
{
	struct kobject *settings = add_dir(port, "settings", &port->dev->dev.kobj), *ecn;
	int err;

	if (!settings)
		return -ENOMEM;
	err = add_file(port, settings, "pfc_stall_prevention", 0, false, stall_show, stall_store);
	if (err)
		return err;
	if (rwl_cc_inbox)
		return add_inbox(port);
	ecn = add_dir(port, "ecn", &port->dev->dev.kobj);
	if (!ecn)
		return -ENOMEM;
	err = add_ecn_half(port, ecn, false);
	return err ? err : add_ecn_half(port, ecn, true);
}

/* Below RTNL: the removal waits for stores, and no store takes RTNL. */
void rwl_cc_files_remove(struct rwl_port *port)
{
	struct rwl_attr *attr, *next;

	debugfs_remove_recursive(port->cc_dir);
	/* A child was added after its parent and stands before it. Its removal takes its files and waits for their
	 * users. */
	list_for_each_entry (attr, &port->attributes, link)
		if (attr->dir)
			kobject_del(attr->dir);
	list_for_each_entry_safe (attr, next, &port->attributes, link) {
		if (attr->dir)
			kobject_put(attr->dir);
		kfree(attr);
	}
	INIT_LIST_HEAD(&port->attributes);
}

void rwl_cc_files_exit(void)
{
	debugfs_remove_recursive(inbox_root);
}
