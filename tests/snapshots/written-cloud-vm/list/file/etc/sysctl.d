99-cloud.conf
