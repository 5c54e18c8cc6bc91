70-persistent-net.rules
