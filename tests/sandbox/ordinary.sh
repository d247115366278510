#!/bin/sh
# ordinary.sh USER CLOSED PREFIX COMMAND...: run a command as USER (a number) in a mount
# namespace of its own where PREFIX, which lies below the closed directory CLOSED, can
# be reached: an empty directory covers CLOSED and only PREFIX is put back into it.
set -e
user=$1 closed=$2 prefix=$3
shift 3
if [ -n "$closed" ]; then
    hold=$(mktemp -d)
    mount --bind "$prefix" "$hold"
    mount -t tmpfs -o mode=755 none "$closed"
    (umask 022 && mkdir -p "$prefix")
    mount --move "$hold" "$prefix"
    rmdir "$hold"
fi
[ "$user" = 0 ] && exec "$@"
exec setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
