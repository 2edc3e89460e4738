#!/bin/busybox sh
# First process of the emulated machine: what a system has at hand, then the steps, then the end.
# The workshop reads the lines that begin with "guest: ".
/bin/busybox --install -s /bin
ln -sf /sbin/dash /bin/sh
ln -sf /bin/busybox /sbin/modprobe
ln -sf "$(find / -xdev -type f -name mpps)" /sbin/mpps
export PATH=/sbin:/bin HOME=/tmp RUST_TEST_THREADS=1 RUST_BACKTRACE=0
# Tests may change this machine's own settings.
export MPPS_TEST_MACHINE=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t bpf bpf /sys/fs/bpf
# The root is memory already; a mount over /tmp would hide programs that were built below it.
mkdir -p /tmp
mount -t tmpfs run /run
ip link set lo up
# Drivers of its NICs; a kernel for virtual machines has no e1000e.
for driver in virtio_pci virtio_net vmxnet3 e1000e; do
	modprobe "$driver" 2>/dev/null
done
echo "guest: Linux $(uname -r), CPUs $(nproc)"

# A step has its own limit: one that hangs does not take the others' time.
step() {
	name=$1
	shift
	echo "guest: $name begins"
	timeout -s KILL 1200 "$@" 2>&1
	echo "guest: $name ended $?"
}

# A sign of life: the emulator can lose a machine, which then says nothing.
while sleep 5; do printf '\0'; done &

cd /tmp
. /steps
# Whatever ended in whichever way: a host on which something stays is a host not restored.
step nothing-left sh -c 'mpps recover >/dev/null || exit 1; ls -A /run/mpps /run/netns 2>/dev/null | grep -v ":$" | grep . && exit 1; exit 0'
echo "guest: all ended"
poweroff -f
