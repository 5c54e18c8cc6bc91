// SPDX-License-Identifier: GPL-2.0
/* The netdev: frames to and from the lower NIC or the other end of the cable. */
#include <linux/if_arp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "lab.h"
#include "traffic_class.h"

#define ROCE_V2_PORT 4791

/* rwlab_tc's traffic_class: the TOS of every RoCE v2 frame that leaves, whatever the QP asked for. Its ICRC does not
 * cover the TOS. The low two bits (ECN) stay as they are. */
static void override_tclass(struct sk_buff *skb, int tclass)
{
	unsigned int header = ETH_HLEN;

	if (skb_network_offset(skb) != ETH_HLEN)
		return;
	if (skb->protocol == htons(ETH_P_IP)) {
		if (skb_ensure_writable(skb, header + sizeof(struct iphdr) + sizeof(struct udphdr)))
			return;
		if (ip_hdr(skb)->protocol == IPPROTO_UDP && ip_hdr(skb)->ihl == 5 &&
		    ((struct udphdr *)(ip_hdr(skb) + 1))->dest == htons(ROCE_V2_PORT))
			ipv4_change_dsfield(ip_hdr(skb), INET_ECN_MASK, tclass & ~INET_ECN_MASK);
	} else if (skb->protocol == htons(ETH_P_IPV6)) {
		if (skb_ensure_writable(skb, header + sizeof(struct ipv6hdr) + sizeof(struct udphdr)))
			return;
		if (ipv6_hdr(skb)->nexthdr == IPPROTO_UDP &&
		    ((struct udphdr *)(ipv6_hdr(skb) + 1))->dest == htons(ROCE_V2_PORT))
			ipv6_change_dsfield(ipv6_hdr(skb), INET_ECN_MASK, tclass & ~INET_ECN_MASK);
	}
}

int rwlab_set_traffic_class(struct net_device *dev, int tclass)
{
	if (!rwl_is_port(dev))
		return -EOPNOTSUPP;
	WRITE_ONCE(((struct rwl_port *)netdev_priv(dev))->tclass, tclass);
	return 0;
}
EXPORT_SYMBOL_GPL(rwlab_set_traffic_class);

static netdev_tx_t rwl_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct rwl_port *port = netdev_priv(dev), *peer;
	int tclass = READ_ONCE(port->tclass);
	struct rwl_lower *lower;
	unsigned int len = skb->len;

	if (!netif_carrier_ok(dev))
		goto drop;
	if (tclass >= 0)
		override_tclass(skb, tclass);
	rwl_count_frame(port, skb, ETH_HLEN, len, false);
	rcu_read_lock();
	lower = rcu_dereference(port->lower);
	peer = rcu_dereference(port->peer);
	if (lower) {
		dev_sw_netstats_tx_add(dev, 1, len);
		skb->dev = lower->dev;
		dev_queue_xmit(skb);
	} else if (peer && netif_carrier_ok(peer->dev)) {
		dev_sw_netstats_tx_add(dev, 1, len);
		if (rwl_phy_lost(peer, len)) {
			kfree_skb(skb);
		} else {
			skb_tx_timestamp(skb);
			rwl_count_frame(peer, skb, ETH_HLEN, len, true);
			if (dev_forward_skb(peer->dev, skb) == NET_RX_SUCCESS)
				dev_sw_netstats_rx_add(peer->dev, len);
		}
	} else {
		rcu_read_unlock();
		goto drop;
	}
	rcu_read_unlock();
	return NETDEV_TX_OK;
drop:
	DEV_STATS_INC(dev, tx_dropped);
	atomic64_inc(&port->counter[RWL_TX_DISCARDS_PHY]);
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

