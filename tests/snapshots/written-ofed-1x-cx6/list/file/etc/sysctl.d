99-sysctl.conf
