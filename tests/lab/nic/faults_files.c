// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs rwlab/<if>/: a file a fault (writing "off" ends it, reading shows it), "faults" (all of them, a line each)
 * and "eeprom" (the module's pages). No file takes RTNL: they are removed below it.
 */
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "lab.h"

#define TEXT_MAX 128

static const struct rwl_fault *fault_of(const struct file *file)
{
	const struct rwl_fault *fault;

	for (fault = rwl_faults; fault->name; fault++)
		if (!strcmp(fault->name, file->f_path.dentry->d_name.name))
			return fault;
	return NULL;
}

/* "A;B;" becomes "A; B", nothing becomes "off". */
static void show_state(const struct rwl_fault *fault, struct rwl_port *port, struct seq_file *to)
{
	size_t before = to->count;

	mutex_lock(&port->lock);
	fault->show(port, to);
	mutex_unlock(&port->lock);
	if (to->count == before)
		seq_puts(to, "off");
	else if (to->count < to->size)
		to->count--; /* the last semicolon */
}

static int one_show(struct seq_file *to, void *unused)
{
	show_state(fault_of(to->file), to->private, to);
	seq_putc(to, '\n');
	return 0;
}

static int one_open(struct inode *inode, struct file *file)
{
	return fault_of(file) ? single_open(file, one_show, inode->i_private) : -ENOENT;
}

static ssize_t one_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	struct rwl_port *port = ((struct seq_file *)file->private_data)->private;
	char text[TEXT_MAX];
	int err;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	text[count] = 0;
	mutex_lock(&port->lock);
	err = fault_of(file)->write(port, strim(text));
	mutex_unlock(&port->lock);
	return err ? err : count;
}

static const struct file_operations one_fops = {
	.owner = THIS_MODULE,
	.open = one_open,
	.read = seq_read,
	.write = one_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int all_show(struct seq_file *to, void *unused)
{
	const struct rwl_fault *fault;

	for (fault = rwl_faults; fault->name; fault++) {
		seq_printf(to, "%s\t", fault->name);
		show_state(fault, to->private, to);
		seq_printf(to, "\t%s\n", fault->simulates);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(all);

/* Opening with O_TRUNC (a shell's >) begins an empty image; dd conv=notrunc seek=… changes a part of it. */
static int eeprom_open(struct inode *inode, struct file *file)
{
	struct rwl_port *port = inode->i_private;

	file->private_data = port;
	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC)) {
		mutex_lock(&port->lock);
		memset(port->eeprom, 0, sizeof(port->eeprom));
		port->module_absent = false;
		mutex_unlock(&port->lock);
	}
	return 0;
}

static ssize_t eeprom_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct rwl_port *port = file->private_data;
	ssize_t n;

	mutex_lock(&port->lock);
	n = simple_read_from_buffer(to, count, pos, port->eeprom, sizeof(port->eeprom));
	mutex_unlock(&port->lock);
	return n;
}

static ssize_t eeprom_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	struct rwl_port *port = file->private_data;
	ssize_t n;

	if (*pos >= sizeof(port->eeprom))
		return -EFBIG;
	mutex_lock(&port->lock);
	n = simple_write_to_buffer(port->eeprom, sizeof(port->eeprom), pos, from, count);
	mutex_unlock(&port->lock);
	return n;
}

static const struct file_operations eeprom_fops = {
	.owner = THIS_MODULE,
	.open = eeprom_open,
	.read = eeprom_read,
	.write = eeprom_write,
	.llseek = default_llseek,
};

void rwl_faults_files_add(struct rwl_port *port)
{
	const struct rwl_fault *fault;

	port->dir = debugfs_create_dir(port->dev->name, rwl_debugfs);
	for (fault = rwl_faults; fault->name; fault++)
		debugfs_create_file(fault->name, 0600, port->dir, port, &one_fops);
	debugfs_create_file("faults", 0400, port->dir, port, &all_fops);
	debugfs_create_file("eeprom", 0600, port->dir, port, &eeprom_fops);
}