/* A frame that the lower NIC received. RCU is held. */
static rx_handler_result_t rwl_receive(struct sk_buff **pskb)
{
	struct sk_buff *skb = skb_share_check(*pskb, GFP_ATOMIC);
	struct rwl_lower *lower;
	struct rwl_port *port;
	struct net_device *dev;
	unsigned int len;

	*pskb = skb;
	if (!skb)
		return RX_HANDLER_CONSUMED;
	lower = rcu_dereference(skb->dev->rx_handler_data);
	port = rcu_dereference(lower->port);
	if (!port || !netif_carrier_ok(port->dev))
		goto drop;
	dev = port->dev;
	len = skb->len + ETH_HLEN;
	if (rwl_phy_lost(port, len))
		goto drop;
	rwl_count_frame(port, skb, 0, len, true);
	if (skb->protocol == htons(ETH_P_PAUSE))
		goto drop; /* the MAC's own */

	/* The lower listens to all; whether a frame is for the port is decided again, by the port's address. */
	if (!is_multicast_ether_addr(eth_hdr(skb)->h_dest)) {
		if (ether_addr_equal(eth_hdr(skb)->h_dest, dev->dev_addr))
			skb->pkt_type = PACKET_HOST;
		else if (dev->flags & IFF_PROMISC)
			skb->pkt_type = PACKET_OTHERHOST;
		else
			goto drop;
	}
	dev_sw_netstats_rx_add(dev, len);
	skb->dev = dev;
	return RX_HANDLER_ANOTHER;
drop:
	kfree_skb(skb);
	*pskb = NULL;
	return RX_HANDLER_CONSUMED;
}

static int rwl_open(struct net_device *dev)
{
	struct rwl_port *port = netdev_priv(dev);

	if (port->home && !(port->home->dev->flags & IFF_UP)) {
		int err = dev_open(port->home->dev, NULL);

		if (err)
			return err;
	}
	netif_start_queue(dev);
	rwl_link_bit(port, RWL_LINK_RUNNING, true);
	return 0;
}

static int rwl_stop(struct net_device *dev)
{
	netif_stop_queue(dev);
	rwl_link_bit(netdev_priv(dev), RWL_LINK_RUNNING, false);
	return 0;
}

static int rwl_change_mtu(struct net_device *dev, int mtu)
{
	struct rwl_port *port = netdev_priv(dev);

	if (port->home) {
		int err = dev_set_mtu(port->home->dev, mtu);

		if (err)
			return err;
	}
	WRITE_ONCE(dev->mtu, mtu);
	return 0;
}

static void detach_lower(struct rwl_port *port)
{
	struct rwl_lower *home = port->home;

	if (!home)
		return;
	netdev_rx_handler_unregister(home->dev); /* waits for those who are in it */
	dev_set_promiscuity(home->dev, -1);
	home->dev->priv_flags &= ~IFF_NO_ADDRCONF;
	netdev_put(home->dev, &home->tracker);
	port->home = NULL;
	kfree(home);
}

static void rwl_uninit(struct net_device *dev)
{
	struct rwl_port *port = netdev_priv(dev), *peer;

	debugfs_remove_recursive(port->dir);
	rwl_cc_files_remove(port);
	rwl_firmware_stop(port);
	rwl_dcb_flush(port);

	rwl_swap(port, "none");
	spin_lock_bh(&rwl_topo_lock);
	list_del_init(&port->link);
	peer = rcu_dereference_protected(port->peer, lockdep_is_held(&rwl_topo_lock));
	if (peer)
		RCU_INIT_POINTER(peer->peer, NULL);
	RCU_INIT_POINTER(port->peer, NULL);
	RCU_INIT_POINTER(port->lower, NULL);
	spin_unlock_bh(&rwl_topo_lock);
	if (peer)
		rwl_update_carrier(peer);
	synchronize_net();
	detach_lower(port);
}

