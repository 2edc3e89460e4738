# Installs a package into a root file system that has only what it depends on, and starts the program there, from the
# archive too: try.sh PACKAGE ARCHIVE ROOT, as root. The other packages' files are copied as they are installed here.
package=$1 archive=$2 root=$3
rm -rf "$root"
mkdir -p "$root"/var/lib/dpkg/{info,updates}

# The first name of each dependency, and those of that package.
names() { tr ',' '\n' | sed 's/^ *//; s/[ :|].*//; /^$/d' | sort --unique; }
needs=$(dpkg-deb --field "$package" Depends | names)
while more=$({ echo "$needs"; dpkg-query --show --showformat='${Pre-Depends},${Depends},' $needs; } | names)
	[ "$more" != "$needs" ]; do needs=$more; done

for link in bin sbin lib lib64; do
	if [ -L "/$link" ]; then mkdir -p "$root/usr/$link" && ln -s "usr/$link" "$root/$link"; fi
done
dpkg-query --listfiles $needs | while read -r file; do
	if [ -L "$file" ] || [ -f "$file" ]; then echo ".$(realpath "${file%/*}/")/${file##*/}"; fi
done | sort --unique | tar --create --directory / --files-from - | tar --extract --directory "$root"
# By these words dpkg judges whether there is what the package depends on.
dpkg-query --status $needs > "$root/var/lib/dpkg/status"
for need in $needs; do cp "/var/lib/dpkg/info/$need"[.:]*list "$root/var/lib/dpkg/info"; done

tries() {
	chroot "$root" "$1" --version
	chroot "$root" "$1" throughput --simulate capacity=1M --budget 5s --frame 64
	measures "$1"
}

# A trial on a bed. Its mounts are in a mount namespace of their own, and end with it whatever fails. The bed needs its root
# to be a mount point. 4 says that the machine was too disturbed: the frames were sent and counted all the same.
measures() {
	unshare --mount true || { echo "SKIP: no mount namespace can be made here: nothing was measured" && return; }
	mkdir -p "$root"/{proc,sys,run}
	unshare --mount bash -euo pipefail -c '
		mount --bind "$1" "$1"
		mount -t proc proc "$1/proc"
		mount -t sysfs sysfs "$1/sys"
		chroot "$1" "$2" trial --rate 10k --time 0.2 --frame 64 || [ $? = 4 ]' measures "$root" "$1"
}

# The archive first: nothing of the package is there to help it.
mkdir -p "$root/opt"
tar --extract --file "$archive" --directory "$root/opt"
tries "/opt/$(basename "$archive" .tar.gz)/bin/mpps"

# A container's dpkg may leave documents out.
dpkg --root="$root" --path-include='/usr/share/*' --install "$package"
tries /usr/bin/mpps
for file in man/man1/mpps.1.gz man/man1/mpps-throughput.1.gz bash-completion/completions/mpps \
	zsh/vendor-completions/_mpps fish/vendor_completions.d/mpps.fish doc/mpps/copyright; do
	[ -s "$root/usr/share/$file" ] || { echo "the package brings no $file" >&2 && exit 1; }
done
zcat "$root/usr/share/man/man1/mpps.1.gz" | grep --quiet '^\.TH mpps 1'
echo "unpacked and installed beside" $needs "alone, it ran"
rm -rf "$root"
