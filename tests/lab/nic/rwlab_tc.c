// SPDX-License-Identifier: GPL-2.0
/*
 * OFED's /sys/class/infiniband/<dev>/tc/1/traffic_class for the RDMA devices over lab NICs. The lab NIC then marks
 * every RoCE v2 frame that leaves it.
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

#include "traffic_class.h"

struct tc_files {
	struct kobject *tc, *port;
	struct kobj_attribute attr;
	struct ib_device *device;
	int tclass; /* -1: unset */
};

static struct ib_client tc_client;

static int set_tclass(struct ib_device *device, int tclass)
{
	struct net_device *dev = ib_device_get_netdev(device, 1);
	int err = dev ? rwlab_set_traffic_class(dev, tclass) : -ENODEV;

	dev_put(dev);
	return err;
}

static ssize_t tclass_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	int tclass = READ_ONCE(container_of(attr, struct tc_files, attr)->tclass);

	return tclass < 0 ? 0 : sysfs_emit(buf, "Global tclass=%d\n", tclass);
}

/* "106" or "tclass=106"; negative: unset. OFED's rules by address are not here. */
static ssize_t tclass_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	struct tc_files *files = container_of(attr, struct tc_files, attr);
	int value, err;

	if (!strncmp(buf, "tclass=", 7))
		buf += 7;
	if (kstrtoint(buf, 0, &value) || value > 0xff)
		return -EINVAL;
	value = max(value, -1);
	err = set_tclass(files->device, value);
	if (err)
		return err;
	WRITE_ONCE(files->tclass, value);
	return count;
}

static int tc_add(struct ib_device *device)
{
	struct tc_files *files;
	int err = -ENOMEM;

	if (set_tclass(device, -1))
		return -EOPNOTSUPP; /* not over a lab NIC: no files */
	files = kzalloc(sizeof(*files), GFP_KERNEL);
	if (!files)
		return -ENOMEM;
	files->device = device;
	files->tclass = -1;
	files->tc = kobject_create_and_add("tc", &device->dev.kobj);
	files->port = files->tc ? kobject_create_and_add("1", files->tc) : NULL;
	if (!files->port)
		goto fail;
	sysfs_attr_init(&files->attr.attr);
	files->attr.attr.name = "traffic_class";
	files->attr.attr.mode = 0644;
	files->attr.show = tclass_show;
	files->attr.store = tclass_store;
	err = sysfs_create_file(files->port, &files->attr.attr);
	if (err)
		goto fail;
	ib_set_client_data(device, &tc_client, files);
	return 0;
fail:
	kobject_put(files->port);
	kobject_put(files->tc);
	kfree(files);
	return err;
}

static void tc_remove(struct ib_device *device, void *data)
{
	struct tc_files *files = data;

	sysfs_remove_file(files->port, &files->attr.attr); /* waits for its users */
	kobject_put(files->port);
	kobject_put(files->tc);
	set_tclass(device, -1);
	kfree(files);
}

static struct ib_client tc_client = {
	.name = "rwlab_tc",
	.add = tc_add,
	.remove = tc_remove,
};

static int __init tc_init(void)
{
	return ib_register_client(&tc_client);
}

static void __exit tc_exit(void)
{
	ib_unregister_client(&tc_client);
}

module_init(tc_init);
module_exit(tc_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("OFED's traffic_class for RDMA devices over lab NICs");
MODULE_AUTHOR("Railwright maintainers");
