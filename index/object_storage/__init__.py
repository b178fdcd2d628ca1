"""Corpus versions in a bucket: published by the machines that build them, downloaded by the machines that search them.

    ADDRESS/
    ├── published/000000000012.json   list of versions, the current one first; the highest number is valid
    ├── versions/VERSION.json         the files of a version, by their checksums
    └── files/ab/abcd…                the files, each under its own SHA-256 and stored once

Files are written first, then the list of a version's files, and last the publication with the next number, which only
one publisher can create. If a process is killed, readers find either the previous version or the next one, never a
partial version."""
