// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * libbgpdump's bare loop: every record read and parsed as the library does it, nothing printed. It parses each path's
 * attributes, but makes no text of them. Prints how many paths it saw.
 */
#include <stdio.h>
#include "bgpdump_lib.h"

int main(int argc, char **argv)
{
	unsigned long long paths = 0;
	BGPDUMP_ENTRY *entry;
	BGPDUMP *dump;

	if (argc != 2) {
		fprintf(stderr, "usage: libbgpdump_loop FILE\n");
		return 2;
	}
	dump = bgpdump_open_dump(argv[1]);
	if (!dump)
		return 1;
	while (!dump->eof) {
		entry = bgpdump_read_next(dump);
		if (!entry)
			continue;
		if (entry->type == BGPDUMP_TYPE_MRTD_TABLE_DUMP)
			paths++;
		else if (entry->type == BGPDUMP_TYPE_TABLE_DUMP_V2 &&
			 entry->subtype != BGPDUMP_SUBTYPE_TABLE_DUMP_V2_PEER_INDEX_TABLE)
			paths += entry->body.mrtd_table_dump_v2_prefix.entry_count;
		bgpdump_free_mem(entry);
	}
	printf("%llu\n", paths);
	bgpdump_close_dump(dump);
	return 0;
}
