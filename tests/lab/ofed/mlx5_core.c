// SPDX-License-Identifier: GPL-2.0
/* A module of the name and version that MLNX_OFED's has, without function: what is loaded and what is installed can
 * differ in the lab as they do on a node after an upgrade. RELEASE comes from package.sh.
 */
#include <linux/module.h>

MODULE_LICENSE("GPL");
MODULE_VERSION(RELEASE);
MODULE_DESCRIPTION("lab only: stands for MLNX_OFED's mlx5_core, without function");
MODULE_AUTHOR("Railwright maintainers");
