"""Run one product on the machine and print the process's peak resident size as JSON."""

import json
import resource
import sys

from measure import ROOT, machine_product

sys.path.insert(0, str(ROOT))
size, tile = int(sys.argv[1]), int(sys.argv[2])
machine_product(size, size, size, tile)()
print(json.dumps({"megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