static const struct net_device_ops rwl_netdev_ops = {
	.ndo_uninit = rwl_uninit,
	.ndo_open = rwl_open,
	.ndo_stop = rwl_stop,
	.ndo_start_xmit = rwl_xmit,
	.ndo_change_mtu = rwl_change_mtu,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

bool rwl_is_port(const struct net_device *dev)
{
	return dev->netdev_ops == &rwl_netdev_ops;
}

static void setup(struct net_device *dev)
{
	struct rwl_port *port = netdev_priv(dev);

	ether_setup(dev);
	dev->netdev_ops = &rwl_netdev_ops;
	dev->ethtool_ops = &rwl_ethtool_ops;
	dev->dcbnl_ops = &rwl_dcbnl_ops;
	dev->needs_free_netdev = true;
	dev->lltx = true;
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	dev->max_mtu = 9978;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_NO_QUEUE;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->hw_features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA | NETIF_F_GSO_SOFTWARE;
	dev->features = dev->hw_features;
	dev->vlan_features = dev->hw_features;

	port->dev = dev;
	mutex_init(&port->lock);
	INIT_LIST_HEAD(&port->link);
	INIT_LIST_HEAD(&port->attributes);
	port->speed = 400000;
	port->tclass = -1;
	rwl_dcb_init(port);
	rwl_cc_init(port);
	rwl_firmware_init(port);
}

/* The lower NIC works for the port alone from here on. */
static int attach_lower(struct rwl_port *port, struct net_device *lower)
{
	struct net_device *dev = port->dev;
	struct device *parent = lower->dev.parent;
	struct rwl_lower *home = kzalloc(sizeof(*home), GFP_KERNEL);
	int err;

	if (!home)
		return -ENOMEM;
	home->dev = lower;
	RCU_INIT_POINTER(home->port, port);
	err = netdev_rx_handler_register(lower, rwl_receive, home);
	if (!err) {
		err = dev_set_promiscuity(lower, 1); /* a swapped cable brings frames of the other port */
		if (err)
			netdev_rx_handler_unregister(lower);
	}
	if (err) {
		kfree(home);
		return err;
	}
	netdev_hold(lower, &home->tracker, GFP_KERNEL);
	lower->priv_flags |= IFF_NO_ADDRCONF;
	port->home = home;
	rcu_assign_pointer(port->lower, home);

	while (parent && !dev_is_pci(parent))
		parent = parent->parent;
	if (parent)
		SET_NETDEV_DEV(dev, parent);
	eth_hw_addr_set(dev, lower->dev_addr);
	dev->mtu = lower->mtu;
	dev->max_mtu = lower->max_mtu;
	dev->needed_headroom = lower->needed_headroom;
	dev->needed_tailroom = lower->needed_tailroom;
	return 0;
}

struct rwl_port *rwl_port_create(const char *name, struct net_device *lower)
{
	struct net_device *dev;
	struct rwl_port *port;
	int err;

	ASSERT_RTNL();
	if (lower && ((lower->flags & IFF_LOOPBACK) || lower->type != ARPHRD_ETHER || rwl_is_port(lower)))
		return ERR_PTR(-EINVAL);
	dev = alloc_netdev(sizeof(struct rwl_port), name, NET_NAME_USER, setup);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	port = netdev_priv(dev);
	if (lower) {
		err = attach_lower(port, lower);
		if (err) {
			free_netdev(dev);
			return ERR_PTR(err);
		}
	} else {
		eth_hw_addr_random(dev);
	}
	rwl_eeprom_model(port, "osfp"); /* its serial number is the address */
	netif_carrier_off(dev);
	err = register_netdevice(dev);
	if (err) {
		detach_lower(port); /* ndo_uninit did it, where the core came that far */
		if (dev->reg_state == NETREG_UNINITIALIZED)
			free_netdev(dev);
		return ERR_PTR(err);
	}
	spin_lock_bh(&rwl_topo_lock);
	list_add_tail(&port->link, &rwl_ports);
	spin_unlock_bh(&rwl_topo_lock);
	rwl_faults_files_add(port);
	if (rwl_cc_files_add(port))
		netdev_warn(dev, "no DCQCN files\n");
	return port;
}

void rwl_join(struct rwl_port *a, struct rwl_port *b)
{
	spin_lock_bh(&rwl_topo_lock);
	rcu_assign_pointer(a->peer, b);
	rcu_assign_pointer(b->peer, a);
	spin_unlock_bh(&rwl_topo_lock);
}

void rwl_port_destroy(struct rwl_port *port, struct list_head *kill)
{
	unregister_netdevice_queue(port->dev, kill);
}
