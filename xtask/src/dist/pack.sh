# Builds the last commit and packs it: pack.sh REPOSITORY FOLDER TO. Every program here gives the same octets for the
# same files: it writes them in order, with root as the owner and with the commit's time.
repository=$1 folder=$2 to=$3
source=$folder/source tree=$folder/tree target=$folder/target
cargo_home=${CARGO_HOME:-$HOME/.cargo}
SOURCE_DATE_EPOCH=$(git -C "$repository" log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
shopt -s nullglob nocaseglob

rm -rf "$source" "$tree"
mkdir -p "$source" "$to"
git -C "$repository" archive HEAD | tar --extract --directory "$source"

# The folders of this machine get names that every machine can give. These flags replace the user's own.
cd "$source"
flags="--remap-path-prefix=$cargo_home=/cargo"$'\037'"--remap-path-prefix=$source=/mpps"
CARGO_TARGET_DIR=$target CARGO_ENCODED_RUSTFLAGS="$flags"$'\037'"--remap-path-prefix=$target=/target" \
	CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_RELEASE_STRIP=symbols \
	cargo build --release --locked --package mpps-cli
mpps=$target/release/mpps

# The files, in the package below /usr and in the archive below its one folder.
share=$tree/usr/share
documents=$share/doc/mpps
install -D "$mpps" "$tree/usr/bin/mpps"
"$mpps" man "$share/man/man1"
gzip --best --no-name "$share"/man/man1/*.1
install -D --mode=644 /dev/stdin "$share/bash-completion/completions/mpps" < <("$mpps" completions bash)
install -D --mode=644 /dev/stdin "$share/zsh/vendor-completions/_mpps" < <("$mpps" completions zsh)
install -D --mode=644 /dev/stdin "$share/fish/vendor_completions.d/mpps.fish" < <("$mpps" completions fish)
mkdir -p "$documents/docs" "$documents/licences"
cp README.md CHANGELOG.md LICENSE-* "$documents"
cp docs/*.md docs/report.png docs/record.schema.json "$documents/docs"

# The licences of every crate that is linked into the program, with their texts.
cat > "$documents/copyright" <<-'END'
	mpps is licensed under MIT or Apache-2.0, as you choose: LICENSE-MIT, LICENSE-APACHE.
	The eBPF programs in it are licensed under GPL-2.0-only or BSD-2-Clause: LICENSE-GPL-2.0, LICENSE-BSD-2-Clause.
	The crates in it are listed below with their licences. Their texts stand in the folder licences.

END
cargo tree --locked --package mpps-cli --edges normal --prefix none --no-dedupe --format '{p}|{l}' |
	sed --quiet '/^mpps-/d; s/^\([^ ]*\) v\([^ |]*\)[^|]*|/\1-\2 /p' | sort --unique |
	while read -r crate licence; do
		texts=("$cargo_home"/registry/src/*/"$crate"/{,libbpf/}{licen[cs]e,copying,copyright,notice}*)
		echo "$crate: $licence$([ ${#texts[@]} -gt 0 ] || echo ' (it brings no text)')"
		for text in "${texts[@]}"; do
			if [ -f "$text" ]; then install -D --mode=644 "$text" "$documents/licences/$crate/${text##*/}"; fi
		done
	done >> "$documents/copyright"
chmod --recursive u=rwX,go=rX "$tree"

version=$("$mpps" --version)
version=${version#mpps }
architecture=$(dpkg --print-architecture)
archive=mpps-$version-linux-$architecture
package=mpps_${version}_$architecture.deb
tar --create --directory "$tree/usr" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner \
	--mtime="@$SOURCE_DATE_EPOCH" --transform="s,^[.],$archive," . |
	gzip --best --no-name > "$to/$archive.tar.gz"

# dpkg-shlibdeps knows the packages of the libraries, and the versions that have the symbols. It wants a source's folder.
mkdir -p "$folder/debian" "$tree/DEBIAN"
printf 'Source: mpps\n\nPackage: mpps\nArchitecture: any\n' > "$folder/debian/control"
needs=$(cd "$folder" && dpkg-shlibdeps -O "$tree/usr/bin/mpps")
cat > "$tree/DEBIAN/control" <<-END
	Package: mpps
	Version: $version
	Architecture: $architecture
	Depends: ${needs#shlibs:Depends=}
	Maintainer: The mpps authors
	Section: net
	Priority: optional
	Description: measures how many packets per second a Linux router forwards
	 mpps uses the real kernel forwarding path of its machine, in network
	 namespaces of its own. It needs no NIC and no second machine. It accounts for
	 every frame it sent, or it says that it could not.
END
# With several threads xz would cut the data by how many there are.
dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$tree" "$to/$package" > /dev/null
cd "$to"
sha256sum "$archive.tar.gz" "$package" > SHA256SUMS
