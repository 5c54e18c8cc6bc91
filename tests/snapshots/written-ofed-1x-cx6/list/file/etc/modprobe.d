mlx5.conf
