modules.conf
