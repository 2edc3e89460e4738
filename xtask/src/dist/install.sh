# Installs from source into ROOT as README says, first what only reads records, and starts each: install.sh REPOSITORY ROOT.
install() { cargo install --quiet --locked --force --path "$1/crates/cli" --root "$2" "${@:3}"; }
install "$1" "$2" --no-default-features
"$2/bin/mpps" limits --link-speed 25G --frame 64
install "$1" "$2"
"$2/bin/mpps" throughput --simulate capacity=1M --budget 5s --frame 64
echo "what cargo install gave ran"
rm -rf "$2"
