#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A power meter for teps: reads the watts of a power distribution unit by SNMP every second.
#
#     teps machine --meter 'command:wall@2%=examples/meters/snmp.sh HOST OID'
#
# HOST is the unit and OID its object for power in watts, from its manual. SNMP_COMMUNITY is the community (default:
# public). It needs snmpget (on Debian: apt-get install snmp).
set -eu
host=${1:?want HOST OID} oid=${2:?want HOST OID}
while :; do
	watts=$(snmpget -v2c -c "${SNMP_COMMUNITY:-public}" -Oqv "$host" "$oid")
	echo "$(date +%s.%N),$watts"
	sleep 1
done
