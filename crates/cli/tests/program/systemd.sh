#!/bin/sh
# Boots systemd once for each script, in namespaces of its own, and prints what the script says at the end of its boot.
# All boots share one layer over this machine's files. This machine is not changed: files are written to the layer. Of
# /proc/sys, only the part of its own network namespace can be written.
# usage: unshare --mount systemd.sh MPPS SCRIPT...     (as root)
set -eu
if [ "$1" = boot ]; then
	# PID 1 of a boot, in $2.
	root=$2/root
	mount -t overlay overlay -o "lowerdir=/,upperdir=$2/layer,workdir=$2/work" "$root"
	for place in proc mnt; do mount -t proc proc "$root/$place"; done
	mount --bind "$root/proc/sys" "$root/proc/sys"
	mount -o remount,bind,ro "$root/proc/sys"
	mount --bind "$root/mnt/sys/net" "$root/proc/sys/net"
	umount -l "$root/mnt"
	# Only the first network namespace of a machine has this file: mpps then changes settings of the whole machine.
	mount -t tmpfs tmpfs "$root/proc/sys/net/core"
	echo 64 > "$root/proc/sys/net/core/dev_weight"
	mount -t sysfs -o ro sysfs "$root/sys"
	mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
	for place in run tmp dev; do mount -t tmpfs tmpfs "$root/$place"; done
	for node in null zero random urandom; do
		touch "$root/dev/$node"
		mount --bind "/dev/$node" "$root/dev/$node"
	done
	# Systemd knows only the units of the test and those that mpps writes.
	mount --bind "$2/units" "$root/etc/systemd/system"
	mkdir "$root/run/test"
	mount --bind "$2/test" "$root/run/test"
	touch "$root/run/test/mpps"
	mount --bind "$3" "$root/run/test/mpps"
	cd "$root"
	pivot_root . mnt
	umount -l mnt
	exec env -i container=mpps PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH=/etc/systemd/system:/run/test/units \
		/lib/systemd/systemd --unit=multi-user.target --log-target=console --show-status=0
fi
mpps=$1
shift
mount --make-rprivate /
folder=$(mktemp -d)
# Layers of an overlay cannot lie on another overlay.
mount -t tmpfs tmpfs "$folder"
end() {
	cd /
	umount -l "$folder"
	rmdir "$folder"
}
trap end EXIT
mkdir "$folder/layer" "$folder/work" "$folder/root" "$folder/units" "$folder/test" "$folder/test/units"
cd "$folder/test"
for target in sysinit basic network-online shutdown; do
	printf '[Unit]\nDefaultDependencies=no\n' > "units/$target.target"
done
printf '[Unit]\nWants=systemd-sysctl.service irqbalance.service try.service\n' > units/multi-user.target
printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/lib/systemd/systemd-sysctl --prefix=/net\n' \
	> units/systemd-sysctl.service
printf '[Service]\nExecStart=/bin/sleep infinity\n' > units/irqbalance.service
printf '[Unit]\nAfter=irqbalance.service mpps-tune.service systemd-sysctl.service\n[Service]\nType=oneshot\n%s\n' \
	"ExecStart=/bin/sh -c 'cd /run/test; HOME=/tmp sh ./script > said 2>&1; touch done'" > units/try.service
for script in "$@"; do
	rm -f done said
	printf '%s\n' "$script" > script
	unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child=KILL \
		sh "$0" boot "$folder" "$mpps" < /dev/null > console 2>&1 &
	booted=$!
	# A boot takes a second or two. One that hangs prints its console too.
	looks=0
	while kill -0 "$booted" 2> /dev/null && [ ! -e done ] && [ "$looks" -lt 600 ]; do
		sleep 0.1
		looks=$((looks + 1))
	done
	kill -KILL "$booted" 2> /dev/null || true
	wait "$booted" 2> /dev/null || true
	if [ ! -e done ]; then
		cat console
		exit 1
	fi
	cat said
done
