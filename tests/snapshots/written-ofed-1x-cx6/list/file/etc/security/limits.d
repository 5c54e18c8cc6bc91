20-hpc.conf
