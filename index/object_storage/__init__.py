"""Versions of a corpus in a bucket: published there by whoever builds, pulled to the disks of those who search.

    ADDRESS/
    ├── published/000000000012.json   which versions there are, the current one first; the highest number counts
    ├── versions/VERSION.json         the files of a version, by their checksums
    └── files/ab/abcd…                the files, each under its own SHA-256 and stored once

Files are written first, then the list of a version's files, and last the next number, which only one publisher can
create. So whatever is killed, readers find the version of before or the next one, and nothing in between.
"""
